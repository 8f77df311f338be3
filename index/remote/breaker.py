"""A circuit breaker: a service that failed is left alone for a while, then one call may try it again.

Nygard, Release It!, 2nd edition, chapter 5 ("Circuit Breaker"): closed, open, half-open.
"""

import threading
import time
from collections.abc import Callable


class Breaker:
    """The state of one service; its methods may be called from any thread.

    Parameters:
        seconds: how long the service is left alone after a failure.
        clock: seconds that only grow.
    """

    def __init__(self, seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._seconds = seconds
        self._clock = clock
        self._lock = threading.Lock()
        self._open_until: float | None = None
        self._reason = ""

    @property
    def is_open(self) -> bool:
        """Whether the service is left alone now."""
        return self._open_until is not None and self._clock() < self._open_until

    @property
    def reason(self) -> str:
        """Why it failed the last time; empty when it worked since."""
        return self._reason

    def admits(self) -> bool:
        """Whether the caller may use the service now.

        When the time is over, one caller may try; the others wait until it has told how that went.
        """
        with self._lock:
            if self._open_until is None:
                return True
            if self._clock() < self._open_until:
                return False
            self._open_until = self._clock() + self._seconds
            return True

    def half_open(self) -> None:
        """Let one caller try the service now: somebody wants it who may have mended it."""
        with self._lock:
            if self._open_until is not None:
                self._open_until = self._clock()

    def worked(self) -> None:
        """The service answered: it may be used."""
        with self._lock:
            self._open_until, self._reason = None, ""

    def failed(self, reason: str = "") -> None:
        """The service failed: leave it alone from now on for `seconds`."""
        with self._lock:
            self._open_until, self._reason = self._clock() + self._seconds, reason
