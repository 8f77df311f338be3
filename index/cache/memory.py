"""The layer within this process: when it is full, the least recently used values go first."""

from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from threading import Lock

from cqm.index.cache.base import Kept, Tally
from cqm.index.model.status import CacheLayer

_ENTRY_BYTES = 300
"""Bytes of an entry beside its value: name, time, place in the table (289 measured with tracemalloc)."""


class MemoryLayer:
    """A `Layer` in memory.

    Parameters:
        limit_bytes: of all values with their keys.
        clock: decides when values expire.
    """

    name = "memory"

    def __init__(self, limit_bytes: int, clock: Callable[[], float]) -> None:
        self._limit = limit_bytes
        self._clock = clock
        self._lock = Lock()
        self._items: OrderedDict[str, Kept] = OrderedDict()
        self._size = 0
        self._tally = Tally(self.name)

    def get(self, names: Sequence[str]) -> dict[str, Kept]:
        """See `Layer.get`."""
        with self._lock:
            found = {name: kept for name in names if (kept := self._fresh(name))}
        self._tally.asked(len(names), len(found))
        return found

    def put(self, items: Mapping[str, Kept]) -> None:
        """See `Layer.put`. Drops values larger than the whole layer."""
        fitting = {name: kept for name, kept in items.items() if _size(kept) <= self._limit}
        with self._lock:
            for name, kept in fitting.items():
                self._drop(name)
                self._items[name] = kept
                self._size += _size(kept)
            while self._size > self._limit:
                self._drop(next(iter(self._items)))
        self._tally.stored(len(fitting))

    def told(self) -> CacheLayer:
        """See `Layer.told`."""
        return self._tally.told(len(self._items), self._size)

    def close(self) -> None:
        """See `Layer.close`."""
        with self._lock:
            self._items.clear()
            self._size = 0

    def _fresh(self, name: str) -> Kept | None:
        kept = self._items.get(name)
        if kept is None:
            return None
        if kept.expires <= self._clock():
            self._drop(name)
            return None
        self._items.move_to_end(name)
        return kept

    def _drop(self, name: str) -> None:
        kept = self._items.pop(name, None)
        if kept is not None:
            self._size -= _size(kept)


def _size(kept: Kept) -> int:
    return len(kept.value) + _ENTRY_BYTES
