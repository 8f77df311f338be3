"""Counting what a layer did, from several threads."""

from threading import Lock

from cqm.index.model.status import CacheLayer


class Tally:
    """The counts of one layer since it was opened."""

    def __init__(self, layer: str) -> None:
        self._layer = layer
        self._lock = Lock()
        self._hits = self._misses = self._stored = self._errors = 0

    def asked(self, keys: int, hits: int) -> None:
        """So many keys were asked for, so many of them found."""
        with self._lock:
            self._hits += hits
            self._misses += keys - hits

    def stored(self, values: int) -> None:
        """So many values were written."""
        with self._lock:
            self._stored += values

    def failed(self, errors: int = 1) -> None:
        """So many operations failed."""
        with self._lock:
            self._errors += errors

    def told(self, entries: int, size_bytes: int, problem: str = "") -> CacheLayer:
        """The counts, with what only the layer knows."""
        with self._lock:
            counts = (self._hits, self._misses, self._stored, self._errors)
        return CacheLayer(self._layer, *counts, entries, size_bytes, problem)
