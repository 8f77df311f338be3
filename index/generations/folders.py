"""Folders of generations in the folder of an index: their names, and which one serves."""

import re
from contextlib import suppress
from pathlib import Path

from cqm.index.disk.locations import CURRENT_FILE
from cqm.index.disk.private import read_private
from cqm.index.model.errors import StoreError

MANIFEST_FILE = "manifest.db"
OBSOLETE = "obsolete-"
"""Prefix of a former generation's folder: nothing opens it, so it may be deleted piece by piece."""
_NAME = re.compile("[0-9a-f]{12}(-[0-9a-f]{8})?")


def current_name(folder: Path) -> str:
    """Name of the serving generation in an index folder; empty if there is none or the file is damaged."""
    try:
        name = read_private(folder, CURRENT_FILE).decode("utf-8", "replace").strip()
    except FileNotFoundError:
        return ""
    except OSError as error:
        remedy = "Mend its permissions, or delete it: `cqm index` makes the index anew then."
        raise StoreError(f"{folder / CURRENT_FILE} cannot be read: {error}.", remedy=remedy) from error
    return name if _NAME.fullmatch(name) else ""


def names(folder: Path) -> list[str]:
    """Return the names of all generations in an index folder, the last written first."""
    written: dict[str, int] = {}
    for path in folder.iterdir():
        if is_generation(path) and not path.name.startswith(OBSOLETE):
            # Other generations may come and go meanwhile.
            with suppress(FileNotFoundError):
                written[path.name] = manifest_path(folder, path.name).lstat().st_mtime_ns
    return sorted(written, key=written.__getitem__, reverse=True)


def serving_name(folder: Path, wanted: str = "") -> str:
    """Name of the generation to open: the current one, else `wanted` if it exists, else any; empty if there is none."""
    there = names(folder) if folder.is_dir() else []
    return current_name(folder) or (wanted if wanted in there else next(iter(there), ""))


def building_name(folder: Path, serving: str) -> str:
    """Name of the last written generation beside the serving one; empty if there is none."""
    there = names(folder) if folder.is_dir() else []
    return next((name for name in there if name != serving), "")


def is_generation(path: Path) -> bool:
    """Whether a path is a folder named like a generation or its remains."""
    name = path.name.removeprefix(OBSOLETE)
    return bool(_NAME.fullmatch(name)) and path.is_dir() and not path.is_symlink()


def manifest_path(folder: Path, name: str) -> Path:
    """Return the path of a generation's manifest."""
    return folder / name / MANIFEST_FILE
