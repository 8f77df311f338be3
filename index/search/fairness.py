"""Who has the processor of an open index: one search after the other, and the update of a few files before them.

The interpreter has one lock, which the store keeps while it searches: searches that go at once only wait for each other
in more places. Of 8 processes at 100,000 chunks, 96 searches a second were answered with two at once and 119 with one,
and an update among them took 72 ms in place of 127.
"""

import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Condition, Lock
from types import TracebackType

_LONGEST_HOLD_SECONDS = 0.1
"""How long an update keeps searches waiting: a few files take some 30 ms when nothing takes turns with it, three times
that among searches; a model that is slow must hold nobody up."""


class Turns:
    """Turns of searches, in the order in which they came, as a context each, and of updates that go first.

    May be used from any thread.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._line: deque[Condition] = deque()
        self._held_until = 0.0
        self._next_hold_at = 0.0

    def __enter__(self) -> None:
        """Wait for the turn of a search."""
        with self._lock:
            me = Condition(self._lock)
            self._line.append(me)
            try:
                while (is_behind := self._line[0] is not me) or (held := self._held_until - time.monotonic()) > 0:
                    me.wait(None if is_behind else held)
            except BaseException:
                self._leave(me)
                raise

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Give it to the next."""
        with self._lock:
            self._leave(self._line[0])

    @contextmanager
    def away(self) -> Iterator[None]:
        """Give the turn back as long as this lasts, for a search that has it and waits for something else."""
        self.__exit__(None, None, None)
        try:
            yield
        finally:
            self.__enter__()

    @contextmanager
    def first(self) -> Iterator[None]:
        """Keep searches from beginning as long as this lasts, though not for long, and at most half of the time."""
        began = time.monotonic()
        with self._lock:
            if began >= self._next_hold_at:
                self._held_until = began + _LONGEST_HOLD_SECONDS
        try:
            yield
        finally:
            with self._lock:
                now = time.monotonic()
                if self._held_until > began:
                    self._next_hold_at = now + min(now, self._held_until) - began
                self._held_until = 0.0
                self._wake()

    def _leave(self, one: Condition) -> None:
        self._line.remove(one)
        self._wake()

    def _wake(self) -> None:
        """Wake who is first in line now; whoever has the turn does not wait."""
        if self._line:
            self._line[0].notify()
