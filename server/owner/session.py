"""The index of an owner and its clients: the options in force, how long they hold, and who may change them."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from threading import Condition, Lock

from cqm.index.model.errors import IndexInUseError
from cqm.index.model.options import IndexOptions
from cqm.index.workers.forking import Source
from cqm.server.owner.client_options import names, notice
from cqm.server.owner.messages import Build, Client, Greeting, methods
from cqm.server.owner.shared_runs import Followers, Opened
from cqm.server.watching.followed_index import FollowedIndex
from cqm.server.watching.questions import Questions

_GRACE_SECONDS = 1.0
"""Longest wait of a client with other options for leaving clients."""
_STOP_SECONDS = 60.0
"""Longest wait of a change of options for long calls: runs stop at the next file, compacting can't."""
_BRIEF_SECONDS = 30.0
"""Longest wait of a change of options for searches then, and of the next searches for it."""
_OPENING_SECONDS = 20.0
"""Longest wait at the end for an index being opened; shorter than the next owner's wait for this one."""
_RUNS = frozenset(name for name, method in methods().items() if method.is_run)
_LONG = frozenset(name for name, method in methods().items() if not method.is_brief)


class LeavingError(Exception):
    """The owner leaves; clients ask the next one."""


class _Variables(Mapping[str, str]):
    """Variables of an open index's services, which its threads read with each new connection.

    Parameters:
        held: replaced as a whole by another one, never changed: a thread may be reading it.
    """

    def __init__(self, held: Mapping[str, str]) -> None:
        self.held = held

    def __getitem__(self, name: str) -> str:
        return self.held[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.held)

    def __len__(self) -> int:
        return len(self.held)


