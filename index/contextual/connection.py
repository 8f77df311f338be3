"""A server connected at its first use, by one thread, and closed for good."""

from collections.abc import Callable
from threading import Lock
from typing import Generic, Protocol, TypeVar

from cqm.index.model.errors import ContextError


class Closable(Protocol):
    """Anything with connections."""

    def close(self) -> None:
        """Close them."""


Server = TypeVar("Server", bound=Closable)


class Connection(Generic[Server]):
    """A lazily opened connection. Its methods may be called from any thread.

    Parameters:
        meet: connects to the server, and may query it.
    """

    def __init__(self, meet: Callable[[], Server]) -> None:
        self._meet = meet
        self._meeting = Lock()  # held while the server is asked
        self._lock = Lock()  # held for moments
        self._server: Server | None = None
        self._is_closed = False

    def server(self) -> Server:
        """Return the server, connecting at the first call.

        Raises:
            ContextError: the connection is closed. Errors of `meet` pass through.
        """
        with self._meeting:
            return self._known() or self._met()

    def close(self) -> None:
        """Close the connections and open no more. Waits for nothing; requests under way fail."""
        with self._lock:
            self._is_closed = True
            server, self._server = self._server, None
        if server is not None:
            server.close()

    def _known(self) -> Server | None:
        with self._lock:
            if self._is_closed:
                raise _closed()
            return self._server

    def _met(self) -> Server:
        server = self._meet()
        with self._lock:
            if not self._is_closed:
                self._server = server
                return server
        server.close()
        raise _closed()


def _closed() -> ContextError:
    return ContextError("The connection to the model that writes contexts is closed.", remedy="Open the index again.")
