"""Have a client's own program try its servers, and find its report on ours."""

import re
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from cqm.index.files.bounded import run_bounded

LIMIT_SECONDS = 90.0
"""For one client: some start every server they know, one after another."""

_CODES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-_])")
_GOOD = re.compile(r"\b(?:connected|enabled|ready)\b|[✓✔]", re.IGNORECASE)
_BAD = re.compile(r"\b(?:disconnected|disabled|failed|error|not connected|blocked)\b|[✗✘]", re.IGNORECASE)
_MOST_CHARACTERS = 300


@dataclass(frozen=True, slots=True)
class Check:
    """A client's report about its servers.

    Attributes:
        client: its name for people.
        command: as it was run.
        said: its words about CQM, or the reason why there are none.
        connects: whether it connects; None if the words don't tell.
    """

    client: str
    command: str
    said: str
    connects: bool | None


def check(client: str, command: Sequence[str], folder: Path, *, is_project: bool) -> Check:
    """Run a client's program, for a bounded time.

    Parameters:
        client: its name for people.
        command: the program by its path, with arguments.
        is_project: whether the entry is a project's, which some clients only list once its folder is trusted.
    """
    shown = " ".join([Path(command[0]).name, *command[1:]])
    try:
        done = run_bounded(command, LIMIT_SECONDS, cwd=folder)
    except subprocess.TimeoutExpired:
        return Check(client, shown, f"no answer within {LIMIT_SECONDS:g} s", None)
    except OSError as error:
        return Check(client, shown, f"cannot be run: {error.strerror}", None)
    output = _CODES.sub("", (done.stdout + b"\n" + done.stderr).decode("utf-8", errors="replace"))
    lines = [" ".join(line.split()) for line in output.splitlines()]
    about = [line for line in lines if re.search(r"(?:^|[^\w/.-])cqm(?![\w/.-])", line)]
    if not about:
        last = next((line for line in reversed(lines) if line), "nothing")[:_MOST_CHARACTERS]
        said = f"nothing of cqm, but: {last} (exit code {done.returncode})"
        return Check(client, shown, said, None if is_project else False)
    # Some start no server before a folder is trusted, and say so elsewhere.
    trust = [line for line in lines if "trust" in line.lower()]
    said = " ".join(about[:1] + trust)[:_MOST_CHARACTERS]
    if any("untrusted" in line.lower() for line in trust):
        # There it starts no server at all, so nothing is known of this one.
        return Check(client, shown, said, None)
    if _BAD.search(said):
        return Check(client, shown, said, connects=False)
    return Check(client, shown, said, connects=True if _GOOD.search(said) else None)
