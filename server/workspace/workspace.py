"""Open indexes of a server, one for each root: opened on first use, watched, and shared."""

import logging
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from threading import Lock, RLock, Thread
from typing import Protocol

from cqm.chunkers.errors import CqmError
from cqm.index.disk.locations import has_index
from cqm.index.files.git_folder import is_other_checkout
from cqm.index.generations.folders import current_name
from cqm.index.model.progress import UpdateSummary
from cqm.index.model.status import IndexStatus
from cqm.server.config.followed import FollowedSettings, about_the_index
from cqm.server.config.project_root import is_project
from cqm.server.config.settings import Settings
from cqm.server.errors import SettingsError
from cqm.server.owner.open import OpenedIndex, open_index
from cqm.server.watching.reports import Backlog, WatchReport
from cqm.server.workspace.changing import Changing, Looks, from_the_start
from cqm.server.workspace.jobs import Cancelled, Job, Report

_log = logging.getLogger(__name__)

Updated = Callable[[UpdateSummary], None]


class Reopen(Protocol):
    """Opens an index of a workspace with settings."""

    def __call__(self, settings: Settings, *, is_changed: bool) -> OpenedIndex:
        """Open it; changed settings hold for all who use it, if those before did."""


class OpenIndex:
    """An open index with its indexing job. It follows its files from when a job has compared all of them.

    Parameters:
        index: opened; closed by `close`.
        updated: called with each update, from any thread.
        reopen: opens it with changed settings.
    """

    def __init__(self, index: OpenedIndex, settings: Settings, updated: Updated, reopen: Reopen) -> None:
        self._index = index
        self.settings = settings
        self._updated = updated
        self._reopen = reopen
        self.changing = Changing(settings, self._put_in_force)
        self.can_follow = settings.watch.enabled and not index.root.is_file()
        self._lock = Lock()
        self._replacing = RLock()
        self._retired: list[OpenedIndex] = []
        self._job: Job | None = None
        self._anew = self._retries = False
        self._compared = False
        self._closing = False

    @property
    def index(self) -> OpenedIndex:
        """The open index. One held alone is awaited while it is opened with other settings."""
        with self._replacing:
            return self._index

    @property
    def is_in_step(self) -> bool:
        """Whether this process has compared all files with the index since it opened it, and follows them since."""
        return self._compared and (self.can_follow or not self.settings.watch.enabled)

    @property
    def is_complete(self) -> bool:
        """Whether the index ever held every file."""
        return bool(current_name(self.index.folder))

    def watch_state(self) -> str:
        """Describe in a few words how the files are watched."""
        if not self.can_follow:
            return "off"
        if not self._compared:
            return "not yet"
        return self.backlog().problem or "changes are indexed as they happen"

    def wait(self, seconds: float) -> bool:
        """Wait for known changes to be indexed; False at once unless every change is known as soon as it is made."""
        if not (self._compared and self.can_follow) or self.backlog().problem:
            return False
        self.index.wait(seconds)
        return True

    def backlog(self) -> Backlog:
        """Known changes missing from the index. Taken before a search, they hold for its answer."""
        if not (self._compared and self.can_follow):
            return Backlog(None)
        return self.index.backlog()

    def running_job(self) -> Job | None:
        """Return the running job."""
        job = self._job
        return job if job and not job.is_done else None

    def start_or_join(self, *, anew: bool = False, retry: bool = False) -> Job:
        """Join the running job that compares all files with the index, or start one.

        Parameters:
            anew: rebuild the index; a running job that doesn't is followed by one that does.
            retry: only try failed files again; any running job does so too.
        """
        with self._lock:
            is_enough = retry or (not self._retries and (self._anew or not anew))
            if self._job is None or not is_enough or not self._job.join():
                self._anew, self._retries = anew, retry
                index = self._index
                work = partial(self._retry, index) if retry else partial(self._compare, index, anew=anew)
                self._job = Job(work, name=f"index {index.root.name}")
                self._job.start()
            return self._job

    def close(self) -> None:
        """Stop running work at the next file, and close the index."""
        with self._lock:
            self._closing = True
        if job := self.running_job():
            job.end()
        for retired in self._retired:
            retired.close()
        self.index.close()

    def _put_in_force(self, settings: Settings) -> None:
        """Apply changed settings; reopen the index if they are about more than answers, and compare its files.

        Raises:
            CqmError: it can't be opened with them; nothing changes then.
        """
        if settings.index.shared != self.settings.index.shared:
            message = f"index.shared: {str(settings.index.shared).lower()} holds from the next start of this process."
            raise SettingsError(message)
        if about_the_index(settings) == about_the_index(self.settings):
            self.settings = settings
            return
        was_used = self._compared or self.running_job() is not None
        if settings.index.shared:
            opened = self._reopen(settings, is_changed=True)
            with self._lock:
                # Calls with the former index go on; its job is done by the owner with the new options.
                retired = self._exchange(opened, settings)
            self._retired.append(retired)
            retired.retire()
        else:
            self._replace(settings)
        if was_used:
            self.start_or_join()

    def _exchange(self, opened: OpenedIndex, settings: Settings) -> OpenedIndex:
        """Have another open index from now on; return the former one."""
        before, self._index, self.settings = self._index, opened, settings
        self.can_follow = settings.watch.enabled and not opened.root.is_file()
        self._compared, self._job = False, None
        return before

    def _replace(self, settings: Settings) -> None:
        """Close the index, which has no other users, and open it with other settings, or with the former ones."""
        with self._lock:
            self._closing = True
            if job := self.running_job():
                job.end()
            self._closing = False
            with self._replacing:
                self._index.close()
                try:
                    self._exchange(self._reopen(settings, is_changed=True), settings)
                except CqmError:
                    self._exchange(self._reopen(self.settings, is_changed=False), self.settings)
                    raise

    def _compare(self, index: OpenedIndex, report: Report, cancelled: Cancelled, *, anew: bool) -> UpdateSummary:
        summary = index.update(None, anew=anew, report=report, cancelled=lambda: self._closing or cancelled())
        self._updated(summary)
        for note in summary.notes:
            _log.warning("%s", note)
        if not (summary.cancelled or self._compared or self._closing) and index is self._index:
            if self.can_follow:
                index.follow(self.settings.watch_options(), self._report)
            self._compared = True
        return summary

    def _report(self, report: WatchReport) -> None:
        _log_report(report)
        if report.summary:
            self._updated(report.summary)

    def _retry(self, index: OpenedIndex, report: Report, cancelled: Cancelled) -> UpdateSummary:
        failed = [problem.path for problem in index.status().failed]
        return index.update(failed, report=report, cancelled=lambda: self._closing or cancelled())


