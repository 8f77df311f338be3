"""An account's limits of requests and tokens a minute, as token buckets."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from threading import Lock
from typing import NamedTuple

_MINUTE = 60.0
_SHORTEST = 1e-6
"""Seconds: less is a rounding error."""
_BURST = 0.1
"""Share of a minute's allowance usable at once after a pause. Services measure over less than a minute."""


class Clock(NamedTuple):
    """Source of time.

    Attributes:
        monotonic: seconds, never decreasing.
        sleep: waits the given seconds.
    """

    monotonic: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep


@dataclass(slots=True)
class _Bucket:
    """A token bucket (Turner, New directions in communications, 1986). It may be overdrawn, and then fills up first."""

    per_minute: int
    level: float
    filled_at: float

    def fill(self, now: float) -> None:
        most = max(1.0, self.per_minute * _BURST)
        self.level = min(most, self.level + (now - self.filled_at) * self.per_minute / _MINUTE)
        self.filled_at = now

    def wait_for(self, amount: float) -> float:
        """Return the seconds until the amount is available, or until the bucket is full if the amount is larger."""
        wanted = min(amount, max(1.0, self.per_minute * _BURST))
        return max(0.0, (wanted - self.level) * _MINUTE / self.per_minute)


class RateLimit:
    """Lets requests pass at the rate of an account.

    Parameters:
        requests_per_minute, tokens_per_minute: 0 for no limit.
    """

    def __init__(self, requests_per_minute: int, tokens_per_minute: int, clock: Clock) -> None:
        self._clock = clock
        self._lock = Lock()
        self._held_until = 0.0
        now = clock.monotonic()
        self._requests, self._tokens = (
            _Bucket(rate, max(1.0, rate * _BURST), now) if rate else None
            for rate in (requests_per_minute, tokens_per_minute)
        )

    def take(self, tokens: int, *, waits: bool = True) -> None:
        """Pass one request, after waiting for the limits.

        Parameters:
            tokens: estimated, of the request.
            waits: whether it may wait; otherwise it passes at once, and later ones wait longer.
        """
        while (seconds := self._taken(tokens, waits=waits)) > 0:
            self._clock.sleep(seconds)

    def settle(self, estimated: int, counted: int) -> None:
        """Correct a request's tokens by the service's count."""
        with self._lock:
            if self._tokens:
                self._tokens.level += estimated - counted

    def hold(self, seconds: float) -> None:
        """Hold back all waiting requests for a time requested by the service."""
        with self._lock:
            self._held_until = max(self._held_until, self._clock.monotonic() + seconds)

    def _taken(self, tokens: int, *, waits: bool) -> float:
        """Take one request's share and return 0, or return the seconds to wait before the next try."""
        with self._lock:
            now = self._clock.monotonic()
            needs = [(bucket, need) for bucket, need in ((self._requests, 1), (self._tokens, tokens)) if bucket]
            for bucket, _ in needs:
                bucket.fill(now)
            wait = max([self._held_until - now, *(bucket.wait_for(need) for bucket, need in needs)])
            if waits and wait > _SHORTEST:
                return wait
            for bucket, need in needs:
                bucket.level -= need
            return 0.0
