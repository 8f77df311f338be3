"""Repeat failed requests to a service: which ones, how often, and after which waits."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeVar

from cqm.index.model.errors import EmbeddingError

Result = TypeVar("Result")

REFUSES_INPUT = frozenset({400, 413, 422})
"""HTTP statuses blaming the request's content."""
ASKS_TO_WAIT = frozenset({408, 425, 429})
"""HTTP statuses of an overload, beside all from 500 on."""


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """Patience of a request.

    Attributes:
        attempts: most attempts, 1 or more.
        first_wait: seconds before the second attempt; each later wait is twice as long; up to `first_wait` is added at
            random to each.
        longest_wait: upper bound of such a wait, in seconds.
        longest_retry_after: longest wait a service may request, in seconds; if it requests more, the request fails at
            once.
        total_seconds: time after the first attempt for others to begin.
        repeats_time_outs: whether a timed-out request is sent again unchanged.
    """

    attempts: int = 5
    first_wait: float = 0.5
    longest_wait: float = 20.0
    longest_retry_after: float = 60.0
    total_seconds: float = 180.0
    repeats_time_outs: bool = True

    def brief(self) -> "RetryPolicy":
        """Return the policy for a request with a waiting caller: a second attempt soon, or none after a time-out."""
        wait = min(self.first_wait, 0.2)
        return replace(
            self,
            attempts=min(self.attempts, 2),
            first_wait=wait,
            longest_retry_after=min(self.longest_retry_after, 2.0),
            repeats_time_outs=False,
        )


class TransientError(EmbeddingError):
    """A passing failure: an overload, a broken connection, a fault of the server.

    Parameters:
        retry_after: seconds to wait by the service's request; None without one.
        maybe_input: whether the request's texts may make the server fail.
    """

    def __init__(
        self, message: str, *, remedy: str = "", retry_after: float | None = None, maybe_input: bool = False
    ) -> None:
        super().__init__(message, remedy=remedy, retryable=True)
        self.retry_after = retry_after
        self.maybe_input = maybe_input


class TimedOutError(TransientError):
    """A service did not answer in time: a smaller request may succeed."""


def with_retries(request: Callable[[], Result], policy: RetryPolicy) -> Result:
    """Send a request, again after each `TransientError` as the policy allows; other errors pass at once.

    Raises:
        TransientError: the last one, when the policy's patience ends.
    """
    import stamina

    attempts = stamina.retry_context(
        on=lambda error: _wait_for(error, policy),
        attempts=policy.attempts,
        timeout=policy.total_seconds,
        wait_initial=policy.first_wait,
        wait_max=policy.longest_wait,
        wait_jitter=policy.first_wait,
    )
    for attempt in attempts:
        with attempt:
            return request()
    raise AssertionError  # unreachable: stamina lets the last error pass


def _wait_for(error: Exception, policy: RetryPolicy) -> bool | float:
    """Return seconds to wait, True for the policy's own wait, False for no further attempt."""
    if not isinstance(error, TransientError):
        return False
    if isinstance(error, TimedOutError) and not policy.repeats_time_outs:
        return False
    if error.retry_after is None:
        return True
    return error.retry_after if error.retry_after <= policy.longest_retry_after else False
