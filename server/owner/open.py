"""Open an index as its settings say: shared with other processes, or for this one alone."""

import os
from collections.abc import Callable, Iterable
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Protocol, Self

from cqm.index.disk.locations import index_folder
from cqm.index.model.options import IndexOptions
from cqm.index.model.progress import Progress, UpdateSummary
from cqm.index.model.query import Answer, FileProblem, Query
from cqm.server.config.usual import AskedSettings
from cqm.server.console import say

if TYPE_CHECKING:
    # A client loads only the types of its calls.
    from cqm.index.model.asked import AskedQuestion
    from cqm.index.model.changes import Changes, ChangesQuery
    from cqm.index.model.outcomes import Estimate, Exported, Improved, Published
    from cqm.index.model.secrets import RedactedFile
    from cqm.index.model.status import IndexStatus
    from cqm.index.model.symbols import Outline, OutlineQuery, Reading, ReadQuery
    from cqm.index.model.uses import ReferenceGroup, SymbolUses
    from cqm.server.config.watch_options import WatchOptions
    from cqm.server.watching.reports import Backlog, WatchReport


class OpenedIndex(Protocol):
    """Methods of an index following its files, wherever the index is held open."""

    root: Path
    options: IndexOptions
    folder: Path

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...

    def close(self) -> None:
        """Close it."""

    def retire(self) -> None:
        """Let running and late calls end where others have it open too, and close it else."""

    def update(
        self,
        paths: Iterable[str | Path] | None = None,
        *,
        anew: bool = ...,
        report: Callable[[Progress], None] = ...,
        cancelled: Callable[[], bool] = ...,
    ) -> UpdateSummary:
        """Bring it up to date with the files."""

    def improve(self, *, report: Callable[[Progress], None] = ..., cancelled: Callable[[], bool] = ...) -> "Improved":
        """Embed and describe chunks an update left for later."""

    def follow(self, options: "WatchOptions", report: "Callable[[WatchReport], None]" = ...) -> None:
        """Take up changes of files as they happen, until it is closed."""

    def backlog(self) -> "Backlog":
        """Count known changes missing from it."""

    def wait(self, seconds: float) -> bool:
        """Wait until all changes known now are in it."""

    def retry_models(self) -> None:
        """Let the next update try failed models again."""

    def warm(self) -> None:
        """Load the parsers for changes to come."""

    def compact(self) -> None:
        """Rewrite it without the space of deleted chunks."""

    def export(self, file: str | Path) -> "Exported":
        """Write it to a snapshot."""

    def restore(
        self, file: str | Path, *, report: Callable[[Progress], None] = ..., cancelled: Callable[[], bool] = ...
    ) -> UpdateSummary:
        """Take it from a snapshot, and bring it up to date with the files."""

    def publish(self, name: str, *, keep: int = ...) -> "Published":
        """Write it to the configured server as a base of the team."""

    def take(
        self, name: str, *, report: Callable[[Progress], None] = ..., cancelled: Callable[[], bool] = ...
    ) -> UpdateSummary:
        """Have a base of the team below it, and bring it up to date with the files."""

    def search(self, query: Query) -> Answer:
        """Answer a query."""

    async def search_soon(self, query: Query) -> Answer | None:
        """Answer a query from an event loop; None where a thread must `search`."""

    def usages(
        self,
        name: str,
        limit: int = ...,
        cursor: str = ...,
        groups: "tuple[ReferenceGroup, ...]" = ...,
        depth: int = ...,
    ) -> "SymbolUses":
        """List definitions and references of a symbol."""

    def outline(self, query: "OutlineQuery") -> "Outline":
        """List the symbols of a file, or the most used symbols of a folder."""

    def paths(self, part: str, limit: int = ...) -> tuple[str, ...]:
        """List indexed files with a text in their path."""

    def read(self, query: "ReadQuery") -> "Reading":
        """Read a symbol, lines or a file as it is now."""

    def changes(self, query: "ChangesQuery") -> "Changes":
        """Find commits and their lines as they are now."""

    def status(self, *, look: bool = ...) -> "IndexStatus":
        """Describe its contents and state."""

    def skipped(self) -> tuple[FileProblem, ...]:
        """List the left-out files."""

    def secrets(self) -> "tuple[RedactedFile, ...]":
        """List the files with redacted secrets."""

    def asked(self) -> "tuple[AskedQuestion, ...]":
        """List the last questions of all who use it, the last one first."""

    def estimate(self) -> "Estimate":
        """Estimate an update's requests to models."""


def _say(notice: str) -> None:
    if notice:
        say(notice)


def open_index(
    root: Path,
    settings: AskedSettings,
    *,
    adopts: bool = False,
    noted: Callable[[str], None] = _say,
    remembered: bool = True,
) -> OpenedIndex:
    """Open the index of a folder or file, or create an empty one; nothing is indexed yet.

    With `index.shared`, this process uses the index through its owner, as any number of others may. Otherwise it has
    the index alone, and no other process can open it meanwhile.

    Parameters:
        adopts: whether these settings replace those of connected clients.
        noted: called with a sentence when other settings are in force, and with an empty one when they no longer are.
        remembered: whether the owner keeps the last questions asked here, for people to look at.

    Raises:
        CqmError: see `FollowedIndex.open` and `RemoteIndex.open`.
    """
    options = settings.index_options(root)
    if settings.index.shared:
        from cqm.server.owner.client import RemoteIndex

        idle_seconds = settings.index.idle_seconds
        return RemoteIndex.open(
            root, options, idle_seconds=idle_seconds, adopts=adopts, noted=noted, remembered=remembered
        )
    from cqm.index.workers.forking import source_for_first_index

    source = source_for_first_index(index_folder(root, options), root)
    from cqm.server.watching.followed_index import FollowedIndex  # Imports the store and everything below it.

    # SQLite and Edge make files with the rights left by this mask, not by the user's.
    os.umask(0o077)
    return FollowedIndex.open(root, options, source)
