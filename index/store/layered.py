"""A layer over a read-only base: a collection of a team's server, or a shard mapped from disk.

The layer is a shard in the generation's folder. A point in it replaces the base's point with this id; one without
vectors marks the base's point as deleted here. Each such point notes the terms it hides. So the layer alone tells, even
after a kill, the frequencies of words and the visible points.
"""

import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from cqm.index.batched import batched
from cqm.index.disk.private import ForeignFileError, read_private
from cqm.index.model.errors import DamagedIndexError
from cqm.index.store.base import NO_SPACES, WORDS, Base, Indices, Nearest, Point
from cqm.index.store.collection import BaseNote
from cqm.index.store.edge import EdgeStore
from cqm.index.store.frequencies import TermCounts, Weighing, packed_indices, read_frequencies, unpacked_indices
from cqm.index.store.frozen import FrozenNote, best
from cqm.index.text.terms import SparseTerms

_MOST_FREQUENCIES = 1 << 30
"""Largest frequencies file in bytes: of 60 million words."""
_HIDES, _GONE = "hides", "gone"
"""Keys of a payload in the layer: the terms it hides of the base, and whether it only hides."""
_BATCH = 64
_SPARE = 32
"""Results asked of the base in place of hidden ones, before it is known how many of these there are."""
_MORE = 8
_LOOKED_AT_EVERY_SECONDS = 60.0

T = TypeVar("T")


@dataclass(slots=True)
class _Layer:
    """The content of the layer, in memory.

    Attributes:
        live: ids of its points.
        hidden: ids of the base it replaces or deletes.
        weighing: of words, with all these points.
    """

    weighing: Weighing
    live: set[str] = field(default_factory=set)
    hidden: set[str] = field(default_factory=set)

    def __contains__(self, name: str) -> bool:
        return name in self.live or name in self.hidden

    def hide(self, name: str, hides: Mapping[str, str]) -> None:
        if name not in self.hidden:
            self.hidden.add(name)
            self.weighing.change(unpacked_indices(hides), -1)

    def add(self, name: str, indices: Indices) -> None:
        self.live.add(name)
        self.weighing.change(indices, 1)

    def drop(self, name: str, indices: Indices) -> None:
        if name in self.live:
            self.live.discard(name)
            self.weighing.change(indices, -1)


