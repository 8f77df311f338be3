"""Messages over a socket: four bytes of length, then JSON. Never pickle: reading JSON runs no code."""

import json
import selectors
import socket
import struct
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any

from cqm.server.errors import SharingError

_LENGTH = struct.Struct(">I")
_LONGEST = 256 << 20
"""Bytes of a message. A page of a hundred results has less than a hundredth of them."""
_USUAL = 1 << 18
"""Largest message, in bytes, read by an event loop."""
_PATIENCE_SECONDS = 30.0
"""Longest wait for the rest of a begun message, or for the other side to take one."""

Message = dict[str, Any]


class Wire:
    """One end of a connection. One thread at a time uses it, but any may `wait` or `hang_up`."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection

    def send(self, message: Mapping[str, object]) -> None:
        """Send a message.

        Raises:
            ConnectionError: the other side is gone, or stopped reading.
        """
        # ASCII, so file names which aren't valid Unicode pass too.
        self.send_encoded(json.dumps(message, separators=(",", ":")).encode("ascii"))

    def send_encoded(self, data: bytes) -> None:
        """Send an encoded message; raises as `send` does."""
        self._connection.settimeout(_PATIENCE_SECONDS)
        with _as_connection_error():
            self._connection.sendall(_LENGTH.pack(len(data)) + data)

    def receive(self, seconds: float | None = None) -> Message:
        """Wait for a message and return it.

        Parameters:
            seconds: longest wait for its beginning; None for any time.

        Raises:
            ConnectionError: the other side is gone, or late.
            SharingError: the message isn't a JSON object, or is too long.
        """
        return decoded(self.receive_encoded(seconds))

    def receive_encoded(self, seconds: float | None = None) -> bytes:
        """Wait for a message and return its bytes; raises as `receive` does, except for invalid JSON."""
        if not self.is_readable(seconds):
            raise ConnectionAbortedError("no message came in time")
        self._connection.settimeout(_PATIENCE_SECONDS)
        (length,) = _LENGTH.unpack(self._exactly(_LENGTH.size))
        if length > _LONGEST:
            raise SharingError(f"A message of {length} bytes was announced: expected at most {_LONGEST}.")
        return self._exactly(length)

    def is_readable(self, seconds: float | None) -> bool:
        """Wait until a message begins or the other side is gone; None waits without end, 0 only looks."""
        self._connection.settimeout(seconds)
        try:
            self._connection.recv(1, socket.MSG_PEEK)
        except (BlockingIOError, TimeoutError):
            return False
        except OSError:
            return True
        return True

    async def receive_soon(self) -> bytes:
        """Wait for a message in an event loop; otherwise as `receive_encoded`."""
        from anyio import to_thread, wait_readable  # of a server, which has it loaded

        await wait_readable(self._connection)
        return self._here() or await to_thread.run_sync(self.receive_encoded)

    def _here(self) -> bytes:
        """Return the arriving message if it is here whole, without waiting; else nothing."""
        self._connection.settimeout(0)
        with _as_connection_error():
            begun = self._connection.recv(_LENGTH.size, socket.MSG_PEEK)
            (length,) = _LENGTH.unpack(begun) if len(begun) == _LENGTH.size else (_USUAL,)
            size = _LENGTH.size + int(length)
            if size > _USUAL or len(self._connection.recv(size, socket.MSG_PEEK)) < size:
                return b""
            return self._connection.recv(size)[_LENGTH.size :]

    def wait(self) -> None:
        """Wait until a message begins or the other side is gone; another thread may send meanwhile."""
        with selectors.DefaultSelector() as selector:
            selector.register(self._connection, selectors.EVENT_READ)
            selector.select()

    def hang_up(self) -> None:
        """End the connection; readers on either side get ConnectionError."""
        with suppress(OSError):
            self._connection.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """End the connection, and close the socket."""
        self.hang_up()
        self._connection.close()

    def _exactly(self, size: int) -> bytes:
        parts: list[bytes] = []
        while size:
            with _as_connection_error():
                part = self._connection.recv(min(size, 1 << 20))
            if not part:
                raise ConnectionResetError("the other side is gone")
            parts.append(part)
            size -= len(part)
        return b"".join(parts)


def decoded(message: bytes) -> Message:
    """Read a message.

    Raises:
        SharingError: it isn't a JSON object.
    """
    try:
        read = json.loads(message)
    except ValueError as error:
        raise SharingError("A message is not JSON.") from error
    if not isinstance(read, dict):
        raise SharingError("A message is not a JSON object.")
    return read


@contextmanager
def _as_connection_error() -> Iterator[None]:
    """Turn every socket error into ConnectionError: all are handled in the same way."""
    try:
        yield
    except ConnectionError:
        raise
    except OSError as error:
        raise ConnectionAbortedError(str(error)) from error
