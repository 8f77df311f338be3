"""The scripted server, speaking the chat protocols of Ollama and OpenAI, and writers that ask it."""

import json
import os
from collections.abc import Callable, Iterator
from threading import Barrier, Lock
from typing import Any

import pytest
from clock import Clock
from scripted_server import Reply, Request, ScriptedServer

from cqm.index.cache.base import Cache
from cqm.index.contextual import ContextWriter, open_writer
from cqm.index.model.options import ContextOptions
from cqm.index.remote.retries import RetryPolicy

QUICK = RetryPolicy(attempts=2, first_wait=0.001, longest_wait=0.002)
SAID = "This paragraph belongs to the manual of the pump and names its {} number, which the safety chapter explains."


def part_of(request: Request) -> str:
    """The chunk that a prompt asks about."""
    return str(request.body["messages"][0]["content"].split("<part>\n")[1].split("\n</part>")[0])


def document_of(request: Request) -> str:
    """Return how a prompt begins: all before the question."""
    return str(request.body["messages"][0]["content"].split("</document>")[0])


class ChatServer(ScriptedServer):
    """Says something else of each chunk.

    Attributes:
        say: the text that a prompt is answered with.
        finish: why the text ends.
        usage: what OpenAI's protocol tells of tokens.
    """

    def __init__(self, port: int = 0) -> None:
        super().__init__(port)
        self.rule = self._chat
        self.show = {"model_info": {"llama.context_length": 32_768}}
        self.say: Callable[[Request], str] = lambda request: SAID.format(len(part_of(request)))
        self.finish = "stop"
        self.usage: dict[str, Any] | None = {"prompt_tokens": 1000, "completion_tokens": 50, "total_tokens": 1050}

    @property
    def chats(self) -> list[Request]:
        """The prompts that came."""
        return [request for request in self.requests if request.path in {"/api/chat", "/v1/chat/completions"}]

    @property
    def parts(self) -> list[str]:
        """The chunks that were asked about."""
        return [part_of(request) for request in self.chats]

    def _chat(self, request: Request) -> Reply:
        message = {"role": "assistant", "content": self.say(request)}
        if request.path == "/api/chat":
            counts = {"prompt_eval_count": 1000, "eval_count": 50, "done": True, "done_reason": self.finish}
            return Reply(body=json.dumps({"model": "tiny", "message": message, **counts}))
        choice = {"index": 0, "message": message, "finish_reason": self.finish}
        frame = {"id": "1", "object": "chat.completion", "created": 0, "model": "tiny"}
        return Reply(body=json.dumps({**frame, "choices": [choice], "usage": self.usage}))


@pytest.fixture
def serve() -> Iterator[Callable[..., ChatServer]]:
    """Start servers that end with the test."""
    servers: list[ChatServer] = []

    def start(port: int = 0) -> ChatServer:
        servers.append(ChatServer(port))
        return servers[-1]

    yield start
    for server in servers:
        server.close()


@pytest.fixture
def server(serve: Callable[..., ChatServer]) -> ChatServer:
    return serve()


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture(params=["ollama", "openai"])
def provider(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def connect(request: pytest.FixtureRequest, clock: Clock, server: ChatServer) -> Callable[..., ContextWriter]:
    """Open writers that end with the test; by OpenAI's protocol, unless they are told otherwise."""

    def open_one(cache: Cache | None = None, **settings: Any) -> ContextWriter:
        provider = settings.pop("provider", "openai")
        address = settings.pop("base_url", server.url + ("/v1" if provider == "openai" else ""))
        settings = {"model": "tiny", "timeout_seconds": 60.0, **settings}
        writer = open_writer(ContextOptions(provider, base_url=address, **settings), cache, os.environ, QUICK, clock)
        assert writer is not None
        request.addfinalizer(writer.close)
        return writer

    return open_one


class Rendezvous:
    """Lets requests go on only when so many are under way, and counts the most that ever were."""

    def __init__(self, size: int) -> None:
        self.most = 0
        self._under_way = 0
        self._lock = Lock()
        self._barrier = Barrier(size)

    def meet(self) -> None:
        with self._lock:
            self._under_way += 1
            self.most = max(self.most, self._under_way)
        self._barrier.wait(240)
        with self._lock:
            self._under_way -= 1


@pytest.fixture
def rendezvous() -> type[Rendezvous]:
    return Rendezvous
