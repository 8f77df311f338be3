"""Who reads which generation: one that no longer serves is closed and deleted as soon as nobody reads it."""

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Condition

from cqm.index.generations.generation import Generation, current_name, remove
from cqm.index.model.options import IndexOptions


class Readers:
    """Those who read generations of an open index now. Its methods may be called from any thread.

    Parameters:
        folder: of the index.
        options: of the index.
    """

    def __init__(self, folder: Path, options: IndexOptions) -> None:
        self._folder = folder
        self._options = options
        self._changed = Condition()
        # By identity: a generation may be opened again under a name that another one still has.
        self._counts: Counter[int] = Counter()
        self._outgoing: list[Generation] = []

    @contextmanager
    def reading(self, serving: Callable[[], Generation]) -> Iterator[Generation]:
        """The generation that serves, which stays open as long as this lasts."""
        with self._changed:
            generation = serving()
            self._counts[id(generation)] += 1
        try:
            yield generation
        finally:
            with self._changed:
                self._counts[id(generation)] -= 1
                self._counts = +self._counts
                self._changed.notify_all()
            self._close_unread()

    def wait(self, seconds: float) -> None:
        """Wait until nobody reads, but no longer than some seconds."""
        with self._changed:
            self._changed.wait_for(lambda: not self._counts, seconds)

    def let_go(self, generation: Generation) -> None:
        """Close and delete a generation that serves no more, now or after the last who reads it."""
        with self._changed:
            self._outgoing.append(generation)
        self._close_unread()

    def take_outgoing(self) -> list[Generation]:
        """The generations that were let go and are open still; the caller's to close."""
        with self._changed:
            outgoing, self._outgoing = self._outgoing, []
            return outgoing

    def _close_unread(self) -> None:
        with self._changed:
            unread = [generation for generation in self._outgoing if not self._counts[id(generation)]]
            self._outgoing = [generation for generation in self._outgoing if self._counts[id(generation)]]
        for generation in unread:
            generation.abandon()
            if generation.name != current_name(self._folder):
                remove(self._folder, generation.name, self._options)
