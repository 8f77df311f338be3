"""Wait for a call with a time limit, in threads a process can end without."""

from collections.abc import Callable
from concurrent.futures import Future
from threading import Thread
from typing import TypeVar

Result = TypeVar("Result")


class DeadlineError(Exception):
    """The time is over without a result."""


class StoppedError(Exception):
    """The caller stopped without a result."""


_SECONDS_BETWEEN_QUESTIONS = 0.2


def within(seconds: float, call: Callable[[], Result]) -> Result:
    """Return the result of a call in a thread of its own; a call taking too long is left to end by itself.

    Raises:
        DeadlineError: it is not done after `seconds`; also whatever the call raises.
    """
    return awaited(begun(call, "deadline"), seconds)


def begun(call: Callable[[], Result], name: str) -> Future[Result]:
    """Start a call in a thread of its own with this name."""
    future: Future[Result] = Future()
    Thread(target=settle, args=(future, call), name=name, daemon=True).start()
    return future


def awaited(future: Future[Result], seconds: float) -> Result:
    """Wait for a call's result, at most `seconds`.

    Raises:
        DeadlineError: it is not done by then; also whatever the call raises.
    """
    try:
        return future.result(seconds)
    except TimeoutError as error:
        if future.done():
            raise
        raise DeadlineError from error


def unless(cancelled: Callable[[], bool], call: Callable[[], Result]) -> Result:
    """Return the result of a call unless `cancelled` comes first; then the call is left to end by itself.

    Parameters:
        cancelled: called several times a second.
        call: run in a thread of its own.

    Raises:
        StoppedError: `cancelled` returned true; also whatever the call raises.
    """
    future = begun(call, "stoppable")
    while True:
        try:
            return awaited(future, _SECONDS_BETWEEN_QUESTIONS)
        except DeadlineError as error:
            if cancelled():
                raise StoppedError from error


def settle(future: Future[Result], call: Callable[[], Result]) -> None:
    """Run a call and put its result or error into the future, unless the future is cancelled."""
    if not future.set_running_or_notify_cancel():
        return
    try:
        future.set_result(call())
    except BaseException as error:  # noqa: BLE001 - raised in the waiting thread
        future.set_exception(error)
