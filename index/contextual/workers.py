"""Threads for requests that may take minutes: nobody waits for them when the process ends."""

from collections.abc import Callable
from concurrent.futures import Future
from queue import SimpleQueue
from threading import Lock, Thread
from typing import Generic, TypeVar

from cqm.index.remote.deadline import settle

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
