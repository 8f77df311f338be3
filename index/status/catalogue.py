"""Find, describe and delete all indexes of a user without opening them."""

from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

from cqm.index.disk.locations import (
    FILES,
    LOCK_FILE,
    ROOT_FILE,
    IndexLock,
    index_folder,
    indexes_home,
    is_index,
    noted_root,
    project_index,
    used_at,
)
from cqm.index.disk.proof import forget_folder, is_inside_project, proven_folder
from cqm.index.disk.size import size_on_disk
from cqm.index.generations.folders import is_generation, manifest_path, serving_name
from cqm.index.manifest.facts import DAMAGE_FACT, SPACE_FACT, UNAVAILABLE_FACT, UPDATED_FACT
from cqm.index.manifest.manifest import Manifest
from cqm.index.manifest.schema import refuse_newer_file
from cqm.index.model.errors import (
    DamagedIndexError,
    ForeignIndexError,
    IndexInUseError,
    ManifestError,
    NewerReleaseError,
    StoreError,
)
from cqm.index.model.options import IndexOptions
from cqm.index.model.query import FileState
from cqm.index.model.status import IndexEntry
from cqm.index.remote.variables import Variables
from cqm.index.store.collection import server_of

_MEGABYTE = 1_000_000


def make_room(kept: Path, options: IndexOptions, variables: Variables) -> Iterator[str]:
    """Delete indexes of other roots, the least recently used first, until all fit into `options.disk_mb`.

    Indexes in use by a process stay, and so do undeletable ones.

    Parameters:
        kept: the folder of an index to keep in any case.

    Yields:
        A sentence for each deleted index, and one if the rest is still too large.
    """
    if not options.disk_mb:
        return
    sizes = {folder: size_on_disk(folder) for folder in {kept, *all_indexes(options)}}
    over = sum(sizes.values()) - options.disk_mb * _MEGABYTE
    limit = f"index.disk_mb ({options.disk_mb:,} MB)"
    for folder in sorted(sizes.keys() - {kept}, key=used_at):
        if over <= 0:
            return
        try:
            root = noted_root(folder)
            remove_index(folder, options, variables)
        except (IndexInUseError, StoreError, OSError):
            continue
        over -= sizes[folder]
        yield f"The index of {root} ({sizes[folder] / _MEGABYTE:,.0f} MB) was deleted to keep to {limit}."
    if over > 0:
        yield f"The indexes that are left take {over / _MEGABYTE:,.0f} MB more than {limit}."


def all_indexes(options: IndexOptions) -> Iterator[Path]:
    """Yield the folders of all indexes, sorted by name, except those inside their projects."""
    home = indexes_home(options)
    for folder in sorted(home.iterdir()) if home.is_dir() else ():
        if is_index(folder):
            yield folder


def indexes_of(root: Path, options: IndexOptions) -> list[Path]:
    """Return the folders of a root's existing indexes: in the user's cache, and in the project itself.

    Leaves out a `.cqm/` not made by this user's CQM; see `foreign_index`.

    Parameters:
        root: a real path, as far as it exists.

    Raises:
        StoreError: as `index_folder`.
    """
    inside = None
    with suppress(ForeignIndexError):
        inside = proven_folder(project_index(root))
    return [folder for folder in (index_folder(root, options), inside) if folder and is_index(folder)]


def foreign_index(root: Path) -> str:
    """Report a `.cqm/` in a project not made by this user's CQM; empty if there is none."""
    try:
        proven_folder(project_index(root))
    except ForeignIndexError as error:
        return error.message
    return ""


def entry(folder: Path) -> IndexEntry:
    """Describe an index; changes nothing and doesn't disturb its user."""
    root, name = noted_root(folder), serving_name(folder)
    counted = _counted(folder, name) if name else {}
    return IndexEntry(
        root=root,
        location=str(folder),
        root_exists=bool(root) and "\0" not in root and Path(root).exists(),
        size_bytes=size_on_disk(folder),
        used_at=used_at(folder),
        in_use_by=IndexLock(folder).owner(),
        server=server_of(folder / name) if name else "",
        **counted,
    )


def _counted(folder: Path, name: str) -> dict[str, Any]:
    """Read the counts of a generation's manifest, or the reason for having none."""
    try:
        refuse_newer_file(manifest_path(folder, name))
        with closing(Manifest.open(manifest_path(folder, name), read_only=True)) as manifest:
            return {
                "space": manifest.fact(f"{SPACE_FACT}code"),
                "updated_at": float(manifest.fact(UPDATED_FACT) or 0),
                "files": manifest.counts("state").get(FileState.INDEXED, 0),
                "chunks": manifest.chunk_count(),
                "damage": manifest.fact(DAMAGE_FACT),
                "unavailable": manifest.fact(UNAVAILABLE_FACT),
            }
    except NewerReleaseError as error:
        return {"unavailable": str(error)}
    except (DamagedIndexError, ManifestError) as error:
        return {"damage": error.message}


def remove_index(folder: Path, options: IndexOptions, variables: Variables) -> None:
    """Delete an index. A kill in between leaves an index as if never made.

    Parameters:
        options, variables: of its server, if it is on one.

    Raises:
        IndexInUseError: a process has it open.
        StoreError: it contains something not made by CQM, or cannot be deleted, here or on its server.
    """
    from cqm.index.generations.generation import remove_all  # start-up time: it imports everything that makes an index

    foreign = sorted(path.name for path in folder.iterdir() if not _is_ours(path))
    if foreign or not is_index(folder):
        named = f"it holds {foreign[0]}" if foreign else "it notes no root"
        raise StoreError(f"{folder} is not deleted: {named}.", remedy="Look at it, and delete it by hand.")
    lock = IndexLock(folder)
    lock.acquire()
    try:
        remove_all(folder, options, variables)
        for name in [*sorted(FILES - {ROOT_FILE, LOCK_FILE}), ROOT_FILE]:
            (folder / name).unlink(missing_ok=True)
        # Windows refuses to delete an open file. The rest is no index.
        with suppress(OSError):
            (folder / LOCK_FILE).unlink()
            forget_folder(folder) if is_inside_project(folder) else folder.rmdir()
    except OSError as error:
        raise StoreError(f"{folder} cannot be deleted: {error}.", remedy="Mend its permissions.") from error
    finally:
        lock.release()


def _is_ours(path: Path) -> bool:
    return is_generation(path) or (path.name in FILES and not path.is_dir() and not path.is_symlink())