class Session:
    """The index with its users, counted by connections, calls and runs.

    Parameters:
        changed: called when `is_over` may have changed.
        source: gives the workers of the first opened index; None to start it when needed.
    """

    def __init__(self, build: Build, folder: Path, changed: Callable[[], None], source: Source | None = None) -> None:
        self._build = build
        self._folder = folder
        self._wake_owner = changed
        self._source = source
        self._opening = Lock()
        self._changed = Condition()
        self._connections: Counter[Client] = Counter()
        self._known: set[Client] = set()
        self._going: Counter[str] = Counter()
        self._held_back: frozenset[str] = frozenset()
        self._opened: Opened | None = None
        self._variables = _Variables({})
        self._is_leaving = self._is_ended = False
        self.followers = Followers()
        self.questions = Questions()
        self.idle_seconds = 60.0

    @property
    def is_over(self) -> bool:
        """Whether the owner was asked to leave, and may."""
        with self._changed:
            return self._is_leaving and not self._are_running(_RUNS)

    @contextmanager
    def present(self, greeting: Greeting) -> Iterator[None]:
        """Count a client's connection during the block.

        Raises:
            LeavingError: the owner leaves.
        """
        self._enter(greeting)
        try:
            yield
        finally:
            self._leave(greeting.client)

    def open_for(self, greeting: Greeting) -> IndexOptions:
        """Open the index for a connected client, if needed; return the options in force.

        They are the client's if it is alone, or adopts its own. A further connection of a known client changes nothing:
        else two clients could take turns for ever.

        Raises:
            IndexInUseError: the client's options should hold, but running work doesn't end.
            CqmError: the index can't be opened; for others it stays as it was.
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
        """Tell a client about other options in force; empty where they are its own."""
        return notice(greeting.root, options, greeting.options, self._others(greeting.client))

    @contextmanager
    def call(self, method: str) -> Iterator[Opened]:
        """Keep the index open during the block. A change of options is awaited first.

        Raises:
            LeavingError: the owner leaves, and has no more running work to await.
        """
        with ExitStack() as counted:
            with self._changed:
                self._changed.wait_for(lambda: method not in self._held_back or self._is_ended)
                if self._opened is None or self._is_ended or (self._is_leaving and not self._are_running(_RUNS)):
                    raise LeavingError
                opened = self._opened
                counted.enter_context(self._counted(method))
            yield opened

    def make_way(self, build: Build) -> None:
        """Leave for a client of another build, unless the client's is older and others are connected.

        Raises:
            IndexInUseError: the client's build is older and others are connected.
        """
        with self._changed:
            others = list(self._connections)
            if others and build.order <= self._build.order:
                raise IndexInUseError(
                    f"The index in {self._folder} is in use by CQM {self._build.version} for {names(others)}; "
                    f"this is CQM {build.version}.",
                    remedy="Restart this program if CQM was updated since it started, or update it.",
                )
        self.leave()

    def dismiss(self) -> None:
        """Leave because nobody needs the index.

        Raises:
            IndexInUseError: somebody does.
        """
        if not self._is_alone(None, _GRACE_SECONDS):
            raise IndexInUseError(
                f"The index in {self._folder} is in use by {self.users() or 'a leaving client'}.",
                remedy="Stop that, and try again.",
                retryable=True,
            )
        self.leave()

    def users(self) -> str:
        """Name the users of the index; empty for none."""
        with self._changed:
            return names(self._connections)

    def rest(self, seconds: float) -> bool:
        """Close the store of an index idle for so long, even with connected clients; return whether it is closed now.

        Raises:
            StoreError: its store cannot be closed.
        """
        with ExitStack() as counted:
            with self._changed:
                if self._opened is None or self._held_back or self._is_ended:
                    return False
                opened = self._opened
                counted.enter_context(self._counted("status"))
            return opened.index.rest(seconds)

    def leave(self) -> None:
        """Leave when running work is done."""
        with self._changed:
            is_news = not self._is_leaving
            self._is_leaving = True
        # The owner's loop calls this at each turn while nobody can find it: woken each time, it would never sleep.
        if is_news:
            self._wake_owner()

    def end(self) -> None:
        """Close the index; wait a moment for running calls.

        Runs stop at the next file; their clients repeat them with the next owner.
        """
        with self._changed:
            self._is_leaving = self._is_ended = True
            if self._opened:
                self._opened.is_ending = True
            self._changed.notify_all()
        with self._opened_by_nobody(), self._changed:
            self._changed.wait_for(lambda: not self._are_running(methods()), _GRACE_SECONDS)
            opened, self._opened = self._opened, None
        if opened:
            opened.close()
        if self._source:
            self._source.close()

    @contextmanager
    def _opened_by_nobody(self) -> Iterator[None]:
        """Wait a while until nobody opens the index; a later opener finds the end."""
        is_free = self._opening.acquire(timeout=_OPENING_SECONDS)
        try:
            yield
        finally:
            if is_free:
                self._opening.release()

    @contextmanager
    def _counted(self, method: str) -> Iterator[None]:
        """Count a call or run of a method during the block: a run may outlast its callers."""
        with self._changed:
            self._going[method] += 1
        try:
            yield
        finally:
            with self._changed:
                self._going[method] -= 1
                self._changed.notify_all()
                may_be_over = self._is_leaving and method in _RUNS
            # Woken, the owner looks at files, which takes a tenth as long as a search: not after each of them.
            if may_be_over:
                self._wake_owner()

    def _enter(self, greeting: Greeting) -> None:
        with self._changed:
            if self._is_leaving and not self._are_running(_RUNS):
                raise LeavingError
            self._connections[greeting.client] += 1
            self.idle_seconds = greeting.idle_seconds

    def _leave(self, client: Client) -> None:
        with self._changed:
            self._connections[client] -= 1
            self._connections = +self._connections
            self._known &= self._connections.keys()
            self._changed.notify_all()
            is_gone = client not in self._connections
        if is_gone:
            self.followers.left(client)

    def _is_new(self, client: Client) -> bool:
        """Whether a client has just come, rather than added a connection; it is known from now on."""
        with self._changed:
            is_new = client not in self._known
            self._known.add(client)
            return is_new

    def _adopt_keys(self, greeting: Greeting) -> None:
        """Take over a new client's variables which the index lacks."""
        known, brought = self._variables, greeting.variables
        if known == brought:
            return
        # The client with another value may be leaving.
        seconds = _GRACE_SECONDS if any(known.get(name, value) != value for name, value in brought.items()) else 0.0
        only_new = not self._is_alone(greeting.client, seconds)
        new = {**brought, **known} if only_new else brought
        if new == known:
            return
        if self._are_running(methods()):
            # Work is not stopped for a new key: the next connection uses it.
            known.held = new
        else:
            self._switch(greeting, only_new=only_new)

    def _switch(self, greeting: Greeting, *, only_new: bool) -> None:
        """Reopen the index as a client wants it, though others use it.

        Runs stop and are repeated by their callers. Searches go on meanwhile; then they wait while the index is closed
        and opened.
        """
        opened = self._opened
        try:
            is_unwatched = opened is None or opened.stop(_STOP_SECONDS)
            is_idle = is_unwatched and self._drained(_LONG, _STOP_SECONDS)
            if not (is_idle and self._drained(methods().keys(), _BRIEF_SECONDS)):
                # Stopped runs begin again in this new `Opened`, which isn't ending.
                if opened:
                    self._publish(opened.index)
                raise self._refusal(greeting)
            self._reopen(greeting, only_new=only_new)
        finally:
            with self._changed:
                self._held_back = frozenset()
                self._changed.notify_all()

    def _drained(self, methods: Collection[str], seconds: float) -> bool:
        """Hold back new calls of these methods, and await running ones; whether they ended in time.

        Raises:
            LeavingError: the owner has ended meanwhile.
        """
        with self._changed:
            self._held_back = frozenset(methods)
            is_done = self._changed.wait_for(lambda: self._is_ended or not self._are_running(methods), seconds)
            self._require_not_ended()
            return is_done

    def _reopen(self, greeting: Greeting, *, only_new: bool) -> None:
        """Open the index with a client's options, or with the former ones if that fails; no call may be running."""
        with self._changed:
            self._require_not_ended()
            before, self._opened = self._opened, None
        try:
            if before:
                before.close()
            variables = _Variables({**greeting.variables, **(self._variables if only_new else {})})
            source, self._source = self._source, None
            index = FollowedIndex.open(Path(greeting.root), greeting.options, source, variables)
            self._variables = variables
            self._publish(index, greeting.client)
        finally:
            if self._opened is None and before and not self._is_ended:
                held = self._variables
                self._publish(FollowedIndex.open(before.index.root, before.index.options, variables=held))

    def _publish(self, index: FollowedIndex, client: Client | None = None) -> None:
        """Give an open index to calls and followers; close it if the owner has ended, since nobody else would.

        Parameters:
            client: opened it with its options; its update comes before the watch, which would do it unseen.

        Raises:
            LeavingError: the owner has ended; the index is closed.
        """
        with self._changed:
            is_ended = self._is_ended
            if not is_ended:
                opened = self._opened = Opened(index, self._counted)
        if is_ended:
            index.close()
            raise LeavingError
        self.followers.opened(opened, client)

    def _require_not_ended(self) -> None:
        if self._is_ended:
            raise LeavingError

    def _are_running(self, methods: Iterable[str]) -> bool:
        """Whether a call or run of one of these methods is going on."""
        return any(self._going[method] for method in methods)

    def _is_alone(self, client: Client | None, seconds: float = 0.0) -> bool:
        """Whether nobody else is connected and nothing runs, now or within some seconds."""
        with self._changed:
            return self._changed.wait_for(
                lambda: self._connections.keys() <= {client} and not self._are_running(methods()), seconds
            )

    def _others(self, client: Client) -> list[Client]:
        with self._changed:
            return [other for other in self._connections if other != client]

    def _refusal(self, greeting: Greeting) -> IndexInUseError:
        users = names(self._others(greeting.client)) or "a leaving client"
        return IndexInUseError(
            f"The index of {greeting.root} cannot be opened with other options now. "
            f"It is in use by {users} for long work.",
            remedy="Try again when that is done.",
            retryable=True,
        )
