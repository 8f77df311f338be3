"""Threads for requests that may take minutes: nobody waits for them when the process ends."""

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
"""How long a service that failed is left alone."""
_MOST_IN_A_ROW = 3
"""So many failed prompts without a success between them are the service's fault rather than theirs."""


class Health:
    """The state of one service; its methods may be called from any thread.

    Parameters:
        breaker: opened when the service fails.
    """

    def __init__(self, breaker: Breaker) -> None:
        self._breaker = breaker
        self._lock = Lock()
        self._in_a_row = 0

    @property
    def is_good(self) -> bool:
        """Whether the service is not left alone now."""
        return not self._breaker.is_open

    def problem(self) -> str:
        """Why the service is left alone now; empty when the caller may ask it, and then tells how that went."""
        if self._breaker.admits():
            return ""
        return self._breaker.reason or "The service failed and is tried again by another request."

    def half_open(self) -> None:
        """See `Breaker.half_open`."""
        self._breaker.half_open()

    def worked(self) -> None:
        """It answered."""
        with self._lock:
            self._in_a_row = 0
        self._breaker.worked()

    def failed(self, error: CqmError) -> bool:
        """It did not answer a prompt, however often it was asked.

        Returns:
            Whether it refused the prompt for what that is, and will again.
        """
        with self._lock:
            self._in_a_row += 1
            is_one_of_many = self._in_a_row < _MOST_IN_A_ROW
        refused = isinstance(error, RefusedInputError) and is_one_of_many
        if refused:
            # It is there, and says no.
            self._breaker.worked()
        elif not (is_one_of_many and isinstance(error, TransientError) and error.maybe_input):
            self._breaker.failed(str(error))
        return refused


Result = TypeVar("Result")


class Workers(Generic[Result]):
    """So many threads at most, begun as they are needed. The standard executor's would be joined at exit.

    Parameters:
        most: how many.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._calls: SimpleQueue[tuple[Future[Result], Callable[[], Result]] | None] = SimpleQueue()
        self._threads = 0
        self._lock = Lock()
        self.is_closed = False
        """Whether nothing that has not begun should begin any more: calls look at it themselves."""

    def submit(self, call: Callable[[], Result]) -> Future[Result]:
        """Have a call made when a thread is free; at once, by this one, when all were closed: it ends soon then."""
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
        """Let the threads end after what was submitted; what they are doing just now is not waited for."""
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
