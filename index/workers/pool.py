"""Tasks spread over disposable workers: a dead or late worker loses only its task."""

import os
import socket
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from threading import Lock
from types import TracebackType
from typing import Any, Generic, Self, TypeVar

from cqm.chunkers.errors import CqmError
from cqm.index.model.errors import WorkerError
from cqm.index.workers import wire
from cqm.index.workers.ends import BROKEN, End, end_of
from cqm.index.workers.forking import Source
from cqm.index.workers.limits import WAIT_SECONDS, patience, seconds_for
from cqm.index.workers.staff import Staff, Worker
from cqm.index.workers.wire import QUESTION, RETIRED, RULES
from cqm.index.workers.worker import Assignment

Task = TypeVar("Task")
Result = TypeVar("Result")

_BATCH_BYTES = 250_000
_BATCH_FILES = 50
_AHEAD = 2
"""Batches for each worker begun or done and not taken yet: they keep it busy while others are stored."""


@dataclass(frozen=True, slots=True)
class Job(Generic[Task, Result]):
    """The work on each of many files.

    Attributes:
        work: called in a worker with a task; picklable.
        gives: the type of its results, for `wire.restored`.
        size_of: a task's file in bytes, for bounding its time.
        lost: makes the result for a task that killed its worker, given the reason in words.
        ended: the same if the worker was ended from outside, whatever the task; `lost` by default.
    """

    work: Callable[[Task], Result]
    gives: Any
    size_of: Callable[[Task], int]
    lost: Callable[[Task, str], Result]
    ended: Callable[[Task, str], Result] | None = None


class _UnansweredError(Exception):
    """The parent has no answer to a worker's question, through no fault of the worker."""

    def __init__(self, cause: Exception) -> None:
        self.cause = cause


def _answered(answer: Callable[[Any], object], question: object) -> object:
    try:
        return answer(question)
    except BROKEN as error:
        raise _UnansweredError(error) from error


class _EndedOutsideError(WorkerError):
    """A worker was ended from outside."""


