"""The list of repositories of `cqm bulk`, and the clones of those that are elsewhere."""

import os
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

from cqm.server.bounded import run_bounded
from cqm.server.errors import BulkError, BulkListError

_NAME = re.compile(r"\w[\w.-]{0,99}")
_WORD = re.compile(r"""\"([^"]*)\"|'([^']*)'|(#.*|[^\s#]+)""")
_ADDRESS = re.compile(r"\w+://|[\w.-]+@[\w.-]+:")
_GIT = {
    # No questions, no program that an address names (`ext::`), and no large files that would not be indexed.
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_ALLOW_PROTOCOL": "https:ssh:file",
    "GIT_LFS_SKIP_SMUDGE": "1",
    # A server that sends nothing for minutes is given up.
    "GIT_HTTP_LOW_SPEED_LIMIT": "1",
    "GIT_HTTP_LOW_SPEED_TIME": "300",
}
GIT_SECONDS = 7200.0
"""Longest clone or fetch: one that stalls would hold its job for ever."""


@dataclass(frozen=True, slots=True)
class Repository:
    """A line of the list.

    Attributes:
        source: a folder, or an address for `git clone`.
        name: of its snapshot, without the suffix.
    """

    source: str
    name: str

    @property
    def is_elsewhere(self) -> bool:
        """Whether it has to be cloned."""
        return bool(_ADDRESS.match(self.source))


def read_list(text: str, base: Path) -> list[Repository]:
    """Read a list: a folder or an address a line, and a name where it is not its last part; `#` begins a comment.

    Parameters:
        text: of the list.
        base: the folder that others are relative to.

    Raises:
        BulkListError: names that are none, or that two repositories have; all of them.
        BulkError: the list is empty.
    """
    found: dict[str, Repository] = {}
    problems: list[str] = []
    for number, line in enumerate(text.splitlines(), start=1):
        source, *names = _words(line) or [""]
        if not source:
            continue
        name = names[0] if names else re.split(r"[/:\\]", source.rstrip("/\\"))[-1].removesuffix(".git")
        if len(names) > 1:
            problems.append(
                f"line {number}: expected a folder or an address, and at most a name, but there are {len(names) + 1} "
                "words. Put quotes around a folder with blanks."
            )
        elif not _NAME.fullmatch(name):
            problems.append(
                f"line {number}: the name {name!r} is none: expected at most 100 letters, digits, dots and hyphens. "
                "Write one after the folder or address."
            )
        elif name in found:
            problems.append(f"line {number}: {name} is the name of another line; write one after it.")
        else:
            place = source if _ADDRESS.match(source) else str(base / Path(source).expanduser())
            found[name] = Repository(place, name)
    if problems:
        raise BulkListError("\n".join(problems), remedy="Correct the list.")
    if not found:
        raise BulkError("The list names no repository.", remedy="Write a folder or an address a line.")
    return list(found.values())


def _words(line: str) -> list[str]:
    """Return the words of a line before its comment; quotes hold one with blanks or "#" together."""
    found = [quoted or single or word for quoted, single, word in _WORD.findall(line)]
    ends = [number for number, word in enumerate(_WORD.finditer(line)) if word[3] and word[3].startswith("#")]
    return found[: ends[0]] if ends else found


def checked_out(repository: Repository, work: Path) -> Path:
    """Return the folder of a repository, cloned or brought to its newest commit if it is elsewhere.

    Parameters:
        work: clones are kept in it.

    Raises:
        BulkError: it is not there, or git fails.
    """
    if not repository.is_elsewhere:
        folder = Path(repository.source)
        if not folder.is_dir():
            raise BulkError(f"{folder} is not a folder.", remedy="Correct the list.")
        return folder.resolve()
    clone = work / "clones" / repository.name
    if (clone / ".git").is_dir():
        _git("-C", str(clone), "fetch", "--quiet", "--depth=1", "--no-tags", "--", repository.source, "HEAD")
        _git("-C", str(clone), "checkout", "--quiet", "--force", "--detach", "FETCH_HEAD")
    else:
        clone.parent.mkdir(parents=True, exist_ok=True)
        _git("clone", "--quiet", "--depth=1", "--no-tags", "--", repository.source, str(clone))
    return clone.resolve()


def _git(*arguments: str) -> None:
    try:
        done = run_bounded(["git", *arguments], GIT_SECONDS, env=os.environ | _GIT)
    except subprocess.TimeoutExpired as error:
        raise BulkError(
            f"git is not done after {GIT_SECONDS:g} s.", remedy="Look at the network, and run it again.", retryable=True
        ) from error
    if done.returncode:
        # Git's message repeats the address, which may have a password.
        told = re.sub(r"(?<=://)[^\s/]*@", "", done.stderr.decode("utf-8", errors="replace").strip())[-500:]
        raise BulkError(
            f"git fails: {told or done.returncode}", remedy="Check the address and its key.", retryable=True
        )
