"""An index that another process has open, used as if this one had."""

import uuid
from collections.abc import Callable, Iterable
from pathlib import Path
from threading import Lock
from types import TracebackType
from typing import Any, Self

from cqm.index.disk.locations import LOG_FILE, make_index_folder, relative_to_root, resolve_root
from cqm.index.model.errors import ScanError
from cqm.index.model.options import IndexOptions
from cqm.index.model.progress import Estimate, Improved, Progress, UpdateSummary
from cqm.index.model.query import Answer, FileProblem, Query, SymbolUses
from cqm.index.model.secrets import RedactedFile
from cqm.index.model.status import IndexStatus
from cqm.server.errors import SharingError
from cqm.server.owner.connect import connect
from cqm.server.owner.environment import service_variables
from cqm.server.owner.messages import (
    CANCEL,
    FAILURE,
    METHODS,
    NOTICE,
    PROGRESS,
    RESULT,
    Build,
    Client,
    Failure,
    Greeting,
    error_of,
    read,
    read_progress,
    request,
    this_build,
)
from cqm.server.owner.options_diff import absolute
from cqm.server.owner.wire import Message, Wire

_GLANCE_SECONDS = 0.1
"""How often a call looks whether it is cancelled while it waits."""
_MOST_DEATHS = 4
"""Owners that one call may outlive. More than that, and it is the call that kills them."""

Report = Callable[[Progress], None]
Cancelled = Callable[[], bool]
Noted = Callable[[str], None]
"""Told that the index is open with other options than a client's, by a sentence; when it no longer is, by an empty one.
"""


