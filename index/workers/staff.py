"""The workers of an index: begun when one is needed, kept while they are of use, ended when they rest."""

import socket
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Event, Lock, Thread
from typing import TypeVar

from cqm.chunkers.grammars.bundle import unpack
from cqm.index.model.errors import WorkerError
from cqm.index.workers import wire
from cqm.index.workers.forking import Source, source_of_workers
from cqm.index.workers.wire import RULES

T = TypeVar("T")

_MOST_TASKS = 2_000
"""A worker with so many done tasks is replaced: leaks of parsers go with it."""
_WORKERS_REST_SECONDS, _SOURCE_REST_SECONDS = 30.0, 300.0
"""Idle time after which workers are ended, then the process forking them: 90 MB of an idle owner."""


@dataclass(eq=False, slots=True)
class Worker:
    """A worker.

    Attributes:
        pid, connection: of the process.
        is_finder: whether it surely has the rules for secrets.
        grammars: of the bundle, unpacked before its birth by its parent.
        root: device and inode of its readable root.
        done: tasks, over its life.
    """

    pid: int
    connection: socket.socket
    is_finder: bool
    grammars: frozenset[str]
    root: tuple[int, int] | None
    done: int = 0


class Rest:
    """Takes steps, each when its seconds have passed since the last use; a later use starts over.

    A thread waits for them from the first use until the last step is taken.

    Parameters:
        steps: seconds, least first, each with its action.
    """

    def __init__(self, steps: Sequence[tuple[float, Callable[[], None]]]) -> None:
        self._steps = steps
        self._lock = Lock()
        self._used_at = 0.0
        self._is_waiting = False
        self._is_over = Event()

    def used(self) -> None:
        """Note a use now."""
        with self._lock:
            self._used_at = time.monotonic()
            if self._is_waiting or self._is_over.is_set():
                return
            self._is_waiting = True
        Thread(target=self._wait, name="rest", daemon=True).start()

    def end(self) -> None:
        """Take no step any more."""
        self._is_over.set()

    def _wait(self) -> None:
        taken, since = 0, self._used_at
        while not self._is_over.is_set():
            with self._lock:
                if self._used_at != since:
                    taken, since = 0, self._used_at
                if taken == len(self._steps):
                    self._is_waiting = False
                    return
            seconds, step = self._steps[taken]
            left = since + seconds - time.monotonic()
            if left > 0:
                self._is_over.wait(left)
            else:
                step()
                taken += 1


