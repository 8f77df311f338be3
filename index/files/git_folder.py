"""Find a work tree's git folders, as in gitrepository-layout(5), and read small files in them.

All of it may be a stranger's: a file is read only up to a limit, and only if it is a regular one and no link. The
folders named by `.git` and `commondir` may lie anywhere; of their content only a commit's id is ever shown.
"""

import os
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from cqm.index.disk.beneath import read_small

_MOST_BYTES = 4096
"""Limit for a file with one path, ref or id."""


@dataclass(frozen=True, slots=True)
class GitFolder:
    """The folders of a work tree's repository.

    Attributes:
        top: of the work tree.
        own: this work tree's own files: HEAD, the index.
        common: shared with the repository's other work trees: refs, objects. Often the same folder.
    """

    top: Path
    own: Path
    common: Path


def git_folder_of(folder: Path) -> GitFolder | None:
    """Find the repository of a folder's work tree; None outside of one."""
    for top in _with_parents(folder):
        found = git_folder_at(top)
        if found:
            return found
    return None


@lru_cache(maxsize=1 << 8)
def _with_parents(folder: Path) -> tuple[Path, ...]:
    # Each search asks for them, and making a Path takes longer than looking into its folder.
    return (folder, *folder.parents)


def git_folder_at(top: Path) -> GitFolder | None:
    """Find the repository of the work tree beginning at a folder; None if none begins there."""
    # Each search asks for all folders above the root.
    if not os.path.lexists(f"{top}{os.sep}.git"):
        return None
    try:
        own = entry = top / ".git"
        if not entry.is_dir():
            own = top / _path_in(read_small(entry, _MOST_BYTES).removeprefix(b"gitdir:"))
        if not (own / "HEAD").exists():
            return None
        common = own
        if os.path.lexists(own / "commondir"):
            common = own / _path_in(read_small(own / "commondir", _MOST_BYTES))
    except (OSError, ValueError):
        return None
    return GitFolder(top, own, common)


def read_line(path: Path) -> str:
    """Read a small file of git.

    Raises:
        OSError: it cannot be read, or is no regular file.
        ValueError: it is too long, or no text.
    """
    content = read_small(path, _MOST_BYTES)
    if len(content) > _MOST_BYTES:
        raise ValueError(f"{path} is too long.")
    return content.decode().strip()


def _path_in(content: bytes) -> str:
    if len(content) > _MOST_BYTES or b"\0" in content or not content.strip():
        raise ValueError("It holds no path.")
    return os.fsdecode(content.strip())
