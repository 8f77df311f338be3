"""The loop of a worker: a task, its result, until the parent closes the connection."""

import os
import socket
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from cqm.chunkers.errors import CqmError
from cqm.index.workers.limits import begin_timer, confine
from cqm.index.workers.wire import FAILURE, QUESTION, RESULT, RETIRED, RULES, plain, receive_trusted, send


class Assignment(NamedTuple):
    """Tasks for a worker.

    Attributes:
        work: called with each of them; picklable.
        tasks: in order.
        seconds: of processor time allowed for each.
    """

    work: Callable[[Any], Any]
    tasks: Sequence[Any]
    seconds: Sequence[float]


_parent: socket.socket | None = None
_refused: set[str] = set()
"""Grammars and rules the parent can give to no worker."""


def work_until_closed(connection: socket.socket, readable: Sequence[str], *, is_forked: bool) -> None:
    """Do the assigned tasks, and send the result of each.

    Parameters:
        readable: files and folders this process may read, beside the root named first by the parent.
        is_forked: as in `confine`.

    Raises:
        OSError: the parent is gone.
    """
    global _parent  # noqa: PLW0603 - one connection a process, which `ask_parent` needs wherever it is called
    _parent = connection
    with open(os.devnull, "r+b") as nothing:  # noqa: PTH123 - shorter
        for stream in range(3):
            os.dup2(nothing.fileno(), stream)
    # Its patterns take time to compile, and a parent needs none.
    from cqm.chunkers.grammars import bundle
    from cqm.index.secrets import tokens

    # Loading the rules would take the time of a file, and compiling them writes to the user's cache. So does unpacking.
    tokens.call_instead_of_loading(lambda: _retire(RULES))
    bundle.call_instead_of_unpacking(_retire)
    root: str = receive_trusted(connection)
    confine([*readable, *filter(None, [root])], is_forked=is_forked)
    while True:
        assignment: Assignment = receive_trusted(connection)
        for task, seconds in zip(assignment.tasks, assignment.seconds, strict=True):
            begin_timer(seconds)
            answer = _done(assignment.work, task)
            begin_timer(0)
            send(connection, answer)


def _done(work: Callable[[Any], Any], task: object) -> object:
    try:
        return RESULT, plain(work(task))
    except CqmError as error:
        return FAILURE, type(error).__name__, error.message, error.remedy, error.retryable
    except MemoryError:
        return FAILURE, MemoryError.__name__, "", "", False
    except Exception as error:  # noqa: BLE001 - the boundary of a worker: the parent raises it
        return FAILURE, CqmError.__name__, f"Unexpected {type(error).__name__}: {error}.", "", False


def _retire(lack: str) -> None:
    """Tell the parent that a worker with the missing grammar or rules is needed, and wait for the end.

    If there can be no such worker, the parent says so instead, and this one goes on without.
    """
    if _parent is None:
        raise RuntimeError("only a worker has a parent to ask")
    if lack not in _refused:
        send(_parent, (RETIRED, lack))
        receive_trusted(_parent)
        _refused.add(lack)


def ask_parent(question: object) -> Any:  # noqa: ANN401 - any picklable value
    """Have the parent answer a question in the middle of a task.

    Parameters:
        question: plain data.

    Raises:
        OSError: the parent is gone.
        RuntimeError: this process is no worker.
    """
    if _parent is None:
        raise RuntimeError("only a worker has a parent to ask")
    send(_parent, (QUESTION, plain(question)))
    return receive_trusted(_parent)
