"""Tasks spread over disposable workers: one that dies or overstays loses its task alone."""

import os
import pickle
import selectors
import signal
import socket
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from types import TracebackType
from typing import Any, Generic, Self, TypeVar

from cqm.chunkers.errors import CqmError
from cqm.index.model.errors import WorkerError
from cqm.index.workers import wire
from cqm.index.workers.control import FAILURE, QUESTION, RESULT, RETIRED
from cqm.index.workers.forking import Source, source_of_workers
from cqm.index.workers.limits import MEMORY_BYTES, seconds_for
from cqm.index.workers.worker import Assignment

Task = TypeVar("Task")
Result = TypeVar("Result")

_BATCH_BYTES = 250_000
_BATCH_FILES = 50
_AHEAD = 2
"""Batches for each worker that are done and not taken yet: enough to keep it busy, few enough for memory."""
_WAIT_SECONDS = 60.0
"""A worker that is silent for so long is ended, whatever it waits for: its processor time is bounded already."""
_MOST_TASKS = 2_000
"""A worker that has done so many is replaced: what parsers leak goes with it."""
_BROKEN = (OSError, EOFError, ValueError, TypeError, LookupError, AttributeError, pickle.UnpicklingError)
"""What reading from a worker that died, or was taken over, raises."""


@dataclass(frozen=True, slots=True)
class Job(Generic[Task, Result]):
    """What is done with each of many files.

    Attributes:
        work: called in a worker with a task; picklable.
        gives: the type of its results, for `wire.restored`.
        size_of: a task's file in bytes, by which its time is bounded.
        lost: the result for a task that its worker did not survive, and the reason in words.
    """

    work: Callable[[Task], Result]
    gives: Any
    size_of: Callable[[Task], int]
    lost: Callable[[Task, str], Result]


@dataclass(eq=False, slots=True)
class _Worker:
    """A worker, and what it does now.

    Attributes:
        pid, connection: of the process.
        done: tasks, over its life.
        number: of its batch.
        batch: its tasks; `results` are those that it has sent so far.
        deadline: of its next message, by the monotonic clock.
        is_finder: whether it was forked with the rules that find secrets because another one lacked them.
    """

    pid: int
    connection: socket.socket
    done: int = 0
    number: int = -1
    batch: Sequence[Any] = ()
    results: list[Any] = field(default_factory=list)
    deadline: float = 0.0
    is_finder: bool = False


