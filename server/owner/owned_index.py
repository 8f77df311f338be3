"""An index owned by this process: it listens for its clients, and serves each in a thread, until nobody needs it."""

import gc
import logging
import selectors
import socket
import sys
import time
from contextlib import suppress
from pathlib import Path
from threading import Lock, Thread
from typing import TYPE_CHECKING, Self

from cqm.chunkers.errors import CqmError
from cqm.index.disk.locations import OWNER_LOCK, untaken_lock
from cqm.index.disk.lock import PrivateLock, Timeout, lock_in
from cqm.index.model.errors import IndexInUseError
from cqm.server.owner.address import Address, is_found, is_of_this_user, listen, unlisten
from cqm.server.owner.messages import Build
from cqm.server.owner.wire import Wire

if TYPE_CHECKING:
    from cqm.server.owner.session import Session

_log = logging.getLogger(__name__)

_PREDECESSOR_SECONDS = 30.0
"""Longest wait for a predecessor, which no longer listens, to close its index."""
_HASTE_SECONDS = 0.05
_LOOK_SECONDS = 5.0
"""Time between looks whether clients can still find it."""
_REST_SECONDS = 300.0
"""Idle time after which the store of an index is closed. Opening one of 911 chunks took 82 ms."""


class OwnedIndex:
    """An index open to clients; `run` serves them. Use `OwnedIndex.take`."""

    def __init__(
        self,
        folder: Path,
        root: Path | None,
        build: Build,
        lock: PrivateLock,
        listener: socket.socket,
        address: Address,
    ) -> None:
        self._folder = folder
        self._root = root
        self._build = build
        self._owned = lock
        self._listener = listener
        self._address = address
        self._wires: set[Wire] = set()
        self._lock = Lock()
        self._woken, self._wake = socket.socketpair()
        self._wake.settimeout(0)
        self._is_told_to_end = False
        self._idle_since = time.monotonic()

    @classmethod
    def take(cls, folder: Path, root: Path | None, build: Build, *, over_tcp: bool = False) -> Self:
        """Take an index without an owner, and listen for its clients.

        Parameters:
            folder: of the index; exists.
            root: the indexed folder or file, from a client; None if unknown.
            over_tcp: listen on the loopback address despite unix sockets.

        Raises:
            IndexInUseError: another process owns it, and cannot be reached.
            StoreError: its lock cannot be taken, or there is no place to listen.
        """
        lock = lock_in(folder, OWNER_LOCK, _PREDECESSOR_SECONDS)
        _acquire(lock, folder)
        try:
            listener, address = listen(folder, over_tcp=over_tcp)
        except BaseException:
            lock.release()
            raise
        return cls(folder, root, build, lock, listener, address)

    def run(self) -> None:
        """Serve clients until it is time to end, then close the index."""
        try:
            self._run()
        except Exception:  # noqa: BLE001 - this thread's boundary
            _log.exception("The owner of %s failed.", self._folder)
        finally:
            self._listener.close()
            unlisten(self._folder, self._address)
            self._owned.release()

    def end(self) -> None:
        """Let `run` close the index soon, despite any users; any thread may call this."""
        self._is_told_to_end = True
        self._look()

    def _run(self) -> None:
        from cqm.index.workers.forking import source_for_first_index

        source = source_for_first_index(self._folder, self._root) if self._root else None
        # Modules for indexing load after clients may come, which are busy with their own start meanwhile.
        from cqm.server.owner.session import Session

        if source is None:
            # There is an index to ask, and the asking client is still starting.
            import cqm.index.questions  # noqa: F401 - loaded ahead

        session = Session(self._build, self._folder, self._look, source)
        try:
            self._serve_all(session)
        finally:
            # In any case: the process may live on for other indexes, and would keep this one.
            self._listener.close()
            session.end()
            with self._lock:
                for wire in self._wires:
                    wire.hang_up()

    def _serve_all(self, session: "Session") -> None:
        """Serve clients until nobody needs the index."""
        with selectors.DefaultSelector() as selector:
            selector.register(self._listener, selectors.EVENT_READ)
            selector.register(self._woken, selectors.EVENT_READ)
            while (left := self._seconds_left(session)) != 0:
                for key, _ in selector.select(left):
                    if key.fileobj is self._listener:
                        self._accept(session)
                    else:
                        self._woken.recv(4096)
                try:
                    if session.rest(_REST_SECONDS):
                        give_memory_back()
                except CqmError as error:
                    _log.warning("%s", error)
                if not is_found(self._folder, self._address):
                    # Present clients are served to the end; new ones go to the next owner.
                    session.leave()

    def _seconds_left(self, session: "Session") -> float | None:
        """Return the seconds to wait for something to happen; 0 when it is time to end."""
        if self._is_told_to_end or session.is_over:
            return 0.0
        with self._lock:
            idle = self._idle_since + session.idle_seconds - time.monotonic()
            return _LOOK_SECONDS if self._wires else min(_LOOK_SECONDS, max(0.0, idle))

    def _accept(self, session: "Session") -> None:
        wire = accepted(self._listener)
        if wire is None:
            return
        with self._lock:
            self._wires.add(wire)
        Thread(target=self._serve, args=(wire, session), name="client", daemon=True).start()

    def _serve(self, wire: Wire, session: "Session") -> None:
        from cqm.server.owner.connection import serve

        try:
            serve(wire, session, self._build, self._address)
        except Exception:  # noqa: BLE001 - this thread's boundary
            _log.exception("A connection failed.")
        finally:
            with self._lock:
                self._wires.discard(wire)
                self._idle_since = time.monotonic()
            self._look()

    def _look(self) -> None:
        """Wake `run` to check whether it is time to end."""
        with suppress(BlockingIOError, OSError):
            self._wake.send(b"!")


def accepted(listener: socket.socket) -> Wire | None:
    """Accept a connection; None if the client is gone or of another user."""
    try:
        connection = listener.accept()[0]
    except OSError:
        # The client is gone, or the process has too many open files; then haste would only burn processor time.
        time.sleep(_HASTE_SECONDS)
        return None
    if not is_of_this_user(connection):
        _log.warning("A process of another user came.")
        connection.close()
        return None
    return Wire(connection)


def give_memory_back() -> None:
    """Give the memory of a closed store back to the system; glibc keeps it else."""
    import ctypes  # few processes come here

    gc.collect()
    if sys.platform == "linux" and (trim := getattr(ctypes.CDLL(None), "malloc_trim", None)):
        trim(0)


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
        raise untaken_lock(folder, error) from error
