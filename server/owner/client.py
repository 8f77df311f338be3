"""Use an index which another process has open, as if it were open here."""

import time
import uuid
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from threading import Lock, Thread
from types import NoneType, TracebackType
from typing import TYPE_CHECKING, Self

from cqm.chunkers.errors import CqmError
from cqm.index.disk.locations import make_index_folder, relative_to_root, resolve_root
from cqm.index.model.options import IndexOptions
from cqm.index.model.progress import UpdateSummary
from cqm.index.model.query import Answer, FileProblem, Query
from cqm.index.remote.variables import process_variables
from cqm.server.owner.calls import Calls, Cancelled, Noted, Report
from cqm.server.owner.client_options import absolute, service_variables
from cqm.server.owner.messages import (
    REPORT,
    Build,
    Client,
    Greeting,
    reply_in,
    taken,
    this_build,
)
from cqm.server.owner.wire import Wire

if TYPE_CHECKING:
    # A client loads only the types of its calls, in the methods below.
    from cqm.index.model.asked import AskedQuestion
    from cqm.index.model.changes import Changes, ChangesQuery
    from cqm.index.model.outcomes import Estimate, Exported, Improved, Published
    from cqm.index.model.secrets import RedactedFile
    from cqm.index.model.status import IndexStatus
    from cqm.index.model.symbols import Outline, OutlineQuery, Reading, ReadQuery
    from cqm.index.model.uses import ReferenceGroup, SymbolUses
    from cqm.server.config.watch_options import WatchOptions
    from cqm.server.watching.reports import Backlog, WatchReport