class Workers:
    """The workers of one index, or of one command. Its methods may be called from any thread.

    Nothing is started before it is needed.

    Parameters:
        count: of workers at once; 0 for one a processor.
        root: a file or folder that they may read; None for none.
        source: what gives them, if that was started already; closed with them.
        forks: as in `source_of_workers`.
    """

    def __init__(
        self,
        count: int = 0,
        root: Path | None = None,
        source: Source | None = None,
        *,
        forks: bool = hasattr(os, "fork"),
    ) -> None:
        self.count = count or os.cpu_count() or 1
        self._root = root
        self._forks = forks
        self._lock = Lock()
        self._source = source
        self._idle: list[_Worker] = []
        self._is_closed = False

    def __enter__(self) -> Self:
        """The workers themselves."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End them."""
        self.close()

    def warm(self) -> None:
        """Start the process that forks workers, with the rules that find secrets, and do not wait until it can.

        Where it cannot be started, the first task says why.
        """
        with self._lock, suppress(WorkerError):
            if self._source is None and not self._is_closed:
                self._source = source_of_workers(rules=True, forks=self._forks)

    def close(self) -> None:
        """End all workers. What still uses them fails."""
        with self._lock:
            self._is_closed = True
            source, self._source = self._source, None
            idle, self._idle = self._idle, []
        for worker in idle:
            worker.connection.close()
        if source:
            source.close()

    def end_idle(self) -> None:
        """End the workers that do nothing now; the next task has a new one."""
        with self._lock:
            idle, self._idle = self._idle, []
        for worker in idle:
            self._end(worker)

    def run(self, job: Job[Task, Result], tasks: Sequence[Task]) -> Iterator[list[Result]]:
        """Do tasks, and give their results in order, in batches as they are ready.

        Raises:
            WorkerError: no worker can be started.
        """
        waiting = deque(enumerate(_batches(tasks, job.size_of)))
        total, given = len(waiting), 0
        most = min(self.count, total)
        ready: dict[int, list[Result]] = {}
        busy: list[_Worker] = []
        try:
            while given < total:
                while waiting and len(busy) < most and waiting[0][0] < given + _AHEAD * most:
                    worker = self._taken()
                    busy.append(worker)
                    worker.number, worker.batch = waiting.popleft()
                    self._send_rest(worker, job)
                for worker in _spoken(busy):
                    self._hear(worker, job)
                for worker in [it for it in busy if len(it.results) == len(it.batch)]:
                    ready[worker.number] = worker.results
                    busy.remove(worker)
                    self._give_back(worker)
                while given in ready:
                    yield ready.pop(given)
                    given += 1
        finally:
            for worker in busy:
                self._end(worker)

    def run_one(
        self,
        work: Callable[[Task], Result],
        task: Task,
        gives: Any,  # noqa: ANN401 - a type
        *,
        size: int,
        answer: Callable[[Any], object] | None = None,
    ) -> Result:
        """Do one task.

        Parameters:
            work, gives: as in `Job`.
            task: for it.
            size: of what it parses, in bytes.
            answer: called with what the task asks by `worker.ask_parent`; None where it asks nothing.

        Raises:
            WorkerError: no worker can be started, or the one that did it died.
            CqmError: what the task, or `answer`, raised.
        """
        worker = self._taken()
        is_well = False
        try:
            self._send(worker, Assignment(work, [task], [seconds_for(size)]))
            worker.connection.settimeout(_WAIT_SECONDS)
            while (message := wire.receive_plain(worker.connection))[0] in {QUESTION, RETIRED}:
                if message[0] == RETIRED and not worker.is_finder:
                    self._replace_by_finder(worker)
                    self._send(worker, Assignment(work, [task], [seconds_for(size)]))
                elif answer and message[0] == QUESTION:
                    worker.connection.settimeout(None)
                    wire.send(worker.connection, answer(message[1]))
                else:
                    break
                worker.connection.settimeout(_WAIT_SECONDS)
            is_well = True
            result: Result = _result(message, gives)
        except _BROKEN as error:
            is_well = False
            raise WorkerError(f"It could not be parsed: {self._reason_of_end(worker, size, error)}.") from error
        else:
            return result
        finally:
            if is_well:
                worker.done += 1
                self._give_back(worker)
            else:
                self._end(worker)

    def _send_rest(self, worker: _Worker, job: Job[Any, Any]) -> None:
        """Send a worker what is left of its batch."""
        rest = worker.batch[len(worker.results) :]
        self._send(worker, Assignment(job.work, rest, [seconds_for(job.size_of(task)) for task in rest]))
        worker.deadline = time.monotonic() + _WAIT_SECONDS

    def _send(self, worker: _Worker, assignment: Assignment) -> None:
        """Send a worker its tasks; one that died while it was idle is replaced.

        Raises:
            WorkerError: no worker takes them.
        """
        worker.connection.settimeout(_WAIT_SECONDS)
        try:
            wire.send(worker.connection, assignment)
        except OSError:
            self._replace(worker)
            try:
                wire.send(worker.connection, assignment)
            except OSError as error:
                raise WorkerError(f"A new worker does not take its task: {error}.") from error

    def _hear(self, worker: _Worker, job: Job[Any, Any]) -> None:
        """Take a worker's next result; without one its task is lost, and another worker does the rest."""
        task = worker.batch[len(worker.results)]
        try:
            message = wire.receive_plain(worker.connection)
            is_retired = message[0] == RETIRED and not worker.is_finder
            if not is_retired:
                worker.results.append(_result(message, job.gives))
        except CqmError as error:
            worker.results.append(job.lost(task, str(error)))
        except _BROKEN as error:
            worker.results.append(job.lost(task, self._reason_of_end(worker, job.size_of(task), error)))
            if len(worker.results) < len(worker.batch):
                self._replace(worker)
                self._send_rest(worker, job)
        else:
            if is_retired:
                self._replace_by_finder(worker)
                self._send_rest(worker, job)
                return
        worker.done += 1
        worker.deadline = time.monotonic() + _WAIT_SECONDS

    def _taken(self) -> _Worker:
        """An idle worker, or a new one; the process that forks is started again once if it has ended."""
        with self._lock:
            if self._idle:
                return self._idle.pop()
            try:
                return self._new()
            except WorkerError:
                if self._is_closed or self._source is None:
                    raise
                self._source.close()
                self._source = None
                return self._new()

    def _new(self) -> _Worker:
        worker = _Worker(*self._given().new())
        try:
            wire.send(worker.connection, str(self._root or ""))
        except OSError as error:
            raise WorkerError(f"A new worker does not begin: {error}.") from error
        return worker

    def _replace(self, worker: _Worker) -> None:
        self._end(worker)
        another = self._taken()
        worker.pid, worker.connection, worker.done = another.pid, another.connection, another.done
        worker.is_finder = another.is_finder

    def _replace_by_finder(self, worker: _Worker) -> None:
        """Replace a worker by one that has the rules that find secrets.

        Raises:
            WorkerError: they cannot be loaded.
        """
        self._end(worker)
        # Those that are idle now ask for the same when they need it.
        with self._lock:
            self._given().load_rules()
        self._replace(worker)
        worker.is_finder = True

    def _give_back(self, worker: _Worker) -> None:
        """Keep a worker for the next task, unless it is worn, too many are idle, or it died of its last task."""
        if worker.connection.fileno() < 0:
            return
        with self._lock:
            if not self._is_closed and worker.done < _MOST_TASKS and len(self._idle) < self.count:
                worker.batch, worker.results = (), []
                self._idle.append(worker)
                return
        self._end(worker)

    def _end(self, worker: _Worker) -> int:
        """End a worker; the signal that it died of, 0 for none."""
        if worker.connection.fileno() < 0:
            return 0
        worker.connection.close()
        with self._lock:
            return self._source.end(worker.pid) if self._source else 0

    def _reason_of_end(self, worker: _Worker, size: int, error: Exception) -> str:
        """End a worker that failed, and say why it did."""
        number = self._end(worker)
        if not isinstance(error, OSError | EOFError):
            return "it answered with what is no plain data"
        name = signal.Signals(number).name if number else "the process ended"
        reasons = {
            "SIGPROF": f"parsing it took longer than {seconds_for(size):.1f} s",
            "SIGKILL": f"its parser did not answer for {_WAIT_SECONDS:.0f} s",
            "SIGABRT": f"parsing it needed more than {MEMORY_BYTES >> 20} MB, or its parser gave up",
        }
        return reasons.get(name, f"its parser crashed ({name})")

    def _given(self) -> Source:
        if self._is_closed:
            raise WorkerError("The index is closed.")
        if self._source is None:
            self._source = source_of_workers(forks=self._forks)
        return self._source


