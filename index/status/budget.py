"""The room that all indexes may take on disk: whole indexes go that were not used for the longest time."""

from collections.abc import Iterator
from pathlib import Path

from cqm.index.disk.locations import noted_root, used_at
from cqm.index.model.errors import IndexInUseError, StoreError
from cqm.index.model.options import IndexOptions
from cqm.index.status.catalogue import all_indexes, remove_index
from cqm.index.status.status import size_on_disk

_MEGABYTE = 1_000_000


def make_room(kept: Path, options: IndexOptions) -> Iterator[str]:
    """Delete indexes of other roots, the least recently used first, until all fit into `options.disk_mb`.

    One that a process has open stays, and so does what cannot be deleted.

    Parameters:
        kept: the folder of the index that stays in any case.

    Yields:
        A sentence for each index that was deleted, and one where it was not enough.
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
            remove_index(folder, options)
        except (IndexInUseError, StoreError, OSError):
            continue
        over -= sizes[folder]
        yield f"The index of {root} ({sizes[folder] / _MEGABYTE:,.0f} MB) was deleted to keep to {limit}."
    if over > 0:
        yield f"The indexes that are left take {over / _MEGABYTE:,.0f} MB more than {limit}."
