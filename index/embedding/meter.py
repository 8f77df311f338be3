"""Counts what a service was used for, from any number of threads."""

from threading import Lock

from cqm.index.model import Usage


class Meter:
    """A sum of `Usage`."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._total = Usage()

    def add(self, usage: Usage) -> None:
        """Count some more."""
        with self._lock:
            self._total += usage

    def total(self) -> Usage:
        """All that was counted."""
        with self._lock:
            return self._total
