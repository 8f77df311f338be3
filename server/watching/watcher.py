"""Keep an index in step with its folder: changes on disk become batches of paths, and missed changes are found later.

Events only make it fast. Reconciliation makes it right: it compares the whole tree with the index at the start, every
few minutes, and whenever events may have been lost.
"""

import logging
from collections.abc import Callable, Iterable
from pathlib import Path
from threading import Thread

from cqm.chunkers.errors import CqmError
from cqm.index.files import checkout
from cqm.index.files.scan import readable_path
from cqm.index.model.progress import UpdateSummary
from cqm.server.config.watch_options import WatchOptions
from cqm.server.watching.change_queue import Batch, PendingChanges
from cqm.server.watching.events import LIMIT_ERRORS, ChangeSource, how_to_get_watches, open_changes
from cqm.server.watching.network_mounts import mounts_below, remote_below, remote_type
from cqm.server.watching.reports import Backlog, WatchReport

_log = logging.getLogger(__name__)

_EVENTS_SECONDS = 0.5
"""Longest wait for the events of changes made just before a call; they take some milliseconds."""
IGNORE_FILES = frozenset({".gitignore", ".cqmignore"})
"""Files that move other files in or out of scope when they change."""

Update = Callable[[frozenset[str] | None, Callable[[], bool]], UpdateSummary]
"""Brings paths up to date in the index (relative to the root, with "/"), or the whole tree for None.

It stops early when the given function returns True.
"""


