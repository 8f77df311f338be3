"""A circuit breaker: a failed service is left alone for a while, then one call may try it again.

Nygard, Release It!, 2nd edition, chapter 5 ("Circuit Breaker"): closed, open, half-open.
"""

import threading
import time
from collections.abc import Callable


class Breaker:
    """The state of one service; its methods may be called from any thread.

    Parameters:
        seconds: pause after a failure.
        clock: monotonic seconds.
    """

    def __init__(self, seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._seconds = seconds
        self._clock = clock
        self._lock = threading.Lock()
        self._open_until: float | None = None
        self.reason = ""
        """The last failure's reason; empty once it worked again."""

    @property
    def is_open(self) -> bool:
        """Whether the service is left alone now."""
        return self._open_until is not None and self._clock() < self._open_until

    def admits(self) -> bool:
        """Whether the caller may use the service now.

        After the pause one caller may try; the others wait for its result.
        """
        with self._lock:
            if self._open_until is None:
                return True
            if self._clock() < self._open_until:
                return False
            self._open_until = self._clock() + self._seconds
            return True

    def half_open(self) -> None:
        """Let one caller try the service now: the user asked for it and may have repaired it."""
        with self._lock:
            if self._open_until is not None:
                self._open_until = self._clock()

    def worked(self) -> None:
        """Record a success: the service may be used."""
        with self._lock:
            self._open_until, self.reason = None, ""

    def failed(self, reason: str = "") -> None:
        """Record a failure: leave the service alone for `seconds`."""
        with self._lock:
            self._open_until, self.reason = self._clock() + self._seconds, reason
