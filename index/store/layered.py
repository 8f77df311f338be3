"""A local layer over a shared base: a collection that all machines of a team read and none of them writes.

The layer is a shard in the generation's folder. A point in it takes the place of the base's point with this id; one
without vectors says that the base's point is deleted here. With each such point stands what it hides, so the layer
alone tells, also after a kill, how frequent words are and which points are to be seen.
"""

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from cqm.index.disk.private import ForeignFileError, read_private
from cqm.index.model.errors import BaseGoneError, DamagedIndexError
from cqm.index.store.base import NO_SPACES, Nearest, Point
from cqm.index.store.collection import BaseNote
from cqm.index.store.edge import EdgeStore
from cqm.index.store.frequencies import (
    NAMES,
    TermCounts,
    Weighing,
    indices_of,
    packed_indices,
    read_frequencies,
    unpacked_indices,
)
from cqm.index.store.qdrant_reader import QdrantReader
from cqm.index.text.terms import SparseTerms

FREQUENCIES_FILE = "frequencies.jsonl"
_MOST_FREQUENCIES = 1 << 30
"""Bytes of that file: of 60 million words."""
_HIDES, _GONE = "hides", "gone"
"""Keys of a payload in the layer: what it hides of the base, and that it is nothing else."""
_SPACE = "space"
"""Key of the name of a hidden vector, beside the terms."""
_BATCH = 64
_SPARE = 32
"""Results asked of the base in place of hidden ones, before it is known how many of these there are."""
_MORE = 8

T = TypeVar("T")


@dataclass(slots=True)
class _Layer:
    """The content of the layer, in memory.

    Attributes:
        live: ids of its points.
        hidden: ids of the base that it replaces or deletes, each with the space of its vector.
        weighing: of words, with all of this.
    """

    weighing: Weighing
    live: set[str] = field(default_factory=set)
    hidden: dict[str, str] = field(default_factory=dict)

    def __contains__(self, name: str) -> bool:
        return name in self.live or name in self.hidden

    def hide(self, name: str, hides: Mapping[str, str]) -> None:
        if name not in self.hidden:
            self.hidden[name] = hides.get(_SPACE, "")
            self.weighing.change(unpacked_indices(hides), -1)

    def add(self, point: Point) -> None:
        self.live.add(point.id)
        self.weighing.change(indices_of(point), 1)

    def drop(self, point: Point) -> None:
        if point.id in self.live:
            self.live.discard(point.id)
            self.weighing.change(indices_of(point), -1)