class Watcher:
    """Watches a folder in its own threads, from `start` to `stop`.

    Parameters:
        root: the folder, a real path.
        update: does the work; called from one thread.
        folders: lists the folders in scope at and below a folder, itself first.
    """

    def __init__(
        self,
        root: Path,
        *,
        update: Update,
        folders: Callable[[Path], Iterable[Path]],
        report: Callable[[WatchReport], None],
        options: WatchOptions | None = None,
    ) -> None:
        self._root = root
        self._update = update
        self._folders = folders
        self._report = report
        self._options = options or WatchOptions()
        self._pending = PendingChanges(
            self._options, head=lambda: (checkout.head(root), _state(root)), is_busy=lambda: checkout.is_busy(root)
        )
        self._source: ChangeSource | None = None
        self._watched: object = None
        self._thread = Thread(target=self._run, name=f"watch {root.name}", daemon=True)
        self._standing: WatchReport | None = None
        self._failure = ""

    def start(self) -> None:
        """Begin to watch, then compare the whole tree once: one of the two sees a change in between."""
        self._pending.add_whole()
        self._thread.start()

    def stop(self, seconds: float | None = None) -> bool:
        """End; a running update stops at the next file.

        Parameters:
            seconds: longest wait; None for any time.

        Returns:
            Whether it has ended.
        """
        self._pending.close()
        if self._thread.is_alive():
            self._thread.join(seconds)
        return not self._thread.is_alive()

    @property
    def standing(self) -> WatchReport | None:
        """The report of the present problem; None while changes are taken up at once."""
        return self._standing

    def backlog(self) -> Backlog:
        """Count changes made so far and missing from the index; unknown while changes aren't watched."""
        is_told = self._catch_up(_EVENTS_SECONDS)
        known, standing = self._pending.backlog(), self._standing
        if not is_told and not standing:
            return Backlog(known.count or None, known.since)
        return Backlog(known.count or None, known.since, standing.message) if standing else known

    def wait(self, seconds: float) -> bool:
        """Wait until all changes made so far are in the index; whether they are."""
        is_told = self._catch_up(min(seconds, _EVENTS_SECONDS))
        return self._pending.wait(seconds) and is_told

    def _catch_up(self, seconds: float) -> bool:
        """Wait for the events of changes made so far: a change of this moment is in the system's queue."""
        source = self._source
        return source is None or source.catch_up(seconds)

    def _run(self) -> None:
        try:
            while batch := self._pending.take():
                if not self._root.exists():
                    self._wait_for_root()
                    continue
                if batch.paths is None:
                    self._watch()
                self._bring_up_to_date(batch)
        except Exception as error:  # noqa: BLE001 - this thread's boundary
            # Folders no longer watched must not count as fresh.
            _log.exception("The watch of %s ended.", self._root)
            self._say_problem(f"{self._root} is watched no more: unexpected {type(error).__name__}: {error}.")
        finally:
            self._close_source()

    def _watch(self) -> None:
        """Watch every folder in scope; where this is impossible or not enough, compare the tree more often."""
        if self._options.mode == "poll":
            self._compare_often("Changes are not watched: watch.mode is poll.")
            return
        state = _state(self._root)
        if state != self._watched:
            # Another folder at the same path or below, as after a new clone or a mount: its files have no watches yet.
            self._close_source()
        try:
            if self._source is None:
                self._watched = state
                source = open_changes(self._root, folders=self._folders, changed=self._changed, lost=self._lost)
                source.start()
                self._source = source
            else:
                self._source.refresh()
        except (OSError, CqmError) as error:
            self._poll(error)
        else:
            self._well_watched()

    def _well_watched(self) -> None:
        is_auto = self._options.mode == "auto"
        kind = remote_type(self._root) if is_auto else ""
        where = f"{self._root} is on {kind}" if kind else remote_below(self._root) if is_auto else ""
        if where:
            self._compare_often(f"{where}, which does not report changes by other machines.")
        elif self._standing:
            self._standing = None
            self._pending.compare_every(self._options.reconcile)
            self._report(WatchReport(f"{self._root} is watched again."))

    def _compare_often(self, why: str) -> None:
        self._pending.compare_every(self._options.poll)
        self._say_problem(f"{why} The folder is compared every {self._options.poll:g} s.", is_problem=False)

    def _close_source(self) -> None:
        if self._source:
            self._source.stop()
            self._source = None

    def _changed(self, path: Path, is_saved: bool) -> None:  # noqa: FBT001 - a callback
        """Take a change from the source's thread."""
        if path == self._root or path.name in IGNORE_FILES:
            self._pending.add_whole()
        else:
            self._pending.add(path.relative_to(self._root).as_posix(), is_saved=is_saved)

    def _lost(self, why: str | OSError) -> None:
        """Compare the whole tree after missed changes."""
        if isinstance(why, OSError):
            self._poll(why)
        else:
            self._report(WatchReport(f"Changes in {self._root} were missed: {why}. The whole tree is compared."))
        self._pending.add_whole()

    def _poll(self, error: OSError | CqmError) -> None:
        is_limit = isinstance(error, OSError) and error.errno in LIMIT_ERRORS
        remedy = f" {how_to_get_watches(error)}" if isinstance(error, OSError) and is_limit else ""
        why = f"{error.strerror}." if isinstance(error, OSError) else str(error)
        self._say_problem(
            f"Changes in {self._root} can't be watched: {why} "
            f"The folder is compared every {self._options.poll:g} s instead.{remedy}"
        )
        self._pending.compare_every(self._options.poll)

    def _wait_for_root(self) -> None:
        self._close_source()
        self._say_problem(f"{self._root} is gone. Indexed files stay searchable; the watch goes on when it is back.")
        self._pending.compare_every(self._options.poll)

    def _bring_up_to_date(self, batch: Batch) -> None:
        try:
            summary = self._update(batch.paths, self._pending.is_closed)
        except CqmError as error:
            self._failed(batch, str(error))
        except Exception as error:  # noqa: BLE001 - this thread's boundary: one failed update must not end the watch
            _log.exception("An update of %s failed.", self._root)
            self._failed(batch, f"Unexpected {type(error).__name__}: {error}", next_time=Batch(None))
        else:
            if summary.cancelled:
                self._pending.keep(batch)
            else:
                self._pending.finish()
            self._failure = ""
            self._report(WatchReport(paths=_shown(batch), summary=summary))

    def _failed(self, batch: Batch, why: str, next_time: Batch | None = None) -> None:
        # Whichever path an unexpected error is of, it must not hold up the others: the whole tree is compared next.
        self._pending.keep(next_time or batch)
        if why != self._failure:
            # It is tried again every few seconds: told once, until it is another one or over.
            self._failure = why
            self._report(WatchReport(why, paths=_shown(batch), problem=True))

    def _say_problem(self, message: str, *, is_problem: bool = True) -> None:
        if self._standing is None or message != self._standing.message:
            self._standing = WatchReport(message, problem=is_problem)
            self._report(self._standing)


def _state(root: Path) -> object:
    """Tell one folder at a path from the next, with the mounts below it; None while there is none."""
    try:
        status = root.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino, mounts_below(root)


def _shown(batch: Batch) -> tuple[str, ...]:
    return tuple(sorted(readable_path(path) for path in batch.paths or ()))
