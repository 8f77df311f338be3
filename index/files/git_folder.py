"""Find a work tree's git folders, as in gitrepository-layout(5), and read small files in them.

All of it may be a stranger's: a file is read only up to a limit, and only if it is a regular one and no link. The
folders named by `.git` and `commondir` may lie anywhere. If one does not name its work tree in turn
(`names_each_other`), only a commit's id is ever shown.
"""

import os
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from cqm.index.disk.beneath import read_small

MOST_LINE_BYTES = 4096
"""Limit for a file with one path, ref or id."""
_MOST_SETTINGS_BYTES = 1 << 20
_SETTINGS = ("config", "config.worktree")
_WORK_TREE = re.compile(
    rb"^[ \t]*\[core\](?:(?!\n[ \t]*\[)[\s\S])*?\n[ \t]*worktree[ \t]*=[ \t]*\"?([^\"\r\n]+)",
    re.IGNORECASE | re.MULTILINE,
)
_PARTS = ("objects", "refs", "packed-refs", "reftable")
"""The sources of a repository's commits; a stranger's may be links to another repository's."""


@dataclass(frozen=True, slots=True)
class GitFolder:
    """The folders of a work tree's repository.

    Attributes:
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
            own = top / _path_in(read_small(entry, MOST_LINE_BYTES).removeprefix(b"gitdir:"))
        if not (own / "HEAD").exists():
            return None
        common = own
        if os.path.lexists(own / "commondir"):
            common = own / _path_in(read_small(own / "commondir", MOST_LINE_BYTES))
    except (OSError, ValueError):
        return None
    return GitFolder(top, own, common)


def is_other_checkout(top: Path, around: Iterable[Path]) -> bool:
    """Whether a folder is one more checkout, as `git worktree add` makes it, of the repository of a folder around it.

    A bare repository is no checkout: its work trees are often all beside each other in the folder around it.
    """
    place = git_folder_at(top)
    if place is None or place.own == place.common:
        return False
    common = os.path.realpath(place.common)
    outer = (git_folder_at(folder) for folder in around)
    return any(it and (it.own / "index").is_file() and os.path.realpath(it.common) == common for it in outer)


def names_each_other(place: GitFolder) -> bool:
    """Whether a repository is the work tree's own: only then may its commits be shown.

    A stranger's `.git` may be a link to any repository of this machine, or name one in a file, as those of worktrees
    and submodules do. Git notes in these their work tree.
    """
    own, common = (os.path.realpath(it) for it in (place.own, place.common))
    if common not in {own, os.path.dirname(os.path.dirname(own))}:  # noqa: PTH120 - texts
        return False
    if any(os.path.islink(os.path.join(common, it)) for it in _PARTS):  # noqa: PTH114, PTH118 - texts
        return False
    top = os.path.realpath(place.top)
    return own == os.path.join(top, ".git") or top in map(os.path.realpath, _work_trees(own))  # noqa: PTH118


def _work_trees(own: str) -> Iterator[str]:
    """Yield the work trees named by a git folder: in a file of `git worktree`, or in its settings."""
    with suppress(OSError, ValueError):
        entry = os.fsdecode(_path_in(read_small(Path(own, "gitdir"), MOST_LINE_BYTES)))
        yield os.path.dirname(os.path.join(own, entry))  # noqa: PTH118, PTH120 - texts
    for name in _SETTINGS:
        with suppress(OSError):
            for found in _WORK_TREE.finditer(read_small(Path(own, name), _MOST_SETTINGS_BYTES)):
                yield os.path.join(own, os.fsdecode(found[1].strip()))  # noqa: PTH118 - texts


def shallow_commits(place: GitFolder) -> frozenset[str]:
    """Return the ids of commits with parents missing in a shallow clone; empty for a whole repository."""
    try:
        read = read_small(place.common / "shallow", _MOST_SETTINGS_BYTES)
    except OSError:
        return frozenset()
    return frozenset(read.decode("ascii", "replace").split())


def read_line(path: Path) -> str:
    """Read a small file of git.

    Raises:
        OSError: it cannot be read, or is no regular file.
        ValueError: it is too long, or no text.
    """
    return line_in(read_small(path, MOST_LINE_BYTES), path)


def line_in(content: bytes, path: Path) -> str:
    """Return the only line of a small file of git, read up to one byte beyond its limit.

    Raises:
        ValueError: it is too long, or no text.
    """
    if len(content) > MOST_LINE_BYTES:
        raise ValueError(f"{path} is too long.")
    return content.decode().strip()


def _path_in(content: bytes) -> str:
    if len(content) > MOST_LINE_BYTES or b"\0" in content or not content.strip():
        raise ValueError("It holds no path.")
    return os.fsdecode(content.strip())
