"""Shared by tests of the cache: a clock that stands until it is told, and a server that speaks Redis as it is told."""

import os
import socketserver
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

import pytest

from cqm.index.cache import Cache, open_cache
from cqm.index.model.options import CacheOptions
from cqm.index.model.status import CacheLayer


@dataclass
class StandingClock:
    now: float = field(default_factory=time.time)

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> StandingClock:
    return StandingClock()


Open = Callable[..., Cache]


@pytest.fixture
def opened(tmp_path: Path, clock: StandingClock) -> Iterator[Open]:
    """Opens a cache below the test's folder: without arguments, one that has a disk layer and no other."""
    caches: list[Cache] = []

    def open_one(memory_mb: int = 0, redis_url: str = "", disk_mb: int = 64, **options: object) -> Cache:
        chosen = CacheOptions(memory_mb=memory_mb, redis_url=redis_url, disk_mb=disk_mb, **options)
        caches.append(open_cache(chosen, tmp_path / "cache", os.environ, clock))
        return caches[-1]

    yield open_one
    for cache in caches:
        cache.close()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Of the disk layer."""
    return tmp_path / "cache" / "values"


@pytest.fixture
def file(folder: Path) -> Path:
    return folder / "cache.db"


Tell = Callable[[Cache, str], CacheLayer]


@pytest.fixture
def layer() -> Tell:
    """Return what a cache tells of one of its layers."""

    def told(cache: Cache, name: str) -> CacheLayer:
        [found] = [layer for layer in cache.layers() if layer.name == name]
        return found

    return told


class ScriptedRedis:
    """A server that reads commands of Redis's protocol. To reads and writes it sends `reply`, whatever that is.

    Attributes:
        reply: to MGET and SET; None to say nothing.
        stays: whether it takes another command on the same connection then.
        commands: that came, in order, by their first word.
    """

    def __init__(self) -> None:
        self.reply: bytes | None = b""
        self.stays = False
        self.commands: list[bytes] = []
        self.released = threading.Event()
        self._server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), _handler_of(self))
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self._server.server_address[1]}/0"

    def close(self) -> None:
        self.released.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


def _handler_of(server: ScriptedRedis) -> type[socketserver.StreamRequestHandler]:
    class Handler(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            while words := _command(self.rfile):
                server.commands.append(words[0])
                if words[0] not in {b"MGET", b"SET"}:
                    self.wfile.write(b"+OK\r\n")
                    continue
                if server.reply is None:
                    server.released.wait()
                    return
                self.wfile.write(server.reply)
                if not server.stays:
                    return

    return Handler


def _command(stream: BinaryIO) -> list[bytes]:
    head = stream.readline()
    words = []
    for _ in range(int(head[1:] or 0)):
        size = int(stream.readline()[1:])
        words.append(stream.read(size + 2)[:-2])
    return words


@pytest.fixture
def scripted() -> Iterator[ScriptedRedis]:
    server = ScriptedRedis()
    yield server
    server.close()
