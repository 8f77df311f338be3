"""A loopback server of /rerank endpoints that answers in the shape in which it is asked, and fails as it is told."""

import json
import os
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from enum import Enum, auto
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from cqm.index.model.options import RerankOptions
from cqm.index.remote.variables import Variables
from cqm.index.rerank import Reranker, open_reranker


class Hang(Enum):
    """Where a reply stops, or nearly."""

    NOWHERE = auto()
    BEFORE_THE_HEAD = auto()
    IN_THE_BODY = auto()
    AFTER_EACH_BYTE_OF_THE_HEAD = auto()
    AFTER_EACH_BYTE_OF_THE_BODY = auto()


@dataclass(frozen=True)
class Reply:
    """All that the server sends. A body shorter than its announced length ends the connection in the middle."""

    status: int = 200
    body: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    announced: int | None = None
    hangs: Hang = Hang.NOWHERE


@dataclass(frozen=True)
class Request:
    """All that the server received; header names in lower case."""

    path: str
    headers: Mapping[str, str]
    body: dict[str, Any]

    @property
    def texts(self) -> list[str]:
        texts: list[str] = self.body["texts"] if "texts" in self.body else self.body["documents"]
        return texts


class RerankServer:
    """The server.

    Attributes:
        replies: what the next requests get, in order; after these they get scores.
        rule: a reply instead of scores to the requests for which it is not None.
        score: of a text.
        requests: all that came, in order.
    """

    def __init__(self) -> None:
        self.replies: list[Reply] = []
        self.rule: Callable[[Request], Reply | None] = lambda _: None
        self.score: Callable[[str], float] = lambda text: float(len(text))
        self.requests: list[Request] = []
        self.released = threading.Event()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"script": self}))
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    def close(self) -> None:
        self.released.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def reply_to(self, request: Request) -> Reply:
        if self.replies:
            return self.replies.pop(0)
        return self.rule(request) or self._scores(request)

    def _scores(self, request: Request) -> Reply:
        scores = sorted(enumerate(map(self.score, request.texts)), key=lambda entry: -entry[1])
        if "texts" in request.body:
            return Reply(body=json.dumps([{"index": index, "score": score} for index, score in scores]))
        entries = [{"index": index, "relevance_score": score} for index, score in scores]
        return Reply(body=json.dumps({"data" if "top_k" in request.body else "results": entries}))


class _Handler(BaseHTTPRequestHandler):
    script: RerankServer
    protocol_version = "HTTP/1.1"
    wbufsize = -1  # Head and body in one packet: apart they wait for a delayed acknowledgement.

    def do_POST(self) -> None:
        content = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        headers = {name.lower(): value for name, value in self.headers.items()}
        request = Request(self.path, headers, json.loads(content))
        self.script.requests.append(request)
        reply = self.script.reply_to(request)
        self.close_connection = reply.hangs is not Hang.NOWHERE or reply.announced is not None
        try:
            self._send(reply)
        except OSError:
            self.close_connection = True  # The client had enough.

    def _send(self, reply: Reply) -> None:
        match reply.hangs:
            case Hang.BEFORE_THE_HEAD:
                self.script.released.wait()
            case Hang.AFTER_EACH_BYTE_OF_THE_HEAD:
                self._trickle([b"HTTP/1.1 200 OK\r\nX-Filler: ", *[b"x"] * 10_000])
            case Hang.IN_THE_BODY:
                self._head(reply, 10_000)
                self._trickle([b'{"results": ['])
                self.script.released.wait()
            case Hang.AFTER_EACH_BYTE_OF_THE_BODY:
                self._head(reply, 10_000)
                self._trickle([b" "] * 10_000)
            case Hang.NOWHERE:
                body = reply.body.encode()
                self._head(reply, len(body) if reply.announced is None else reply.announced)
                self.wfile.write(body)

    def _head(self, reply: Reply, length: int) -> None:
        self.send_response(reply.status)
        for name, value in {"Content-Type": "application/json", **reply.headers}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(length))
        self.end_headers()

    def _trickle(self, pieces: Sequence[bytes]) -> None:
        for piece in pieces:
            self.wfile.write(piece)
            self.wfile.flush()
            if self.script.released.wait(0.01):
                return

    def log_message(self, *_: object) -> None:
        """Keep quiet."""


@pytest.fixture
def serve() -> Iterator[Callable[[], RerankServer]]:
    """Start servers that end with the test."""
    servers: list[RerankServer] = []

    def start() -> RerankServer:
        servers.append(RerankServer())
        return servers[-1]

    yield start
    for server in servers:
        server.close()


@pytest.fixture
def server(serve: Callable[[], RerankServer]) -> RerankServer:
    return serve()


@pytest.fixture
def reply() -> type[Reply]:
    return Reply


@pytest.fixture
def hang() -> type[Hang]:
    return Hang


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    """The one key there is."""
    monkeypatch.setenv("RERANK_TEST_KEY", "sk-very-secret")
    for name in ("CO_API_KEY", "JINA_API_KEY", "VOYAGE_API_KEY"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def opened() -> Iterator[Callable[..., Reranker]]:
    """Open rerankers that are closed with the test."""
    with ExitStack() as stack:

        def opened(
            options: RerankOptions, open_it: Callable[[RerankOptions, Variables], Reranker | None] = open_reranker
        ) -> Any:
            reranker = open_it(options, os.environ)
            assert reranker is not None
            stack.callback(reranker.close)
            return reranker

        yield opened
