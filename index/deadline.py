"""Waiting for something no longer than one is willing to."""

from collections.abc import Callable
from concurrent.futures import Future
from threading import Thread
from typing import TypeVar

Result = TypeVar("Result")


class DeadlineError(Exception):
    """The time is over, and there is no result."""


def within(seconds: float, call: Callable[[], Result]) -> Result:
    """The result of a call, in a thread of its own; when it takes too long, the thread is left to end by itself.

    Raises:
        DeadlineError: it is not done after `seconds`; and whatever the call raises.
    """
    future: Future[Result] = Future()
    Thread(target=_settle, args=(future, call), name="deadline", daemon=True).start()
    try:
        return future.result(seconds)
    except TimeoutError as error:
        if future.done():
            raise
        raise DeadlineError from error


def _settle(future: Future[Result], call: Callable[[], Result]) -> None:
    try:
        future.set_result(call())
    except BaseException as error:  # noqa: BLE001 - handed to whoever waits, in the other thread
        future.set_exception(error)
