"""A layer over a store outside this process. If the store is away, slow, full or damaged, every read is a miss."""

from collections.abc import Callable, Mapping, Sequence
from threading import Lock
from typing import TypeVar

from cqm.index.cache.base import CacheError, Frame, Kept, Store, Tally, framed, unframed
from cqm.index.model.status import CacheLayer

Result = TypeVar("Result")


class OuterLayer:
    """A `Layer` over a `Store`. A failed store is left alone for a while and costs no more time.

    Parameters:
        open_store: called at the first use, and again after `close`; may raise `CacheError`.
        clock: decides when values expire and when a pause ends.
    """

    def __init__(self, name: str, open_store: Callable[[], Store], clock: Callable[[], float]) -> None:
        self.name = name
        self._open_store = open_store
        self._clock = clock
        self._lock = Lock()
        self._store: Store | None = None
        self._tally = Tally(name)
        self._problems: dict[str, str] = {}  # by operation: a full store may refuse to write and still read
        self._paused_until = 0.0

    def get(self, names: Sequence[str]) -> dict[str, Kept]:
        """See `Layer.get`. Data without a valid frame count as errors."""
        nothing: Mapping[str, object] = {}
        found = self._attempt("read", lambda store: store.read(names), nothing)
        read = {name: unframed(name, data) for name, data in found.items()}
        now = self._clock()
        fresh = {name: kept for name, kept in read.items() if kept is not None and kept.expires > now}
        self._tally.asked(len(names), len(fresh))
        self._tally.failed(sum(kept is None for kept in read.values()))
        return fresh

    def put(self, items: Mapping[str, Kept]) -> None:
        """See `Layer.put`."""
        now = self._clock()
        frames = {name: Frame(framed(name, kept), kept.expires - now) for name, kept in items.items()}
        if self._attempt("write", lambda store: _written(store, frames), otherwise=False):
            self._tally.stored(len(frames))

    def told(self) -> CacheLayer:
        """See `Layer.told`. Asks the store only if it is open."""
        entries, size_bytes = self._attempt("look", lambda store: store.extent(), (0, 0)) if self._store else (0, 0)
        return self._tally.told(entries, size_bytes, next(iter(self._problems.values()), ""))

    def close(self) -> None:
        """See `Layer.close`."""
        with self._lock:
            store, self._store = self._store, None
        if store is not None:
            store.close()

    def _attempt(self, operation: str, action: Callable[[Store], Result], otherwise: Result) -> Result:
        if self._clock() < self._paused_until:
            return otherwise
        try:
            result = action(self._opened())
        except CacheError as error:
            self._tally.failed()
            self._problems[operation] = str(error)
            self._paused_until = self._clock() + error.pause_seconds
            return otherwise
        self._problems.pop(operation, None)
        return result

    def _opened(self) -> Store:
        with self._lock:
            if self._store is None:
                self._store = self._open_store()
            return self._store


def _written(store: Store, frames: Mapping[str, Frame]) -> bool:
    store.write(frames)
    return True
