"""Ollama alone: models that must be pulled, a context that is set lower, truncation on request."""

import json
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from cqm.index.embedding.ollama import ollama_embedder
from cqm.index.embedding.service.base import Embedder
from cqm.index.model.errors import EmbeddingError
from cqm.index.model.options import EmbeddingOptions
from cqm.index.remote.retries import RetryPolicy

if TYPE_CHECKING:
    from scripted_server import Reply, Request, ScriptedServer

QUICK = RetryPolicy(attempts=3, first_wait=0.001, longest_wait=0.002)
Connect = Callable[..., Embedder]


@pytest.fixture
def connect(request: pytest.FixtureRequest) -> Connect:
    """Open embedders that end with the test."""

    def open_one(url: str, model: str = "tiny", **options: object) -> Embedder:
        given = EmbeddingOptions("ollama", model, url, timeout_seconds=60.0, long_texts="cut")
        embedder = ollama_embedder(replace(given, **options), os.environ, QUICK)
        request.addfinalizer(embedder.close)
        return embedder

    return open_one


def over_context(reply: "type[Reply]", characters: int, status: int = 400) -> "Callable[[Request], Reply | None]":
    """Refuse texts over a length, as Ollama does unless it may truncate."""
    refusal = reply(status, json.dumps({"error": "input length exceeds maximum context length"}))

    def rule(request: "Request") -> "Reply | None":
        too_long = any(len(text) > characters for text in request.texts)
        return refusal if too_long and not request.body["truncate"] else None

    return rule


def test_the_space_tells_the_models_digest_so_that_a_new_pull_is_a_new_space(
    server: "ScriptedServer", connect: Connect
) -> None:
    assert connect(server.url).space().name == "ollama/tiny/4@0123456789ab"
    assert connect(server.url, "tiny:latest").space() == connect(server.url).space()


def test_a_missing_model_is_named_with_the_command_that_gets_it(
    server: "ScriptedServer", connect: Connect, reply: "type[Reply]"
) -> None:
    server.rule = lambda _: reply(404, json.dumps({"error": 'model "mxbai" not found, try pulling it first'}))
    with pytest.raises(EmbeddingError, match=r"has no model mxbai\. Get it with `ollama pull mxbai`") as caught:
        connect(server.url, "mxbai").space()
    assert not caught.value.retryable


def test_an_address_without_ollama_behind_it_is_doubted(
    server: "ScriptedServer", connect: Connect, reply: "type[Reply]"
) -> None:
    server.rule = lambda _: reply(404, "404 page not found")
    with pytest.raises(EmbeddingError, match=r"answered 404: 404 page not found.*embedding\.base_url"):
        connect(server.url).space()


@pytest.mark.parametrize("status", [400, 500])
def test_a_text_over_the_context_is_cut_by_the_server_and_reported(
    server: "ScriptedServer", connect: Connect, reply: "type[Reply]", status: int
) -> None:
    server.rule = over_context(reply, 600, status)
    embeddings = connect(server.url).embed_documents(["short", "long " * 200, "short too", "x" * 599])
    assert embeddings.indices == (0, 1, 2, 3)
    assert embeddings.cut == (1,)
    assert [request.texts for request in server.embeddings if request.body["truncate"]] == [["long " * 200]]


def test_a_text_that_the_server_cannot_even_cut_is_reported_and_the_rest_goes_on(
    server: "ScriptedServer", connect: Connect, reply: "type[Reply]"
) -> None:
    refuse, crash = over_context(reply, 600), reply(500, json.dumps({"error": "runner has terminated"}))
    server.rule = lambda request: refuse(request) or (crash if request.body["truncate"] else None)
    embeddings = connect(server.url).embed_documents(["short", "long " * 200, "short too"])
    assert embeddings.indices == (0, 2)
    assert "runner has terminated" in embeddings.rejected[0].reason


def test_a_text_that_may_be_too_long_does_not_make_its_batch_fail(
    server: "ScriptedServer", connect: Connect, reply: "type[Reply]"
) -> None:
    server.rule = over_context(reply, 600)
    embedder = connect(server.url)
    embedder.space()
    embedder.embed_documents(["short", "long " * 200, "short too"])
    sent = [request.texts for request in server.embeddings[1:]]
    assert sent == [["long " * 200], ["long " * 200], ["short", "short too"]]


@pytest.mark.parametrize(
    ("show", "alone"),
    [
        ({"model_info": {"bert.context_length": 512}, "parameters": "num_ctx    64\nnum_thread 1"}, True),
        ({"model_info": {"bert.context_length": 64}, "parameters": "num_ctx 4096"}, True),
        ({"model_info": {"bert.context_length": 512}}, False),
        ({"model_info": {}}, False),
    ],
)
def test_the_smaller_of_the_two_contexts_counts(
    server: "ScriptedServer", connect: Connect, show: dict[str, object], *, alone: bool
) -> None:
    server.show = show
    connect(server.url).embed_documents(["one", "x" * 200])
    assert (["x" * 200] in [request.texts for request in server.embeddings]) == alone


def test_a_long_question_is_cut_too(server: "ScriptedServer", connect: Connect, reply: "type[Reply]") -> None:
    server.rule = over_context(reply, 600)
    assert connect(server.url).embed_query("long " * 200).vector.shape == (4,)


