"""OpenAI's protocol alone: keys, quotas, waits on request, limits in tokens."""

import json
import os
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import TYPE_CHECKING

import pytest

from cqm.chunkers.tokens import openai_tokenizer
from cqm.index.embedding.openai import openai_embedder
from cqm.index.embedding.service.base import Embedder
from cqm.index.model.errors import EmbeddingError
from cqm.index.model.options import EmbeddingOptions
from cqm.index.remote.openai import retry_after
from cqm.index.remote.retries import RetryPolicy

if TYPE_CHECKING:
    from scripted_server import Reply, Request, ScriptedServer

QUICK = RetryPolicy(attempts=3, first_wait=0.001, longest_wait=0.002)
Connect = Callable[..., Embedder]


@pytest.fixture
def connect(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Connect:
    """Open embedders that end with the test."""
    for variable in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(variable, raising=False)

    def open_one(url: str, retries: RetryPolicy = QUICK, **options: object) -> Embedder:
        given = EmbeddingOptions("openai", "tiny", f"{url}/v1" if url else "", timeout_seconds=60.0, long_texts="cut")
        embedder = openai_embedder(replace(given, **options), os.environ, retries)
        request.addfinalizer(embedder.close)
        return embedder

    return open_one


def error(message: str, code: str | None = None) -> str:
    return json.dumps({"error": {"message": message, "type": "invalid_request_error", "code": code}})


def over_context(reply: "type[Reply]", characters: int, refusal: "Reply") -> "Callable[[Request], Reply | None]":
    del reply
    return lambda request: refusal if any(len(text) > characters for text in request.texts) else None


@pytest.mark.timeout(60)
@pytest.mark.parametrize("header", ["Retry-After", "retry-after-ms"])
def test_the_wait_that_the_service_asks_for_wins_over_ours(
    server: "ScriptedServer", connect: Connect, reply: "type[Reply]", header: str
) -> None:
    hourly = RetryPolicy(first_wait=3600, longest_wait=3600)
    embedder = connect(server.url, hourly)
    embedder.space()
    server.replies = [reply(429, error("slow down"), {header: "0.01"})] * 2
    assert embedder.embed_documents(["one"]).indices == (0,)


def test_a_service_that_asks_for_a_longer_wait_than_ours_fails_at_once(
    server: "ScriptedServer", connect: Connect, reply: "type[Reply]"
) -> None:
    embedder = connect(server.url)
    embedder.space()
    server.rule = lambda _: reply(429, error("slow down"), {"Retry-After": "3600"})
    with pytest.raises(EmbeddingError, match="answered 429: slow down") as caught:
        embedder.embed_documents(["one"])
    assert caught.value.retryable
    assert len(server.embeddings) == 2


def test_the_wait_is_read_in_all_its_forms() -> None:
    assert retry_after({"retry-after": "2"}) == 2
    assert retry_after({"retry-after-ms": "1500", "retry-after": "9"}) == 1.5
    assert retry_after({}) is None
    assert retry_after({"retry-after": "soon"}) is None
    in_an_hour = datetime.now(UTC) + timedelta(hours=1)
    assert retry_after({"retry-after": format_datetime(in_an_hour, usegmt=True)}) == pytest.approx(3600, abs=60)
    assert retry_after({"retry-after": format_datetime(in_an_hour - timedelta(hours=2))}) == 0


def test_an_exhausted_quota_is_not_retried(server: "ScriptedServer", connect: Connect, reply: "type[Reply]") -> None:
    embedder = connect(server.url)
    embedder.space()
    server.rule = lambda _: reply(429, error("You exceeded your current quota", "insufficient_quota"))
    with pytest.raises(EmbeddingError, match="billing") as caught:
        embedder.embed_documents(["one"])
    assert not caught.value.retryable
    assert len(server.embeddings) == 2


def test_an_account_without_money_is_told_so(server: "ScriptedServer", connect: Connect, reply: "type[Reply]") -> None:
    server.rule = lambda _: reply(402, json.dumps({"detail": "Insufficient account balance"}))
    with pytest.raises(EmbeddingError, match=r"answered 402.*Insufficient account balance.*billing") as caught:
        connect(server.url).space()
    assert not caught.value.retryable


def test_a_missing_model_or_path_is_told_with_what_to_check(
    server: "ScriptedServer", connect: Connect, reply: "type[Reply]"
) -> None:
    server.rule = lambda _: reply(404, error("The model `tiny` does not exist", "model_not_found"))
    with pytest.raises(EmbeddingError, match=r"does not exist.*Check embedding\.model") as caught:
        connect(server.url).space()
    assert not caught.value.retryable


@pytest.mark.parametrize(
    ("status", "message", "code"),
    [
        (400, "This model's maximum context length is 512 tokens", "context_length_exceeded"),
        (400, "Invalid 'input[0]': maximum input length is 8192 tokens.", None),
        (413, "Input validation error: `inputs` must have less than 512 tokens. Given: 702: too long", None),
        (500, "input (702 tokens) is too large to process. increase the physical batch size", None),
    ],
)
def test_a_text_over_an_unknown_context_is_shortened_until_it_fits_and_reported(
    server: "ScriptedServer", connect: Connect, reply: "type[Reply]", status: int, message: str, code: str | None
) -> None:
    server.rule = over_context(reply, 1000, reply(status, error(message, code)))
    embeddings = connect(server.url).embed_documents(["short", "long " * 400, "short too"])
    assert embeddings.indices == (0, 1, 2)
    assert embeddings.cut == (1,)
    longest = max((text for request in server.embeddings for text in request.texts if len(text) <= 1000), key=len)
    assert len(longest) > 600
    assert ("long " * 400).startswith(longest)


def test_a_text_that_is_too_long_however_short_is_reported(
    server: "ScriptedServer", connect: Connect, reply: "type[Reply]"
) -> None:
    refusal = reply(400, error("maximum context length exceeded", "context_length_exceeded"))
    server.rule = lambda request: refusal if any("long" in text for text in request.texts) else None
    embeddings = connect(server.url).embed_documents(["short", "long " * 400])
    assert embeddings.indices == (0,)
    assert "maximum context length" in embeddings.rejected[0].reason


def test_a_text_over_the_limit_of_openais_models_is_cut_before_it_is_sent(
    server: "ScriptedServer", connect: Connect
) -> None:
    text = "def f(x): return x\n" * 2000
    embedder = connect(server.url, model="text-embedding-3-small")
    embeddings = embedder.embed_documents(["short", text])
    assert embeddings.cut == (1,)
    tokens = openai_tokenizer("text-embedding-3-small")
    sent = [sent for request in server.embeddings for sent in request.texts if len(sent) > 1000]
    assert len(sent) == 1
    assert 8000 < tokens.count(sent[0]) <= 8192
    assert text.startswith(sent[0])


def test_a_text_over_the_limit_of_openais_models_is_pooled_from_parts_that_are_within_it(
    server: "ScriptedServer", connect: Connect
) -> None:
    server.counts = False
    text = "def f(x): return x\n" * 2000
    embedder = connect(server.url, model="text-embedding-3-small", long_texts="pool")
    assert embedder.embed_documents(["short", text]).pooled == (1,)
    tokens = openai_tokenizer("text-embedding-3-small")
    sent = [sent for request in server.embeddings for sent in request.texts if len(sent) > 1000]
    assert sum(map(len, sent)) == len(text)
    assert max(map(tokens.count, sent)) <= 8192


def test_a_request_stays_under_openais_limit_of_tokens(server: "ScriptedServer", connect: Connect) -> None:
    embedder = connect(server.url, batch_size=2048)
    texts = [f"{number} " + "word " * 3000 for number in range(100)]
    assert len(embedder.embed_documents(texts).indices) == 100
    sizes = [sum(map(len, request.texts)) for request in server.embeddings]
    assert max(sizes) <= 150_000 * 4
    assert max(len(request.texts) for request in server.embeddings) > 1


def test_a_remote_service_needs_a_key(connect: Connect) -> None:
    with pytest.raises(EmbeddingError, match=r"VOYAGE_KEY is not set.*embedding\.api_key_env"):
        connect("", base_url="https://example.invalid/v1", api_key_env="VOYAGE_KEY").space()
    with pytest.raises(EmbeddingError, match="OPENAI_API_KEY is not set"):
        connect("").space()


def test_another_service_than_openai_needs_the_name_of_a_model(server: "ScriptedServer", connect: Connect) -> None:
    with pytest.raises(EmbeddingError, match=r"No model is named.*Set embedding\.model"):
        connect(server.url, model="").space()


def test_the_same_name_on_another_host_is_another_space(
    server: "ScriptedServer", serve: "Callable[..., ScriptedServer]", connect: Connect
) -> None:
    first, second = connect(server.url).space(), connect(serve().url).space()
    assert first.name == f"openai/tiny/4@127.0.0.1:{server.port}"
    assert first.vector_name != second.vector_name


def test_the_address_may_come_from_openais_own_variable(
    server: "ScriptedServer", connect: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", f"{server.url}/v1")
    assert connect("").space().dimensions == 4
