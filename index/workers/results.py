"""The work on each of many files, and its result from the message of a worker."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from cqm.chunkers.errors import CqmError
from cqm.index.model.errors import WorkerError
from cqm.index.workers import wire
from cqm.index.workers.control import FAILURE, RESULT
from cqm.index.workers.limits import MEMORY_BYTES

Task = TypeVar("Task")
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Job(Generic[Task, Result]):
    """The work on each of many files.

    Attributes:
        work: called in a worker with a task; picklable.
        gives: the type of its results, for `wire.restored`.
        size_of: a task's file in bytes, by which its time is bounded.
        lost: the result for a task that its worker did not survive, and the reason in words.
        ended: the same where the worker was ended from outside, which says nothing of the task; `lost` by default.
    """

    work: Callable[[Task], Result]
    gives: Any
    size_of: Callable[[Task], int]
    lost: Callable[[Task, str], Result]
    ended: Callable[[Task, str], Result] | None = None


def outcome_of(job: Job[Task, Result], task: Task, message: Any) -> Result:  # noqa: ANN401 - a message
    """Return a task's result; that of a lost one if it raised an error of ours."""
    try:
        result: Result = result_of(message, job.gives)
    except CqmError as error:
        return job.lost(task, str(error))
    return result


def result_of(message: Any, gives: Any) -> Any:  # noqa: ANN401 - a message, a type, and a value of it
    """Return the result in a message.

    Raises:
        CqmError: the task raised it.
        WorkerError: the task needs more memory than a worker may take.
        TypeError: the message is something else.
    """
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
