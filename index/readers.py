"""Who reads which generation: one that no longer serves is closed and deleted as soon as nobody reads it."""

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Lock

from cqm.index.generation import Generation, remove
from cqm.index.options import IndexOptions


class Readers:
    """Those who read generations of an open index now. Its methods may be called from any thread.

    Parameters:
        folder: of the index.
        options: of the index.
    """

    def __init__(self, folder: Path, options: IndexOptions) -> None:
        self._folder = folder
        self._options = options
        self._lock = Lock()
        self._counts: Counter[str] = Counter()
        self._outgoing: list[Generation] = []

    @contextmanager
    def reading(self, serving: Callable[[], Generation]) -> Iterator[Generation]:
        """The generation that serves, which stays open as long as this lasts."""
        with self._lock:
            generation = serving()
            self._counts[generation.name] += 1
        try:
            yield generation
        finally:
            with self._lock:
                self._counts[generation.name] -= 1
            self._close_unread()

    def let_go(self, generation: Generation) -> None:
        """Close and delete a generation that serves no more, now or after the last who reads it."""
        with self._lock:
            self._outgoing.append(generation)
        self._close_unread()

    def take_outgoing(self) -> list[Generation]:
        """The generations that were let go and are open still; the caller's to close."""
        with self._lock:
            outgoing, self._outgoing = self._outgoing, []
            return outgoing

    def _close_unread(self) -> None:
        with self._lock:
            unread = [generation for generation in self._outgoing if not self._counts[generation.name]]
            self._outgoing = [generation for generation in self._outgoing if generation not in unread]
        for generation in unread:
            generation.abandon()
            remove(self._folder, generation.name, self._options)