class _Busy:
    """The workers on a run's batches now, each for a thread of its own, until the run is stopped.

    A leaving worker belongs to its thread alone: stopping never meets one already used by others.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._workers: set[Worker] = set()
        self.is_stopped = False

    def enter(self, worker: Worker) -> None:
        """Note a beginning worker."""
        with self._lock:
            self._workers.add(worker)
            if self.is_stopped:
                _cut(worker)

    def leave(self, worker: Worker) -> bool:
        """Forget a finished worker; return whether its connection still stands."""
        with self._lock:
            self._workers.discard(worker)
            return not self.is_stopped

    def stop(self) -> None:
        """Cut all connections; waiting threads fail at once."""
        with self._lock:
            self.is_stopped = True
            for worker in self._workers:
                _cut(worker)


class Workers:
    """The workers of one index, or of one command. Its methods may be called from any thread.

    Nothing is started before it is needed.

    Parameters:
        count: of workers at once; 0 for one a processor.
        root: a file or folder they may read; None for none.
        source: gives them, if it was started already; closed with them.
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
        self._staff = Staff(self.count, root, source, forks=forks)

    def __enter__(self) -> Self:
        """The workers themselves."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End them."""
        self.close()

    def warm(self, *, finds: bool = True) -> None:
        """Start the process forking the workers; see `Staff.warm`."""
        self._staff.warm(finds=finds)

    def close(self) -> None:
        """End all workers. Their users fail."""
        self._staff.close()

    def end_idle(self) -> None:
        """End the idle workers; the next task gets a new one."""
        self._staff.end_idle()

    def end_source(self) -> None:
        """End the process forking the workers, unless there are workers; the next task starts a new one."""
        self._staff.end_source()

    def run(self, job: Job[Task, Result], tasks: Sequence[Task]) -> Iterator[list[Result]]:
        """Do tasks, and give their results in order, in batches as they are ready.

        Raises:
            WorkerError: no worker can be started.
        """
        batches = _batches(tasks, job.size_of)
        if not batches:
            return
        most = min(self.count, len(batches))
        busy, waiting = _Busy(), iter(batches)
        # Each worker is fed by a thread: none waits for its user to handle another's results.
        feeders = ThreadPoolExecutor(most, "feeder")
        begin = partial(feeders.submit, partial(self._batch_done, job, busy))
        try:
            begun = deque(map(begin, islice(waiting, _AHEAD * most)))
            while begun:
                results = begun.popleft().result()
                begun.extend(map(begin, islice(waiting, 1)))
                yield results
        finally:
            busy.stop()
            feeders.shutdown(cancel_futures=True)

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
            size: of the text to parse, in bytes.
            answer: called with the question of the task, by `worker.ask_parent`; None if it asks nothing.

        Raises:
            WorkerError: no worker can be started, or it died of the task.
            CqmError: the task, or `answer`, raised it.
        """
        assignment = Assignment(work, [task], [seconds_for(size)])
        result: Result
        try:
            result = self._one_done(assignment, gives, size, answer)
        except _EndedOutsideError:
            result = self._one_done(assignment, gives, size, answer)
        return result

    def _one_done(
        self,
        assignment: Assignment,
        gives: Any,  # noqa: ANN401 - a type
        size: int,
        answer: Callable[[Any], object] | None,
    ) -> Any:  # noqa: ANN401 - a value of it
        """Do one task in one worker; see `run_one`."""
        worker = self._begun(assignment)
        is_well = False
        try:
            worker.connection.settimeout(patience(size))
            while (message := wire.receive_plain(worker.connection))[0] in {QUESTION, RETIRED}:
                if message[0] == RETIRED:
                    if self._staff.is_replaced(worker, message[1]):
                        self._staff.end(worker)
                        worker = self._begun(assignment, finds=message[1] == RULES)
                        worker.connection.settimeout(patience(size))
                elif answer and message[0] == QUESTION:
                    worker.connection.settimeout(None)
                    wire.send(worker.connection, _answered(answer, message[1]))
                    worker.connection.settimeout(patience(size))
                else:
                    break
            is_well = True
            result = wire.result_of(message, gives)
        except _UnansweredError as error:
            raise error.cause from None
        except BROKEN as error:
            is_well = False
            end = self._end_of(worker, size, error)
            kind = WorkerError if end.is_own else _EndedOutsideError
            raise kind(f"It could not be parsed: {end.reason}.") from error
        else:
            return result
        finally:
            if is_well:
                worker.done += 1
                self._staff.give_back(worker)
            else:
                self._staff.end(worker)

    def _batch_done(self, job: Job[Task, Result], busy: _Busy, batch: Sequence[Task]) -> list[Result]:
        """Have a batch done by one worker, and by further ones if it dies.

        Raises:
            WorkerError: no worker can be started.
        """
        results: list[Result] = []
        tried: set[int] = set()
        finds = False
        while len(results) < len(batch) and not busy.is_stopped:
            rest = batch[len(results) :]
            worker = self._begun(Assignment(job.work, rest, [seconds_for(job.size_of(it)) for it in rest]), finds=finds)
            busy.enter(worker)
            try:
                lack = self._hear(worker, job, rest, results, tried, busy)
            finally:
                if busy.leave(worker) and len(results) == len(batch):
                    self._staff.give_back(worker)
                else:
                    self._staff.end(worker)
            finds = finds or lack == RULES
        return results

    def _hear(
        self,
        worker: Worker,
        job: Job[Task, Result],
        rest: Sequence[Task],
        results: list[Result],
        tried: set[int],
        busy: _Busy,
    ) -> str:
        """Take a worker's results until all are there, or it dies; the task it dies of is lost.

        Parameters:
            tried: numbers of tasks with a worker ended from outside: each is tried once more.

        Returns:
            The name of rules or a grammar this worker lacks for its next task: another one is needed. Empty for none.

        Raises:
            WorkerError: the rules for secrets cannot be loaded.
        """
        for task in rest:
            try:
                worker.connection.settimeout(patience(job.size_of(task)))
                message = wire.receive_plain(worker.connection)
                if message[0] == RETIRED:
                    if self._staff.is_replaced(worker, message[1]):
                        return str(message[1])
                    message = wire.receive_plain(worker.connection)
                results.append(_outcome(job, task, message))
            except BROKEN as error:
                if not busy.is_stopped:
                    busy.leave(worker)
                    end = self._end_of(worker, job.size_of(task), error)
                    if end.is_own or len(results) in tried:
                        results.append((job.lost if end.is_final else job.ended or job.lost)(task, end.reason))
                    else:
                        tried.add(len(results))
                break
            worker.done += 1
        return ""

    def _begun(self, assignment: Assignment, *, finds: bool = False) -> Worker:
        """Give tasks to an idle worker, or to a new one.

        Parameters:
            finds: whether the worker needs the rules for secrets.

        Raises:
            WorkerError: no worker takes them.
        """
        worker = self._staff.take(finds=finds)
        try:
            worker.connection.settimeout(WAIT_SECONDS)
            wire.send(worker.connection, assignment)
        except OSError:
            # It died while it was idle, and others may have died with it.
            self._staff.end(worker)
        else:
            return worker
        worker = self._staff.take(finds=finds, is_new=True)
        try:
            worker.connection.settimeout(WAIT_SECONDS)
            wire.send(worker.connection, assignment)
        except OSError as error:
            self._staff.end(worker)
            raise WorkerError(f"A new worker does not take its task: {error}.") from error
        return worker

    def _end_of(self, worker: Worker, size: int, error: Exception) -> End:
        """End a failed worker, and return the reason."""
        return end_of(self._staff.end(worker), size, error)


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


def _outcome(job: Job[Task, Result], task: Task, message: Any) -> Result:  # noqa: ANN401 - a message
    """Return a task's result; for an error of ours, the result of a lost task."""
    try:
        result: Result = wire.result_of(message, job.gives)
    except CqmError as error:
        return job.lost(task, str(error))
    return result


def _cut(worker: Worker) -> None:
    """Make reads from a worker fail at once; closing the connection is left to its thread."""
    with suppress(OSError):
        worker.connection.shutdown(socket.SHUT_RDWR)
