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
        self._joined: set[socket.socket] = set()
        self._left: int | None = None
        self._accept()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._port}{self._path}"

    def cut_after(self, size: int) -> None:
        """Let so many more bytes of requests pass."""
        self._left = size

    def cut(self) -> None:
        self._listening.close()
        for end in list(self._joined):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def join(self) -> None:
        """Be there again, at the same address."""
        self._left = None
        self._listening = socket.create_server(("127.0.0.1", self._port))
        self._accept()

    def _accept(self) -> None:
        threading.Thread(target=self._serve, args=(self._listening,), daemon=True).start()

    def _serve(self, listening: socket.socket) -> None:
        with suppress(OSError):  # It is closed when the relay is cut.
            while True:
                client = listening.accept()[0]
                server = socket.create_connection(self._server)
                self._joined |= {client, server}
                for ends in ((client, server, True), (server, client, False)):
                    threading.Thread(target=self._pass, args=ends, daemon=True).start()

    def _pass(self, source: socket.socket, target: socket.socket, is_request: bool) -> None:
        with suppress(OSError):
            while data := source.recv(_BLOCK):
                if is_request and self._left is not None:
                    self._left -= len(data)
                    if self._left < 0:
                        self.cut()
                target.sendall(data)
        for end in (source, target):
            self._joined.discard(end)
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