class RemoteIndex:
    """An index held open by its owner, with the methods of `FollowedIndex`; any thread may call them.

    Use `RemoteIndex.open`, and close it or use it in a `with` block.
    """

    def __init__(self, root: Path, options: IndexOptions, folder: Path, greeting: Greeting, noted: Noted) -> None:
        self.root = root
        self.options = options
        self.folder = folder
        self._calls = Calls(root, folder, greeting, noted)
        self._beginning = Lock()
        self._listener: Thread | None = None
        self._following: Wire | None = None

    @classmethod
    def open(
        cls,
        root: Path,
        options: IndexOptions | None = None,
        *,
        idle_seconds: float = 60.0,
        adopts: bool = False,
        noted: Noted = lambda _: None,
        build: Build | None = None,
        remembered: bool = True,
    ) -> Self:
        """Connect to the owner of the index of a folder or file; start one if there is none.

        The options of the first client hold as long as any client is connected, also for clients with other options.

        Parameters:
            idle_seconds: time the owner waits for another client after the last one left.
            adopts: whether these options hold from now on, for all clients.
            noted: called when the index is open with other options; from any thread calling a method.
            build: build this client reports; by default the real one.
            remembered: whether the owner keeps the last questions asked here, for people to look at.

        Raises:
            ScanError: the root doesn't exist.
            IndexInUseError: a process has the index for itself, or it can't be reopened now.
            SharingError: no owner can be started or reached.
            StoreError, ManifestError: the index can't be read or made.
        """
        options = absolute(options or IndexOptions())
        root = resolve_root(root)
        folder = make_index_folder(root, options)
        greeting = Greeting(
            build or this_build(),
            Client(uuid.uuid4().hex),
            str(root),
            options,
            service_variables(options, process_variables()),
            idle_seconds,
            adopts,
            remembered=remembered,
        )
        index = cls(root, options, folder, greeting, noted)
        index._calls.connect()
        return index

    def __enter__(self) -> Self:
        """Return the index itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close it."""
        self.close()

    def close(self) -> None:
        """Leave the owner; harmless when done before. Running calls end with an error."""
        self._calls.close()

    def retire(self) -> None:
        """Follow the files no longer, let running and late calls end, and leave the owner then."""
        self._calls.retire()
        with self._beginning:
            if self._following:
                self._following.hang_up()

    def update(
        self,
        paths: Iterable[str | Path] | None = None,
        *,
        anew: bool = False,
        report: Report = lambda _: None,
        cancelled: Cancelled = lambda: False,
    ) -> UpdateSummary:
        """Bring the index up to date with the files; see `Index.update`.

        Updates wanted by several clients at once run together: the summary covers them all. A call cancelled while
        others want the run returns a summary of the index which counts no file.
        """
        # Refuse a path outside the index here: a run is shared with unrelated calls.
        below = None if paths is None else tuple(sorted({relative_to_root(self.root, path) for path in paths}))
        return self._calls.call(UpdateSummary, "update", report, cancelled, paths=below, anew=anew)

    def improve(self, *, report: Report = lambda _: None, cancelled: Cancelled = lambda: False) -> "Improved":
        """Embed and describe chunks an update left for later; see `Index.improve`."""
        from cqm.index.model.outcomes import Improved

        return self._calls.call(Improved, "improve", report, cancelled)

    def follow(self, options: "WatchOptions", report: "Callable[[WatchReport], None]" = lambda _: None) -> None:
        """Have the owner follow the files until this index is closed; see `FollowedIndex.follow`.

        When the owner dies, the next one compares the whole tree and follows on.

        Parameters:
            options: of the watch; the first client's apply while any client follows.
            report: called with each report of the watch, whichever client began it, from a thread of its own.
        """
        with self._beginning:
            if self._listener:
                return
            wire = self._followed(options)
            self._listener = Thread(
                target=self._listen, args=(wire, options, report), name=f"reports {self.root.name}", daemon=True
            )
            self._listener.start()

    def backlog(self) -> "Backlog":
        """Count known changes missing from the index; see `FollowedIndex.backlog`."""
        from cqm.server.watching.reports import Backlog

        return self._calls.call(Backlog, "backlog")

    def wait(self, seconds: float) -> bool:
        """Wait until all changes known now are in the index; see `FollowedIndex.wait`."""
        return self._calls.call(bool, "wait", seconds=seconds)

    def retry_models(self) -> None:
        """Let the next update try failed models again; see `Index.retry_models`."""
        self._calls.call(NoneType, "retry_models")

    def warm(self) -> None:
        """Prepare for changes; see `Index.warm`."""
        self._calls.call(NoneType, "warm")

    def compact(self) -> None:
        """Rewrite the contents of the index; see `Index.compact`."""
        self._calls.call(NoneType, "compact")

    def export(self, file: str | Path) -> "Exported":
        """Write the index to a snapshot; see `Index.export`."""
        from cqm.index.model.outcomes import Exported

        return self._calls.call(Exported, "export", file=str(Path(file).absolute()))

    def restore(
        self, file: str | Path, *, report: Report = lambda _: None, cancelled: Cancelled = lambda: False
    ) -> UpdateSummary:
        """Take the index from a snapshot; see `Index.restore`."""
        return self._calls.call(UpdateSummary, "restore", report, cancelled, file=str(Path(file).absolute()))

    def publish(self, name: str, *, keep: int = 7) -> "Published":
        """Write the index to the server as a base; see `Index.publish`."""
        from cqm.index.model.outcomes import Published

        return self._calls.call(Published, "publish", name=name, keep=keep)

    def take(
        self, name: str, *, report: Report = lambda _: None, cancelled: Cancelled = lambda: False
    ) -> UpdateSummary:
        """Take a base of the team; see `Index.take`."""
        return self._calls.call(UpdateSummary, "take", report, cancelled, name=name)

    def search(self, query: Query) -> Answer:
        """Answer a query from the present contents of the index; see `Index.search`."""
        return self._calls.call(Answer, "search", query=query)

    async def search_soon(self, query: Query) -> Answer | None:
        """Answer a query from an event loop; None where `search` must be used, see `Calls.call_soon`."""
        return await self._calls.call_soon(Answer, "search", query=query)

    def usages(
        self, name: str, limit: int = 50, cursor: str = "", groups: "tuple[ReferenceGroup, ...]" = (), depth: int = 1
    ) -> "SymbolUses":
        """List definitions and references of a symbol; see `Index.usages`."""
        from cqm.index.model.uses import SymbolUses

        return self._calls.call(SymbolUses, "usages", name=name, limit=limit, cursor=cursor, groups=groups, depth=depth)

    def outline(self, query: "OutlineQuery") -> "Outline":
        """List the symbols of a file or folder; see `Index.outline`."""
        from cqm.index.model.symbols import Outline

        return self._calls.call(Outline, "outline", query=query)

    def paths(self, part: str, limit: int = 100) -> tuple[str, ...]:
        """List indexed files with a text in their path; see `Index.paths`."""
        return self._calls.call(tuple[str, ...], "paths", part=part, limit=limit)

    def read(self, query: "ReadQuery") -> "Reading":
        """Read a symbol, lines or a file; see `Index.read`."""
        from cqm.index.model.symbols import Reading

        return self._calls.call(Reading, "read", query=query)

    def changes(self, query: "ChangesQuery") -> "Changes":
        """Find commits and their lines as they are now; see `Index.changes`."""
        from cqm.index.model.changes import Changes

        return self._calls.call(Changes, "changes", query=query)

    def status(self, *, look: bool = False) -> "IndexStatus":
        """Describe the index; see `Index.status`."""
        from cqm.index.model.status import IndexStatus

        return self._calls.call(IndexStatus, "status", look=look)

    def skipped(self) -> tuple[FileProblem, ...]:
        """List the left-out files and folders, with their reasons."""
        return self._calls.call(tuple[FileProblem, ...], "skipped")

    def secrets(self) -> "tuple[RedactedFile, ...]":
        """List the files with redacted secrets; see `Index.secrets`."""
        from cqm.index.model.secrets import RedactedFile

        return self._calls.call(tuple[RedactedFile, ...], "secrets")

    def asked(self) -> "tuple[AskedQuestion, ...]":
        """List the last questions of all clients to the owner, the last one first."""
        from cqm.index.model.asked import AskedQuestion

        return self._calls.call(tuple[AskedQuestion, ...], "asked")

    def estimate(self) -> "Estimate":
        """Estimate the requests to models by an update of the whole tree; see `Index.estimate`."""
        from cqm.index.model.outcomes import Estimate

        return self._calls.call(Estimate, "estimate")

    def _followed(self, options: "WatchOptions") -> Wire:
        """Ask the owner to follow the files; return the connection bringing the reports."""
        wire, reply = self._calls.asked("follow", options=options)
        try:
            self._calls.result(reply_in(NoneType, reply))
        except CqmError:
            self._calls.give_back(wire)
            raise
        return wire

    def _note_following(self, wire: Wire) -> None:
        """Keep the connection of reports, for `retire`; hang it up if `retire` was called meanwhile."""
        with self._beginning:
            self._following = wire
            if self._calls.is_over:
                wire.hang_up()

    def _listen(self, wire: Wire, options: "WatchOptions", report: "Callable[[WatchReport], None]") -> None:
        for each in self._reports(wire, options):
            report(each)

    def _reports(self, wire: Wire | None, options: "WatchOptions") -> "Iterator[WatchReport]":
        """Yield the reports of the watch until this index is closed; follow through the next owner when one dies."""
        from cqm.server.watching.reports import WatchReport

        told, deaths = "", 0
        while not self._calls.is_over:
            began = time.monotonic()
            try:
                wire = wire or self._followed(options)
                self._note_following(wire)
                told = ""
                while True:
                    yield taken(WatchReport, wire.receive()[REPORT])
            except (ConnectionError, CqmError) as error:
                if wire:
                    self._calls.drop(wire)
                if isinstance(error, CqmError) and str(error) != told and not self._calls.is_over:
                    told = str(error)
                    yield WatchReport(told, problem=True)
            wire = None
            # Owners which die at once are not started one after the other.
            deaths = deaths + 1 if time.monotonic() - began < options.poll else 0
            self._calls.closed.wait(options.poll if deaths > 1 or told else 0)
