"""Make the watcher and the improver of an index from its settings."""

from collections.abc import Callable

from cqm.index.files.listing import folders
from cqm.index.model.progress import UpdateSummary
from cqm.server.answers.status_text import improved_line
from cqm.server.config.settings import Settings
from cqm.server.owner.open import OpenedIndex
from cqm.server.watching.watcher import Update, Watcher, WatchReport
from cqm.server.workspace.backfill import Improver


def watcher_of(
    index: OpenedIndex, settings: Settings, *, report: Callable[[WatchReport], None], update: Update | None = None
) -> Watcher | None:
    """Make the watcher of an index's folder; None when watching is off, or the root is a single file.

    Parameters:
        index: open as long as the watcher runs.
        settings: of the index's root.
        report: called with each update and each problem.
        update: brings the index up to date; `index.update` by default.
    """
    if index.root.is_file() or not settings.watch.enabled:
        return None

    def update_index(paths: frozenset[str] | None, cancelled: Callable[[], bool]) -> UpdateSummary:
        return index.update(paths, cancelled=cancelled)

    return Watcher(
        index.root,
        update=update or update_index,
        folders=lambda top: folders(index.root, index.options.scan, top),
        report=report,
        options=settings.watch_options(),
    )


def improver_of(index: OpenedIndex, settings: Settings, report: Callable[[WatchReport], None]) -> Improver:
    """Make the improver of an open index; it begins with the first update which leaves chunks waiting."""
    return Improver(
        lambda cancelled: index.improve(cancelled=cancelled),
        settings.embedding.retry_seconds,
        name=f"improve {index.root.name}",
        report=lambda improved: report(WatchReport(improved_line(improved))),
    )
