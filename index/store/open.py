"""Choose a generation's store: its own folder, a collection on the configured server, or a layer over a base there."""

from collections.abc import Callable
from contextlib import AbstractContextManager, closing, nullcontext
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from cqm.index.model.errors import DamagedIndexError, ElsewhereError, StoreError
from cqm.index.model.options import StoreOptions
from cqm.index.remote.variables import Variables
from cqm.index.store.base import TERMS, Nearest, Point, Store, file_point_id
from cqm.index.store.collection import (
    FROZEN_FILE,
    BaseNote,
    CollectionNote,
    new_note,
    read_base,
    read_frozen,
    read_note,
    write_note,
)
from cqm.index.store.edge import EdgeStore
from cqm.index.store.frozen import FIRST_LAYER, Parts, parts_of, remove_leftovers
from cqm.index.text.terms import SparseTerms

if TYPE_CHECKING:
    from cqm.index.store.layered import LayeredStore
    from cqm.index.store.qdrant import QdrantStore
    from cqm.index.store.qdrant_client import QdrantServer


SHAPING = (
    *("url", "prefix", "shard_number", "replication_factor", "write_consistency_factor"),
    *("quantization", "on_disk"),
)
"""The server options deciding the place and form of points."""


def open_store(
    place: Path,
    options: StoreOptions,
    variables: Variables,
    flushing: Callable[[], AbstractContextManager[None]],
    *,
    is_begun: bool,
    is_settled: bool,
) -> Store:
    """Return the store of a generation, not yet created or loaded.

    Parameters:
        options: of the server; a generation already begun stays in its place.
        flushing: as in `EdgeStore`.
        is_begun: whether it may contain anything.
        is_settled: whether the folder's whole content is known to be on disk.

    Raises:
        ElsewhereError: it is on an unconfigured server: nothing is sent there.
        StoreError: the note of its collection cannot be read or written.
    """
    if base := read_base(place):
        _refuse_elsewhere(base, options)
        return _layered(place, base, options, variables, flushing, is_settled=is_settled)
    frozen = read_frozen(place)
    remove_leftovers(place, frozen)
    if frozen:
        return open_frozen(place, flushing, is_settled=is_settled)
    note = read_note(place)
    if note is None and (is_begun or not options.index_url):
        return EdgeStore(place / FIRST_LAYER, flushing, is_settled=is_settled)
    if note is None:
        note = new_note(place, options)
        write_note(place, note)
    else:
        _refuse_elsewhere(note, options)
    return _on_server(place, note, options, variables, flushing)


def open_frozen(
    place: Path,
    flushing: Callable[[], AbstractContextManager[None]] = nullcontext,
    *,
    is_settled: bool = False,
    base: Parts | None = None,
) -> "LayeredStore":
    """Return the store of a generation with a base in its folder, not yet created or loaded.

    Parameters:
        place, flushing, is_settled: as in `open_store`.
        base: None for the one in the folder.

    Raises:
        StoreError, DamagedIndexError: there is no such base.
    """
    from cqm.index.store.layered import LayeredStore

    note = read_frozen(place)
    if note is None:
        raise DamagedIndexError(f"{place / FROZEN_FILE} is missing.")
    layer = EdgeStore(place / note.layer, flushing, is_settled=is_settled, weighs=False)
    return LayeredStore(place, note, base or parts_of(place, note), layer)


def refuse_elsewhere(place: Path, options: StoreOptions) -> None:
    """Refuse a generation on a server other than the configured one.

    Raises:
        ElsewhereError: it is on another server: nothing is sent there.
        DamagedIndexError, StoreError: the note of its collection is damaged, or cannot be read.
    """
    if note := read_base(place) or read_note(place):
        _refuse_elsewhere(note, options)


def _refuse_elsewhere(note: CollectionNote | BaseNote, options: StoreOptions) -> None:
    if note.url != options.url:
        raise ElsewhereError(
            f"The index is on {note.url}, which is not what store.url names now.",
            remedy="Set store.url to that to have it there again.",
        )


def drop_store(place: Path, options: StoreOptions, variables: Variables) -> None:
    """Delete a generation's collection, if it has one.

    Raises:
        StoreError: the server refuses, or is not the configured one.
    """
    try:
        note = read_note(place)
    except DamagedIndexError:
        # Nobody knows its collection any more. A base has no such note, and stays.
        return
    if note is None:
        return
    if note.url != options.url:
        raise StoreError(
            f"The collection {note.name} is on {note.url}, which is not what store.url names now.",
            remedy=f"Set store.url to it, or delete the collection there and {place.parent} by hand.",
        )
    store = _on_server(place, note, options, variables)
    try:
        store.drop()
    finally:
        store.close()


def try_server(options: StoreOptions, variables: Variables) -> str:
    """Create, fill, search and delete a small collection on the server; return the server's version.

    If only bases lie there, look for them instead: the key may be read-only.

    Raises:
        StoreError: one of these failed.
    """
    from cqm.index.store.bases import bases_on
    from cqm.index.store.qdrant_client import QdrantServer

    with closing(QdrantServer(options, variables)) as server:
        if options.only_bases:
            bases_on(server, options)
        else:
            _try_collection(server, options)
        return server.version()


def _try_collection(server: "QdrantServer", options: StoreOptions) -> None:
    import numpy as np

    from cqm.index.store.qdrant import QdrantStore

    with TemporaryDirectory() as folder:
        place = Path(folder) / "doctor-0" / "generation"
        place.mkdir(parents=True)
        note = new_note(place, options)
        store = QdrantStore(place, note, server, options)
        row = np.array([0.6, 0.8], dtype=np.float32)
        try:
            store.create()
            store.ensure_space("dense", row.size)
            store.upsert([Point(file_point_id(""), {"path": ""}, {TERMS: SparseTerms((1,), (1.0,))}, row, "dense")])
            searches = (Nearest(TERMS, SparseTerms((1,), (1.0,)), 1), Nearest("dense", row, 1))
            if not all(store.search(searches)):
                raise StoreError(f"{note} does not find what it holds.")
        finally:
            store.drop()


def _on_server(
    place: Path,
    note: CollectionNote,
    options: StoreOptions,
    variables: Variables,
    flushing: Callable[[], AbstractContextManager[None]] = nullcontext,
) -> "QdrantStore":
    from cqm.index.store.qdrant import QdrantStore
    from cqm.index.store.qdrant_client import QdrantServer

    return QdrantStore(place, note, QdrantServer(options, variables), options, flushing)


def _layered(
    place: Path,
    note: BaseNote,
    options: StoreOptions,
    variables: Variables,
    flushing: Callable[[], AbstractContextManager[None]],
    *,
    is_settled: bool,
) -> "LayeredStore":
    from cqm.index.store.layered import LayeredStore
    from cqm.index.store.qdrant_client import QdrantServer
    from cqm.index.store.qdrant_reader import QdrantReader

    layer = EdgeStore(place / FIRST_LAYER, flushing, is_settled=is_settled, weighs=False)
    return LayeredStore(place, note, QdrantReader(note.collection, QdrantServer(options, variables), options), layer)
