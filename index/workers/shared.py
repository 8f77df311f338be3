"""One process forking workers for all indexes of this process: starting one takes .3 s of a core."""

import os
import socket
import sys
from collections import Counter
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Protocol

from cqm.index.model.errors import WorkerError

STARTED_EVENT = "cqm.index.workers.new"
"""Audit event of a new worker, with its number; see `sys.addaudithook`. Python tells of no fork in another process."""


class Server(Protocol):
    """A process forking workers, such as `cqm.index.workers.forking.ForkServer`."""

    def new(self) -> tuple[int, socket.socket]:
        """See `cqm.index.workers.forking.Source.new`."""

    def begin_loading_rules(self) -> None:
        """Load the rules for secrets before the next worker, without waiting."""

    def load_rules(self) -> None:
        """See `cqm.index.workers.forking.Source.load_rules`."""

    def end(self, pid: int) -> int:
        """See `cqm.index.workers.forking.Source.end`."""

    def close(self) -> None:
        """End the process."""


class _Running:
    """A process forking workers, and its users.

    Attributes:
        server: the process; one thread at a time speaks with it.
        lock: held meanwhile.
        users: number of open shares.
        has_rules: whether it has the rules for secrets, or loads them.
    """

    def __init__(self, server: Server, *, has_rules: bool) -> None:
        self.server = server
        self.lock = Lock()
        self.users = 0
        self.has_rules = has_rules


_lock = Lock()
_running: dict[Hashable, _Running] = {}
"""By the variables and readable folders of their workers."""
_kept: Counter[Hashable] = Counter()
"""Entered blocks of `kept`, by the same key."""


class SharedSource:
    """A `Source` with workers from a process shared with other indexes. Its last user ends it.

    Parameters:
        key: of the workers' variables and folders; all users of the same share the process.
        start: starts the process, with or without the rules for secrets.
        rules: whether its workers have these rules from the beginning.

    Raises:
        WorkerError: the process cannot be started.
    """

    def __init__(self, key: Hashable, start: Callable[[bool], Server], *, rules: bool) -> None:
        # A fork of this process has no part in its parent's connections.
        self._key = (os.getpid(), key)
        self._workers: set[int] = set()
        with _lock:
            running = _running.get(self._key)
            if running is None:
                running = _running[self._key] = _Running(start(rules), has_rules=rules)
            running.users += 1
            self._shared = running
        if rules:
            self._begin_loading()

    def new(self) -> tuple[int, socket.socket]:
        """See `Source.new`."""
        with self._shared.lock:
            try:
                pid, connection = self._shared.server.new()
            except WorkerError:
                self._give_up()
                raise
        sys.audit(STARTED_EVENT, pid)
        self._workers.add(pid)
        return pid, connection

    def load_rules(self) -> None:
        """See `Source.load_rules`."""
        with self._shared.lock:
            try:
                self._shared.server.load_rules()
            except WorkerError:
                self._give_up()
                raise
            self._shared.has_rules = True

    def end(self, pid: int) -> int:
        """See `Source.end`."""
        if pid not in self._workers:
            return 0
        self._workers.discard(pid)
        with self._shared.lock:
            return self._shared.server.end(pid)

    def close(self) -> None:
        """See `Source.close`."""
        for pid in [*self._workers]:
            self.end(pid)
        with _lock:
            self._shared.users -= 1
            is_listed = _running.get(self._key) is self._shared
            if self._shared.users or (is_listed and _kept[self._key]):
                return
            if is_listed:
                del _running[self._key]
        self._shared.server.close()

    def _begin_loading(self) -> None:
        with self._shared.lock:
            if not self._shared.has_rules:
                self._shared.server.begin_loading_rules()
                self._shared.has_rules = True

    def _give_up(self) -> None:
        """Have the next user start another process in place of an ended one."""
        with _lock:
            if _running.get(self._key) is self._shared:
                del _running[self._key]


@contextmanager
def kept(key: Hashable) -> Iterator[None]:
    """Keep the process of a key, once it has started, until the block ends, also while it has no user."""
    own = (os.getpid(), key)
    with _lock:
        _kept[own] += 1
    try:
        yield
    finally:
        with _lock:
            _kept[own] -= 1
            running = _running.get(own)
            is_idle = running is not None and not running.users and not _kept[own]
            if is_idle:
                del _running[own]
        if running and is_idle:
            running.server.close()
