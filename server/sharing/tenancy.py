"""The index that an owner has open, and who uses it: with which options, for how long, and who comes next."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path
from threading import Condition, Lock
from typing import Any

from cqm.index.engine import Index
from cqm.index.errors import IndexInUseError
from cqm.index.options import IndexOptions
from cqm.server.sharing.messages import Build, Client, Greeting
from cqm.server.sharing.runs import Line, Report, Wish
from cqm.server.sharing.variables import adopt, service_variables

_GRACE_SECONDS = 1.0
"""How long a client with other options waits for those to go that are going just now."""


class LeavingError(Exception):
    """The owner leaves: whoever wants something gets it from the next one."""


class Opened:
    """An open index and the runs that its clients share.

    Parameters:
        index: open.
    """

    def __init__(self, index: Index) -> None:
        self.index = index
        self.is_ending = False
        self._lines: dict[object, Line[Any]] = {}
        self._lock = Lock()

    def line(self, method: str, arguments: Mapping[str, Any]) -> Line[Any]:
        """The runs that a call shares: those of the same method with the same arguments, whatever the paths are.

        A comparison of the whole tree may take long: a change of some paths is not held up by those that wait for it.

        Parameters:
            method: of the index.
            arguments: by name.
        """
        others = tuple(sorted((name, value) for name, value in arguments.items() if name != "paths"))
        takes_paths, is_whole = "paths" in arguments, arguments.get("paths") is None

        def work(wish: Wish, report: Report, cancelled: Callable[[], bool]) -> object:
            given = dict(others) | ({"paths": wish} if takes_paths else {})
            return getattr(self.index, method)(**given, report=report, cancelled=lambda: self.is_ending or cancelled())

        with self._lock:
            return self._lines.setdefault((method, is_whole, others), Line(work, method))

    def close(self) -> None:
        """Stop what runs at the next file, and close the index."""
        self.is_ending = True
        self.index.close()


class Tenancy:
    """Who uses an index, counted by connections and calls.

    Parameters:
        build: what the owner runs.
        folder: of the index.
        changed: called when `is_over` may have changed.
    """

    def __init__(self, build: Build, folder: Path, changed: Callable[[], None]) -> None:
        self._build = build
        self._folder = folder
        self._tell = changed
        self._opening = Lock()
        self._changed = Condition()
        self._connections: Counter[Client] = Counter()
        self._calls = self._runs = 0
        self._opened: Opened | None = None
        self._is_leaving = False
        self.idle_seconds = 60.0

    @property
    def is_over(self) -> bool:
        """Whether the owner was asked to leave, and may."""
        with self._changed:
            return self._is_leaving and not self._runs

    @contextmanager
    def present(self, greeting: Greeting) -> Iterator[None]:
        """A connection of a client, counted as long as this lasts.

        Raises:
            LeavingError: the owner leaves.
        """
        self._enter(greeting)
        try:
            yield
        finally:
            self._leave(greeting.client)

    def open_for(self, greeting: Greeting) -> None:
        """Have the index open as a client wants it that is present.

        Raises:
            IndexInUseError: others use the index with other options.
            CqmError: the index cannot be opened.
        """
        with self._opening:
            opened = self._opened
            if opened and opened.index.options == greeting.options:
                self._adopt_keys(greeting)
                return
            if opened and not self._is_alone(greeting.client, _GRACE_SECONDS):
                raise self._refusal(opened.index.options, greeting)
            adopt(greeting.options, greeting.variables, only_new=False)
            if not self._reopen(greeting):
                raise self._refusal(greeting.options, greeting)

    @contextmanager
    def call(self, *, is_run: bool) -> Iterator[Opened]:
        """The open index, which is not closed as long as this lasts.

        Raises:
            LeavingError: the owner leaves, and nothing goes on any more that it has to wait for.
        """
        with self._changed:
            if self._opened is None or (self._is_leaving and not self._runs):
                raise LeavingError
            opened = self._opened
            self._calls += 1
            self._runs += is_run
        try:
            yield opened
        finally:
            with self._changed:
                self._calls -= 1
                self._runs -= is_run
                self._changed.notify_all()
            self._tell()

    def make_way(self, build: Build) -> None:
        """Leave for a client of another build, unless it is the older one and others are here.

        Raises:
            IndexInUseError: it is.
        """
        with self._changed:
            others = list(self._connections)
            if others and build.order <= self._build.order:
                raise IndexInUseError(
                    f"The index in {self._folder} is in use by CQM {self._build.version} for {_names(others)}; "
                    f"this is CQM {build.version}.",
                    remedy="Start this program anew if CQM was updated since it started, or update it.",
                )
        self.leave()

    def dismiss(self) -> None:
        """Leave because nobody needs the index.

        Raises:
            IndexInUseError: somebody does.
        """
        if not self._is_alone(None, _GRACE_SECONDS):
            raise IndexInUseError(
                f"The index in {self._folder} is in use by {self.users() or 'somebody who leaves'}.",
                remedy="Stop that, and try again.",
                retryable=True,
            )
        self.leave()

    def users(self) -> str:
        """Who uses the index, in words; empty for nobody."""
        with self._changed:
            return _names(list(self._connections))

    def leave(self) -> None:
        """Leave when what goes on is done."""
        with self._changed:
            self._is_leaving = True
        self._tell()

    def end(self) -> None:
        """Close the index: when all calls are done, if that is not long.

        Runs that go on are stopped at the next file; their clients have them done by the next owner.
        """
        with self._changed:
            self._is_leaving = True
            if self._opened:
                self._opened.is_ending = True
            self._changed.wait_for(lambda: not self._calls, _GRACE_SECONDS)
            opened, self._opened = self._opened, None
        if opened:
            opened.close()

    def _enter(self, greeting: Greeting) -> None:
        with self._changed:
            if self._is_leaving and not self._runs:
                raise LeavingError
            self._connections[greeting.client] += 1
            self.idle_seconds = greeting.idle_seconds

    def _leave(self, client: Client) -> None:
        with self._changed:
            self._connections[client] -= 1
            self._connections = +self._connections
            self._changed.notify_all()

    def _adopt_keys(self, greeting: Greeting) -> None:
        """Take over what a client that comes for the first time has in its environment, and the index has not."""
        known, brought = service_variables(greeting.options), greeting.variables
        if known == brought or self._connections[greeting.client] > 1:
            return
        # Whoever came with another value may be going just now.
        seconds = _GRACE_SECONDS if any(known.get(name, value) != value for name, value in brought.items()) else 0.0
        if adopt(greeting.options, brought, only_new=not self._is_alone(greeting.client, seconds)):
            self._reopen(greeting)

    def _reopen(self, greeting: Greeting) -> bool:
        """Open the index as a client wants it; whether that could be done: not while anything goes on in it."""
        with self._changed:
            if self._opened and self._calls:
                return False
            if self._opened:
                self._opened.close()
            self._opened = None
            self._opened = Opened(Index.open(Path(greeting.root), greeting.options))
            return True

    def _is_alone(self, client: Client | None, seconds: float = 0.0) -> bool:
        """Whether nobody else is here and nothing goes on, or will be soon."""
        with self._changed:
            return self._changed.wait_for(lambda: self._connections.keys() <= {client} and not self._calls, seconds)

    def _refusal(self, options: IndexOptions, greeting: Greeting) -> IndexInUseError:
        with self._changed:
            others = [client for client in self._connections if client != greeting.client]
        return IndexInUseError(
            f"The index of {greeting.root} is in use by {_names(others) or 'somebody who leaves'} with other options: "
            f"{', '.join(_differing(options, greeting.options))}.",
            remedy="Use the same options, or stop that process and try again.",
            retryable=True,
        )


def _names(clients: list[Client]) -> str:
    return ", ".join(sorted({str(client) for client in clients}))


def _differing(there: IndexOptions, here: IndexOptions) -> Iterator[str]:
    """The options that are not the same, as "chunk.max_tokens"; no values, which may name places."""
    for part in fields(there):
        its, mine = getattr(there, part.name), getattr(here, part.name)
        if its == mine:
            continue
        if not hasattr(its, "__dataclass_fields__"):
            yield f"index.{part.name}"
            continue
        yield from (f"{part.name}.{it.name}" for it in fields(its) if getattr(its, it.name) != getattr(mine, it.name))
