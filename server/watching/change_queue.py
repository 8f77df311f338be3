"""Queue of changed paths between the thread seeing them and the thread updating them; duplicates are merged."""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import PurePosixPath
from threading import Condition

from cqm.server.config.watch_options import WatchOptions
from cqm.server.watching.reports import Backlog

_LEAST_WAIT = 0.005
"""Seconds; shortest pause between looks while due changes are held up."""
_AFTER_SAVE = 1 / 3
"""Share of the quiet time after a whole save: its steps are over, and 5 ms join it with another file's."""


@dataclass(frozen=True, slots=True)
class Batch:
    """Paths to bring up to date, relative to the root, with "/" between parts; None for the whole tree."""

    paths: frozenset[str] | None


class PendingChanges:
    """Collect changes from any thread, and hand them to one thread when they have settled.

    After a checkout of another commit, or with another folder at the root's path, anything may have changed.

    Parameters:
        head: returns the checked-out commit and the folder's identity, or anything else to compare.
        is_busy: whether a program is writing to the whole tree: changes wait for the end.
    """

    def __init__(
        self,
        options: WatchOptions,
        *,
        head: Callable[[], object] = lambda: "",
        is_busy: Callable[[], bool] = lambda: False,
    ) -> None:
        self._options = options
        self._head = head
        self._is_busy = is_busy
        self._condition = Condition()
        self._paths: set[str] = set()
        self._kept: set[str] = set()
        self._in_hand: frozenset[str] = frozenset()
        self._whole = self._whole_in_hand = self._whole_kept = False
        self._since = self._since_in_hand = 0.0
        # Changes are numbered: those up to `_upto` are in hand, those up to `_finished` are taken up.
        self._number = self._upto = self._finished = 0
        self._seen_head: object = None
        self._held_up_at = 0.0
        self._first = self._last = 0.0
        self._is_saved = False
        self._look_at = 0.0
        self._period = options.reconcile
        self._next_whole = time.monotonic() + self._period
        self._again = math.inf
        self._closed = False

    def add(self, path: str, *, is_saved: bool = False) -> None:
        """Note a changed path.

        Parameters:
            path: as in `Batch`.
            is_saved: whether its writer has just ended, and nothing else is to come.
        """
        with self._condition:
            self._touch(is_saved=is_saved)
            self._paths.add(path)

    def add_whole(self) -> None:
        """Note that anything may have changed."""
        with self._condition:
            self._touch()
            self._whole = True

    def finish(self) -> None:
        """Note that the handed-over batch is taken up."""
        with self._condition:
            self._finished = self._upto
            self._whole_kept = self._whole_kept and not self._whole_in_hand
            self._put_down()

    def keep(self, batch: Batch) -> None:
        """Return a batch which couldn't be taken up: it comes again with the next change, or else soon."""
        with self._condition:
            self._kept |= self._in_hand if batch.paths is None else batch.paths
            again = time.monotonic() + self._options.poll
            if batch.paths is None:
                self._whole_kept = True
                self._next_whole = min(self._next_whole, again)
            else:
                self._again = again
            since = self._since_in_hand
            self._put_down()
            self._since = min(self._since or since, since)

    def backlog(self) -> Backlog:
        """Count the known changes not taken up yet."""
        with self._condition:
            count = len(self._paths | self._kept | self._in_hand)
            oldest = min(filter(None, (self._since_in_hand, self._since)), default=0.0)
            is_unknown = self._whole or self._whole_in_hand or self._whole_kept
            return Backlog(count or (None if is_unknown else 0), oldest)

    def wait(self, seconds: float) -> bool:
        """Wait until all changes known now are taken up; whether they are."""
        with self._condition:
            until = self._number

            def is_done() -> bool:
                return self._finished >= until and not self._whole_kept

            return self._condition.wait_for(lambda: is_done() or self._closed, seconds) and is_done()

    def compare_every(self, seconds: float) -> None:
        """Set the time between comparisons of the whole tree, from now on."""
        with self._condition:
            self._period = seconds
            self._next_whole = time.monotonic() + seconds
            self._condition.notify_all()

    def close(self) -> None:
        """Let `take` return None from now on."""
        with self._condition:
            self._closed = True
            self._condition.notify_all()

    def is_closed(self) -> bool:
        """Whether `close` was called."""
        return self._closed

    def take(self) -> Batch | None:
        """Wait until changes have settled or a comparison is due, and hand it over; None when closed."""
        with self._condition:
            while not self._closed:
                self._look_at_head()
                wait = self._due() - time.monotonic()
                if wait <= 0 and not self._is_held_up():
                    return self._hand_over()
                pause = wait if wait > 0 else max(self._options.quiet, _LEAST_WAIT)
                self._condition.wait(min(pause, self._options.glance))
        return None

    def _look_at_head(self) -> None:
        """Look at the commit now and then: a reported change need not wait for a look."""
        now = time.monotonic()
        if self._whole or now < self._look_at:
            return
        self._look_at = now + self._options.glance
        if self._head() != self._seen_head:
            self._touch()
            self._whole = True

    def _is_held_up(self) -> bool:
        """Whether changes wait because a program is writing to the whole tree."""
        if not self._is_busy():
            self._held_up_at = 0.0
            return False
        now = time.monotonic()
        self._held_up_at = self._held_up_at or now
        return now - self._held_up_at < self._options.busy

    def _put_down(self) -> None:
        self._in_hand, self._whole_in_hand, self._since_in_hand = frozenset(), False, 0.0
        self._condition.notify_all()

    def _touch(self, *, is_saved: bool = False) -> None:
        self._number += 1
        self._last = time.monotonic()
        self._since = self._since or time.time()
        is_first = not (self._paths or self._whole)
        if is_first:
            self._first = self._last
        if is_first or is_saved > self._is_saved:
            self._condition.notify_all()
        self._is_saved = is_saved

    def _due(self) -> float:
        if not (self._paths or self._whole):
            return min(self._next_whole, self._again)
        quiet = self._options.quiet * (_AFTER_SAVE if self._is_saved else 1)
        settled = min(self._last + quiet, self._first + self._options.longest)
        return min(settled, self._next_whole)

    def _hand_over(self) -> Batch:
        paths = _outermost(self._paths | self._kept)
        whole = self._whole or len(paths) > self._options.many or time.monotonic() >= self._next_whole
        self._in_hand, self._whole_in_hand, self._since_in_hand = paths, self._whole, self._since
        self._upto = self._number
        self._paths, self._kept, self._whole, self._since = set(), set(), False, 0.0
        self._again = math.inf
        if not whole:
            return Batch(paths)
        self._whole_in_hand = self._whole_in_hand or self._whole_kept
        self._seen_head = self._head()
        self._next_whole = time.monotonic() + self._period
        return Batch(None)


def _outermost(paths: set[str]) -> frozenset[str]:
    """Drop paths below another path: a deleted folder stands for its files."""
    return frozenset(path for path in paths if not any(str(up) in paths for up in PurePosixPath(path).parents))
