"""Work wanted by several clients at once: runs and the watch go on for all of them, as long as any of them wants it."""

import logging
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from queue import SimpleQueue
from threading import Condition, Lock, Thread
from typing import Any, Generic, TypeVar

from cqm.index.model.progress import Progress, UpdateSummary
from cqm.server.config.watch_options import WatchOptions
from cqm.server.owner.messages import Client
from cqm.server.watching.followed_index import FollowedIndex
from cqm.server.watching.reports import WatchReport

_log = logging.getLogger(__name__)

_GLANCE_SECONDS = 0.1
"""Time between a waiting call's looks whether its client still wants it."""

Result = TypeVar("Result")
Report = Callable[[Progress], None]
Work = Callable[[Report, Callable[[], bool]], Result]
"""Does a run: takes a function reporting progress, and one telling whether to stop."""


@dataclass(eq=False, slots=True)
class _Call:
    """A call taking part in a run: its unreported progress, the newest of each phase."""

    news: dict[str, Progress] = field(default_factory=dict)


@dataclass(eq=False, slots=True)
class _Run(Generic[Result]):
    """A run and the calls wanting it; once it has begun, no call joins it."""

    calls: set[_Call] = field(default_factory=set)
    result: Result | None = None
    error: BaseException | None = None
    is_done: bool = False

    def outcome(self) -> Result:
        """Return the result, or raise the error."""
        if self.error:
            raise self.error
        if self.result is None:
            raise RuntimeError("the run ended with neither result nor error")
        return self.result


class Line(Generic[Result]):
    """Runs of one kind of work, one after the other.

    A call joins a run which begins after it, so the run sees its changes. Calls coming during a run share the next one.
    When no call wants a run any more, it is told to stop.

    Parameters:
        counted: gives a context entered for the time of a run, even an unwanted one which has yet to stop.
    """

    def __init__(self, work: Work[Result], name: str, counted: Callable[[], AbstractContextManager[None]]) -> None:
        self._work = work
        self._name = name
        self._counted = counted
        self._changed = Condition()
        self._running: _Run[Result] | None = None
        self._next: _Run[Result] | None = None

    def call(self, tell: Report, is_wanted: Callable[[], bool]) -> Result | None:
        """Take part in a run until it ends.

        Parameters:
            tell: called with progress, also of the run before; in this thread, so it may take its time.
            is_wanted: asked now and then. A call raising in it or in `tell` isn't wanted any more either.

        Returns:
            The run's result; None for a call no longer wanted, when others want the run or it hasn't begun.

        Raises:
            The error of the run.
        """
        call = _Call()
        run = self._join(call)
        try:
            while not self._waited(run, call, tell):
                if not is_wanted() and self._may_go(run, call):
                    return None
        finally:
            self._drop(run, call)
        return run.outcome()

    def _join(self, call: _Call) -> _Run[Result]:
        with self._changed:
            run = self._next = self._next or _Run()
            run.calls.add(call)
            if self._running is None:
                self._begin()
            return run

    def _begin(self) -> None:
        """Begin the next run, if one is wanted; with the lock held."""
        self._running, self._next = self._next, None
        if self._running:
            # Count it here, while a call or the run before still counts: so the count never drops to zero between them.
            counted = ExitStack()
            counted.enter_context(self._counted())
            Thread(target=self._go, args=(self._running, counted), name=self._name, daemon=True).start()

    def _go(self, run: _Run[Result], counted: ExitStack) -> None:
        try:
            run.result = self._work(lambda progress: self._note(run, progress), lambda: not run.calls)
        except BaseException as error:  # noqa: BLE001 - this thread's boundary: each call raises it in its own thread
            run.error = error
        with self._changed:
            run.is_done = True
            self._begin()
            counted.close()
            self._changed.notify_all()

    def _note(self, run: _Run[Result], progress: Progress) -> None:
        with self._changed:
            for call in run.calls | (self._next.calls if self._next else set()):
                call.news[progress.phase] = progress
            self._changed.notify_all()

    def _waited(self, run: _Run[Result], call: _Call, tell: Report) -> bool:
        """Wait for news and report them; whether the run is done."""
        with self._changed:
            self._changed.wait_for(lambda: run.is_done or call.news, _GLANCE_SECONDS)
            news, call.news, is_done = call.news, {}, run.is_done
        for progress in news.values():
            tell(progress)
        return is_done

    def _may_go(self, run: _Run[Result], call: _Call) -> bool:
        """Leave a run; whether its end needn't be awaited: others want it, or it hasn't begun."""
        self._drop(run, call)
        with self._changed:
            return bool(run.calls) or run is not self._running

    def _drop(self, run: _Run[Result], call: _Call) -> None:
        with self._changed:
            run.calls.discard(call)
            if run is self._next and not run.calls:
                self._next = None


class Opened:
    """An open index and the runs shared by its clients.

    Parameters:
        counted: counts a run of a method while its context lasts.
    """

    def __init__(self, index: FollowedIndex, counted: Callable[[str], AbstractContextManager[None]]) -> None:
        self.index = index
        self._counted = counted
        self.is_ending = False
        self._lines: dict[object, Line[Any]] = {}
        self._lock = Lock()

    def line(self, method: str, arguments: Mapping[str, Any]) -> Line[Any]:
        """Return the runs a call shares: runs of the same method and arguments. An update of paths shares none."""
        call = partial(getattr(self.index, method), **arguments)

        def work(report: Report, cancelled: Callable[[], bool]) -> object:
            return call(report=report, cancelled=lambda: self.is_ending or cancelled())

        line: Line[Any] = Line(work, method, partial(self._counted, method))
        if arguments.get("paths") is not None:
            return line
        with self._lock:
            return self._lines.setdefault((method, *sorted(arguments.items())), line)

    def follow(self, options: WatchOptions, report: Callable[[WatchReport], None]) -> None:
        """Follow the files; see `FollowedIndex.follow`. Clients share the comparisons of the whole tree."""
        if not self.is_ending:
            self.index.follow(options, report, self._update)

    def _update(self, paths: frozenset[str] | None, cancelled: Callable[[], bool]) -> UpdateSummary:
        if paths is not None:
            return self.index.update(paths, cancelled=cancelled)
        compared: Line[UpdateSummary] = self.line("update", {"paths": None, "anew": False})
        return compared.call(lambda _: None, lambda: not cancelled()) or UpdateSummary(cancelled=True)

    def stop(self, seconds: float) -> bool:
        """Stop running work and the watch at the next file.

        Parameters:
            seconds: longest wait for the end of the watch.

        Returns:
            Whether the watch has ended; running work is counted.
        """
        self.is_ending = True
        return self.index.unfollow(seconds)

    def close(self) -> None:
        """Stop running work at the next file, and close the index."""
        self.is_ending = True
        self.index.close()


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
        """Take an index opened in place of the former one; it is followed if any client wants it.

        Parameters:
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
        """Count a follower during the block; yield the reports for it, first of a standing problem."""
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
