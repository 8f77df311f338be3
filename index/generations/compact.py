"""Copy a generation without its deleted points; the copy takes its place."""

from cqm.index.disk.durable import require_room
from cqm.index.disk.size import size_on_disk
from cqm.index.generations.folders import manifest_path
from cqm.index.generations.generation import Generation, fresh_name, open_generation
from cqm.index.manifest.facts import COMPLETE_FACT
from cqm.index.model.errors import StoreError
from cqm.index.model.options import IndexOptions
from cqm.index.remote.variables import Variables
from cqm.index.store.edge import EdgeStore


def copy_generation(source: Generation, options: IndexOptions, variables: Variables) -> Generation:
    """Copy a complete generation to a new folder beside it and open it.

    Every point is written into a new shard. Edge's own `optimize` frees as much of the segments, but keeps the whole
    log (41 of 73 MB, measured), can't run during searches, and works in place.

    Raises:
        StoreError, ManifestError: it is not complete or on a server, or cannot be read or written; a partial copy is
            deleted with the obsolete generations.
    """
    if not source.manifest.fact(COMPLETE_FACT):
        raise StoreError(f"The index in {source.place.parent} is not complete.", remedy="Run `cqm index` first.")
    if not isinstance(source.store, EdgeStore):
        raise StoreError(
            f"The index is on {source.store}.",
            remedy="Leave it: a Qdrant server compacts by itself, and `cqm take` begins a layer anew.",
        )
    place = source.place.with_name(fresh_name(options))
    require_room(source.place, size_on_disk(source.place))
    try:
        place.mkdir(mode=0o700)
    except OSError as error:
        raise StoreError(f"{place} cannot be made: {error}.", remedy="Free space or mend its permissions.") from error
    source.manifest.copy_to(manifest_path(place.parent, place.name))
    store = EdgeStore(place / "shard")
    try:
        store.create(source.dimensions())
        for points in source.store.batches():
            store.upsert(points)
    finally:
        store.close()
    # Also checks that no point is missing.
    return open_generation(place.parent, place.name, options, variables)
