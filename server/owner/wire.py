"""Messages over a socket: four bytes of length, then JSON. Never pickle: what is read can do nothing."""

import json
import socket
import struct
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any

from cqm.server.errors import SharingError

_LENGTH = struct.Struct(">I")
_LONGEST = 256 << 20
"""Bytes of a message. A page of a hundred results has less than a hundredth of that."""
_PATIENCE_SECONDS = 30.0
"""How long the other side may take over a message that it began, or to take one that it is sent."""

Message = dict[str, Any]


class Wire:
    """One end of a connection. One thread at a time uses it, but any may `hang_up`.

    Parameters:
        connection: connected.
        longest: bytes of a message that is taken.
    """

    def __init__(self, connection: socket.socket, *, longest: int = _LONGEST) -> None:
        self._connection = connection
        self._longest = longest

    def send(self, message: Mapping[str, object]) -> None:
        """Send a message.

        Raises:
            ConnectionError: the other side is gone, or takes nothing any more.
        """
        # ASCII, so that names of files that are no valid Unicode pass too.
        self.send_encoded(json.dumps(message, separators=(",", ":")).encode("ascii"))

    def send_encoded(self, data: bytes) -> None:
        """Send a message that is JSON already; raises as `send` does."""
        self._connection.settimeout(_PATIENCE_SECONDS)
        with _as_connection_error():
            self._connection.sendall(_LENGTH.pack(len(data)) + data)

    def receive(self, seconds: float | None = None) -> Message:
        """Wait for a message and give it.

        Parameters:
            seconds: until it begins, at most; None for any time.

        Raises:
            ConnectionError: the other side is gone, or late.
            SharingError: it speaks something else.
        """
        if not self.is_readable(seconds):
            raise ConnectionAbortedError("no message came in time")
        self._connection.settimeout(_PATIENCE_SECONDS)
        (length,) = _LENGTH.unpack(self._exactly(_LENGTH.size))
        if length > self._longest:
            raise SharingError(f"A message of {length} bytes was announced, which is none of ours.")
        try:
            message = json.loads(self._exactly(length))
        except ValueError as error:
            raise SharingError("A message came that is no JSON.") from error
        if not isinstance(message, dict):
            raise SharingError("A message came that is no object.")
        return message

    def is_readable(self, seconds: float | None) -> bool:
        """Wait until a message begins or the other side is gone; whether that came in time.

        Parameters:
            seconds: 0 for a look without waiting, None for any time.
        """
        self._connection.settimeout(seconds)
        try:
            self._connection.recv(1, socket.MSG_PEEK)
        except (BlockingIOError, TimeoutError):
            return False
        except OSError:
            return True
        return True

    def hang_up(self) -> None:
        """End the connection; whoever waits for a message on either side gets ConnectionError."""
        with suppress(OSError):
            self._connection.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """End the connection, and let go of the socket."""
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


@contextmanager
def _as_connection_error() -> Iterator[None]:
    """Turns whatever a socket raises into ConnectionError: to us it is all the same."""
    try:
        yield
    except ConnectionError:
        raise
    except OSError as error:
        raise ConnectionAbortedError(str(error)) from error
