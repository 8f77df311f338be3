"""Clients which want the index followed: it is, from the coming of the first until the last has left."""

from collections.abc import Iterator
from contextlib import contextmanager
from queue import SimpleQueue
from threading import Lock

from cqm.server.config.watch_options import WatchOptions
from cqm.server.owner.messages import Client
from cqm.server.owner.shared_runs import Opened
from cqm.server.watching.reports import WatchReport

Reports = SimpleQueue[WatchReport | None]
"""Reports for one client; None ends them."""


class Followers:
    """Clients following an index, also while it is closed and opened with other options.

    The first client's options of the watch hold while any client follows.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._reports: list[Reports] = []
        self._options: WatchOptions | None = None
        self._opened: Opened | None = None
        self._awaited: Client | None = None

    def opened(self, opened: Opened, awaited: Client | None) -> None:
        """Take an index opened in the place of the one before; it is followed if any client wants that.

        Parameters:
            opened: the index.
            awaited: the watch begins when this client follows too, or has left.
        """
        with self._lock:
            self._opened, self._awaited = opened, awaited
            if awaited is None:
                self._begin()

    def left(self, client: Client) -> None:
        """Note that a client has left."""
        with self._lock:
            if client == self._awaited:
                self._awaited = None
                self._begin()

    @contextmanager
    def joined(self, options: WatchOptions) -> Iterator[Reports]:
        """Count a follower during the block; yield the reports for it, first of a standing problem.

        Parameters:
            options: of the watch, if this client is the first.
        """
        reports = Reports()
        with self._lock:
            if self._opened and (standing := self._opened.index.standing_problem):
                reports.put(standing)
            self._reports.append(reports)
            self._options = self._options or options
            self._begin()
        try:
            yield reports
        finally:
            with self._lock:
                self._reports.remove(reports)
                if not self._reports:
                    self._options = None
                    if self._opened:
                        # Its end isn't awaited: a new follower's watch may begin beside it.
                        self._opened.index.unfollow(0)

    def _begin(self) -> None:
        if self._opened and self._options:
            self._opened.follow(self._options, self._report)

    def _report(self, report: WatchReport) -> None:
        for reports in tuple(self._reports):
            reports.put(report)