class LayeredStore:
    """A base and the changes of this machine over it. Only the layer is written.

    Parameters:
        place: the folder of the generation with the frequencies of the base.
        note: of the base.
        base: its collection; closed with the store.
        layer: made to weigh nothing.
    """

    in_folder = False

    def __init__(self, place: Path, note: BaseNote, base: QdrantReader, layer: EdgeStore) -> None:
        self._place = place
        self._note = note
        self._base = base
        self._layer = layer
        self._lock = threading.RLock()
        self._held: _Layer | None = None
        self._frequencies: dict[str, TermCounts] = {}

    def __str__(self) -> str:
        """Name the base."""
        return str(self._note)

    def create(self, spaces: Mapping[str, int] = NO_SPACES) -> None:
        """Create an empty layer and open it; see `Store.create`."""
        self._layer.create(spaces)
        self._open_base()

    def load(self) -> None:
        """Open the layer, and look whether the base is there.

        Raises:
            BaseGoneError: it is gone; the layer stays.
        """
        self._layer.load()
        self._open_base()

    def _open_base(self) -> None:
        if not self._base.exists("opened"):
            raise self._gone()
        path = self._place / FREQUENCIES_FILE
        try:
            content = read_private(self._place, FREQUENCIES_FILE, _MOST_FREQUENCIES)
            self._frequencies = read_frequencies(iter(content.splitlines()))
        except ForeignFileError as error:
            raise DamagedIndexError(f"{path} {error.strerror}.") from error
        except (OSError, ValueError) as error:
            raise DamagedIndexError(f"{path} is damaged: {error}.") from error

    def _gone(self) -> BaseGoneError:
        remedy = f"Run `cqm take {self._note.name}` to have the present one."
        return BaseGoneError(f"The index stands on {self}, which is gone.", remedy=remedy)

    def ensure_space(self, name: str, dimensions: int) -> None:
        """See `Store.ensure_space`."""
        self._layer.ensure_space(name, dimensions)

    def upsert(self, points: Sequence[Point]) -> None:
        """See `Store.upsert`."""
        for batch in _batched([*{point.id: point for point in points}.values()]):
            with self._lock:
                before, hides = self._before([point.id for point in batch])
                self._write([_with_hidden(point, hides.get(point.id)) for point in batch], before, hides)

    def delete(self, ids: Sequence[str]) -> None:
        """See `Store.delete`. A point of the base is only hidden."""
        for batch in _batched([*dict.fromkeys(ids)]):
            with self._lock:
                before, hides = self._before(batch)
                own = [name for name in before if name not in hides]
                with self._changing() as held:
                    self._layer.delete(own)
                    for name in own:
                        held.drop(before[name])
                # Each point has a path; this one is found by none.
                gone = [Point(name, {"path": "", _HIDES: hidden, _GONE: True}, {}) for name, hidden in hides.items()]
                self._write(gone, before, hides)

    def _before(self, ids: Sequence[str]) -> tuple[dict[str, Point], dict[str, dict[str, str]]]:
        """Return points of the layer by id, and what of the base the ids hide."""
        held = self._state()
        before = {point.id: point for point in self._layer.points([name for name in ids if name in held])}
        hides = {name: point.payload[_HIDES] for name, point in before.items() if _HIDES in point.payload}
        unknown = [name for name in ids if name not in before]
        for point in self._ask(lambda: self._base.points(unknown)) if unknown else ():
            hides[point.id] = packed_indices(indices_of(point)) | ({_SPACE: point.space} if point.space else {})
        return before, hides

    def _write(
        self, points: Sequence[Point], before: Mapping[str, Point], hides: Mapping[str, Mapping[str, str]]
    ) -> None:
        """Write points of the layer, and count what they change."""
        with self._changing() as held:
            self._layer.upsert(points)
            for point in points:
                if point.id in before:
                    held.drop(before[point.id])
                if point.id in hides:
                    held.hide(point.id, hides[point.id])
                if _GONE not in point.payload:
                    held.add(point)

    def ids_of_path(self, path: str) -> set[str]:
        """See `Store.ids_of_path`."""
        held = self._state()
        shared = self._ask(lambda: self._base.ids_of_path(path))
        return {name for name in shared if name not in held} | (self._layer.ids_of_path(path) & held.live)

    def search(self, searches: Sequence[Nearest]) -> list[dict[str, float]]:
        """See `Store.search`."""
        held = self._state()
        weighed = [_weighed(search, held) for search in searches]
        # The base first: a point that an update hides meanwhile is then in both, and not in neither.
        shared = self._shared(weighed, held)
        own = self._layer.search(weighed)
        found = zip(shared, own, searches, strict=True)
        return [_best(of_base, of_layer, search.limit) for of_base, of_layer, search in found]

    def _shared(self, searches: Sequence[Nearest], held: _Layer) -> list[dict[str, float]]:
        """Search the base; ask again, for more, where hidden points took the place of others."""
        found: list[dict[str, float]] = [{} for _ in searches]
        known = {*NAMES, *self._note.spaces}
        asked = [(place, search) for place, search in enumerate(searches) if search.using in known]
        more = min(len(held.hidden), _SPARE)
        while asked:
            deeper = [replace(search, limit=search.limit + more) for _, search in asked]
            answers, short = self._ask(partial(self._base.search, deeper)), []
            for (place, search), scores in zip(asked, answers, strict=True):
                found[place] = {name: score for name, score in scores.items() if name not in held.hidden}
                if len(found[place]) < search.limit <= len(scores) - more:
                    short.append((place, search))
            asked, more = short, (more + 1) * _MORE
        return found

    def payloads(self, ids: Sequence[str], fields: Sequence[str]) -> dict[str, Mapping[str, Any]]:
        """See `Store.payloads`."""
        own, shared = self._parted(ids)
        found = self._layer.payloads(own, fields) if own else {}
        return found | (self._ask(lambda: self._base.payloads(shared, fields)) if shared else {})

    def points(self, ids: Sequence[str]) -> list[Point]:
        """See `Store.points`."""
        own, shared = self._parted(ids)
        found = [_without_hidden(point) for point in self._layer.points(own)] if own else []
        return found + (self._ask(lambda: self._base.points(shared)) if shared else [])

    def _parted(self, ids: Sequence[str]) -> tuple[list[str], list[str]]:
        """Part ids into those of the layer, and those to be asked of the base."""
        held = self._state()
        return [name for name in ids if name in held.live], [name for name in ids if name not in held]

    def lost(self, ids: AbstractSet[str]) -> int:
        """See `Store.lost`. Of the base it compares only the numbers of points."""
        held = self._state()
        gone = len(ids & held.hidden.keys() - held.live)
        shared = len(ids - held.live) - gone
        there = self._ask(self._base.count) - self._note.others - len(held.hidden)
        return gone + max(0, shared - there)

    def count_vectors(self, space: str) -> int:
        """See `Store.count_vectors`."""
        held = self._state()
        shared = self._ask(lambda: self._base.count_vectors(space)) if space in self._note.spaces else 0
        hidden = sum(name == space for name in held.hidden.values())
        return shared - hidden + self._layer.count_vectors(space)

    def publish(self) -> None:
        """Do nothing: nobody else sees the layer."""

    def flush(self) -> None:
        """See `Store.flush`."""
        self._layer.flush()

    def flush_later(self) -> None:
        """See `Store.flush_later`."""
        self._layer.flush_later()

    def rest(self, seconds: float) -> bool:
        """See `Store.rest`."""
        return self._layer.rest(seconds)

    def close(self) -> None:
        """See `Store.close`."""
        try:
            self._layer.close()
        finally:
            self._base.close()
            self._held = None

    def _ask(self, request: Callable[[], T]) -> T:
        """Ask the base.

        Raises:
            BaseGoneError: it was deleted meanwhile.
        """
        try:
            return request()
        except DamagedIndexError as error:
            raise self._gone() from error

    def _state(self) -> _Layer:
        """Return what the layer holds; it is read where that is not known."""
        if (held := self._held) is not None:
            return held
        with self._lock:
            if self._held is None:
                held = _Layer(Weighing(self._frequencies))
                for ids in _batched([*self._layer.ids()]):
                    for point in self._layer.points(ids):
                        if _HIDES in point.payload:
                            held.hide(point.id, point.payload[_HIDES])
                        if _GONE not in point.payload:
                            held.add(point)
                self._held = held
            return self._held

    @contextmanager
    def _changing(self) -> Iterator[_Layer]:
        """Yield what the layer holds, to be changed with it; a write that fails may be partly done."""
        try:
            yield self._state()
        except BaseException:
            self._held = None
            raise


def _weighed(search: Nearest, held: _Layer) -> Nearest:
    if not isinstance(search.vector, SparseTerms):
        return search
    return replace(search, vector=held.weighing.weighed(search.using, search.vector))


def _best(shared: Mapping[str, float], own: Mapping[str, float], limit: int) -> dict[str, float]:
    """Return the best of two results; of a point in both, the layer's."""
    found = {**shared, **own}
    return {name: found[name] for name in sorted(found, key=found.__getitem__, reverse=True)[:limit]}


def _with_hidden(point: Point, hides: Mapping[str, str] | None) -> Point:
    return replace(point, payload={**point.payload, _HIDES: dict(hides)}) if hides is not None else point


def _without_hidden(point: Point) -> Point:
    return replace(point, payload={name: value for name, value in point.payload.items() if name != _HIDES})


def _batched(items: Sequence[T]) -> Iterator[list[T]]:
    return (list(items[start : start + _BATCH]) for start in range(0, len(items), _BATCH))
