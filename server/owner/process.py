"""The process owning an index: it has the index open and works for its clients."""

import faulthandler
import json
import logging
import os
import selectors
import signal
import socket
import sys
import time
from contextlib import suppress
from io import TextIOWrapper
from logging.handlers import RotatingFileHandler
from pathlib import Path
from threading import Lock, Thread
from typing import Any

from cqm.chunkers.errors import CqmError
from cqm.index.disk.locations import LOG_FILE, OWNER_LOCK
from cqm.index.disk.lock import PrivateLock, Timeout, lock_in
from cqm.index.disk.private import append_private
from cqm.index.model.errors import IndexInUseError, StoreError
from cqm.server.console import visible
from cqm.server.operations import traces
from cqm.server.owner.address import Address, is_found, is_of_this_user, listen, unlisten
from cqm.server.owner.messages import Build, failure_of, this_build, written
from cqm.server.owner.wire import Wire

_log = logging.getLogger(__name__)

_LOG_BYTES = 500_000
_PREDECESSOR_SECONDS = 30.0
"""Longest wait for a predecessor, which no longer listens, to close its index."""
_HASTE_SECONDS = 0.05
_LOOK_SECONDS = 5.0
"""Time between an owner's looks whether clients can still find it."""


def own(folder: Path, root: Path | None = None, *, build: Build | None = None, over_tcp: bool = False) -> None:
    """Own the index in a folder until nobody needs it, or SIGTERM.

    One line of JSON on standard output tells clients to come: `null`, or the failure.

    Parameters:
        folder: of the index; exists.
        root: the indexed folder or file, as the starting client says; None if unknown.
        build: build the owner reports; by default the real one.
        over_tcp: listen on the loopback address though there are unix sockets.
    """
    _keep_log(folder / LOG_FILE)
    lock = lock_in(folder, OWNER_LOCK, _PREDECESSOR_SECONDS)
    try:
        _acquire(lock, folder)
        listener, address = listen(folder, over_tcp=over_tcp)
    except CqmError as error:
        _announce(written(failure_of(error)))
        return
    _announce(None)
    traces.begin()
    try:
        _Owner(folder, root, listener, address, build or this_build()).run()
    except Exception:
        _log.exception("The owner of %s failed.", folder)
        raise
    finally:
        unlisten(folder, address)
        lock.release()


class _Owner:
    def __init__(
        self, folder: Path, root: Path | None, listener: socket.socket, address: Address, build: Build
    ) -> None:
        from cqm.index.workers.forking import source_for_first_index

        source = source_for_first_index(folder, root) if root else None
        # Indexing modules load after clients were told to come: these are busy meanwhile.
        from cqm.server.owner.session import Tenancy

        self._folder = folder
        self._listener = listener
        self._address = address
        self._build = build
        self._wires: set[Wire] = set()
        self._lock = Lock()
        self._woken, self._wake = socket.socketpair()
        self._wake.settimeout(0)
        self._tenancy = Tenancy(build, folder, self._look, source)
        self._is_told_to_end = False
        self._idle_since = time.monotonic()

    def run(self) -> None:
        """Take connections until it is time to end, then end in order."""
        signal.signal(signal.SIGTERM, self._end)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        with selectors.DefaultSelector() as selector:
            selector.register(self._listener, selectors.EVENT_READ)
            selector.register(self._woken, selectors.EVENT_READ)
            while (left := self._seconds_left()) != 0:
                for key, _ in selector.select(left):
                    if key.fileobj is self._listener:
                        self._accept()
                    else:
                        self._woken.recv(4096)
                if not is_found(self._folder, self._address):
                    # Present clients are served to the end; new ones go to the next owner.
                    self._tenancy.leave()
        self._close()

    def _seconds_left(self) -> float | None:
        """Seconds to wait for something to happen; 0 when it is time to end."""
        if self._is_told_to_end or self._tenancy.is_over:
            return 0.0
        with self._lock:
            idle = self._idle_since + self._tenancy.idle_seconds - time.monotonic()
            return _LOOK_SECONDS if self._wires else min(_LOOK_SECONDS, max(0.0, idle))

    def _accept(self) -> None:
        try:
            connection = self._listener.accept()[0]
        except OSError:
            # The client is gone, or the process has too many open files; then haste would only burn processor time.
            time.sleep(_HASTE_SECONDS)
            return
        if not is_of_this_user(connection):
            _log.warning("A process of another user came.")
            connection.close()
            return
        wire = Wire(connection)
        with self._lock:
            self._wires.add(wire)
        Thread(target=self._serve, args=(wire,), name="client", daemon=True).start()

    def _serve(self, wire: Wire) -> None:
        from cqm.server.owner.connection import serve

        try:
            serve(wire, self._tenancy, self._build, self._address)
        except Exception:  # noqa: BLE001 - this thread's boundary
            _log.exception("A connection failed.")
        finally:
            with self._lock:
                self._wires.discard(wire)
                self._idle_since = time.monotonic()
            self._look()

    def _look(self) -> None:
        """Wake the main thread to check whether it is time to end."""
        with suppress(BlockingIOError, OSError):
            self._wake.send(b"!")

    def _end(self, *_: object) -> None:
        self._is_told_to_end = True
        self._look()

    def _close(self) -> None:
        self._listener.close()
        self._tenancy.end()
        with self._lock:
            for wire in self._wires:
                wire.hang_up()


def _acquire(lock: PrivateLock, folder: Path) -> None:
    try:
        lock.acquire()
    except Timeout as error:
        raise IndexInUseError(
            f"The owner of the index in {folder} cannot be reached from here.",
            remedy="It may run on another machine, or hang: end it, and try again.",
            retryable=True,
        ) from error
    except OSError as error:
        remedy = "Free space or mend its permissions."
        raise StoreError(f"The lock in {folder} cannot be taken: {error}.", remedy=remedy) from error


def _announce(failure: object) -> None:
    """Tell the starter that clients may come, and release its pipe."""
    sys.stdout.write(f"{json.dumps(failure)}\n")
    sys.stdout.flush()
    os.dup2(2, 1)


def _keep_log(path: Path) -> None:
    """Log to a small file, also the traces of crashing libraries."""
    log = _PrivateLog(path, maxBytes=_LOG_BYTES, backupCount=1, encoding="utf-8")
    log.setFormatter(_PlainLines("%(asctime)s %(process)d %(levelname)s %(name)s: %(message)s"))
    logging.basicConfig(level=logging.WARNING, handlers=[log])
    if log.stream:
        os.dup2(log.stream.fileno(), 2)
    faulthandler.enable()


class _PrivateLog(RotatingFileHandler):
    """A log of this user alone: anything else in its place, such as a link, isn't written to."""

    def _open(self) -> TextIOWrapper:
        path = Path(self.baseFilename)
        return TextIOWrapper(os.fdopen(append_private(path.parent, path.name), "ab"), encoding=self.encoding)


class _PlainLines(logging.Formatter):
    """Escape control characters, so a name in a message can't begin a line."""

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 - of the library
        return visible(super().formatMessage(record)).replace("\n", "\\n")

    def formatException(self, ei: Any) -> str:  # noqa: N802, ANN401 - of the library
        return "\n".join(f"    {line}" for line in visible(super().formatException(ei)).split("\n"))
