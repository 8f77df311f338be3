"""The index that an owner has open, and who uses it: with which options, for how long, and who comes next."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from threading import Condition, Lock

from cqm.index.engine import Index
from cqm.index.model.errors import IndexInUseError
from cqm.index.model.options import IndexOptions
from cqm.index.workers.forking import Source
from cqm.server.owner.environment import adopt, restored_on_error, service_variables
from cqm.server.owner.messages import METHODS, Build, Client, Greeting
from cqm.server.owner.options_diff import names, notice
from cqm.server.owner.shared_runs import Opened

_GRACE_SECONDS = 1.0
"""How long a client with other options waits for those to go that are going just now."""
_STOP_SECONDS = 60.0
"""How long a change of options waits for what takes its time: runs stop at the next file, compacting cannot."""
_BRIEF_SECONDS = 30.0
"""How long it then waits for searches, and the next searches for it."""
_OPENING_SECONDS = 20.0
"""How long an end waits for an index that is being opened: not as long as the next owner waits for this one."""
_RUNS = frozenset(name for name, method in METHODS.items() if method.is_run)
_LONG = frozenset(name for name, method in METHODS.items() if not method.is_brief)


class LeavingError(Exception):
    """The owner leaves: whoever wants something gets it from the next one."""


class Tenancy:
    """Who uses an index, counted by connections, calls and runs.

    Parameters:
        build: what the owner runs.
        folder: of the index.
        changed: called when `is_over` may have changed.
        source: what gives the workers of the index that is opened first; None to start that when it is needed.
    """

    def __init__(self, build: Build, folder: Path, changed: Callable[[], None], source: Source | None = None) -> None:
        self._build = build
        self._folder = folder
        self._tell = changed
        self._source = source
        self._opening = Lock()
        self._changed = Condition()
        self._connections: Counter[Client] = Counter()
        self._known: set[Client] = set()
        self._going: Counter[str] = Counter()
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
            LeavingError: the owner has ended.
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
        with ExitStack() as counted:
            with self._changed:
                self._changed.wait_for(lambda: method not in self._held or self._is_ended)
                if self._opened is None or self._is_ended or (self._is_leaving and not self._goes_on(_RUNS)):
                    raise LeavingError
                opened = self._opened
                counted.enter_context(self._counted(method))
            yield opened

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
        with self._opened_by_nobody(), self._changed:
            self._changed.wait_for(lambda: not self._goes_on(METHODS), _GRACE_SECONDS)
            opened, self._opened = self._opened, None
        if opened:
            opened.close()
        if self._source:
            self._source.close()

    @contextmanager
    def _opened_by_nobody(self) -> Iterator[None]:
        """Wait until nobody opens the index, if that is not long; whoever does later finds that this has ended."""
        is_free = self._opening.acquire(timeout=_OPENING_SECONDS)
        try:
            yield
        finally:
            if is_free:
                self._opening.release()

    @contextmanager
    def _counted(self, method: str) -> Iterator[None]:
        """A call or a run of a method, counted as long as this lasts: a run may outlast those who called it."""
        with self._changed:
            self._going[method] += 1
        try:
            yield
        finally:
            with self._changed:
                self._going[method] -= 1
                self._changed.notify_all()
            self._tell()

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
                if opened:
                    self._publish(opened.index)
                raise self._refusal(greeting)
            self._reopen(greeting, only_new=only_new)
        finally:
            with self._changed:
                self._held = frozenset()
                self._changed.notify_all()

    def _drained(self, methods: Collection[str], seconds: float) -> bool:
        """Let no call of these methods begin, and wait for those that go on; whether they are done in time.

        Raises:
            LeavingError: the owner has ended meanwhile.
        """
        with self._changed:
            self._held = frozenset(methods)
            is_done = self._changed.wait_for(lambda: self._is_ended or not self._goes_on(methods), seconds)
            self._require_not_ended()
            return is_done

    def _reopen(self, greeting: Greeting, *, only_new: bool) -> None:
        """Open the index with a client's options, or where that fails as it was; nothing goes on in it."""
        with self._changed:
            self._require_not_ended()
            before, self._opened = self._opened, None
        try:
            if before:
                before.close()
            with restored_on_error():
                adopt(greeting.options, greeting.variables, only_new=only_new)
                source, self._source = self._source, None
                self._publish(Index.open(Path(greeting.root), greeting.options, source))
        finally:
            if self._opened is None and before and not self._is_ended:
                self._publish(Index.open(before.index.root, before.index.options))

    def _publish(self, index: Index) -> None:
        """Let calls have an open index; once the owner has ended, nobody else would close it.

        Raises:
            LeavingError: it has; the index is closed.
        """
        with self._changed:
            if not self._is_ended:
                self._opened = Opened(index, self._counted)
                return
        index.close()
        raise LeavingError

    def _require_not_ended(self) -> None:
        if self._is_ended:
            raise LeavingError

    def _goes_on(self, methods: Iterable[str]) -> bool:
        """Whether a call or a run of one of these methods goes on."""
        return any(self._going[method] for method in methods)

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
