"""Replace a generation by another with the same options: a copy without deleted points, or a rebuilt one."""

from collections.abc import Mapping
from pathlib import Path

from cqm.index.disk.durable import require_room
from cqm.index.disk.locations import size_on_disk
from cqm.index.generations.generation import Generation, manifest_path, open_generation
from cqm.index.manifest.coverage import lacking
from cqm.index.manifest.manifest import Manifest
from cqm.index.model.errors import DamagedIndexError, StoreError
from cqm.index.model.options import IndexOptions
from cqm.index.model.query import FileState
from cqm.index.remote.variables import Variables
from cqm.index.store.edge import EdgeStore


def copy_generation(source: Generation, place: Path, options: IndexOptions, variables: Variables) -> Generation:
    """Copy a generation to a new folder and open it.

    Every point is written into a new shard. Edge's own `optimize` frees as much of the segments, but leaves the log as
    large as it was (41 of 73 MB, measured), can't run during searches, and works in place.

    Raises:
        StoreError, ManifestError: it is on a server, or cannot be read or written; a partial copy is deleted with the
            obsolete generations.
    """
    if not isinstance(source.store, EdgeStore):
        raise StoreError(f"The index is on {source.store}.", remedy="Leave it: a Qdrant server compacts by itself.")
    require_room(source.place, size_on_disk(source.place))
    try:
        place.mkdir(mode=0o700)
    except OSError as error:
        raise StoreError(f"{place} cannot be made: {error}.", remedy="Free space or mend its permissions.") from error
    source.manifest.copy_to(manifest_path(place.parent, place.name))
    store = EdgeStore(place / "shard")
    try:
        store.create()
        store.fill(source.store)
    finally:
        store.close()
    # Also checks that every point is there.
    return open_generation(place.parent, place.name, options, variables)


def what_is_lost(old: Generation, new: Generation, wanted: Mapping[str, str]) -> str:
    """Say which data a rebuilt generation lacks compared with the old one; empty if nothing.

    Parameters:
        wanted: from `wanted_spaces`.
    """
    try:
        held = {path for path, row in old.manifest.files().items() if row.state is FileState.INDEXED}
        had = _without_vector(old.manifest, wanted)
    except DamagedIndexError:
        return ""
    failed = [problem for problem in new.manifest.problems(FileState.FAILED) if problem.path in held]
    if failed:
        return f"{len(failed):,} files failed that it holds, {failed[0].path} first: {failed[0].reason}"
    worse = _without_vector(new.manifest, wanted) - had
    return f"the preferred model could not be had for {worse:,} chunks" if worse > 0 else ""


def _without_vector(manifest: Manifest, wanted: Mapping[str, str]) -> int:
    """Count the chunks waiting for a vector of their preferred model."""
    return lacking(manifest, wanted) - manifest.without_note()[1]
