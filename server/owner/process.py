"""The process owning indexes: it has them open, one for each project, and works for their clients.

The first process of a user listens in a folder of its own. Clients bring it further indexes: models, libraries and the
interpreter are loaded once for all. A process finding one of another build there owns a single index.
"""

import faulthandler
import json
import logging
import os
import selectors
import signal
import socket
import sys
from contextlib import suppress
from io import TextIOWrapper
from logging.handlers import RotatingFileHandler
from pathlib import Path
from threading import Lock, Thread
from typing import Any, NamedTuple

from cqm.chunkers.errors import CqmError
from cqm.index.disk.locations import LOG_FILE, OWNER_LOCK
from cqm.index.disk.lock import PrivateLock, Timeout, lock_in
from cqm.index.disk.private import append_private
from cqm.server.console import visible
from cqm.server.errors import SharingError
from cqm.server.operations import traces
from cqm.server.owner.address import Address, check_token, listen, unlisten
from cqm.server.owner.messages import (
    ASKS,
    FAILURE,
    FOLDER,
    LEAVING,
    OWNS,
    RESULT,
    ROOT,
    Build,
    failure_of,
    read_build,
    this_build,
    written,
)
from cqm.server.owner.owned_index import OwnedIndex, accepted, give_memory_back
from cqm.server.owner.wire import Message, Wire

_log = logging.getLogger(__name__)

_LOG_BYTES = 500_000
_REQUEST_SECONDS = 10.0
"""Longest wait for the request of a connected client."""


def own(
    folder: Path,
    root: Path | None = None,
    host: Path | None = None,
    *,
    build: Build | None = None,
    over_tcp: bool = False,
) -> None:
    """Own the index in a folder, and others brought by clients, until nobody needs them or SIGTERM.

    One line of JSON on standard output tells clients to come: `null`, or the failure.

    Parameters:
        folder: of the index; exists.
        root: the indexed folder or file, from the starting client; None if unknown.
        host: folder where clients bring further indexes, unless another process serves it; None for no others.
        build: build the owner reports; by default the real one.
        over_tcp: listen on the loopback address despite unix sockets.
    """
    lock = _lock_of(host) if host else None
    _keep_log((host if host and lock else folder) / LOG_FILE)
    owner = _Owner(build or this_build(), over_tcp=over_tcp)
    door = None
    try:
        owner.take(folder, root)
        door = _Door(host, *listen(host, over_tcp=over_tcp)) if host and lock else None
    except CqmError as error:
        _announce(written(failure_of(error)))
        owner.end()
    else:
        _announce(None)
        traces.begin()
    try:
        owner.run(door)
    finally:
        if door:
            unlisten(door.host, door.address)
        if lock:
            lock.release()


class _Door(NamedTuple):
    """The door where clients bring further indexes."""

    host: Path
    listener: socket.socket
    address: Address


def _lock_of(host: Path) -> PrivateLock | None:
    """Take the lock of the process serving all clients; None if another process holds it."""
    lock = lock_in(host, OWNER_LOCK, 0)
    try:
        lock.acquire()
    except (Timeout, OSError):
        return None
    return lock


