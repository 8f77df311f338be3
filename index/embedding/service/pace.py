"""Adapt the load on a service: less when it is slow, more again when it is quick."""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Condition

_SLOW = 1 / 3
"""Share of the time-out: slower requests are at risk of being lost."""
_QUICK = 1 / 4
"""Share of the slow limit. Time grows with the size of a batch, so there is room between quick and slow to settle in.
"""
_GROWTH = 1.25
_TRUST = 32
"""Quick answers after a time-out before sizes grow again: each trial may cost another time-out."""


class Pace:
    """Size of batches and number of requests under way, adapted to the speed of answers.

    Both shrink by half and grow slowly, like a sender's window in TCP (Chiu and Jain, Analysis of the increase and
    decrease algorithms for congestion avoidance, 1989). This settles, and shares a service with others fairly.

    Parameters:
        texts, tokens: the most in one request.
        width: the most requests under way at once.
    """

    def __init__(self, texts: int, tokens: int, width: int, timeout_seconds: float) -> None:
        self._most_texts, self._most_tokens, self._most_width = texts, tokens, width
        self._slow = timeout_seconds * _SLOW
        self._share = 1.0
        self._width = float(width)
        self._distrust = 0
        self._under_way = 0
        self._changed = Condition()

    @property
    def texts(self) -> int:
        """The most texts in the next request."""
        return max(1, int(self._most_texts * self._share))

    @property
    def tokens(self) -> int:
        """The most tokens in the next request, if it has several texts."""
        return max(1, int(self._most_tokens * self._share))

    @property
    def width(self) -> int:
        """Number of requests allowed under way."""
        return max(1, int(self._width))

    @contextmanager
    def slot(self) -> Iterator[None]:
        """Wait until another request may be under way; it ends with the block."""
        with self._changed:
            self._changed.wait_for(lambda: self._under_way < self.width)
            self._under_way += 1
        try:
            yield
        finally:
            with self._changed:
                self._under_way -= 1
                self._changed.notify_all()

    def answered(self, texts: int, tokens: int, seconds: float) -> None:
        """Learn from an answer to a request of this size."""
        with self._changed:
            if seconds > self._slow:
                self._shrink(texts, tokens)
            elif seconds < self._slow * _QUICK and self._sent(texts, tokens) > self._share / 2:
                # A quick answer to a small request says nothing about a large one.
                self._grow()

    def timed_out(self, texts: int, tokens: int) -> None:
        """Learn from a request of this size without an answer in time."""
        with self._changed:
            self._distrust = _TRUST
            self._shrink(texts, tokens)

    def at_most(self, texts: int) -> None:
        """Note that the service refuses requests with more texts."""
        with self._changed:
            self._most_texts = max(1, min(self._most_texts, texts))

    def _sent(self, texts: int, tokens: int) -> float:
        return max(texts / self._most_texts, tokens / self._most_tokens)

    def _grow(self) -> None:
        if self._distrust:
            self._distrust -= 1
            return
        self._share = min(1.0, self._share * _GROWTH)
        self._width = min(float(self._most_width), self._width * _GROWTH)
        self._changed.notify_all()

    def _shrink(self, texts: int, tokens: int) -> None:
        # Half of the sent size: several requests under way together shrink it once.
        self._share = max(1 / self._most_texts, min(self._share, self._sent(texts, tokens) / 2))
        self._width = max(1.0, min(self._width, self._under_way / 2))
