"""Who has the processor of an open index: a few searches at once, and the update of a few files before them."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Condition
from types import TracebackType

_SEARCHES_AT_ONCE = 2
"""One runs, as the interpreter has one lock, and one is ready to. More would take turns with an update: of 8 beside it,
an edit was found after .6 s, of 2 after .3 s, and they were not slower for that."""
_LONGEST_HOLD_SECONDS = 0.1
"""How long an update keeps searches waiting: a few files take some 30 ms when nothing takes turns with it, three times
that among searches; a model that is slow must hold nobody up."""


class Turns:
    """Turns of searches, as a context each, and of updates that go first. May be used from any thread."""

    def __init__(self) -> None:
        self._changed = Condition()
        self._going = 0
        self._held_until = 0.0
        self._next_hold_at = 0.0

    def __enter__(self) -> None:
        """Wait for the turn of a search."""
        with self._changed:
            while self._going >= _SEARCHES_AT_ONCE or (held := self._held_until - time.monotonic()) > 0:
                self._changed.wait(None if self._going >= _SEARCHES_AT_ONCE else held)
            self._going += 1

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Give it to the next."""
        with self._changed:
            self._going -= 1
            self._changed.notify()

    @contextmanager
    def first(self) -> Iterator[None]:
        """Keep searches from beginning as long as this lasts, though not for long, and at most half of the time."""
        began = time.monotonic()
        with self._changed:
            if began >= self._next_hold_at:
                self._held_until = began + _LONGEST_HOLD_SECONDS
        try:
            yield
        finally:
            with self._changed:
                now = time.monotonic()
                if self._held_until > began:
                    self._next_hold_at = now + min(now, self._held_until) - began
                self._held_until = 0.0
                self._changed.notify_all()
