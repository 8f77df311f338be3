"""What is checked out in a work tree of git, read from its files: some 50 microseconds, where asking git costs 5 ms.

The layout is that of gitrepository-layout(5): `.git` is a folder, or a file that names one (work trees, submodules);
`HEAD` there is a commit, or names a ref that is a file of its own or a line of `packed-refs`, in the folder that
`commondir` names. Where refs are kept in another form (reftable), git is asked, once for each state of that.
"""

import re
import stat
import time
from functools import lru_cache
from pathlib import Path

from cqm.index import git

_COMMIT = re.compile("[0-9a-f]{40}(?:[0-9a-f]{24})?")
_OWN_REFS = ("refs/bisect/", "refs/worktree/", "refs/rewritten/")
"""Refs that each work tree has for itself."""
_MOST_LINKS = 5
"""Refs that name refs: as many as git follows."""
_NO_REF = "refs/heads/.invalid"
"""What HEAD names where refs are no files."""
_LONGEST_LOCK_SECONDS = 60.0
"""A lock older than this was left behind by a git that died."""

Signature = tuple[int, ...]


def head(folder: Path) -> str | None:
    """The commit that is checked out at a folder.

    Returns:
        "" outside of git and before the first commit, None when it can't be told.
    """
    place = _git_folder(folder)
    if place is None:
        return ""
    try:
        common = _common_folder(place)
        name = (place / "HEAD").read_text(encoding="utf-8").strip()
        for _ in range(_MOST_LINKS):
            if not name.startswith("ref:"):
                return name if _COMMIT.fullmatch(name) else None
            ref = name[4:].strip()
            if ref == _NO_REF:
                return _asked(folder, _signature(common / "reftable" / "tables.list"), _signature(place / "HEAD"))
            name = _value(place if ref.startswith(_OWN_REFS) else common, ref)
            if not name:
                return ""
    except (OSError, ValueError):
        return None
    return None


def is_busy(folder: Path) -> bool:
    """Whether git is writing to the work tree of a folder just now."""
    place = _git_folder(folder)
    try:
        return place is not None and time.time() - (place / "index.lock").stat().st_mtime < _LONGEST_LOCK_SECONDS
    except OSError:
        return False


def _git_folder(folder: Path) -> Path | None:
    """Where git keeps what it knows of the work tree that a folder is in."""
    for top in (folder, *folder.parents):
        entry = top / ".git"
        try:
            is_file = stat.S_ISREG(entry.stat().st_mode)
            place = top / entry.read_text(encoding="utf-8").removeprefix("gitdir:").strip() if is_file else entry
        except (OSError, ValueError):
            continue
        if (place / "HEAD").exists():
            return place
    return None


def _common_folder(place: Path) -> Path:
    try:
        return place / (place / "commondir").read_text(encoding="utf-8").strip()
    except FileNotFoundError:
        return place


def _value(place: Path, ref: str) -> str:
    """What a ref holds; empty where it does not exist."""
    try:
        return (place / ref).read_text(encoding="utf-8").strip()
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        packed = place / "packed-refs"
        return _packed(packed, _signature(packed), ref)


@lru_cache(maxsize=64)
def _packed(path: Path, signature: Signature, ref: str) -> str:
    """What a ref holds in a file of packed refs, which is replaced as a whole and never written to."""
    if not signature:
        return ""
    lines = path.read_text(encoding="utf-8", errors="surrogateescape").splitlines()
    return next((line.partition(" ")[0] for line in lines if line.endswith(f" {ref}")), "")


@lru_cache(maxsize=64)
def _asked(folder: Path, *_: Signature) -> str | None:
    return git.head(folder)


def _signature(path: Path) -> Signature:
    """What tells a file from what it was before; empty for none."""
    try:
        status = path.stat()
    except FileNotFoundError:
        return ()
    return status.st_mtime_ns, status.st_size, status.st_ino
