"""Find the commit checked out in a git work tree by reading its files, without running git: see `git`.

The layout is described in gitrepository-layout(5): `HEAD` holds a commit or names a ref, which is a file of its own or
a line of `packed-refs`. For repositories with refs in tables see `reftable`. All of it may be a stranger's, so the only
result is a commit id, whatever the files contain.
"""

import re
import time
from functools import lru_cache
from pathlib import Path

from cqm.index.disk.beneath import NotRegularError, read_small, read_small_beneath
from cqm.index.files import reftable
from cqm.index.files.git_folder import MOST_LINE_BYTES, GitFolder, git_folder_of, line_in, read_line

_COMMIT = re.compile("[0-9a-f]{40}(?:[0-9a-f]{24})?")
_REF = re.compile(r"refs(?:/(?!\.)[^\x00-\x20\x7f~^:?*\[\\/]+)+")
"""A name staying below `refs`; see git-check-ref-format(1)."""
_OWN_REFS = ("refs/bisect/", "refs/worktree/", "refs/rewritten/")
"""Refs kept separately for each work tree."""
_MOST_LINKS = 5
"""Refs naming refs: git follows as many."""
_IN_TABLES = "ref: refs/heads/.invalid"
"""Content of the file HEAD if refs are in tables."""
_MOST_PACKED_BYTES = 64 << 20
_LONGEST_LOCK_SECONDS = 60.0
"""An older lock was left behind by a dead git process."""

Signature = tuple[int, ...]


def head(folder: Path) -> str | None:
    """Return the commit checked out at a folder.

    Returns:
        "" outside of git and before the first commit, None if unknown.
    """
    place = git_folder_of(folder)
    if place is None:
        return ""
    try:
        name = read_line(place.own / "HEAD")
        has_tables = name == _IN_TABLES
        if has_tables:
            name = reftable.value_in(place.own / "reftable", "HEAD")
        return _followed(place, name, has_tables=has_tables)
    except (OSError, ValueError):
        return None


def commit_named(folder: Path, name: str) -> str:
    """Return the id of a branch or tag of a folder's repository; empty if there is none, or it cannot be read.

    A tag with a message has an id of its own; git takes it for the commit.
    """
    place = git_folder_of(folder)
    for kind in ("heads", "tags", "remotes") if place else ():
        if place and _REF.fullmatch(ref := f"refs/{kind}/{name}"):
            try:
                has_tables = read_line(place.own / "HEAD") == _IN_TABLES
                if found := _followed(place, f"ref: {ref}", has_tables=has_tables):
                    return found
            except (OSError, ValueError):
                continue
    return ""


def _followed(place: GitFolder, name: str, *, has_tables: bool) -> str | None:
    for _ in range(_MOST_LINKS):
        if not name.startswith("ref:"):
            return name if _COMMIT.fullmatch(name) else None
        ref = name[4:].strip()
        if not _REF.fullmatch(ref):
            return None
        folder = place.own if ref.startswith(_OWN_REFS) else place.common
        name = reftable.value_in(folder / "reftable", ref) if has_tables else _value(folder, ref)
        if not name:
            return ""
    return None


def is_busy(folder: Path) -> bool:
    """Whether git is writing to the folder's work tree right now."""
    place = git_folder_of(folder)
    try:
        return place is not None and time.time() - (place.own / "index.lock").lstat().st_mtime < _LONGEST_LOCK_SECONDS
    except OSError:
        return False


def _value(folder: Path, ref: str) -> str:
    """Return a ref's value; empty if it does not exist.

    Raises:
        OSError: it cannot be read, or a folder above it is a link, perhaps to the refs of another repository.
        ValueError: it is too long, or no text.
    """
    try:
        return line_in(read_small_beneath(folder, ref, MOST_LINE_BYTES), folder / ref)
    except (FileNotFoundError, NotADirectoryError, NotRegularError):
        packed = folder / "packed-refs"
        return _packed(packed, _signature(packed), ref)


@lru_cache(maxsize=64)
def _packed(path: Path, signature: Signature, ref: str) -> str:
    """Look up a ref in a file of packed refs. Git replaces this file as a whole and never writes into it."""
    if not signature:
        return ""
    content = read_small(path, _MOST_PACKED_BYTES)
    if len(content) > _MOST_PACKED_BYTES:
        raise ValueError(f"{path} is too long.")
    found = re.search(rb"^([0-9a-f]+) " + re.escape(ref.encode()) + rb"\r?$", content, re.MULTILINE)
    return found[1].decode() if found else ""


def _signature(path: Path) -> Signature:
    """Identify a file's state; empty if it is missing."""
    try:
        status = path.lstat()
    except FileNotFoundError:
        return ()
    return status.st_mtime_ns, status.st_size, status.st_ino
