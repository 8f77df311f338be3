"""What git knows of a work tree, through its command line. Without git, or where it refuses, there is no answer."""

import os
import subprocess
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

# Where git was told to work instead of the folder that it is asked about: set in hooks and aliases.
_ELSEWHERE = ("GIT_DIR", "GIT_WORK_TREE", "GIT_COMMON_DIR", "GIT_INDEX_FILE", "GIT_PREFIX", "GIT_CONFIG_PARAMETERS")

# A repository's own settings can name programs that listing would run: a copied tree must not choose them.
_NO_PROGRAMS = ("-c", "core.fsmonitor=false", "-c", f"core.hooksPath={os.devnull}")


def files_in_scope(folder: Path) -> list[str] | None:
    """All files below a folder of a work tree that are tracked, or untracked and not ignored.

    A repository inside it is one path, with or without "/" at its end. Paths are relative to the folder; a tracked file
    that is no longer on disk is among them.

    Returns:
        None when git is not installed, refuses the repository, or could not read all of it.
    """
    return _listed(folder, ("--cached", "--others", "--exclude-standard"))


def tracked_but_ignored(folder: Path) -> list[str]:
    """The files below a folder of a work tree that an ignore rule names although they are tracked."""
    return _listed(folder, ("--cached", "--ignored", "--exclude-standard")) or []


def tracked(folder: Path, paths: Sequence[str]) -> list[str]:
    """The tracked files among paths, and below those that are folders."""
    return _listed(folder, ("--cached",), paths) or []


def head(folder: Path) -> str | None:
    """The commit that is checked out; "" before the first one, None when git does not tell. See `checkout.head`."""
    done = _ran(folder, ["rev-parse", "--verify", "--quiet", "HEAD"])
    # With --quiet it ends with 1 and says nothing where there is no commit yet.
    return None if done is None or done.returncode > 1 else os.fsdecode(done.stdout).strip()


@lru_cache(maxsize=64)
def commits_between(folder: Path, old: str, new: str) -> int | None:
    """How many commits the second has that the first has not; None when git does not know them."""
    done = _ran(folder, ["rev-list", "--count", f"{old}..{new}", "--"])
    return None if done is None or done.returncode else int(done.stdout)


def _listed(folder: Path, which: Sequence[str], paths: Sequence[str] = ()) -> list[str] | None:
    done = _ran(folder, ["ls-files", "-z", *which, "--", *paths])
    # It goes on where it may not read a folder, with a warning: what is missing must not count as deleted.
    if done is None or done.returncode or b"could not open directory" in done.stderr:
        return None
    return sorted(set(os.fsdecode(done.stdout).split("\0")) - {""})


def _ran(folder: Path, arguments: Sequence[str]) -> subprocess.CompletedProcess[bytes] | None:
    command = ["git", *_NO_PROGRAMS, "-C", str(folder), *arguments]
    environment = {name: value for name, value in os.environ.items() if name not in _ELSEWHERE}
    environment |= {"GIT_OPTIONAL_LOCKS": "0", "GIT_LITERAL_PATHSPECS": "1", "LC_ALL": "C"}
    try:
        return subprocess.run(command, env=environment, capture_output=True, stdin=subprocess.DEVNULL, check=False)
    except OSError:
        return None
