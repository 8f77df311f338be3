"""Threads for requests of up to minutes; a process can end without waiting for them."""

from collections.abc import Callable
from concurrent.futures import Future
from queue import SimpleQueue
from threading import Lock, Thread
from typing import Generic, TypeVar

from cqm.chunkers.errors import CqmError
from cqm.index.model.errors import RefusedInputError
from cqm.index.remote.breaker import Breaker
from cqm.index.remote.deadline import settle
from cqm.index.remote.retries import TransientError

RETRY_SECONDS = 60.0
"""Seconds to leave a failed service alone."""
_MOST_IN_A_ROW = 3
"""After as many failures in a row the service is at fault, not the prompts."""


class Health:
    """The state of one service; its methods may be called from any thread.

    Parameters:
        breaker: opens when the service fails.
    """

    def __init__(self, breaker: Breaker) -> None:
        self._breaker = breaker
        self._lock = Lock()
        self._in_a_row = 0

    @property
    def is_good(self) -> bool:
        """Whether the service may be asked now."""
        return not self._breaker.is_open

    def problem(self) -> str:
        """Say why the service is left alone; empty if the caller may ask it, and must then report the result."""
        if self._breaker.admits():
            return ""
        return self._breaker.reason or "The service failed and is tried again by another request."

    def half_open(self) -> None:
        """See `Breaker.half_open`."""
        self._breaker.half_open()

    def worked(self) -> None:
        """Record an answer."""
        with self._lock:
            self._in_a_row = 0
        self._breaker.worked()

    def failed(self, error: CqmError) -> bool:
        """Record a prompt left unanswered after all retries.

        Returns:
            Whether the service refused this very prompt and would do so again.
        """
        with self._lock:
            self._in_a_row += 1
            is_one_of_many = self._in_a_row < _MOST_IN_A_ROW
        refused = isinstance(error, RefusedInputError) and is_one_of_many
        if refused:
            # The service works and refuses.
            self._breaker.worked()
        elif not (is_one_of_many and isinstance(error, TransientError) and error.maybe_input):
            self._breaker.failed(str(error))
        return refused


Result = TypeVar("Result")


class Workers(Generic[Result]):
    """At most `most` threads, started when needed. The standard executor's threads would be joined at exit."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._calls: SimpleQueue[tuple[Future[Result], Callable[[], Result]] | None] = SimpleQueue()
        self._threads = 0
        self._lock = Lock()
        self.is_closed = False
        """If true, calls not yet begun should give up; they check it themselves."""

    def submit(self, call: Callable[[], Result]) -> Future[Result]:
        """Run a call in a free thread; after `close` run it at once in this thread, where it ends soon."""
        future: Future[Result] = Future()
        with self._lock:
            is_taken = not self.is_closed
            if is_taken:
                self._calls.put((future, call))
                self._begin()
        if not is_taken:
            settle(future, call)
        return future

    def close(self) -> None:
        """End the threads after the submitted calls. Doesn't wait for running ones."""
        with self._lock:
            self.is_closed = True
            for _ in range(self._threads):
                self._calls.put(None)
            self._threads = 0

    def _begin(self) -> None:
        if self._threads < self._most:
            self._threads += 1
            Thread(target=self._work, name="context", daemon=True).start()

    def _work(self) -> None:
        while item := self._calls.get():
            settle(*item)
