"""A loopback server that speaks Ollama's and OpenAI's protocols as far as embedding goes, and fails as it is told."""

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import BufferedIOBase
from typing import Any

import pytest

from cqm.index.model.options import EmbeddingOptions

EMBEDDING_PATHS = {"/api/embed", "/v1/embeddings"}
QUESTIONS = {"/v1/models", "/info", "/tokenize"}
"""What a server may tell of itself, beside vectors."""


@dataclass(frozen=True)
class Reply:
    """All that the server sends. A body shorter than its announced length ends the connection in the middle.

    One that trickles comes a byte at a time, 20 a second.
    """

    status: int = 200
    body: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    announced: int | None = None
    hangs: bool = False
    trickles: bool = False


@dataclass(frozen=True)
class Request:
    """All that the server received; header names in lower case."""

    path: str
    headers: Mapping[str, str]
    body: dict[str, Any]

    @property
    def texts(self) -> list[str]:
        texts = self.body.get("input", [])
        return [texts] if isinstance(texts, str) else texts


REFUSED = Reply(401, json.dumps({"error": {"message": "no"}}))
"""A failure that no retry mends, so that tests need not wait."""


def vector_of(text: str) -> list[float]:
    """A vector that tells texts apart and is not of unit length."""
    return [float(len(text) + 1), float(sum(map(ord, text)) % 97), float(ord(text[0]) if text else 0), 1.0]


class ScriptedServer:
    """The server.

    Attributes:
        replies: what the next embedding requests get, in order; after these they get vectors.
        rule: a reply instead of vectors to the embedding requests for which it is not None.
        vectors: what texts are embedded to.
        requests: all that came, in order.
        show: the reply to Ollama's question after a model.
        missing: models that Ollama's server lacks.
        pulled: what it says while it fetches one, a line each; then it has the model.
        told: what other questions are answered, by path, as JSON or a function of the request; else by the rule.
        digest: of the model that Ollama's server has.
        counts: whether it tells how many tokens the texts had: a token a character.
    """

    def __init__(self, port: int = 0) -> None:
        self.replies: list[Reply] = []
        self.rule: Callable[[Request], Reply | None] = lambda _: None
        self.vectors: Callable[[list[str]], list[list[float]]] = lambda texts: [vector_of(text) for text in texts]
        self.requests: list[Request] = []
        self.show: dict[str, Any] = {"model_info": {"bert.context_length": 512}, "parameters": "num_ctx 256"}
        self.missing: set[str] = set()
        self.pulled: list[dict[str, Any]] = []
        self.told: dict[str, Any] = {}
        self.digest = "0123456789abcdef"
        self.counts = True
        self.is_ending = False
        self.released = threading.Event()
        self._server = ThreadingHTTPServer(("127.0.0.1", port), _handler_of(self))
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        self._thread.start()

    @property
    def port(self) -> int:
        return self._server.server_port

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def embeddings(self) -> list[Request]:
        """The requests for vectors."""
        return [request for request in self.requests if request.path in EMBEDDING_PATHS]

    def close(self) -> None:
        self.released.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def stop_listening(self) -> None:
        """Refuse further connections, and end those that are open with the next reply."""
        self._server.socket.close()
        self.is_ending = True

    def reply_to(self, request: Request) -> Reply:
        if request.path == "/api/show":
            return self._shown(request.body["model"])
        if request.path == "/api/pull":
            self.missing.discard(request.body["model"])
            return Reply(body="".join(f"{json.dumps(line)}\n" for line in self.pulled))
        if request.path == "/api/tags":
            return Reply(body=json.dumps({"models": [{"model": "tiny:latest", "digest": self.digest}]}))
        if request.path in QUESTIONS:
            return self._tell(request)
        if self.replies:
            return self.replies.pop(0)
        return self.rule(request) or self._embed(request)

    def _shown(self, model: str) -> Reply:
        if model in self.missing:
            return Reply(404, json.dumps({"error": f"model '{model}' not found"}))
        return Reply(body=json.dumps(self.show))

    def _tell(self, request: Request) -> Reply:
        if request.path not in self.told:
            return self.rule(request) or Reply(404, "404 page not found")
        told = self.told[request.path]
        return Reply(body=json.dumps(told(request) if callable(told) else told))

    def _embed(self, request: Request) -> Reply:
        vectors = self.vectors(request.texts)
        tokens = sum(map(len, request.texts)) if self.counts else 0
        if request.path == "/api/embed":
            return Reply(body=json.dumps({"model": "tiny", "embeddings": vectors, "prompt_eval_count": tokens}))
        data = [{"object": "embedding", "index": index, "embedding": vector} for index, vector in enumerate(vectors)]
        # An endpoint may return its rows in any order: the index tells.
        usage = {"prompt_tokens": tokens, "total_tokens": tokens}
        return Reply(body=json.dumps({"object": "list", "model": "tiny", "usage": usage, "data": data[::-1]}))


def _handler_of(server: ScriptedServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = -1  # Head and body in one packet: apart they wait for a delayed acknowledgement.

        def do_GET(self) -> None:
            self.do_POST()

        def do_POST(self) -> None:
            content = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            if server.released.is_set():  # A connection that outlived the server.
                self.close_connection = True
                return
            request = Request(
                self.path,
                {name.lower(): value for name, value in self.headers.items()},
                json.loads(content) if content else {},
            )
            server.requests.append(request)
            reply = server.reply_to(request)
            if reply.hangs:
                server.released.wait()
                self.close_connection = True
                return
            self._send(reply)

        def _send(self, reply: Reply) -> None:
            body = reply.body.encode()
            self.send_response(reply.status)
            for name, value in reply.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body) if reply.announced is None else reply.announced))
            self.end_headers()
            if reply.trickles:
                _trickle(body, self.wfile, server.released)
            else:
                self.wfile.write(body)
            self.close_connection = reply.announced is not None or server.is_ending

        def log_message(self, *_: object) -> None:
            """Keep quiet."""

    return Handler


def _trickle(body: bytes, file: BufferedIOBase, ended: threading.Event) -> None:
    """Write 20 bytes a second until the server or its client has ended."""
    with suppress(OSError):
        for byte in body:
            if ended.wait(0.05):
                return
            file.write(bytes([byte]))
            file.flush()


def model_at(server: ScriptedServer, **more: object) -> EmbeddingOptions:
    """The options of a model that the server has, asked one request at a time."""
    return EmbeddingOptions("openai", "tiny", f"{server.url}/v1", concurrency=1, **more)  # type: ignore[arg-type]


@pytest.fixture
def serve() -> Iterator[Callable[..., ScriptedServer]]:
    """Start servers that end with the test."""
    servers: list[ScriptedServer] = []

    def start(port: int = 0) -> ScriptedServer:
        servers.append(ScriptedServer(port))
        return servers[-1]

    yield start
    for server in servers:
        server.close()


@pytest.fixture
def server(serve: Callable[..., ScriptedServer]) -> ScriptedServer:
    return serve()


@pytest.fixture
def reply() -> type[Reply]:
    return Reply