class Staff:
    """The existing workers. Its methods may be called from any thread; see `Workers` for the parameters.

    Two locks: a source may take up to two minutes for a worker, and takers of an idle one need not wait for that. The
    source, the count of its workers and whether it has the rules are used with the source's lock alone held. Neither
    lock is taken while the other is held.
    """

    def __init__(self, count: int, root: Path | None, source: Source | None, *, forks: bool) -> None:
        self._count = count
        self._root = root
        self._forks = forks
        self._lock, self._source_lock = Lock(), Lock()
        self._source = source
        self._idle: list[Worker] = []
        self._has_rules = False
        self._grammars: frozenset[str] = frozenset()
        self._is_closed = False
        self._alive = 0
        self._rest = Rest(((_WORKERS_REST_SECONDS, self.end_idle), (_SOURCE_REST_SECONDS, self.end_source)))

    def warm(self, *, finds: bool = True) -> None:
        """Start the process forking the workers, without waiting until it is ready.

        If it cannot be started, the first task says why.

        Parameters:
            finds: whether with the rules for secrets, needed by many files.
        """
        with self._source_lock, suppress(WorkerError):
            if self._source is None and not self._is_closed:
                self._has_rules = finds
                self._given()
                self._rest.used()

    def close(self) -> None:
        """End all workers. Their users fail."""
        self._rest.end()
        with self._lock:
            self._is_closed = True
            idle, self._idle = self._idle, []
        for worker in idle:
            worker.connection.close()
        # Another thread may still begin a worker from the source: it ends with the source.
        with self._source_lock:
            source, self._source = self._source, None
            if source:
                source.close()

    def end_idle(self) -> None:
        """End the idle workers; the next task gets a new one."""
        with self._lock:
            idle, self._idle = self._idle, []
        for worker in idle:
            self.end(worker)

    def end_source(self) -> None:
        """End the process forking the workers, unless there are workers; the next task starts a new one."""
        with self._source_lock:
            if self._alive or not self._source:
                return
            # Within the lock: a task without an idle worker waits, and does not take an ending process.
            source, self._source = self._source, None
            source.close()

    def take(self, *, finds: bool, is_new: bool = False) -> Worker:
        """Return an idle worker, or a new one.

        Raises:
            WorkerError: there can be none.
        """
        self._end_outdated()
        with self._lock:
            for worker in [] if is_new else reversed(self._idle):
                if worker.is_finder or not finds:
                    self._idle.remove(worker)
                    return worker
        with self._source_lock:
            return self._asked(self._new)

    def _asked(self, ask: Callable[[], T]) -> T:
        """Ask the source for something; restart the forking process once if it has ended."""
        try:
            return ask()
        except WorkerError:
            if self._is_closed or self._source is None:
                raise
            self._source.close()
            self._source = None
            return ask()

    def _end_outdated(self) -> None:
        """End idle workers if the root is another folder now: they may read a folder, not a path."""
        now = self._identity()
        with self._lock:
            outdated = [worker for worker in self._idle if worker.root != now]
            self._idle = [worker for worker in self._idle if worker.root == now]
        for worker in outdated:
            self.end(worker)

    def _identity(self) -> tuple[int, int] | None:
        try:
            status = self._root and self._root.stat()
        except OSError:
            return None
        return (status.st_dev, status.st_ino) if status else None

    def _new(self) -> Worker:
        # Seen before the worker looks: if another folder comes in between, the worker is only ended too early.
        grammars, root = self._grammars, self._identity()
        worker = Worker(*self._given().new(), is_finder=self._has_rules, grammars=grammars, root=root)
        try:
            wire.send(worker.connection, str(self._root or ""))
        except OSError as error:
            raise WorkerError(f"A new worker does not begin: {error}.") from error
        self._alive += 1
        return worker

    def _load_rules(self) -> None:
        """From now on, have workers begin with the rules for secrets.

        Raises:
            WorkerError: they cannot be loaded.
        """
        with self._source_lock:
            self._asked(lambda: self._given().load_rules())
            self._has_rules = True

    def give_back(self, worker: Worker) -> None:
        """Keep a worker for the next task, unless it is worn, too many are idle, or it died of its last task."""
        if worker.connection.fileno() < 0:
            return
        with self._lock:
            if not self._is_closed and worker.done < _MOST_TASKS and len(self._idle) < self._count:
                self._idle.append(worker)
                self._rest.used()
                return
        self.end(worker)

    def end(self, worker: Worker) -> int:
        """End a worker; return the signal it died of, 0 for none."""
        if worker.connection.fileno() < 0:
            return 0
        worker.connection.close()
        with self._source_lock:
            self._alive -= 1
            return self._source.end(worker.pid) if self._source else 0

    def is_replaced(self, worker: Worker, lack: object) -> bool:
        """Load a worker's missing grammar or rules for its successors; False if that fails: it goes on without.

        Raises:
            TypeError: the worker has had it since its birth.
            WorkerError: the rules for secrets cannot be loaded.
            OSError: the worker is gone.
        """
        if not isinstance(lack, str) or lack in worker.grammars or (lack == RULES and worker.is_finder):
            raise TypeError("a worker asks for what it has")
        if lack == RULES:
            # The idle ones ask for the same when they need it.
            self._load_rules()
            return True
        try:
            unpack(lack)
        except OSError:
            wire.send(worker.connection, "")
            return False
        with self._lock:
            self._grammars |= {lack}
        return True

    def _given(self) -> Source:
        if self._is_closed:
            raise WorkerError("The index is closed.")
        if self._source is None:
            self._source = source_of_workers(rules=self._has_rules, forks=self._forks)
        return self._source
