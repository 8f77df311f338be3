"""A relay in front of a real server, which can be cut as if the server were killed, and joined again."""

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from urllib.parse import urlsplit

import pytest

_BLOCK = 65_536


class Relay:
    """Passes bytes on, until it is cut: then its connections break, and new ones are refused.

    Parameters:
        url: of the server.
    """

    def __init__(self, url: str) -> None:
        self._path = urlsplit(url).path
        self._server = (str(urlsplit(url).hostname), int(urlsplit(url).port or 80))
        self._listening = socket.create_server(("127.0.0.1", 0))
        self._port = self._listening.getsockname()[1]
        self._lock = threading.Lock()
        self._joined: set[socket.socket] = set()
        self._left: int | None = None
        self._accept()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._port}{self._path}"

    def cut_after(self, size: int) -> None:
        """Let so many more bytes of requests pass."""
        with self._lock:
            self._left = size

    def cut(self) -> None:
        with self._lock:
            self._cut()

    def join(self) -> None:
        """Be there again, at the same address."""
        with self._lock:
            self._left = None
            self._listening = socket.create_server(("127.0.0.1", self._port))
        self._accept()

    def _cut(self) -> None:
        # A waiting `accept` would keep a socket that is only closed listening, for one client more.
        for end in (self._listening, *self._joined):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
        self._listening.close()

    def _accept(self) -> None:
        threading.Thread(target=self._serve, args=(self._listening,), daemon=True).start()

    def _serve(self, listening: socket.socket) -> None:
        with suppress(OSError):  # It is closed when the relay is cut.
            while True:
                client = listening.accept()[0]
                server = socket.create_connection(self._server)
                with self._lock:
                    if listening is not self._listening or listening.fileno() < 0:
                        client.close()
                        server.close()
                        return
                    self._joined |= {client, server}
                for ends in ((client, server, listening), (server, client, None)):
                    threading.Thread(target=self._pass, args=ends, daemon=True).start()

    def _pass(self, source: socket.socket, target: socket.socket, counted: socket.socket | None) -> None:
        """Pass what a source sends; requests are `counted`, of the listening socket that took them."""
        with suppress(OSError):
            while data := source.recv(_BLOCK):
                with self._lock:
                    if counted is self._listening and self._left is not None:
                        self._left -= len(data)
                        if self._left < 0:
                            self._cut()
                target.sendall(data)
        with self._lock:
            self._joined.discard(source)
            self._joined.discard(target)
        for end in (source, target):
            end.close()


@pytest.fixture
def relay() -> Iterator[Callable[[str], Relay]]:
    """Start relays that end with the test."""
    relays: list[Relay] = []

    def start(url: str) -> Relay:
        relays.append(Relay(url))
        return relays[-1]

    yield start
    for each in relays:
        each.cut()
