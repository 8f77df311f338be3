"""An index in step with its files: a watcher and a backfill beside it, in the process which has it open."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from threading import Lock

from cqm.index.engine import Index
from cqm.index.files.listing import folders
from cqm.index.generations.freezing import should_be_frozen
from cqm.index.model.asked import AskedQuestion
from cqm.index.model.freshness import judged
from cqm.index.model.options import IndexOptions
from cqm.index.model.outcomes import Improved
from cqm.index.model.progress import Progress, UpdateSummary
from cqm.index.model.query import Answer, Query
from cqm.index.remote.variables import Variables
from cqm.index.workers.forking import Source
from cqm.server.config.watch_options import WatchOptions
from cqm.server.watching.backfill import Improver, improved_line
from cqm.server.watching.reports import Backlog, WatchReport
from cqm.server.watching.watcher import Update, Watcher

_NOT_FOLLOWED = Backlog(None, problem="Changes are not followed yet.")


class FollowedIndex(Index):
    """An index which follows its files from `follow` until `unfollow` or `close`."""

    def __init__(
        self, root: Path, options: IndexOptions, folder: Path, source: Source | None, variables: Variables
    ) -> None:
        super().__init__(root, options, folder, source, variables)
        self._beginning = Lock()
        self._watcher: Watcher | None = None
        self._improver: Improver | None = None
        self._may_follow = True
        self._cannot_freeze = False

    def follow(
        self,
        options: WatchOptions,
        report: Callable[[WatchReport], None] = lambda _: None,
        update: Update | None = None,
    ) -> None:
        """Compare the whole tree, take up changes as they happen, and backfill; harmless when done already.

        Parameters:
            report: called with each update and each problem, from threads of the watch.
            update: brings the index up to date; its own `update` by default.
        """
        with self._beginning:
            if self._watcher or not self._may_follow:
                return
            self._improver = Improver(
                self._improve_and_freeze,
                self.options.routes.retry_seconds,
                name=f"improve {self.root.name}",
                report=lambda improved: report(WatchReport(improved_line(improved))),
            )
            self._watcher = Watcher(
                self.root,
                update=update or (lambda paths, cancelled: self.update(paths, cancelled=cancelled)),
                folders=lambda top: folders(self.root, self.options.scan, top),
                report=report,
                options=options,
            )
            self._watcher.start()
        self.warm()

    def unfollow(self, seconds: float | None = None) -> bool:
        """Stop following; a running update stops at the next file.

        Parameters:
            seconds: longest wait for its end; None for any time.

        Returns:
            Whether it has ended.
        """
        with self._beginning:
            watcher, improver = self._watcher, self._improver
            self._watcher = self._improver = None
        if improver:
            improver.stop()
        return watcher is None or watcher.stop(seconds)

    @property
    def standing_problem(self) -> WatchReport | None:
        """The report of the present problem of the watch, for those who come later."""
        watcher = self._watcher
        return watcher.standing if watcher else None

    def backlog(self) -> Backlog:
        """Count known changes missing from the index; unknown while its files aren't followed."""
        watcher = self._watcher
        return watcher.backlog() if watcher else _NOT_FOLLOWED

    def search(self, query: Query) -> Answer:
        """Answer a query, and tell by the changes known before it how fresh the answer is; see `Index.search`."""
        backlog = self.backlog()
        answer = super().search(query)
        return replace(answer, freshness=judged(answer.freshness, backlog.count, backlog.since))

    async def search_soon(self, query: Query) -> Answer | None:  # noqa: ARG002 - as another process has it
        """Return None: a search keeps this process busy, so a thread must `search`."""
        return None

    def wait(self, seconds: float) -> bool:
        """Wait until all changes known now are in the index; whether they are. False when nobody follows its files."""
        watcher = self._watcher
        return watcher is not None and watcher.wait(seconds)

    def update(
        self,
        paths: Iterable[str | Path] | None = None,
        *,
        anew: bool = False,
        report: Callable[[Progress], None] = lambda _: None,
        cancelled: Callable[[], bool] = lambda: False,
    ) -> UpdateSummary:
        """Bring the index up to date; see `Index.update`. The backfill takes up chunks left waiting."""
        summary = super().update(paths, anew=anew, report=report, cancelled=cancelled)
        return self._after(summary)

    def restore(
        self,
        file: str | Path,
        *,
        report: Callable[[Progress], None] = lambda _: None,
        cancelled: Callable[[], bool] = lambda: False,
    ) -> UpdateSummary:
        """Take the index from a snapshot; see `Index.restore`. The backfill takes up chunks left waiting."""
        summary = super().restore(file, report=report, cancelled=cancelled)
        return self._after(summary)

    def take(
        self,
        name: str,
        *,
        report: Callable[[Progress], None] = lambda _: None,
        cancelled: Callable[[], bool] = lambda: False,
    ) -> UpdateSummary:
        """Take a base of the team; see `Index.take`. The backfill takes up chunks left waiting."""
        summary = super().take(name, report=report, cancelled=cancelled)
        return self._after(summary)

    def _after(self, summary: UpdateSummary) -> UpdateSummary:
        """Have the backfill take up chunks left waiting by an update."""
        improver = self._improver
        if improver is None:
            return summary
        return improver.after(summary, is_heavy=self._should_be_frozen())

    def _should_be_frozen(self) -> bool:
        with self._lineage.reading() as serving:
            return not self._cannot_freeze and should_be_frozen(serving)

    def _improve_and_freeze(self, cancelled: Callable[[], bool]) -> Improved:
        improved = self.improve(cancelled=cancelled)
        if self._should_be_frozen():
            # Where it fails or does not help, the next process tries again.
            self._cannot_freeze = True
            self._freeze(cancelled)
            with self._lineage.reading() as serving:
                self._cannot_freeze = should_be_frozen(serving)
        return improved

    def rest(self, seconds: float) -> bool:
        """Free the store's memory if it was unused for so long, and return whether it did; the next use opens it.

        Raises:
            StoreError: it cannot be closed.
        """
        with self._lineage.reading() as serving:
            return serving.store.rest(seconds)

    def asked(self) -> tuple[AskedQuestion, ...]:
        """List the last questions of others: none, since no other process can ask an index held alone."""
        return ()

    def retire(self) -> None:
        """Close it: no other process can have an index held alone."""
        self.close()

    def close(self) -> None:
        """Stop following, and close the index; see `Index.close`."""
        self._may_follow = False
        self.unfollow()
        super().close()