class _Owner:
    """All indexes of this process, each in a thread.

    Parameters:
        over_tcp: where its indexes listen.
    """

    def __init__(self, build: Build, *, over_tcp: bool) -> None:
        self._build = build
        self._over_tcp = over_tcp
        self._lock = Lock()
        self._owned: set[OwnedIndex] = set()
        # Requests being answered: each may bring an index.
        self._asking = 0
        self._is_told_to_end = False
        self._woken, self._wake = socket.socketpair()
        self._wake.settimeout(0)

    def take(self, folder: Path, root: Path | None) -> None:
        """Own one more index, and serve its clients in a thread.

        Raises:
            CqmError: as `OwnedIndex.take`.
        """
        owned = OwnedIndex.take(folder, root, self._build, over_tcp=self._over_tcp)
        with self._lock:
            self._owned.add(owned)
        Thread(target=self._serve, args=(owned,), name=f"owner of {folder.name}").start()

    def run(self, door: _Door | None) -> None:
        """Take indexes brought by clients, until none is left; then close the door."""
        signal.signal(signal.SIGTERM, lambda *_: self.end())
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        with selectors.DefaultSelector() as selector:
            selector.register(self._woken, selectors.EVENT_READ)
            if door:
                selector.register(door.listener, selectors.EVENT_READ)
            while not self._is_over():
                for key, _ in selector.select():
                    if door and key.fileobj is door.listener:
                        self._accept(door)
                    else:
                        self._woken.recv(4096)
        if door:
            door.listener.close()

    def end(self) -> None:
        """Close all indexes soon, despite any users."""
        self._is_told_to_end = True
        self._look()

    def _is_over(self) -> bool:
        with self._lock:
            owned = list(self._owned)
            is_over = not owned and not self._asking
        if self._is_told_to_end:
            for it in owned:
                it.end()
        return is_over

    def _serve(self, owned: OwnedIndex) -> None:
        try:
            owned.run()
        finally:
            with self._lock:
                self._owned.discard(owned)
                is_last = not self._owned
            if not is_last:
                give_memory_back()
            self._look()

    def _accept(self, door: _Door) -> None:
        if wire := accepted(door.listener):
            with self._lock:
                self._asking += 1
            Thread(target=self._answer, args=(wire, door.address), name="request", daemon=True).start()

    def _answer(self, wire: Wire, address: Address) -> None:
        """Answer a client bringing an index."""
        try:
            wire.send(self._answered(wire.receive(_REQUEST_SECONDS), address))
        except (ConnectionError, SharingError) as error:
            _log.warning("A client asked for no index: %s", error)
        finally:
            wire.close()
            with self._lock:
                self._asking -= 1
            self._look()

    def _answered(self, asked: Message, address: Address) -> Message:
        check_token(asked.get("token"), address)
        if asked.get(ASKS) != OWNS or read_build(asked) != self._build or self._is_told_to_end:
            return {LEAVING: True}
        try:
            self.take(Path(str(asked.get(FOLDER))), Path(str(asked.get(ROOT))))
        except CqmError as error:
            return {FAILURE: written(failure_of(error))}
        return {RESULT: None}

    def _look(self) -> None:
        """Wake the main thread to check whether it is time to end."""
        with suppress(BlockingIOError, OSError):
            self._wake.send(b"!")


def _announce(failure: object) -> None:
    """Tell the starter that clients may come, and release its pipe."""
    sys.stdout.write(f"{json.dumps(failure)}\n")
    sys.stdout.flush()
    # Not to the log, which this descriptor would hold open when it is renamed.
    nothing = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, 1)
    os.close(nothing)


def _keep_log(path: Path) -> None:
    """Log to a small file, also the traces of crashing libraries."""
    log = _PrivateLog(path, maxBytes=_LOG_BYTES, backupCount=1, encoding="utf-8")
    log.setFormatter(_PlainLines("%(asctime)s %(process)d %(levelname)s %(name)s: %(message)s"))
    logging.basicConfig(level=logging.WARNING, handlers=[log])
    log.take_descriptor()
    faulthandler.enable()


class _PrivateLog(RotatingFileHandler):
    """A log of this user alone: anything else in its place, such as a link, isn't written to."""

    def take_descriptor(self) -> None:
        """Have standard error lead here, as the last words of a crash do."""
        if self.stream:
            os.dup2(self.stream.fileno(), 2)

    def doRollover(self) -> None:  # noqa: N802 - of the library
        """Begin a new file, also for standard error: Windows renames no file held open by a descriptor."""
        nothing = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nothing, 2)
        os.close(nothing)
        try:
            super().doRollover()
        finally:
            # Closed where no new file could be begun.
            self.stream = self.stream or self._open()
            self.take_descriptor()

    def _open(self) -> TextIOWrapper:
        path = Path(self.baseFilename)
        return TextIOWrapper(os.fdopen(append_private(path.parent, path.name), "ab"), encoding=self.encoding)


class _PlainLines(logging.Formatter):
    """Escape control characters, so a name in a message can't begin a line."""

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 - of the library
        return visible(super().formatMessage(record)).replace("\n", "\\n")

    def formatException(self, ei: Any) -> str:  # noqa: N802, ANN401 - of the library
        return "\n".join(f"    {line}" for line in visible(super().formatException(ei)).split("\n"))
