"""The folder of a command that names none."""

from pathlib import Path

PROJECT_MARKS = (".git", "cqm.yml")
"""Files and folders that mark a project of its own."""


def project_root(folder: Path) -> Path:
    """The nearest project at or above `folder`; else `folder`.

    The home folder and the top of a disk are never the project of a folder below them.

    Parameters:
        folder: a real path.
    """
    barred = (Path.home(), Path(folder.anchor))
    places = (place for place in (folder, *folder.parents) if place not in barred)
    return next((place for place in places if any((place / mark).exists() for mark in PROJECT_MARKS)), folder)


def is_too_wide(folder: Path) -> bool:
    """Whether a folder is indexed only when named: the home folder and the top of a disk."""
    return folder in (Path.home(), Path(folder.anchor))
