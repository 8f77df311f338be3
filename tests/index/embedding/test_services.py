"""Embedding through a service, whichever protocol it speaks, and what its faults do."""

import json
import os
import socket
import traceback
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from cqm.index.embedding.ollama import ollama_embedder
from cqm.index.embedding.openai import openai_embedder
from cqm.index.embedding.service.base import Embedder
from cqm.index.model.errors import EmbeddingError, RefusedInputError
from cqm.index.model.options import EmbeddingOptions
from cqm.index.remote.retries import RetryPolicy

if TYPE_CHECKING:
    from scripted_server import Reply, Request, ScriptedServer

OPEN = {"ollama": ollama_embedder, "openai": openai_embedder}
QUICK = RetryPolicy(attempts=3, first_wait=0.001, longest_wait=0.002)
Connect = Callable[..., Embedder]


@pytest.fixture(params=OPEN)
def provider(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def connect(provider: str, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Connect:
    """Open embedders that end with the test, of a model called tiny."""
    for variable in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "OLLAMA_API_KEY", "OLLAMA_HOST"):
        monkeypatch.delenv(variable, raising=False)

    def open_one(url: str, retries: RetryPolicy = QUICK, **options: object) -> Embedder:
        suffix = "/v1" if provider == "openai" else ""
        given = replace(EmbeddingOptions(provider, "tiny", url + suffix, timeout_seconds=60.0), **options)
        embedder = OPEN[provider](given, os.environ, retries)
        request.addfinalizer(embedder.close)
        return embedder

    return open_one


def failing_for(word: str, reply: "Reply") -> "Callable[[Request], Reply | None]":
    return lambda request: reply if any(word in text for text in request.texts) else None


def reason(said: str) -> str:
    return json.dumps({"error": said})


def test_nothing_is_asked_before_the_first_use(server: "ScriptedServer", connect: Connect) -> None:
    embedder = connect(server.url)
    assert server.requests == []
    embedder.space()
    assert server.requests != []


def test_texts_get_their_own_unit_vectors_batch_by_batch(server: "ScriptedServer", connect: Connect) -> None:
    embedder = connect(server.url, batch_size=2)
    texts = ["one", "three", "seven", "eleven", "thirteen"]
    vectors = embedder.embed_documents(texts).vectors
    expected = np.array(server.vectors(texts))
    assert vectors == pytest.approx(expected / np.linalg.norm(expected, axis=1, keepdims=True))
    assert [request.texts for request in server.embeddings[1:]] == [texts[:2], texts[2:4], texts[4:]]
    assert embedder.embed_query("seven").vector == pytest.approx(vectors[2])


def test_the_space_has_the_dimensions_that_the_model_really_gives(server: "ScriptedServer", connect: Connect) -> None:
    assert connect(server.url).space().dimensions == 4


def test_the_service_is_met_once_by_many_threads(server: "ScriptedServer", connect: Connect) -> None:
    embedder = connect(server.url)
    with ThreadPoolExecutor(8) as pool:
        vectors = [found.vector for found in pool.map(embedder.embed_query, [f"text {number}" for number in range(24)])]
    assert len(server.embeddings) == 25, "one probe and one request a text"
    assert vectors[7] == pytest.approx(embedder.embed_query("text 7").vector)


def test_dimensions_that_the_model_does_not_give_are_refused(server: "ScriptedServer", connect: Connect) -> None:
    with pytest.raises(
        EmbeddingError, match=r"returns 4 dimensions, 2 were asked for\. Set embedding\.dimensions to 0"
    ):
        connect(server.url, dimensions=2).space()
    assert server.embeddings[0].body["dimensions"] == 2


def test_blank_texts_are_reported_and_never_sent(server: "ScriptedServer", connect: Connect) -> None:
    embeddings = connect(server.url).embed_documents(["one", "", " \n"])
    assert embeddings.indices == (0,)
    assert [(text.index, text.reason) for text in embeddings.rejected] == [(1, "it is blank"), (2, "it is blank")]
    assert server.embeddings[-1].texts == ["one"]


@pytest.mark.parametrize("status", [408, 429, 500, 503])
def test_an_overload_is_waited_out(
    server: "ScriptedServer", connect: Connect, reply: "type[Reply]", status: int
) -> None:
    embedder = connect(server.url)
    embedder.space()
    server.replies = [reply(status, reason("busy"))] * 2
    assert embedder.embed_documents(["one", "two"]).indices == (0, 1)
    assert len(server.embeddings) == 4


def test_a_question_is_not_repeated_as_often_as_an_update(
    server: "ScriptedServer", connect: Connect, reply: "type[Reply]"
) -> None:
    embedder = connect(server.url)
    embedder.space()
    server.rule = lambda _: reply(429, reason("busy"))
    for ask, attempts in ((embedder.embed_query, 2), (lambda text: embedder.embed_documents([text]), 3)):
        before = len(server.embeddings)
        with pytest.raises(EmbeddingError, match="busy"):
            ask("one")
        assert len(server.embeddings) - before == attempts


def test_a_broken_answer_is_asked_for_again(server: "ScriptedServer", connect: Connect, reply: "type[Reply]") -> None:
    embedder = connect(server.url)
    embedder.space()
    server.replies = [reply(body='{"data": [{"emb', announced=4000), reply(body="<html>Bad gateway</html>")]
    assert embedder.embed_documents(["one", "two"]).indices == (0, 1)


def test_a_service_that_fails_with_every_text_is_given_up_soon(
    server: "ScriptedServer", connect: Connect, reply: "type[Reply]"
) -> None:
    embedder = connect(server.url)
    embedder.space()
    server.rule = failing_for("", reply(500, reason("out of memory")))
    with pytest.raises(EmbeddingError, match=r"tiny .*127\.0\.0\.1.* answered 500: .*out of memory") as caught:
        embedder.embed_documents([f"text {number}" for number in range(40)])
    assert caught.value.retryable
    assert len(server.embeddings) == 1 + 3 + 2, "the probe, the batch three times, another text twice"


@pytest.mark.parametrize("status", [400, 422, 500])
def test_a_text_that_the_service_cannot_embed_is_reported_and_the_rest_goes_on(
    server: "ScriptedServer", connect: Connect, reply: "type[Reply]", status: int
) -> None:
    server.rule = failing_for("poison", reply(status, reason("cannot do this")))
    texts = [f"text {number}" for number in range(11)]
    texts[3] += " poison"
    embeddings = connect(server.url).embed_documents(texts)
    assert [text.index for text in embeddings.rejected] == [3]
    assert f"answered {status}" in embeddings.rejected[0].reason
    assert "cannot do this" in embeddings.rejected[0].reason
    assert embeddings.indices == (0, 1, 2, 4, 5, 6, 7, 8, 9, 10)


def test_a_refused_request_is_not_repeated(server: "ScriptedServer", connect: Connect, reply: "type[Reply]") -> None:
    server.rule = failing_for("poison", reply(400, reason("cannot do this")))
    with pytest.raises(EmbeddingError, match="cannot do this") as caught:
        connect(server.url).embed_query("poison")
    assert not caught.value.retryable
    assert [request.texts for request in server.embeddings[1:]] == [["poison"]]


@pytest.mark.parametrize("bad", [[0.0] * 4, [float("nan"), 1.0, 1.0, 1.0], [float("inf"), 1.0, 1.0, 1.0]])
def test_a_text_with_an_unusable_vector_is_reported(
    server: "ScriptedServer", connect: Connect, bad: list[float]
) -> None:
    embedder = connect(server.url)
    embedder.space()
    server.vectors = lambda texts: [bad if text == "two" else [1.0, 2.0, 3.0, 4.0] for text in texts]
    embeddings = embedder.embed_documents(["one", "two", "three"])
    assert embeddings.indices == (0, 2)
    assert np.isfinite(embeddings.vectors).all()
    assert "no usable vector" in embeddings.rejected[0].reason


@pytest.mark.parametrize("count", [0, 1, 3])
def test_a_wrong_count_of_vectors_is_an_error(server: "ScriptedServer", connect: Connect, count: int) -> None:
    embedder = connect(server.url)
    embedder.space()
    server.vectors = lambda _: [[1.0, 2.0, 3.0, 4.0]] * count
    with pytest.raises(EmbeddingError, match=r"returned \d vectors for 2 texts|something else than vectors"):
        embedder.embed_documents(["one", "two"])


def test_a_model_that_changes_its_dimensions_is_an_error(server: "ScriptedServer", connect: Connect) -> None:
    embedder = connect(server.url)
    embedder.space()
    server.vectors = lambda texts: [[1.0, 2.0]] * len(texts)
    with pytest.raises(EmbeddingError, match="vectors of 2 dimensions, not of 4"):
        embedder.embed_documents(["one", "two"])


def test_a_service_that_hangs_is_given_up_with_the_way_to_wait_longer(
    server: "ScriptedServer", connect: Connect, reply: "type[Reply]"
) -> None:
    embedder = connect(server.url, replace(QUICK, attempts=1), timeout_seconds=2.0)
    embedder.space()
    server.replies = [reply(hangs=True)]
    with pytest.raises(EmbeddingError, match=r"did not answer in time\. Raise embedding\.timeout_seconds") as caught:
        embedder.embed_documents(["one"])
    assert caught.value.retryable


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def test_a_service_that_is_down_is_named_and_used_once_it_is_up(
    serve: "Callable[..., ScriptedServer]", connect: Connect, provider: str
) -> None:
    port = free_port()
    embedder = connect(f"http://127.0.0.1:{port}")
    remedy = {"ollama": "Start it with `ollama serve`", "openai": "Start the service"}[provider]
    with pytest.raises(EmbeddingError, match=rf"127\.0\.0\.1:{port}.*{remedy}.*embedding\.base_url") as caught:
        embedder.embed_documents(["one"])
    assert caught.value.retryable
    serve(port)
    assert embedder.embed_documents(["one"]).indices == (0,)


@pytest.mark.parametrize("status", [401, 403])
def test_a_refused_key_is_shown_nowhere_and_not_tried_again(
    server: "ScriptedServer",
    connect: Connect,
    reply: "type[Reply]",
    monkeypatch: pytest.MonkeyPatch,
    status: int,
) -> None:
    monkeypatch.setenv("CQM_TEST_SECRET", "sk-very-secret")
    server.rule = failing_for("", reply(status, reason("Incorrect API key provided: sk-very-secret.")))
    embedder = connect(server.url, api_key_env="CQM_TEST_SECRET")
    with pytest.raises(EmbeddingError, match="Incorrect API key provided: ") as caught:
        embedder.embed_documents(["one"])
    assert "sk-very-secret" in server.embeddings[0].headers["authorization"]
    assert len(server.embeddings) == 1
    assert "sk-very-secret" not in "".join(traceback.format_exception(caught.value)) + repr(caught.value)
    assert not caught.value.retryable


def test_texts_do_not_follow_a_redirect_to_another_server(
    server: "ScriptedServer", serve: "Callable[..., ScriptedServer]", connect: Connect, reply: "type[Reply]"
) -> None:
    elsewhere = serve()
    server.rule = lambda request: reply(307, headers={"Location": elsewhere.url + request.path})
    with pytest.raises(EmbeddingError, match=r"answered 307.*embedding\.base_url"):
        connect(server.url).embed_documents(["one"])
    assert elsewhere.requests == []


@pytest.mark.parametrize("host", ["127.0.0.1", "0.0.0.0"])
def test_texts_for_this_machine_do_not_go_through_a_proxy(
    server: "ScriptedServer",
    serve: "Callable[..., ScriptedServer]",
    connect: Connect,
    monkeypatch: pytest.MonkeyPatch,
    host: str,
) -> None:
    proxy = serve()
    for variable in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(variable, proxy.url)
    for variable in ("NO_PROXY", "no_proxy"):
        monkeypatch.delenv(variable, raising=False)
    assert connect(server.url.replace("127.0.0.1", host)).embed_documents(["one"]).indices == (0,)
    assert proxy.requests == []


def test_a_password_in_the_address_is_not_shown(connect: Connect) -> None:
    password = "hunter" + "2"
    with pytest.raises(EmbeddingError) as caught:
        connect(f"http://me:{password}@127.0.0.1:{free_port()}").space()
    assert password not in "".join(traceback.format_exception(caught.value))


def test_texts_that_hang_together_are_sent_apart(
    server: "ScriptedServer", connect: Connect, reply: "type[Reply]"
) -> None:
    embedder = connect(server.url, timeout_seconds=2.0)
    embedder.space()
    server.rule = lambda request: reply(hangs=True) if len(request.texts) > 3 else None
    texts = [f"text {number}" for number in range(10)]
    assert embedder.embed_documents(texts).indices == tuple(range(10))
    assert len([request for request in server.embeddings if len(request.texts) > 3]) == 1, "ten, then three and less"


def test_an_answer_that_trickles_without_end_is_given_up(
    server: "ScriptedServer", connect: Connect, reply: "type[Reply]"
) -> None:
    embedder = connect(server.url, replace(QUICK, attempts=1), timeout_seconds=2.0)
    embedder.space()
    server.replies = [reply(body=" " * 1200, trickles=True)]
    with pytest.raises(EmbeddingError, match="did not answer in time"):
        embedder.embed_documents(["one"])


def test_a_service_that_goes_down_in_the_middle_is_used_again_when_it_is_back(
    serve: "Callable[..., ScriptedServer]", connect: Connect
) -> None:
    port = free_port()
    first = serve(port)
    embedder = connect(first.url, batch_size=2)
    embedder.space()
    texts = [f"text {number}" for number in range(9)]
    stopped = []

    def stop(_: "Request") -> "Reply | None":
        if len(first.embeddings) == 4:
            stopped.append(first.stop_listening())
        return None

    first.rule = stop
    with pytest.raises(EmbeddingError) as caught:
        embedder.embed_documents(texts)
    assert caught.value.retryable
    assert stopped
    serve(port)
    assert embedder.embed_documents(texts).indices == tuple(range(9))


def test_texts_keep_their_places_when_several_threads_meet_faults(
    server: "ScriptedServer", connect: Connect, reply: "type[Reply]"
) -> None:
    embedder = connect(server.url, replace(QUICK, attempts=10), batch_size=3, concurrency=4)
    embedder.space()
    texts = [f"text {number}" for number in range(60)]
    texts[17] += " poison"
    poison = failing_for("poison", reply(400, reason("cannot do this")))
    odd = iter([reply(429, reason("busy"), {"Retry-After": "0"}), reply(503), reply(body='{"data"', announced=99)] * 3)
    server.rule = lambda request: poison(request) or (next(odd, None) if "7" in "".join(request.texts) else None)
    embeddings = embedder.embed_documents(texts)
    assert [text.index for text in embeddings.rejected] == [17]
    expected = np.array(server.vectors([text for index, text in enumerate(texts) if index != 17]))
    assert embeddings.vectors == pytest.approx(expected / np.linalg.norm(expected, axis=1, keepdims=True))


def test_usage_counts_what_the_service_counts(server: "ScriptedServer", connect: Connect) -> None:
    embedder = connect(server.url, usd_per_million_tokens=10.0)
    embedder.space()
    before = embedder.usage()
    embedder.embed_documents(["x" * 100, "y" * 50])
    used = embedder.usage() - before
    assert (used.requests, used.texts, used.tokens) == (1, 2, 150)
    assert used.usd == pytest.approx(0.0015)
    assert used.seconds > 0


def test_a_question_that_cannot_be_embedded_is_told_apart_from_a_service_that_fails(
    server: "ScriptedServer", connect: Connect, reply: "type[Reply]"
) -> None:
    server.rule = failing_for("poison", reply(400, reason("cannot do this")))
    with pytest.raises(RefusedInputError, match="cannot do this"):
        connect(server.url).embed_query("poison")
