"""A value connected or loaded at its first use, by one thread."""

from collections.abc import Callable
from threading import Lock
from typing import Generic, Protocol, TypeVar

from cqm.chunkers.errors import CqmError


class Closable(Protocol):
    """Anything with connections."""

    def close(self) -> None:
        """Close them."""


Server = TypeVar("Server", bound=Closable)


class Connection(Generic[Server]):
    """A lazily opened connection. Its methods may be called from any thread.

    Parameters:
        meet: connects to the server, and may query it.
        closed: makes the error for a closed connection.
        reopens: whether a call after `close` connects again; otherwise it gets the error.
    """

    def __init__(self, meet: Callable[[], Server], closed: Callable[[], CqmError], *, reopens: bool = False) -> None:
        self._meet = meet
        self._closed = closed
        self._reopens = reopens
        self._meeting = Lock()  # held while the server is asked
        self._lock = Lock()  # held for moments
        self._server: Server | None = None
        self._closings = 0

    def server(self) -> Server:
        """Return the server, connecting at the first call.

        Raises:
            CqmError: the connection is closed, or was closed meanwhile. Errors of `meet` pass through.
        """
        with self._meeting:
            with self._lock:
                if self._closings and not self._reopens:
                    raise self._closed()
                if self._server is not None:
                    return self._server
                closings = self._closings
            return self._met(closings)

    def close(self) -> None:
        """Close the connections. Waits for nothing; requests under way fail."""
        with self._lock:
            self._closings += 1
            server, self._server = self._server, None
        if server is not None:
            server.close()

    def _met(self, closings: int) -> Server:
        server = self._meet()
        with self._lock:
            if closings == self._closings:
                self._server = server
                return server
        server.close()
        raise self._closed()
