"""Against a real Ollama and a real server of OpenAI's protocol. The model is tiny: its prose says nothing."""

import os
from collections.abc import Callable

import pytest

from cqm.chunkers.chunking import chunk
from cqm.chunkers.model import ChunkOptions, Document
from cqm.chunkers.tokens import estimate
from cqm.index.contextual import ContextWriter, open_writer
from cqm.index.model.options import ContextOptions
from cqm.index.remote.retries import RetryPolicy

pytestmark = pytest.mark.servers
MODEL = "smollm2:135m"
ENGLISH = (
    "# Pump\n\nThe pump moves water from the lake to the tank and stops when the tank is full.\n\n"
    "## Valves\n\nThe inlet valve closes by itself. The outlet valve must be closed by hand before repairs.\n"
)
JAPANESE = (
    "# ポンプ\n\nこのポンプは、湖の水をタンクに送り、タンクが一杯になると止まります。\n\n"
    "## 弁\n\n入口の弁は自動で閉じます。出口の弁は、修理の前に手で閉めなければなりません。\n"
)


@pytest.fixture(params=["ollama_url", "openai_chat_url"])
def options(request: pytest.FixtureRequest) -> ContextOptions:
    provider, url = request.param.split("_")[0], request.getfixturevalue(request.param)
    key = "CQM_TEST_OPENAI_KEY" if provider == "openai" else ""
    return ContextOptions(
        provider, MODEL, url, api_key_env=key, timeout_seconds=120.0, window_tokens=300, max_tokens=30
    )


@pytest.fixture
def connect(request: pytest.FixtureRequest) -> Callable[[ContextOptions], ContextWriter]:
    def open_one(options: ContextOptions) -> ContextWriter:
        writer = open_writer(options, None, os.environ, RetryPolicy(attempts=1))
        assert writer is not None
        request.addfinalizer(writer.close)
        return writer

    return open_one


@pytest.mark.parametrize("text", [ENGLISH, JAPANESE], ids=["english", "japanese"])
def test_a_real_model_answers_and_its_tokens_are_counted(
    options: ContextOptions, connect: Callable[[ContextOptions], ContextWriter], text: str
) -> None:
    chunks = chunk(Document("pump.md", text), ChunkOptions(max_tokens=64, min_tokens=0)).chunks
    writer = connect(options)
    written = writer.write("pump.md", text, chunks)
    usage = writer.usage()
    assert usage.requests == len(chunks) > 1
    assert usage.tokens > len(chunks) * estimate(text)
    assert 0 < usage.output_tokens <= 30 * len(chunks)
    assert usage.seconds > 0
    # What so small a model says may be of no use, but nothing went wrong.
    assert written.failed == ()
    assert all(estimate(note) <= options.max_tokens for note in written.notes)
    assert usage.texts == sum(map(bool, written.notes))


def test_a_real_server_that_is_asked_for_a_model_that_it_lacks(
    ollama_url: str, connect: Callable[[ContextOptions], ContextWriter]
) -> None:
    chunks = chunk(Document("pump.md", ENGLISH), ChunkOptions(max_tokens=64, min_tokens=0)).chunks
    written = connect(ContextOptions("ollama", "no-such-model", ollama_url)).write("pump.md", ENGLISH, chunks)
    assert "`ollama pull no-such-model`" in written.problem
    assert written.failed == tuple(range(len(chunks)))


def test_a_prompt_over_the_real_context_is_told(
    openai_chat_url: str, connect: Callable[[ContextOptions], ContextWriter]
) -> None:
    text = "\n\n".join(f"The pump {number} is stopped by valve {number} and it is cleaned." for number in range(4000))
    chunks = chunk(Document("pump.txt", text), ChunkOptions(max_tokens=64, min_tokens=0)).chunks[:1]
    options = ContextOptions("openai", MODEL, openai_chat_url, "CQM_TEST_OPENAI_KEY", window_tokens=40_000)
    written = connect(options).write("pump.txt", text, chunks)
    assert "Lower context.window_tokens" in written.problem
    assert written.notes == ("",)
    assert written.failed == ()