class RemoteIndex:
    """An index as `cqm.index.engine.Index`, held open by its owner; its methods may be called from any thread.

    Each call that goes on has a connection of its own, so that none waits for another; connections are kept and used
    again. When the owner dies, a call is made again of the next one: reads change nothing, and of an update only what
    is not done yet is done.

    Use `RemoteIndex.open`, and close it or use it in a `with` block.
    """

    def __init__(self, root: Path, options: IndexOptions, folder: Path, greeting: Greeting, noted: Noted) -> None:
        self.root = root
        self.options = options
        self.folder = folder
        self._greeting = greeting
        self._noted = noted
        self._notice = ""
        self._lock = Lock()
        self._idle: list[Wire] = []
        self._busy: set[Wire] = set()
        self._is_closed = False

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
    ) -> Self:
        """Come to the owner of the index of a folder or file, which is started if there is none.

        The options of the first client hold as long as anybody is there, for those that come with other ones as well.

        Parameters:
            root: the folder or file.
            options: of the index.
            idle_seconds: how long the owner is to wait for another client when the last one is gone.
            adopts: whether these options are to hold from now on, for everybody.
            noted: told when the index is open with other options; from any thread that calls a method.
            build: what this client says that it runs.

        Raises:
            ScanError: the root does not exist.
            IndexInUseError: a process that shares the index with nobody has it, or it cannot be opened anew now.
            SharingError: no owner can be started or reached.
            StoreError, ManifestError: the index cannot be read or made.
        """
        options = absolute(options or IndexOptions())
        root = resolve_root(root)
        folder = make_index_folder(root, options)
        greeting = Greeting(
            build or this_build(),
            Client(uuid.uuid4().hex),
            str(root),
            options,
            service_variables(options),
            idle_seconds,
            adopts,
        )
        index = cls(root, options, folder, greeting, noted)
        index._idle.append(index._connected())
        return index

    def __enter__(self) -> Self:
        """The index itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close it."""
        self.close()

    def close(self) -> None:
        """Leave the owner; harmless when that is done already. Calls that go on end with an error."""
        with self._lock:
            self._is_closed = True
            idle, self._idle = self._idle, []
            for wire in self._busy:
                wire.hang_up()
        for wire in idle:
            wire.close()

    def update(
        self,
        paths: Iterable[str | Path] | None = None,
        *,
        anew: bool = False,
        report: Report = lambda _: None,
        cancelled: Cancelled = lambda: False,
    ) -> UpdateSummary:
        """Bring the index up to date with the files; see `Index.update`.

        What several clients want at once is done together: the summary tells of all of it. One that is cancelled while
        others go on with it has a summary of what the index holds that counts no file.
        """
        # One that is none of the index's is refused here: a run is shared with calls that have nothing to do with it.
        below = None if paths is None else tuple(sorted({relative_to_root(self.root, path) for path in paths}))
        summary: UpdateSummary = self._call("update", report, cancelled, paths=below, anew=anew)
        return summary

    def improve(self, *, report: Report = lambda _: None, cancelled: Cancelled = lambda: False) -> Improved:
        """Get what an update left for later; see `Index.improve`."""
        improved: Improved = self._call("improve", report, cancelled)
        return improved

    def retry_models(self) -> None:
        """Let models that failed be tried by the next update; see `Index.retry_models`."""
        self._call("retry_models")

    def warm(self) -> None:
        """See `Index.warm`."""
        self._call("warm")

    def compact(self) -> None:
        """Write what the index holds anew; see `Index.compact`."""
        self._call("compact")

    def search(self, query: Query) -> Answer:
        """Answer a query from what the index holds now; see `Index.search`."""
        answer: Answer = self._call("search", query=query)
        return answer

    def usages(self, name: str, limit: int = 20) -> SymbolUses:
        """Tell of a symbol; see `Index.usages`."""
        uses: SymbolUses = self._call("usages", name=name, limit=limit)
        return uses

    def status(self, *, look: bool = False) -> IndexStatus:
        """What the index holds; see `Index.status`."""
        status: IndexStatus = self._call("status", look=look)
        return status

    def skipped(self) -> tuple[FileProblem, ...]:
        """The files and folders that are left out, with their reasons."""
        problems: tuple[FileProblem, ...] = self._call("skipped")
        return problems

    def secrets(self) -> tuple[RedactedFile, ...]:
        """Return the files with redacted secrets; see `Index.secrets`."""
        files: tuple[RedactedFile, ...] = self._call("secrets")
        return files

    def estimate(self) -> Estimate:
        """What an update of the whole tree would ask models for; see `Index.estimate`."""
        estimate: Estimate = self._call("estimate")
        return estimate

    def _call(
        self, method: str, report: Report | None = None, cancelled: Cancelled | None = None, **arguments: object
    ) -> Any:  # noqa: ANN401 - what the method gives
        message = request(method, arguments)
        for _ in range(_MOST_DEATHS):
            wire = self._taken()
            try:
                wire.send(message)
                reply = _reply(wire, report, cancelled)
            except ConnectionError:
                self._lost(wire)
                continue
            except BaseException:
                # The rest of this conversation would be taken for the next one.
                self._lost(wire)
                raise
            self._give_back(wire)
            if FAILURE in reply:
                raise error_of(read(Failure, reply[FAILURE]))
            self._note(reply.get(NOTICE, ""))
            return read(METHODS[method].gives, reply[RESULT])
        raise SharingError(
            f"The process that owns the index of {self.root} died {_MOST_DEATHS} times during this.",
            remedy=f"{self.folder / LOG_FILE} may tell why.",
        )

    def _taken(self) -> Wire:
        """A connection that nobody uses, or a new one."""
        self._check_open()
        with self._lock:
            wire = self._idle.pop() if self._idle else None
        wire = wire or self._connected()
        with self._lock:
            self._busy.add(wire)
        return wire

    def _connected(self) -> Wire:
        wire, notice = connect(self.folder, self._greeting)
        self._note(notice)
        return wire

    def _note(self, notice: str) -> None:
        """Keep what is to be told of the options in force, and tell it once."""
        with self._lock:
            before, self._notice = self._notice, notice
        if bool(before) != bool(notice):
            self._noted(notice)

    def _give_back(self, wire: Wire) -> None:
        with self._lock:
            self._busy.discard(wire)
            if not self._is_closed:
                self._idle.append(wire)
                return
        wire.close()

    def _lost(self, wire: Wire) -> None:
        """Let go of a connection, and of all that lead to the same owner: it is gone, or about to."""
        with self._lock:
            self._busy.discard(wire)
            lost, self._idle = [wire, *self._idle], []
        for each in lost:
            each.close()
        self._check_open()

    def _check_open(self) -> None:
        if self._is_closed:
            raise ScanError(f"The index of {self.root} is closed.")


def _reply(wire: Wire, report: Report | None, cancelled: Cancelled | None) -> Message:
    """The end of what the owner answers to a request; what comes before it is progress."""
    told = cancelled is None
    while True:
        if cancelled and not told and cancelled():
            wire.send({CANCEL: True})
            told = True
        if wire.is_readable(None if told else _GLANCE_SECONDS):
            message = wire.receive()
            if PROGRESS not in message:
                return message
            if report:
                report(read_progress(message[PROGRESS]))
