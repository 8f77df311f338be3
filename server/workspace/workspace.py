"""Open indexes of a server, one for each root: opened on first use, watched, and shared."""

import logging
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from functools import partial
from pathlib import Path
from threading import Lock, Thread

from cqm.chunkers.errors import CqmError
from cqm.index.disk.locations import has_index
from cqm.index.generations.folders import current_name
from cqm.index.model.progress import UpdateSummary
from cqm.index.model.status import IndexStatus
from cqm.server.config.project_root import is_project
from cqm.server.config.settings import Settings
from cqm.server.owner.open import OpenedIndex, open_index
from cqm.server.watching.reports import Backlog, WatchReport
from cqm.server.workspace.jobs import Cancelled, Job, Report

_log = logging.getLogger(__name__)

Updated = Callable[[UpdateSummary], None]


class OpenIndex:
    """An open index with its indexing job. It follows its files from when a job has compared all of them.

    Parameters:
        index: opened; closed by `close`.
        settings: of its root.
        updated: called with each update, from any thread.
    """

    def __init__(self, index: OpenedIndex, settings: Settings, updated: Updated = lambda _: None) -> None:
        self.index = index
        self.settings = settings
        self._updated = updated
        self.can_follow = settings.watch.enabled and not index.root.is_file()
        self._lock = Lock()
        self._job: Job | None = None
        self._anew = self._retries = False
        self._compared = False
        self._closing = False

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
        """The running job."""
        job = self._job
        return job if job and not job.is_done else None

    def start_or_join(self, *, anew: bool = False, retry: bool = False) -> Job:
        """Join the running job comparing all files with the index, or start one.

        Parameters:
            anew: rebuild the index; a running job which doesn't is followed by one which does.
            retry: only try failed files again; any running job does so too.
        """
        with self._lock:
            is_enough = retry or (not self._retries and (self._anew or not anew))
            if self._job is None or not is_enough or not self._job.join():
                self._anew, self._retries = anew, retry
                work = self._retry if retry else partial(self._compare, anew=anew)
                self._job = Job(work, name=f"index {self.index.root.name}")
                self._job.start()
            return self._job

    def close(self) -> None:
        """Stop running work at the next file, and close the index."""
        with self._lock:
            self._closing = True
        if job := self.running_job():
            job.end()
        self.index.close()

    def _compare(self, report: Report, cancelled: Cancelled, *, anew: bool) -> UpdateSummary:
        summary = self.index.update(None, anew=anew, report=report, cancelled=lambda: self._closing or cancelled())
        self._updated(summary)
        for note in summary.notes:
            _log.warning("%s", note)
        if not (summary.cancelled or self._compared or self._closing):
            if self.can_follow:
                self.index.follow(self.settings.watch_options(), self._report)
            self._compared = True
        return summary

    def _report(self, report: WatchReport) -> None:
        _log_report(report)
        if report.summary:
            self._updated(report.summary)

    def _retry(self, report: Report, cancelled: Cancelled) -> UpdateSummary:
        failed = [problem.path for problem in self.index.status().failed]
        return self.index.update(failed, report=report, cancelled=lambda: self._closing or cancelled())


class Workspace:
    """All open indexes of this process.

    Parameters:
        settings: those outside of any project; each root adds its own cqm.yml.
        remembered: whether owners keep the questions asked here for people to look at.
        updated: called with each update of an open index, from any thread.
    """

    def __init__(self, settings: Settings, *, remembered: bool = True, updated: Updated = lambda _: None) -> None:
        self._settings = settings
        self._updated = updated
        self._remembered = remembered
        self._open: dict[Path, OpenIndex] = {}
        self._notices: dict[Path, str] = {}
        self._opening: dict[Path, Lock] = {}
        self._lock = Lock()

    def root_of(self, path: Path, allowed: Path) -> Path:
        """Find the root whose index answers for a path, at or above it and not above the allowed root.

        It is the nearest project with an index; without one, the nearest project; else the allowed root. So paths below
        one root share one index, and the index of a folder inside a project never hides the project's.

        Raises:
            SettingsError: the cqm.yml of a folder in between is not valid.
        """
        places = (place for place in (path, *path.parents) if place.is_relative_to(allowed))
        projects = [place for place in places if place == allowed or is_project(place)]
        indexed = (place for place in projects if place in self._open or self._has_index(place))
        return next(indexed, projects[0])

    def open_roots(self) -> tuple[Path, ...]:
        """Roots of the open indexes."""
        return tuple(self._open)

    def opened(self, root: Path) -> OpenIndex | None:
        """Return the index of a root if this process has it open."""
        return self._open.get(root)

    def open(self, root: Path) -> OpenIndex:
        """Return the index of a root; open it if needed.

        Raises:
            CqmError: it can't be opened: it is in use, damaged, or its settings are not valid.
        """
        if opened := self._open.get(root):
            return opened
        with self._lock:
            opening = self._opening.setdefault(root, Lock())
        # A lock for each root: an owner or store that takes a minute delays no other root.
        with opening:
            if root not in self._open:
                settings = self._settings.for_root(root)
                noted = partial(self._note, root)
                index = open_index(root, settings, noted=noted, remembered=self._remembered)
                self._open[root] = OpenIndex(index, settings, self._updated)
            return self._open[root]

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
        """Sentence telling that other settings than the root's are in force; empty when its own are."""
        return self._notices.get(root, "")

    def _note(self, root: Path, notice: str) -> None:
        self._notices[root] = notice
        if notice:
            _log.warning("%s", notice)

    def status(self, root: Path) -> IndexStatus:
        """Read the status of a root's index, without opening it.

        Raises:
            CqmError: its manifest can't be read, or its settings are not valid.
        """
        from cqm.index.status.status import read_status  # start-up time

        return read_status(root, self._settings.index_options(root))

    def statuses(self) -> list[IndexStatus]:
        """Ask the open indexes for their status; one that cannot tell now is left out."""
        found = []
        for opened in tuple(self._open.values()):
            with suppress(CqmError):
                found.append(opened.index.status())
        return found

    def _has_index(self, root: Path) -> bool:
        return has_index(root, self._settings.index_options(root))

    def close(self) -> None:
        """Close all; running work stops at the next file."""
        with self._lock:
            opening = list(self._opening.values())
        with ExitStack() as closing:
            for lock in opening:
                # An index that is being opened is among the open ones then.
                closing.enter_context(lock)
            while self._open:
                closing.callback(self._open.popitem()[1].close)


def _log_report(report: WatchReport) -> None:
    level = logging.WARNING if report.problem else logging.INFO
    if report.message:
        _log.log(level, "%s", report.message)
    for failed in report.summary.failed if report.summary else ():
        _log.warning("%s could not be indexed: %s", failed.path, failed.reason)
