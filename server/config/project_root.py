"""Which folder a command is about when it is not told."""

from pathlib import Path

PROJECT_MARKS = (".git", "cqm.yml")
"""What a folder has that is a project of its own."""


def project_root(folder: Path) -> Path:
    """The nearest folder at or above `folder` that is a project of its own; else `folder`.

    The home folder and the top of a disk are never taken for a project of what lies below them.

    Parameters:
        folder: a real path.
    """
    barred = (Path.home(), Path(folder.anchor))
    places = (place for place in (folder, *folder.parents) if place not in barred)
    return next((place for place in places if any((place / mark).exists() for mark in PROJECT_MARKS)), folder)


def is_too_wide(folder: Path) -> bool:
    """Whether to index a folder must be asked for by name: the home folder and the top of a disk."""
    return folder in (Path.home(), Path(folder.anchor))