def _batches(tasks: Sequence[Task], size_of: Callable[[Task], int]) -> list[list[Task]]:
    batches: list[list[Task]] = []
    size = _BATCH_BYTES
    for task in tasks:
        if not batches or size + size_of(task) > _BATCH_BYTES or len(batches[-1]) >= _BATCH_FILES:
            batches.append([])
            size = 0
        batches[-1].append(task)
        size += size_of(task)
    return batches


def _spoken(busy: Sequence[_Worker]) -> list[_Worker]:
    """Wait for workers that have sent something or have died, or are late."""
    left = min(worker.deadline for worker in busy) - time.monotonic()
    with selectors.DefaultSelector() as selector:
        for worker in busy:
            selector.register(worker.connection, selectors.EVENT_READ, worker)
        spoken = [key.data for key, _ in selector.select(max(left, 0.0))]
    if spoken:
        return spoken
    late = [worker for worker in busy if time.monotonic() > worker.deadline]
    for worker in late:
        # Reading from it fails at once.
        worker.connection.settimeout(0.0)
    return late


def _result(message: Any, gives: Any) -> Any:  # noqa: ANN401 - a message, a type, and a value of it
    if message[0] == RESULT:
        return wire.restored(gives, message[1])
    if message[0] == FAILURE:
        _, kind, text, remedy, retryable = message
        if kind == MemoryError.__name__:
            raise WorkerError(f"parsing it needs more than {MEMORY_BYTES >> 20} MB")
        raise _errors().get(kind, CqmError)(text, remedy=remedy, retryable=bool(retryable))
    raise TypeError("a worker sent something else than a result")


def _errors() -> dict[str, type[CqmError]]:
    found: dict[str, type[CqmError]] = {}
    waiting: list[type[CqmError]] = [CqmError]
    while waiting:
        kind = waiting.pop()
        found[kind.__name__] = kind
        waiting += kind.__subclasses__()
    return found