class LayeredStore:
    """A base and the changes over it. Only the layer is written.

    Parameters:
        place: the folder of the generation with the frequencies of the base.
        base: weighs nothing; closed with the store.
        layer: made to weigh nothing.
    """

    def __init__(self, place: Path, note: BaseNote | FrozenNote, base: Base, layer: EdgeStore) -> None:
        self.in_folder = note.in_folder
        self._place = place
        self._note = note
        self._base = base
        self._layer = layer
        self._lock = threading.RLock()
        self._held: _Layer | None = None
        self._frequencies: dict[str, TermCounts] = {}
        self._looked_at = 0.0

    def __str__(self) -> str:
        """Name the base."""
        return str(self._note)

    def create(self, spaces: Mapping[str, int] = NO_SPACES) -> None:
        """Create an empty layer and open it; see `Store.create`."""
        self._layer.create(spaces)
        self._open_base()

    def load(self) -> None:
        """Open the layer, and look whether the base is whole.

        Raises:
            BaseGoneError: it is gone from its server, or points of it are; the layer stays.
            DamagedIndexError: it is damaged here.
        """
        self._layer.load()
        self._open_base()

    def _open_base(self) -> None:
        self._base.load()
        self._look("opened")
        path = self._place / self._note.frequencies
        try:
            content = read_private(self._place, path.name, _MOST_FREQUENCIES)
            self._frequencies = read_frequencies(iter(content.splitlines()))
        except ForeignFileError as error:
            raise DamagedIndexError(f"{path} {error.strerror}.") from error
        except (OSError, ValueError) as error:
            raise DamagedIndexError(f"{path} is damaged: {error}.") from error

    def _look(self, what: str = "read") -> None:
        """Look whether the base has all of its points: nothing would be found in place of lost ones."""
        self._looked_at = time.monotonic()
        if missing := self._note.missing(self._ask(partial(self._base.count, what))):
            raise self._note.gone(missing)

    def _look_now_and_then(self) -> None:
        if time.monotonic() - self._looked_at > _LOOKED_AT_EVERY_SECONDS:
            self._look()

    def ensure_space(self, name: str, dimensions: int) -> None:
        """See `Store.ensure_space`."""
        self._layer.ensure_space(name, dimensions)

    def upsert(self, points: Sequence[Point]) -> None:
        """See `Store.upsert`."""
        for batch in batched([*{point.id: point for point in points}.values()], _BATCH):
            with self._lock:
                before, hides = self._before([point.id for point in batch])
                self._write([_with_hidden(point, hides.get(point.id)) for point in batch], before, hides)

    def delete(self, ids: Sequence[str]) -> None:
        """See `Store.delete`. A point of the base is only hidden."""
        for batch in batched([*dict.fromkeys(ids)], _BATCH):
            with self._lock:
                before, hides = self._before(batch)
                own = [name for name in before if name not in hides]
                with self._changing() as held:
                    self._layer.delete(own)
                    for name in own:
                        held.drop(name, before[name])
                # Each point has a path; this one is found by none.
                gone = [Point(name, {"path": "", _HIDES: hidden, _GONE: True}, {}) for name, hidden in hides.items()]
                self._write(gone, before, hides)

    def _before(self, ids: Sequence[str]) -> tuple[dict[str, Indices], dict[str, Mapping[str, str]]]:
        """Return the terms of the layer's points by id, and the base's terms hidden by the ids."""
        held = self._state()
        own = [name for name in ids if name in held]
        before = self._layer.indices(own) if own else {}
        noted = self._layer.payloads(own, [_HIDES]) if own else {}
        hides: dict[str, Mapping[str, str]] = {name: it[_HIDES] for name, it in noted.items() if _HIDES in it}
        unknown = [name for name in ids if name not in before]
        below = self._ask(lambda: self._base.indices(unknown)) if unknown else {}
        return before, hides | {name: packed_indices(indices) for name, indices in below.items()}

    def _write(
        self, points: Sequence[Point], before: Mapping[str, Indices], hides: Mapping[str, Mapping[str, str]]
    ) -> None:
        """Write points of the layer, and count their changes."""
        with self._changing() as held:
            self._layer.upsert(points)
            for point in points:
                if point.id in before:
                    held.drop(point.id, before[point.id])
                if point.id in hides:
                    held.hide(point.id, hides[point.id])
                if _GONE not in point.payload:
                    held.add(point.id, {name: terms.indices for name, terms in point.sparse.items()})

    def ids_of_path(self, path: str) -> set[str]:
        """See `Store.ids_of_path`."""
        held = self._state()
        shared = self._ask(lambda: self._base.ids_of_path(path))
        return {name for name in shared if name not in held} | (self._layer.ids_of_path(path) & held.live)

    def search(self, searches: Sequence[Nearest]) -> list[dict[str, float]]:
        """See `Store.search`."""
        held = self._state()
        self._look_now_and_then()
        weighed = [_weighed(search, held) for search in searches]
        # The base first: a point hidden by an update meanwhile is then in both, instead of in neither.
        shared = self._shared(weighed, held)
        own = self._layer.search(weighed)
        found = zip(shared, own, searches, strict=True)
        return [best(of_base, of_layer, search.limit) for of_base, of_layer, search in found]

    def _shared(self, searches: Sequence[Nearest], held: _Layer) -> list[dict[str, float]]:
        """Search the base; ask again, for more, where hidden points took the place of others."""
        found: list[dict[str, float]] = [{} for _ in searches]
        known = {*WORDS, *self._note.spaces}
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
        below = self._ask(lambda: self._base.payloads(shared, fields)) if shared else {}
        if len(below) < len(set(shared)):
            self._look()
        return found | below

    def points(self, ids: Sequence[str]) -> list[Point]:
        """See `Store.points`."""
        own, shared = self._parted(ids)
        found = [_without_hidden(point) for point in self._layer.points(own)] if own else []
        below = self._ask(lambda: self._base.points(shared)) if shared else []
        if len(below) < len(set(shared)):
            self._look()
        return found + below

    def _parted(self, ids: Sequence[str]) -> tuple[list[str], list[str]]:
        """Part ids into those of the layer, and those to be asked of the base."""
        held = self._state()
        return [name for name in ids if name in held.live], [name for name in ids if name not in held]

    def lost(self, ids: AbstractSet[str]) -> int:
        """See `Store.lost`. For the base, which was found whole, it compares only the numbers of points."""
        held = self._state()
        gone = len((ids & held.hidden) - held.live)
        shared = len(ids - held.live) - gone
        return gone + max(0, shared - (self._note.points - len(held.hidden)))

    def count_vectors(self, space: str) -> int:
        """See `Store.count_vectors`."""
        held = self._state()
        shared = self._ask(lambda: self._base.count_vectors(space, [*held.hidden])) if space in self._note.spaces else 0
        return shared + self._layer.count_vectors(space)

    def publish(self) -> None:
        """Do nothing: nobody else sees the layer."""

    def flush(self) -> None:
        """See `Store.flush`."""
        self._layer.flush()

    def moved_under(self, note: FrozenNote, base: Base) -> "LayeredStore":
        """Return a store with the same layer over the same points, which are elsewhere now."""
        other = LayeredStore(self._place, note, base, self._layer)
        other._frequencies, other._held = self._frequencies, self._state()
        return other

    def begun_over(
        self, note: FrozenNote, base: Base, layer: EdgeStore, counted: dict[str, TermCounts]
    ) -> "LayeredStore":
        """Return a store with this layer's points in its base, under a new, empty layer.

        Parameters:
            note, base, layer: of the new store, opened.
            counted: from `counted`.
        """
        other = LayeredStore(self._place, note, base, layer)
        other._frequencies = counted
        return other

    def counted(self) -> dict[str, TermCounts]:
        """Return the frequencies of words in base and layer together."""
        return self._state().weighing.counted()

    def live(self) -> Iterator[list[Point]]:
        """Yield the points of the layer, as they would be in the base."""
        for ids in batched(sorted(self._state().live), _BATCH):
            yield [_without_hidden(point) for point in self._layer.points(ids)]

    @property
    def hidden(self) -> list[str]:
        """Ids of the base's points hidden by the layer."""
        return [*self._state().hidden]

    @property
    def base(self) -> Base:
        """The base as it is opened."""
        return self._base

    @property
    def layer(self) -> EdgeStore:
        """The layer as it is opened."""
        return self._layer

    @property
    def note(self) -> BaseNote | FrozenNote:
        """The note of the base."""
        return self._note

    @property
    def changes(self) -> int:
        """The larger number: of the layer's points, or of the base's points hidden by it."""
        held = self._state()
        return max(len(held.live), len(held.hidden))

    def flush_later(self) -> None:
        """See `Store.flush_later`."""
        self._layer.flush_later()

    def rest(self, seconds: float) -> bool:
        """See `Store.rest`."""
        rests = self._layer.rest(seconds)
        return self._base.rest(seconds) or rests

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
            BaseGoneError, DamagedIndexError: it was deleted meanwhile; which of them, the note says.
        """
        try:
            return request()
        except DamagedIndexError as error:
            raise self._note.gone() from error

    def _state(self) -> _Layer:
        """Return the layer's content; read it if it is unknown."""
        if (held := self._held) is not None:
            return held
        with self._lock:
            if self._held is None:
                held = _Layer(Weighing(self._frequencies))
                for ids in batched([*self._layer.ids()], _BATCH):
                    noted = self._layer.payloads(ids, [_HIDES, _GONE])
                    for name, indices in self._layer.indices(ids).items():
                        if _HIDES in noted[name]:
                            held.hide(name, noted[name][_HIDES])
                        if _GONE not in noted[name]:
                            held.add(name, indices)
                self._held = held
            return self._held

    @contextmanager
    def _changing(self) -> Iterator[_Layer]:
        """Yield the layer's content, to change along with it; a failed write may be partly done: read it again."""
        try:
            yield self._state()
        except BaseException:
            self._held = None
            raise


def _weighed(search: Nearest, held: _Layer) -> Nearest:
    if not isinstance(search.vector, SparseTerms):
        return search
    return replace(search, vector=held.weighing.weighed(search.using, search.vector))


def _with_hidden(point: Point, hides: Mapping[str, str] | None) -> Point:
    return replace(point, payload={**point.payload, _HIDES: dict(hides)}) if hides is not None else point


def _without_hidden(point: Point) -> Point:
    return replace(point, payload={name: value for name, value in point.payload.items() if name != _HIDES})
