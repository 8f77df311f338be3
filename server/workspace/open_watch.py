"""What keeps an index in step with its folder and improves it, as its settings want it."""

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
    """What keeps an index in step with its folder; None when the settings say no, or the root is a single file.

    Parameters:
        index: open as long as the watcher runs.
        settings: of the index's root.
        report: told of each update and each problem.
        update: how to bring the index up to date, when that is more than `index.update`.
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
    """What improves an index while it is open; it begins with the first update that leaves something waiting."""
    return Improver(
        lambda cancelled: index.improve(cancelled=cancelled),
        settings.embedding.retry_seconds,
        name=f"improve {index.root.name}",
        report=lambda improved: report(WatchReport(improved_line(improved))),
    )
