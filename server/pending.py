"""Changed paths on their way from the thread that sees them to the thread that takes them up, coalesced."""

import math
import time
from dataclasses import dataclass
from pathlib import PurePosixPath
from threading import Condition


@dataclass(frozen=True, slots=True)
class WatchOptions:
    """When a change is taken up, in seconds.

    Attributes:
        quiet: a change waits until nothing has changed for this long, so that the steps of one save come together.
        longest: but never longer than this.
        reconcile: time between comparisons of the whole tree.
        poll: the same, while changes can't be watched; and how soon what failed is tried again.
        many: with more changed paths than this, the whole tree is compared instead.
    """

    quiet: float = 0.03
    longest: float = 0.5
    reconcile: float = 300.0
    poll: float = 5.0
    many: int = 500


@dataclass(frozen=True, slots=True)
class Batch:
    """What to bring up to date: paths relative to the root, with "/" between parts; None for the whole tree."""

    paths: frozenset[str] | None


class PendingChanges:
    """Collects changes from any thread, and hands them over when they have settled."""

    def __init__(self, options: WatchOptions) -> None:
        self._options = options
        self._condition = Condition()
        self._paths: set[str] = set()
        self._kept: set[str] = set()
        self._whole = False
        self._first = self._last = 0.0
        self._period = options.reconcile
        self._next_whole = time.monotonic() + self._period
        self._again = math.inf
        self._closed = False

    def add(self, path: str) -> None:
        """A path changed."""
        with self._condition:
            self._touch()
            self._paths.add(path)

    def add_whole(self) -> None:
        """Anything may have changed."""
        with self._condition:
            self._touch()
            self._whole = True

    def keep(self, batch: Batch) -> None:
        """Give a batch back that could not be taken up: it comes again with the next change, or else soon."""
        with self._condition:
            self._kept |= batch.paths or set()
            again = time.monotonic() + self._options.poll
            if batch.paths is None:
                self._next_whole = min(self._next_whole, again)
            else:
                self._again = again

    def compare_every(self, seconds: float) -> None:
        """Set the time between comparisons of the whole tree, from now on."""
        with self._condition:
            self._period = seconds
            self._next_whole = time.monotonic() + seconds
            self._condition.notify()

    def close(self) -> None:
        """Let `take` return None from now on."""
        with self._condition:
            self._closed = True
            self._condition.notify()

    def is_closed(self) -> bool:
        """Whether `close` was called."""
        return self._closed

    def take(self) -> Batch | None:
        """Wait until changes have settled or a comparison is due, and hand it over; None when closed."""
        with self._condition:
            while not self._closed:
                wait = self._due() - time.monotonic()
                if wait <= 0:
                    return self._hand_over()
                self._condition.wait(wait)
        return None

    def _touch(self) -> None:
        self._last = time.monotonic()
        if not (self._paths or self._whole):
            self._first = self._last
            self._condition.notify()

    def _due(self) -> float:
        if not (self._paths or self._whole):
            return min(self._next_whole, self._again)
        settled = min(self._last + self._options.quiet, self._first + self._options.longest)
        return min(settled, self._next_whole)

    def _hand_over(self) -> Batch:
        paths = _outermost(self._paths | self._kept)
        whole = self._whole or len(paths) > self._options.many or time.monotonic() >= self._next_whole
        self._paths, self._kept, self._whole, self._again = set(), set(), False, math.inf
        if not whole:
            return Batch(paths)
        self._next_whole = time.monotonic() + self._period
        return Batch(None)


def _outermost(paths: set[str]) -> frozenset[str]:
    """The paths without those that lie below another: a deleted folder stands for its files."""
    return frozenset(path for path in paths if not any(str(up) in paths for up in PurePosixPath(path).parents))
