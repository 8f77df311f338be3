"""The index that an owner has open, and who uses it: with which options, for how long, and who comes next."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from threading import Condition, Lock
from typing import Any

from cqm.index.engine import Index
from cqm.index.errors import IndexInUseError
from cqm.index.options import IndexOptions
from cqm.server.sharing.differing import names, notice
from cqm.server.sharing.messages import METHODS, Build, Client, Greeting
from cqm.server.sharing.runs import Line, Report, Wish
from cqm.server.sharing.variables import adopt, restored_on_error, service_variables

_GRACE_SECONDS = 1.0
"""How long a client with other options waits for those to go that are going just now."""
_STOP_SECONDS = 60.0
"""How long a change of options waits for what takes its time: runs stop at the next file, compacting cannot."""
_BRIEF_SECONDS = 30.0
"""How long it then waits for searches, and the next searches for it."""
_RUNS = frozenset(name for name, method in METHODS.items() if method.is_run)
_LONG = frozenset(name for name, method in METHODS.items() if not method.is_brief)


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
        self._known: set[Client] = set()
        self._calls: Counter[str] = Counter()
        self._held: frozenset[str] = frozenset()
        self._opened: Opened | None = None
        self._is_leaving = self._is_ended = False
        self.idle_seconds = 60.0

    @property
    def is_over(self) -> bool:
        """Whether the owner was asked to leave, and may."""
        with self._changed:
            return self._is_leaving and not self._goes_on(_RUNS)

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

    def open_for(self, greeting: Greeting) -> IndexOptions:
        """Have the index open for a client that is present; gives the options that it is open with.

        They are the client's if nobody else is here, or if it asks for that. Who is here already, and comes with
        another connection, changes nothing: else two clients could take turns for ever.

        Raises:
            IndexInUseError: the client's options are to be taken, and what goes on does not end.
            CqmError: the index cannot be opened; for others it stays as it was.
        """
        with self._opening:
            opened, comes = self._opened, self._is_new(greeting.client)
            if opened is None:
                self._reopen(greeting, only_new=False)
            elif comes and opened.index.options == greeting.options:
                self._adopt_keys(greeting)
            elif comes and ((alone := self._is_alone(greeting.client, _GRACE_SECONDS)) or greeting.adopts):
                self._switch(greeting, only_new=not alone)
            return self._opened.index.options if self._opened else greeting.options

    def notice(self, greeting: Greeting, options: IndexOptions) -> str:
        """What to tell a client whose options are not those that the index is open with; empty where they are."""
        return notice(greeting.root, options, greeting.options, self._others(greeting.client))

    @contextmanager
    def call(self, method: str) -> Iterator[Opened]:
        """The open index, which is not closed as long as this lasts. While options change, this waits for that.

        Parameters:
            method: that is called.

        Raises:
            LeavingError: the owner leaves, and nothing goes on any more that it has to wait for.
        """
        with self._changed:
            self._changed.wait_for(lambda: method not in self._held or self._is_ended)
            if self._opened is None or self._is_ended or (self._is_leaving and not self._goes_on(_RUNS)):
                raise LeavingError
            opened = self._opened
            self._calls[method] += 1
        try:
            yield opened
        finally:
            with self._changed:
                self._calls[method] -= 1
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
                    f"The index in {self._folder} is in use by CQM {self._build.version} for {names(others)}; "
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
            return names(self._connections)

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
            self._is_leaving = self._is_ended = True
            if self._opened:
                self._opened.is_ending = True
            self._changed.notify_all()
            self._changed.wait_for(lambda: not self._goes_on(METHODS), _GRACE_SECONDS)
            opened, self._opened = self._opened, None
        if opened:
            opened.close()

    def _enter(self, greeting: Greeting) -> None:
        with self._changed:
            if self._is_leaving and not self._goes_on(_RUNS):
                raise LeavingError
            self._connections[greeting.client] += 1
            self.idle_seconds = greeting.idle_seconds

    def _leave(self, client: Client) -> None:
        with self._changed:
            self._connections[client] -= 1
            self._connections = +self._connections
            self._known &= self._connections.keys()
            self._changed.notify_all()

    def _is_new(self, client: Client) -> bool:
        """Whether a client comes just now, and not with one more connection; it has come then."""
        with self._changed:
            is_new = client not in self._known
            self._known.add(client)
            return is_new

    def _adopt_keys(self, greeting: Greeting) -> None:
        """Take over what a client that comes has in its environment, and the index has not."""
        known, brought = service_variables(greeting.options), greeting.variables
        if known == brought:
            return
        # Whoever came with another value may be going just now.
        seconds = _GRACE_SECONDS if any(known.get(name, value) != value for name, value in brought.items()) else 0.0
        only_new = not self._is_alone(greeting.client, seconds)
        if adopt(greeting.options, brought, only_new=only_new) and not self._goes_on(METHODS):
            self._switch(greeting, only_new=only_new)

    def _switch(self, greeting: Greeting, *, only_new: bool) -> None:
        """Open the index as a client wants it, though others use it.

        What runs is stopped, and begun again by whoever called it. Searches go on until that is done; then they wait
        as long as it takes to close the index and to open it.
        """
        opened = self._opened
        try:
            if opened:
                opened.is_ending = True
            if not (self._drained(_LONG, _STOP_SECONDS) and self._drained(METHODS.keys(), _BRIEF_SECONDS)):
                # What was stopped is begun again in this one, which is not ending.
                self._opened = opened and Opened(opened.index)
                raise self._refusal(greeting)
            self._reopen(greeting, only_new=only_new)
        finally:
            with self._changed:
                self._held = frozenset()
                self._changed.notify_all()

    def _drained(self, methods: Collection[str], seconds: float) -> bool:
        """Let no call of these methods begin, and wait for those that go on; whether they are done in time."""
        with self._changed:
            self._held = frozenset(methods)
            return self._changed.wait_for(lambda: not self._goes_on(methods), seconds)

    def _reopen(self, greeting: Greeting, *, only_new: bool) -> None:
        """Open the index with a client's options, or where that fails as it was; nothing goes on in it."""
        before, self._opened = self._opened, None
        if before:
            before.close()
        try:
            with restored_on_error():
                adopt(greeting.options, greeting.variables, only_new=only_new)
                self._opened = Opened(Index.open(Path(greeting.root), greeting.options))
        finally:
            if self._opened is None and before:
                self._opened = Opened(Index.open(before.index.root, before.index.options))

    def _goes_on(self, methods: Iterable[str]) -> bool:
        """Whether a call of one of these methods goes on."""
        return any(self._calls[method] for method in methods)

    def _is_alone(self, client: Client | None, seconds: float = 0.0) -> bool:
        """Whether nobody else is here and nothing goes on, or will be soon."""
        with self._changed:
            return self._changed.wait_for(
                lambda: self._connections.keys() <= {client} and not self._goes_on(METHODS), seconds
            )

    def _others(self, client: Client) -> list[Client]:
        with self._changed:
            return [other for other in self._connections if other != client]

    def _refusal(self, greeting: Greeting) -> IndexInUseError:
        users = names(self._others(greeting.client)) or "somebody who leaves"
        return IndexInUseError(
            f"The index of {greeting.root} is in use by {users} for something that takes long, so that it cannot be "
            "opened with other options now.",
            remedy="Try again when that is done.",
            retryable=True,
        )