def test_the_address_and_the_key_come_from_ollamas_own_variables(
    server: "ScriptedServer", connect: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OLLAMA_API_KEY", "secret")
    for host in (f"0.0.0.0:{server.port}", f"127.0.0.1:{server.port}", server.url):
        monkeypatch.setenv("OLLAMA_HOST", host)
        assert connect("").space().dimensions == 4
    assert server.requests[-1].headers["authorization"] == "Bearer secret"


@pytest.mark.parametrize("address", ["http://[::1", "http://localhost:port"])
def test_a_malformed_address_is_an_error_of_the_setting(connect: Connect, address: str) -> None:
    with pytest.raises(EmbeddingError, match=r"address of Ollama is not valid.*embedding\.base_url or OLLAMA_HOST"):
        connect(address).space()


def test_a_missing_model_is_fetched_where_that_is_configured_and_its_progress_is_logged(
    server: "ScriptedServer", connect: Connect, caplog: pytest.LogCaptureFixture
) -> None:
    server.missing = {"mxbai"}
    server.pulled = [
        {"status": "pulling manifest"},
        *({"status": "pulling 0123", "total": 8_000_000, "completed": done * 1000} for done in range(8000)),
        {"status": "success"},
    ]
    with caplog.at_level("INFO", "cqm"):
        embedder = connect(server.url, "mxbai", pull=True)
        assert embedder.embed_documents(["one"]).indices == (0,)
    reports = [record.getMessage() for record in caplog.records if record.name == "cqm.index.embedding.ollama"]
    assert reports[0] == "Ollama pulls mxbai: pulling manifest"
    assert len(reports) < 60, "not one a step"
    embedder.close()
    embedder.space()
    assert [request.path for request in server.requests].count("/api/pull") == 1


def test_how_far_a_download_is_is_told_in_words(
    server: "ScriptedServer", connect: Connect, caplog: pytest.LogCaptureFixture
) -> None:
    server.missing = {"mxbai"}
    server.pulled = [{"status": "pulling 0123", "total": 670_000_000, "completed": 335_000_000}]
    with caplog.at_level("INFO", "cqm"):
        connect(server.url, "mxbai", pull=True).space()
    assert "Ollama pulls mxbai: pulling 0123, 50% of 670 MB" in caplog.messages


def test_a_model_that_cannot_be_fetched_is_named_with_the_servers_reason(
    server: "ScriptedServer", connect: Connect
) -> None:
    server.missing = {"mxbai"}
    server.pulled = [{"status": "pulling manifest"}, {"error": "file does not exist"}]
    with pytest.raises(EmbeddingError, match=r"cannot pull mxbai: file does not exist.*`ollama pull mxbai`") as caught:
        connect(server.url, "mxbai", pull=True).space()
    assert not caught.value.retryable


def test_nothing_is_fetched_unless_that_is_configured(server: "ScriptedServer", connect: Connect) -> None:
    server.missing = {"mxbai"}
    with pytest.raises(EmbeddingError, match="Get it with `ollama pull mxbai`"):
        connect(server.url, "mxbai").space()
    assert "/api/pull" not in [request.path for request in server.requests]


def test_a_text_over_the_context_is_pooled_without_being_cut(
    server: "ScriptedServer", connect: Connect, reply: "type[Reply]"
) -> None:
    server.rule = over_context(reply, 600)
    embeddings = connect(server.url, long_texts="pool").embed_documents(["short", "a long line\n" * 200])
    assert (embeddings.indices, embeddings.pooled, embeddings.cut) == ((0, 1), (1,), ())
    assert not any(request.body["truncate"] for request in server.embeddings)


def test_texts_have_the_prefixes_that_the_model_was_trained_with(server: "ScriptedServer", connect: Connect) -> None:
    embedder = connect(server.url, "nomic-embed-text:v1.5")
    embedder.embed_documents(["one"])
    assert server.embeddings[-1].texts == ["search_document: one"]
    embedder.embed_query("two")
    assert server.embeddings[-1].texts == ["search_query: two"]
    plain = connect(server.url, "nomic-embed-text:v1.5", query_prefix="", document_prefix="")
    plain.embed_query("two")
    assert server.embeddings[-1].texts == ["two"]
    assert plain.space() != embedder.space()


def test_the_facts_have_the_context_that_the_server_runs_the_model_with(
    server: "ScriptedServer", connect: Connect
) -> None:
    facts = connect(server.url).facts()
    assert (facts.context_tokens, facts.dimensions, facts.usd_per_million_tokens) == (256, 4, 0.0)
    assert connect(server.url, context_tokens=64).facts().context_tokens == 64


def test_a_key_may_come_from_a_file(server: "ScriptedServer", connect: Connect, tmp_path: Path) -> None:
    file = tmp_path / "key"
    file.write_text("secret\n")
    file.chmod(0o600)
    connect(server.url, api_key_file=str(file)).space()
    assert server.requests[-1].headers["authorization"] == "Bearer secret"


ODD = ["[]", "null", '"words"', '{"error": null}', '{"error": ["a"]}', '{"error": {"a": 1}}', "", "<html>"]


@pytest.mark.parametrize("status", [302, 400, 401, 404, 429, 500, 200])
@pytest.mark.parametrize("body", ODD)
def test_an_odd_body_is_an_error_of_ours_whatever_its_status(
    server: "ScriptedServer", connect: Connect, reply: "type[Reply]", body: str, status: int
) -> None:
    """Once the client's own way with errors that are no objects got through."""
    server.rule = lambda _: reply(status, body, {"Retry-After": "0"})
    with pytest.raises(EmbeddingError, match=rf"answered {status}|something unexpected|something else|broke"):
        connect(server.url).space()


@pytest.mark.parametrize("context", ["many", None, -5, 0, [512]])
def test_a_context_that_is_no_positive_number_is_unknown(
    server: "ScriptedServer", connect: Connect, context: object
) -> None:
    server.show = {"model_info": {"bert.context_length": context}, "parameters": "num_ctx 0"}
    assert connect(server.url, "other").facts().context_tokens == 0
