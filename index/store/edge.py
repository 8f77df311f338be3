"""Qdrant Edge, an in-process shard, as a store. Only this module and `edge_shards` know its API.

It silently accepts vectors no search can use (not finite, mismatched, repeated indices), hence `check`.
"""

import logging
import shutil
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cqm.chunkers.errors import CqmError
from cqm.index.disk.durable import Tree
from cqm.index.model.errors import StoreError
from cqm.index.store.base import (
    NO_SPACES,
    WORDS,
    Indices,
    Nearest,
    Point,
    check,
    point_id,
    search_each,
    stored_id,
    stored_indices,
    stored_point,
)
from cqm.index.store.edge_shards import OPENED, edge_query, load_shard, make_shard, translated

if TYPE_CHECKING:
    import qdrant_edge

# A flush stalls searches for a moment: it waits for a pause in writing, up to a limit.
_QUIET_SECONDS = 1.0
_LONGEST_UNFLUSHED_SECONDS = 10.0
# Edge holds the interpreter's lock for a whole call: between small batches searches can run.
_BATCH = 128
_SCROLL_PAGE = 1000
_log = logging.getLogger(__name__)


class EdgeStore:
    """A shard on disk. Writes are in its log at once and flushed about a second later, without delaying the caller.

    Searches and writes may come from any thread. Every method raises StoreError when the shard refuses.

    Parameters:
        flushing: returns a context for every flush; it ends without an error once all earlier writes are on disk.
        is_settled: whether the folder's whole content is known to be on disk.
        weighs: whether a new shard weighs words by their document frequencies.
        is_base: whether a new shard is one that is filled once; see `optimize`.
    """

    in_folder = True

    def __init__(
        self,
        folder: Path,
        flushing: Callable[[], AbstractContextManager[None]] = nullcontext,
        *,
        is_settled: bool = False,
        weighs: bool = True,
        is_base: bool = False,
        has_graph: bool = False,
    ) -> None:
        self._folder = folder
        self._weighs = weighs
        self._is_base = is_base
        self._has_graph = has_graph
        self._tree = Tree(folder)
        self._flushing = flushing
        self._is_settled = is_settled
        self._shard: qdrant_edge.EdgeShard | None = None
        # Taken after `_flush_lock`, if both are.
        self._rest_lock = threading.RLock()
        self._is_resting = False
        self._used_at = time.monotonic()
        self._flush_timer: threading.Timer | None = None
        self._timer_lock = threading.Lock()
        self._flush_lock = threading.RLock()
        self._dirty_since = self._written_at = 0.0
        self._made_spaces: dict[str, int] = {}

    def create(self, spaces: Mapping[str, int] = NO_SPACES) -> None:
        """Create an empty shard, replacing the folder's content, and open it; see `Store.create`.

        A space made now takes no time; `ensure_space` takes .3 s for the first one.
        """
        with translated(self._folder, "created"):
            shutil.rmtree(self._folder, ignore_errors=True)
            self._shard = make_shard(
                self._folder, spaces, weighs=self._weighs, is_base=self._is_base, has_graph=self._has_graph
            )
            self._made_spaces = dict(spaces)

    def load(self) -> None:
        """Open the shard in the folder, replaying its log after the last flush.

        A replayed insertion may meet vectors already written by the killed process. Edge then leaves their point out of
        the number for weighing words. Reopened, it counts all points again.
        """
        if self._is_settled:
            self._tree.note()
        with translated(self._folder, OPENED):
            self._shard = load_shard(self._folder)
            if self._weighs and not self._is_settled:
                self._shard.flush()
                self._tree.sync()
                self._shard.close()
                self._shard = load_shard(self._folder)

    def ensure_space(self, name: str, dimensions: int) -> None:
        """Create a missing vector space; harmless if it exists with the same dimensions.

        Vectors of a space created before the first point are quantized. Those of a later space, and of an index of an
        earlier release, are scanned unquantized until the index is compacted or rebuilt.
        """
        import qdrant_edge as edge

        if self._made_spaces.get(name) == dimensions:
            return
        create = edge.UpdateOperation.create_dense_vector
        space = create(name, dimensions, edge.Distance.Dot, datatype=edge.VectorStorageDatatype.Float16)
        with translated(self._folder, "written"):
            is_empty = self._opened().info().points_count == 0
        if not is_empty:
            self._update(space)
            return
        with translated(self._folder, "written"):
            self._opened().update(space)
            # A segment takes a new vector's quantization from the configuration when it is made: so remake it here.
            self._opened().optimize()
        # The old segments, never synced, go with the first flush; the new ones must be on disk.
        self.flush()

    def upsert(self, points: Sequence[Point]) -> None:
        """Insert or replace points. Nothing stays of a replaced one, in any space."""
        import qdrant_edge as edge

        for start in range(0, len(points), _BATCH):
            batch = [_edge_point(point) for point in points[start : start + _BATCH]]
            self._update(edge.UpdateOperation.upsert_points(batch))

    def delete(self, ids: Sequence[str]) -> None:
        """Delete points by id; unknown ids are harmless.

        Edge keeps counting a deleted point's words in the document frequencies, but not those of an overwritten one. So
        each point loses its vectors first, and scores are as if it had never been stored. Empty vectors would not do:
        if the process is killed and the point comes again, Edge doesn't count it.
        """
        import qdrant_edge as edge

        for start in range(0, len(ids), _BATCH):
            batch = ids[start : start + _BATCH]
            # With its path: if the process is killed now, the next update finds the emptied point and deletes it.
            paths = self.payloads(batch, ["path"])
            emptied = [edge.Point(stored_id(name), {}, dict(paths.get(name, {}))) for name in batch]
            self._update(edge.UpdateOperation.upsert_points(emptied))
            self._update(edge.UpdateOperation.delete_points([*map(stored_id, batch)]))

    def ids_of_path(self, path: str) -> set[str]:
        """Return the ids of all points of a path, even of points unknown to the manifest."""
        import qdrant_edge as edge

        return set(self._scroll(edge.Filter(must=[edge.FieldCondition("path", match=edge.MatchValue(path))])))

    def search(self, searches: Sequence[Nearest]) -> list[dict[str, float]]:
        """Return each search's scores by id, best first; searching together costs less than one by one."""
        return search_each(searches, lambda asked: self.found([*map(edge_query, asked)]))

    def found(self, requests: Sequence["qdrant_edge.QueryRequest"]) -> list[dict[str, float]]:
        """Return the scores of each of Edge's own requests by id, best first."""
        import qdrant_edge as edge

        batch = edge.QueryBatchRequest([*requests])
        with translated(self._folder, "searched"):
            answers = self._opened().query_batch(batch)
        return [{point_id(point.id): point.score for point in points} for points in answers]

    def payloads(self, ids: Sequence[str], fields: Sequence[str]) -> dict[str, Mapping[str, Any]]:
        """Return chosen payload fields of points by id; unknown ids are left out."""
        import qdrant_edge as edge

        with translated(self._folder, "read"):
            records = self._opened().retrieve(
                [*map(stored_id, ids)], edge.PayloadSelector.Include(list(fields)), with_vector=False
            )
        return {point_id(record.id): record.payload or {} for record in records}

    def points(self, ids: Sequence[str]) -> list[Point]:
        """Return points by id as stored; unknown ids are left out."""
        with translated(self._folder, "read"):
            records = self._opened().retrieve([*map(stored_id, ids)], with_payload=True, with_vector=True)
        return [stored_point(point_id(record.id), record.payload, record.vector) for record in records]

    def indices(self, ids: Sequence[str]) -> dict[str, Indices]:
        """Return the terms of points by id; unknown ids are left out."""
        with translated(self._folder, "read"):
            records = self._opened().retrieve([*map(stored_id, ids)], with_payload=False, with_vector=[*WORDS])
        return {point_id(record.id): stored_indices(record.vector) for record in records}

    def ids(self) -> Iterator[str]:
        """Yield the ids of all points, in the shard's order."""
        return self._scroll(None)

    def lost(self, ids: AbstractSet[str]) -> int:
        """Count missing points among these."""
        return len(ids - set(self.ids()))

    def count_vectors(self, space: str, but: Sequence[str] = ()) -> int:
        """Count the points with a dense vector in a space, without some ids."""
        import qdrant_edge as edge

        out: list[Any] | None = [edge.HasIdCondition({*map(stored_id, but)})] if but else None
        keep = edge.Filter(must=[edge.HasVectorCondition(space)], must_not=out)
        with translated(self._folder, "read"):
            return self._opened().count(edge.CountRequest(filter=keep))

    def count(self, what: str = "read") -> int:
        """Count all points; `what` completes an error's message: "opened"."""
        with translated(self._folder, what):
            return self._opened().info().points_count

    def batches(self) -> Iterator[list[Point]]:
        """Yield all points as stored."""
        for records in self.pages(None, _BATCH, whole=True):
            yield [stored_point(point_id(record.id), record.payload, record.vector) for record in records]

    def optimize(self) -> None:
        """Write a base in the form mapped from disk, without deleted points.

        It takes .2 ms of processor time a point, all of it with the interpreter's lock held.
        """
        with translated(self._folder, "written"):
            self._opened().optimize()
        self.flush()

    def _scroll(self, keep: "qdrant_edge.Filter | None") -> Iterator[str]:
        for records in self.pages(keep, _SCROLL_PAGE):
            yield from (point_id(record.id) for record in records)

    def pages(
        self, keep: "qdrant_edge.Filter | None", size: int, *, whole: bool = False
    ) -> Iterator[list["qdrant_edge.Record"]]:
        """Yield all points, or the filtered ones, in pages; with payload and vectors if `whole`."""
        import qdrant_edge as edge

        offset = None
        while True:
            request = edge.ScrollRequest(offset, size, keep, with_payload=whole, with_vector=whole)
            with translated(self._folder, "read"):
                records, offset = self._opened().scroll(request)
            yield records
            if offset is None:
                return

    def publish(self) -> None:
        """Do nothing: nobody else sees the folder, and `current` beside it names the serving one."""

    def flush(self) -> None:
        """Write everything to disk now."""
        with self._timer_lock:
            if self._flush_timer:
                self._flush_timer.cancel()
                self._flush_timer = None
        with self._flush_lock, self._flushing(), translated(self._folder, "flushed"):
            # A closed shard is on disk; and a flush is no use of the shard.
            if self._is_resting:
                return
            (self._shard or self._opened()).flush()
            # Edge never syncs some of its files, such as the marks of deleted vectors, and opens no shard without them.
            self._tree.sync()

    def close(self) -> None:
        """Flush and close; harmless if the store is not open."""
        with self._rest_lock:
            self._is_resting = False
            if self._shard is None:
                return
        with self._flush_lock:
            self.flush()
            with translated(self._folder, "closed"):
                self._shard.close()
            self._shard = None

    def rest(self, seconds: float) -> bool:
        """Free the shard's memory if it was unused for so long; the next use opens it again. See `Store.rest`."""
        # No thread is inside a call of Edge now: it holds the interpreter's lock for the whole of it.
        with self._flush_lock, self._rest_lock:
            is_unused = time.monotonic() - self._used_at >= seconds
            if self._shard is None or self._flush_timer or not is_unused:
                return False
            with translated(self._folder, "closed"):
                self._shard.close()
            self._shard, self._is_resting = None, True
            return True

    def _update(self, operation: "qdrant_edge.UpdateOperation") -> None:
        with translated(self._folder, "written"):
            self._opened().update(operation)
            # A segment gets its vector files with its first point. If they are lost, nothing can read it.
            self._tree.sync_names()
        self.flush_later()

    def flush_later(self) -> None:
        """Flush after a pause in writing, without delaying the caller."""
        with self._timer_lock:
            self._written_at = time.monotonic()
            if self._flush_timer is None:
                self._dirty_since = self._written_at
                self._start_timer()

    def _start_timer(self) -> None:
        self._flush_timer = threading.Timer(_QUIET_SECONDS, self._flush_when_quiet)
        self._flush_timer.daemon = True
        self._flush_timer.start()

    def _flush_when_quiet(self) -> None:
        """Flush from the timer. Nobody can catch an error here; the next flush or close meets it again."""
        with self._timer_lock:
            now = time.monotonic()
            busy = now - self._written_at < _QUIET_SECONDS and now - self._dirty_since < _LONGEST_UNFLUSHED_SECONDS
            if busy and self._flush_timer:
                self._start_timer()
                return
        try:
            with self._flush_lock:
                if self._shard is not None or self._is_resting:
                    self.flush()
        except CqmError as error:
            _log.warning("%s", error)

    def _opened(self) -> "qdrant_edge.EdgeShard":
        with self._rest_lock:
            self._used_at = time.monotonic()
            if self._shard is None and self._is_resting:
                with translated(self._folder, OPENED):
                    self._shard = load_shard(self._folder)
                self._is_resting = False
            if self._shard is None:
                raise StoreError(f"The store in {self._folder} is not open.")
            return self._shard


def _edge_point(point: Point) -> "qdrant_edge.Point":
    """Convert a point for writing.

    Raises:
        StoreError: no search can use one of its vectors.
    """
    import qdrant_edge as edge

    check(point)
    vectors: dict[str, Any] = {
        name: edge.SparseVector(list(terms.indices), list(terms.values))
        for name, terms in point.sparse.items()
        if terms.indices
    }
    if point.dense is not None:
        vectors[point.space] = point.dense.tolist()
    return edge.Point(stored_id(point.id), vectors, dict(point.payload))