@dataclass(slots=True)
class _Notice:
    """An owner's note to one client of an index. A former client, still answering a call, changes only its own."""

    text: str = ""

    def take(self, text: str) -> None:
        self.text = text
        if text:
            _log.warning("%s", text)


class Workspace:
    """All open indexes of this process.

    Parameters:
        settings: those outside of any project; each root adds its own cqm.yml.
        remembered: whether owners keep the questions asked here for people to look at.
        updated: called with each update of an open index, from any thread.
    """

    def __init__(self, settings: Settings, *, remembered: bool = True, updated: Updated = lambda _: None) -> None:
        self._started = settings
        self._base = FollowedSettings(settings)
        self._updated = updated
        self._remembered = remembered
        self._open: dict[Path, OpenIndex] = {}
        self._notices: dict[Path, _Notice] = {}
        self._opening: dict[Path, Lock] = {}
        self._lock = Lock()
        self._looks = Looks(self._look)

    @property
    def settings(self) -> Settings:
        """The settings outside of any project, as their files are now."""
        return self._base.settings

    def root_of(self, path: Path, allowed: Path) -> Path:
        """Find the root of a path's index, at or above the path and not above the allowed root.

        It is the nearest project with an index; without one, the nearest project; else the allowed root. So paths below
        one root share one index, and the index of a folder inside a project never hides the project's. A git work tree
        inside its project has an index of its own, since the project's leaves it out.

        Raises:
            SettingsError: the cqm.yml of a folder in between is not valid.
        """
        places = (place for place in (path, *path.parents) if place.is_relative_to(allowed))
        projects = [place for place in places if place == allowed or is_project(place)]
        if own := next((place for place in projects if is_other_checkout(place, place.parents)), None):
            return own
        indexed = (place for place in projects if place in self._open or self._has_index(place))
        return next(indexed, projects[0])

    def open_roots(self) -> tuple[Path, ...]:
        """Roots of the open indexes."""
        return tuple(self._open)

    def opened(self, root: Path) -> OpenIndex | None:
        """Return the index of a root if this process has it open."""
        return self._open.get(root)

    def open(self, root: Path) -> OpenIndex:
        """Return the index of a root; open it if needed. Settings just changed are awaited for a moment.

        Raises:
            CqmError: it can't be opened: it is in use, damaged, or its settings are not valid.
        """
        if opened := self._open.get(root):
            if opened.changing.is_behind:
                self._looks.wait_for(lambda: not opened.changing.is_behind)
            return opened
        with self._lock:
            opening = self._opening.setdefault(root, Lock())
        # A lock for each root: a slow owner or store delays no other root.
        with opening:
            if root not in self._open:
                settings = self.settings.for_root(root)
                index = self._opened(root, settings)
                self._open[root] = OpenIndex(index, settings, self._updated, partial(self._opened, root))
                self._looks.begin()
            return self._open[root]

    def _opened(self, root: Path, settings: Settings, *, is_changed: bool = False) -> OpenedIndex:
        former = self._notices.get(root, _Notice())
        notice = self._notices[root] = _Notice()
        # Of clients with different settings, the one with settings in force gets its new ones; the others get a note.
        adopts = is_changed and not former.text
        try:
            return open_index(root, settings, adopts=adopts, noted=notice.take, remembered=self._remembered)
        except CqmError:
            self._notices[root] = former
            raise

    def settings_problem(self, root: Path) -> str:
        """Sentences telling why the settings in force differ from the files; empty if they don't."""
        opened = self._open.get(root)
        found = [opened.changing.problem if opened else "", self._base.problem]
        return " ".join(dict.fromkeys(filter(None, found)))

    def _look(self) -> bool:
        """Put changed settings in force; whether known ones don't hold yet."""
        self._base.look()
        for root in tuple(self._open):
            with self._opening[root]:
                if opened := self._open.get(root):
                    opened.changing.look()
        return self._base.is_behind or any(opened.changing.is_behind for opened in tuple(self._open.values()))

    def keep(self, folders: Sequence[Path]) -> None:
        """Let go of the indexes outside of some folders: their work stops at the next file, unless others want it."""
        for root in tuple(self._open):
            if not any(root.is_relative_to(folder) for folder in folders):
                _log.info("The index of %s is no longer served.", root)
                # The file under way may be a large one.
                Thread(target=self._let_go, args=(root,), name=f"close {root.name}", daemon=True).start()

    def _let_go(self, root: Path) -> None:
        with self._opening[root]:
            if opened := self._open.pop(root, None):
                opened.close()

    def notice(self, root: Path) -> str:
        """Sentences telling that the root's own settings are not, or not yet, in force; empty if they are."""
        from_start = from_the_start(self._started, self._base.settings)
        noted = self._notices.get(root, _Notice()).text
        return " ".join(filter(None, [noted, self.settings_problem(root), from_start]))

    def status(self, root: Path) -> IndexStatus:
        """Read the status of a root's index, without opening it.

        Raises:
            CqmError: its manifest can't be read, or its settings are not valid.
        """
        from cqm.index.status.status import read_status  # start-up time

        opened = self._open.get(root)
        # A cqm.yml broken meanwhile does not hide the index.
        return read_status(root, opened.index.options if opened else self.settings.index_options(root))

    def statuses(self) -> list[IndexStatus]:
        """Ask the open indexes for their status; leave out one unable to tell now."""
        found = []
        for opened in tuple(self._open.values()):
            with suppress(CqmError):
                found.append(opened.index.status())
        return found

    def _has_index(self, root: Path) -> bool:
        return has_index(root, self.settings.index_options(root))

    def close(self) -> None:
        """Close all; running work stops at the next file."""
        self._looks.end()
        with self._lock:
            opening = list(self._opening.values())
        with ExitStack() as closing:
            for lock in opening:
                # An index being opened is among the open ones then.
                closing.enter_context(lock)
            while self._open:
                closing.callback(self._open.popitem()[1].close)


def _log_report(report: WatchReport) -> None:
    level = logging.WARNING if report.problem else logging.INFO
    if report.message:
        _log.log(level, "%s", report.message)
    for failed in report.summary.failed if report.summary else ():
        _log.warning("%s could not be indexed: %s", failed.path, failed.reason)
