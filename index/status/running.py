"""Work in progress in an index, also for other processes: in a small file beside the generations.

The file holds the last reported state. A lock shows whether it still holds: the system releases it when a process dies,
so a killed update never looks as if it were running.
"""

import json
import logging
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, replace
from pathlib import Path
from threading import Lock
from typing import NamedTuple

from cqm.index.disk.durable import replace_passing_file
from cqm.index.disk.locations import RUNNING_FILE, RUNNING_LOCK
from cqm.index.disk.lock import Timeout, lock_in
from cqm.index.disk.private import read_private
from cqm.index.model.progress import Progress
from cqm.index.model.status import REBUILD, UPDATE, UPDATE_OF_PATHS, Running

_LOCK_SECONDS = 0.2
"""A reader holds the lock for a moment, never as long as this."""

_OF_ALL_FILES = frozenset({UPDATE, REBUILD})
_BRIEF_SECONDS = 0.1
"""Time after which an update of some paths is reported: most end before anybody could read of them."""

_log = logging.getLogger(__name__)


class Run:
    """One piece of work in progress.

    Parameters:
        task: as in `Running`.
    """

    def __init__(self, runs: "Runs", task: str) -> None:
        self._runs = runs
        self.now = Running(task, started_at=time.time(), told_at=time.time())
        self.is_complete = False
        """Whether it finished; if not, it was stopped or failed."""

    def becomes(self, task: str) -> None:
        """Change the task, if its purpose turned out later."""
        if task != self.now.task:
            self.now = replace(self.now, task=task)
            self._runs.tell()

    def note(self, progress: Progress) -> None:
        """Record progress."""
        self.now = Running(
            self.now.task,
            progress.phase,
            progress.done,
            progress.total,
            progress.chunks,
            progress.rate,
            progress.remaining_seconds,
            self.now.started_at,
            time.time(),
        )
        self._runs.tell()

    def noting(self, report: Callable[[Progress], None]) -> Callable[[Progress], None]:
        """Return a report that records progress, then passes it on."""

        def tell(progress: Progress) -> None:
            self.note(progress)
            report(progress)

        return tell


class Runs:
    """All work in progress in an index opened by this process."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock = Lock()
        self._held = lock_in(folder, RUNNING_LOCK, _LOCK_SECONDS)
        self._runs: list[Run] = []
        self._stopped: Running | None = None
        self._is_silent = self._has_read = False

    @contextmanager
    def run(self, task: str) -> Iterator[Run]:
        """Publish a piece of work during the block."""
        run = Run(self, task)
        self._begin(run)
        try:
            yield run
        finally:
            self._end(run)

    def running(self) -> tuple[Running, ...]:
        """Work in progress now, with current times."""
        return tuple(run.now for run in tuple(self._runs))

    def stopped(self) -> Running | None:
        """Return the last update of all files, if it didn't finish."""
        return self._stopped if self._runs else _cut_short(_read(self._folder))

    def tell(self) -> None:
        """Write the state to the file: about 0.1 ms after each batch of files, so news never waits for the next one."""
        with self._lock:
            self._write()

    def _begin(self, run: Run) -> None:
        with self._lock:
            if not self._has_read:
                # Once: this process has the index open, so nobody else writes.
                self._stopped, self._has_read = _cut_short(_read(self._folder)), True
            self._runs.append(run)
            self._write(_LOCK_SECONDS)

    def _end(self, run: Run) -> None:
        with self._lock:
            self._runs.remove(run)
            if run.now.task in _OF_ALL_FILES:
                self._stopped = None if run.is_complete else run.now
            self._write()
            if not self._told():
                self._held.release()

    def _told(self) -> tuple[Running, ...]:
        """Return the work shown to other processes."""
        latest = time.time() - _BRIEF_SECONDS
        return tuple(it for it in self.running() if it.task != UPDATE_OF_PATHS or it.started_at <= latest)

    def _take(self, seconds: float) -> None:
        """Take the lock that shows others this process is alive. On failure warn once and try again later."""
        try:
            self._held.acquire(timeout=seconds)
        except (OSError, Timeout) as error:
            if not self._is_silent:
                _log.warning("Other processes are not told yet what goes on in %s: %s", self._folder, error)
        self._is_silent = not self._held.is_locked

    def _write(self, seconds: float = 0) -> None:
        """Write the state unsynced: a sync costs as much as a small update, and after a power cut nothing runs."""
        told = self._told()
        if told and not self._held.is_locked:
            self._take(seconds)
        if not self._held.is_locked:
            return
        noted = _Noted(told, self._stopped)
        file = self._folder / RUNNING_FILE
        with suppress(OSError):
            if noted == _NOTHING:
                file.unlink(missing_ok=True)
                return
            replace_passing_file(file, json.dumps(_values(noted)))


class _Noted(NamedTuple):
    """Content of the file."""

    runs: tuple[Running, ...]
    stopped: Running | None


_NOTHING = _Noted((), None)


def read_running(folder: Path) -> tuple[tuple[Running, ...], Running | None]:
    """Return the work in any process, and the last full update if it was cut short; create nothing in the folder."""
    noted = _read(folder)
    while noted.runs:
        if _is_alive(folder):
            return noted
        # It may have ended while the lock was checked.
        before, noted = noted, _read(folder)
        if noted == before:
            break
    return (), _cut_short(noted)


def _cut_short(noted: _Noted) -> Running | None:
    """Return the last update of all files, assuming the writing process is dead."""
    return next((running for running in noted.runs if running.task in _OF_ALL_FILES), noted.stopped)


def _read(folder: Path) -> _Noted:
    try:
        values = json.loads(read_private(folder, RUNNING_FILE))
        stopped = Running(**values["stopped"]) if values["stopped"] else None
        return _Noted(tuple(Running(**value) for value in values["runs"]), stopped)
    except (OSError, ValueError, TypeError, KeyError):
        return _NOTHING


def _values(noted: _Noted) -> dict[str, object]:
    return {
        "runs": [asdict(running) for running in noted.runs],
        "stopped": asdict(noted.stopped) if noted.stopped else None,
    }


def _is_alive(folder: Path) -> bool:
    """Whether the process writing the file is alive."""
    if not (folder / RUNNING_LOCK).is_file():
        return False
    try:
        with lock_in(folder, RUNNING_LOCK, 0):
            return False
    except Timeout:
        return True
    except OSError:
        return False
