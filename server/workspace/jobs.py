"""Indexing as a job in its own thread: any number of calls wait for it, each as long as it likes."""

import logging
import time
from collections.abc import Awaitable, Callable
from threading import Event, Lock, Thread

import anyio
import anyio.from_thread
from anyio.lowlevel import EventLoopToken, current_token

from cqm.chunkers.errors import CqmError
from cqm.index.model.progress import Progress, UpdateSummary

_log = logging.getLogger(__name__)

_PROGRESS_EVERY_SECONDS = 0.5

Report = Callable[[Progress], None]
Cancelled = Callable[[], bool]
Work = Callable[[Report, Cancelled], UpdateSummary]
"""An update: takes a function reporting progress, and one telling whether to stop."""


class Job:
    """One run of an update.

    Calls waiting for the job want it, and so do calls told that it goes on. When the last of them is cancelled, the job
    stops at the next file, and the index is consistent. Only calls of `index_path` stop a job like this: other tools
    join it again for the index itself, see `bring_in_step`.
    """

    def __init__(self, work: Work, name: str) -> None:
        self._work = work
        self._thread = Thread(target=self._run, name=name, daemon=True)
        self._lock = Lock()
        self._stop = Event()
        self._done = Event()
        self._waiting: dict[anyio.Event, EventLoopToken] = {}
        self._wanted = 1
        self._summary: UpdateSummary | None = None
        self._error: Exception | None = None
        self.progress = Progress("scanning")
        self.started_at = time.monotonic()

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    @property
    def is_done(self) -> bool:
        """Whether it ended, well or not."""
        return self._done.is_set()

    @property
    def seconds(self) -> float:
        """Seconds since the start."""
        return time.monotonic() - self.started_at

    def cancel(self) -> None:
        """Ask it to stop; files indexed by then stay."""
        self._stop.set()

    def join(self) -> bool:
        """Want this job too; False when it is over or stopping."""
        with self._lock:
            if self.is_done or self._stop.is_set():
                return False
            self._wanted += 1
            return True

    def end(self) -> None:
        """Wait in this thread for the end, whatever the result."""
        self._done.wait()

    def result(self) -> UpdateSummary:
        """Wait in this thread for the end, and return the summary.

        Raises:
            CqmError: as the update raised it.
        """
        self._done.wait()
        if self._error:
            raise self._error
        if self._summary is None:
            raise RuntimeError("the job ended with neither result nor error")
        return self._summary

    async def wait(self, seconds: float, report: Callable[[Progress], Awaitable[None]]) -> bool:
        """Wait for the end without blocking the event loop, for one call which started or joined the job.

        Parameters:
            seconds: the longest wait.
            report: awaited with the progress: at once, and about twice a second while it grows.

        Returns:
            Whether the job is done.
        """
        try:
            with anyio.move_on_after(seconds):
                await self._follow(report)
        except anyio.get_cancelled_exc_class():
            self._unwant()
            raise
        return self.is_done

    async def _follow(self, report: Callable[[Progress], Awaitable[None]]) -> None:
        ended = anyio.Event()
        with self._lock:
            if self.is_done:
                return
            self._waiting[ended] = current_token()
        told = -1
        try:
            while not ended.is_set():
                # The protocol wants progress to grow.
                if (now := self.progress).done > told:
                    told = now.done
                    await report(now)
                with anyio.move_on_after(_PROGRESS_EVERY_SECONDS):
                    await ended.wait()
        finally:
            with self._lock:
                self._waiting.pop(ended, None)

    def _unwant(self) -> None:
        with self._lock:
            self._wanted -= 1
            if self._wanted == 0:
                self.cancel()

    def _run(self) -> None:
        try:
            self._summary = self._work(self._note, self._stop.is_set)
        except CqmError as error:
            self._error = error
        except Exception as error:  # noqa: BLE001 - this thread's boundary: whoever waits gets the error
            _log.exception("An indexing job failed.")
            self._error = error
        with self._lock:
            self._done.set()
            waiting = list(self._waiting.items())
        for ended, token in waiting:
            _set(ended, token)

    def _note(self, progress: Progress) -> None:
        self.progress = progress


def _set(event: anyio.Event, token: EventLoopToken) -> None:
    """Set an event of another thread's event loop, if the loop still runs."""
    try:
        anyio.from_thread.run_sync(event.set, token=token)
    except anyio.RunFinishedError:
        _log.debug("Nobody waits for the job any more.")
