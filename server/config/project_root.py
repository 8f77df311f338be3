"""The folder of a command without one, and the places of cqm.yml."""

import os
import stat
from pathlib import Path

FILE_NAME = "cqm.yml"
_MARKS = (".git", FILE_NAME)
"""A folder with one of these is a project of its own."""


def project_root(folder: Path) -> Path:
    """Return the nearest project at or above `folder`; else `folder`.

    The home folder and the top of a disk are never the project of a folder below them.

    Parameters:
        folder: a real path.
    """
    barred = (Path.home(), Path(folder.anchor))
    places = (place for place in (folder, *folder.parents) if place not in barred)
    return next((place for place in places if is_project(place)), folder)


def left_by_link(path: Path) -> Path | None:
    """Return the folder around a path as written, if a link in the path leads out of that folder; else None.

    The folder is the path's project. An unpacked archive has no mark of a project: then it is the working folder for a
    path below it, and the file's folder for any other path to a file. Home and the top of a disk are nobody's tree.
    """
    written = Path(os.path.abspath(path))  # noqa: PTH100 - `resolve` follows links
    root, here = project_root(written.parent), Path.cwd()
    if not is_project(root):
        is_below = not path.is_absolute() and written.is_relative_to(here) and not is_too_wide(here)
        root = here if is_below else written.parent
        if is_too_wide(root) or not (path.is_file() or (is_below and path.is_dir())):
            return None
    return None if path.resolve().is_relative_to(root.resolve()) else root


def is_project(folder: Path) -> bool:
    """Whether a folder is a project of its own, and not one such as /tmp, where anybody may leave the mark of one."""
    return any((folder / mark).exists() for mark in _MARKS) and not _everybody_writes(folder)


def is_too_wide(folder: Path) -> bool:
    """Whether a folder is indexed only when named: the home folder and the top of a disk."""
    return folder in (Path.home(), Path(folder.anchor))


def _everybody_writes(folder: Path) -> bool:
    # A group is left out: on many systems each user has one of their own. So is an own folder without the sticky bit:
    # where Windows' disks are mounted, every folder is of mode 0777.
    if not hasattr(os, "geteuid"):
        return False
    found = folder.stat()
    is_shared = bool(found.st_mode & stat.S_ISVTX) or found.st_uid != os.geteuid()
    return bool(found.st_mode & stat.S_IWOTH) and is_shared


def user_file() -> Path:
    """Return the user's cqm.yml, which may be missing."""
    from platformdirs import user_config_path  # start-up time

    return user_config_path("cqm", appauthor=False) / FILE_NAME
