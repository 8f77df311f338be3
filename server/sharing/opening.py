"""An index opened as the settings want it: shared with other processes, or for this one alone."""

import os
from collections.abc import Callable, Iterable
from pathlib import Path
from types import TracebackType
from typing import Protocol, Self

from cqm.index.home import index_folder
from cqm.index.model import Answer, FileProblem, Query, SymbolUses
from cqm.index.options import IndexOptions
from cqm.index.secrets.model import RedactedFile
from cqm.index.state import IndexStatus
from cqm.index.summary import Estimate, Improved, Progress, UpdateSummary
from cqm.server.console import say
from cqm.server.settings import Settings


class OpenedIndex(Protocol):
    """What `cqm.index.engine.Index` offers, wherever the index is held open."""

    root: Path
    options: IndexOptions
    folder: Path

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...

    def close(self) -> None:
        """Let go of it."""

    def update(
        self,
        paths: Iterable[str | Path] | None = None,
        *,
        anew: bool = ...,
        report: Callable[[Progress], None] = ...,
        cancelled: Callable[[], bool] = ...,
    ) -> UpdateSummary:
        """Bring it up to date with the files."""

    def improve(self, *, report: Callable[[Progress], None] = ..., cancelled: Callable[[], bool] = ...) -> Improved:
        """Get what an update left for later."""

    def retry_models(self) -> None:
        """Let models that failed be tried by the next update."""

    def warm(self) -> None:
        """Have ready what parses files, for changes to come."""

    def compact(self) -> None:
        """Write it anew without the room of what was deleted."""

    def search(self, query: Query) -> Answer:
        """Answer a query."""

    def usages(self, name: str, limit: int = ...) -> SymbolUses:
        """Tell of a symbol."""

    def status(self, *, look: bool = ...) -> IndexStatus:
        """What it holds."""

    def skipped(self) -> tuple[FileProblem, ...]:
        """What is left out."""

    def secrets(self) -> tuple[RedactedFile, ...]:
        """Return the files with redacted secrets."""

    def estimate(self) -> Estimate:
        """What an update would ask models for."""


def _say(notice: str) -> None:
    if notice:
        say(notice)


def open_index(
    root: Path, settings: Settings, *, adopts: bool = False, noted: Callable[[str], None] = _say
) -> OpenedIndex:
    """Open the index of a folder or file, or begin it; nothing is indexed by this.

    With `index.shared` it is used through its owner, a process that any number of others use it through; else this
    process has it alone, and no other one can open it meanwhile.

    Parameters:
        root: the folder or file.
        settings: of it.
        adopts: whether these settings are to hold though others use the index with other ones.
        noted: told by a sentence when other ones hold, and by an empty one when they no longer do.

    Raises:
        CqmError: see `Index.open` and `RemoteIndex.open`.
    """
    options = settings.index_options(root)
    if settings.index.shared:
        from cqm.server.sharing.client import RemoteIndex

        idle_seconds = settings.index.idle_seconds
        return RemoteIndex.open(root, options, idle_seconds=idle_seconds, adopts=adopts, noted=noted)
    from cqm.index.workers.forking import source_for_first_index

    source = source_for_first_index(index_folder(root, options), root)
    from cqm.index.engine import Index  # the store and all that it stands on

    # SQLite and Edge make files with the rights that this leaves, whatever the user's own mask is.
    os.umask(0o077)
    return Index.open(root, options, source)
