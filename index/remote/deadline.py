"""Waiting for something no longer than one is willing to, in threads that nobody waits for when the process ends."""

from collections.abc import Callable
from concurrent.futures import Future
from threading import Thread
from typing import TypeVar

Result = TypeVar("Result")


class DeadlineError(Exception):
    """The time is over, and there is no result."""


class StoppedError(Exception):
    """Somebody wanted to stop, and there is no result."""


_SECONDS_BETWEEN_QUESTIONS = 0.2


def within(seconds: float, call: Callable[[], Result]) -> Result:
    """The result of a call, in a thread of its own; when it takes too long, the thread is left to end by itself.

    Raises:
        DeadlineError: it is not done after `seconds`; and whatever the call raises.
    """
    return awaited(begun(call, "deadline"), seconds)


def begun(call: Callable[[], Result], name: str) -> Future[Result]:
    """A call that runs in a thread of its own, of this name."""
    future: Future[Result] = Future()
    Thread(target=settle, args=(future, call), name=name, daemon=True).start()
    return future


def awaited(future: Future[Result], seconds: float) -> Result:
    """What a call gives, waited for no longer than `seconds`.

    Raises:
        DeadlineError: it is not done by then; and whatever the call raises.
    """
    try:
        return future.result(seconds)
    except TimeoutError as error:
        if future.done():
            raise
        raise DeadlineError from error


def unless(cancelled: Callable[[], bool], call: Callable[[], Result]) -> Result:
    """The result of a call, unless somebody wants to stop before; then its thread is left to end by itself.

    Parameters:
        cancelled: asked several times a second.
        call: made in a thread of its own.

    Raises:
        StoppedError: `cancelled` answered true; and whatever the call raises.
    """
    future = begun(call, "stoppable")
    while True:
        try:
            return awaited(future, _SECONDS_BETWEEN_QUESTIONS)
        except DeadlineError as error:
            if cancelled():
                raise StoppedError from error


def settle(future: Future[Result], call: Callable[[], Result]) -> None:
    """Make a call whose outcome somebody may wait for, unless they have cancelled it."""
    if not future.set_running_or_notify_cancel():
        return
    try:
        future.set_result(call())
    except BaseException as error:  # noqa: BLE001 - handed to whoever waits, in the other thread
        future.set_exception(error)
