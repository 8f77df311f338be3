"""Rerankers behind /rerank endpoints: what is sent to them, and what becomes of every failure."""

import json
import re
import socket
import traceback
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cqm.index.model.errors import RerankError
from cqm.index.model.options import RerankOptions
from cqm.index.rerank import Reranker
from cqm.index.rerank.base import MAX_CHARACTERS
from cqm.index.rerank.http import RETRY_SECONDS, http_reranker

KEY = "sk-very-secret"
QUESTION = "How is a file removed?"
TEXTS = ["a socket", "unlink it"]
PLENTY = 30.0
"""Seconds that no test waits for."""


def options_of(server: Any, path: str = "/v1/rerank", **more: Any) -> RerankOptions:
    return RerankOptions(provider="http", url=server.url + path, api_key_env="RERANK_TEST_KEY", **more)


def failure(reranker: Reranker, deadline: float = PLENTY) -> RerankError:
    with pytest.raises(RerankError) as caught:
        reranker.scores(QUESTION, TEXTS, deadline)
    told = "".join(traceback.format_exception(caught.value))
    assert KEY not in told
    assert KEY not in repr(caught.value)
    return caught.value


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(texts=st.lists(st.text(st.characters(exclude_categories=())), max_size=8))
def test_every_text_gets_its_own_score(server: Any, texts: list[str], opened: Any) -> None:
    server.score = lambda text: sum(map(ord, text)) / 7
    reranker = opened(options_of(server))
    shown = ["".join("\ufffd" if "\ud800" <= one <= "\udfff" else one for one in text) for text in texts]
    assert reranker.scores(QUESTION, texts, PLENTY) == tuple(map(server.score, shown))
    reranker.close()


def test_more_texts_than_an_endpoint_takes_at_once_go_in_several_requests(server: Any, opened: Any) -> None:
    texts = ["t" * (7 * number % 70) for number in range(70)]
    assert opened(options_of(server, "/rerank")).scores(QUESTION, texts, PLENTY) == tuple(map(server.score, texts))
    assert [len(request.texts) for request in server.requests] == [32, 32, 6]


def test_long_texts_are_shown_as_far_as_rerankers_read(server: Any, opened: Any) -> None:
    opened(options_of(server)).scores("q" * 10_000, ["t" * 10_000, "short"], PLENTY)
    [request] = server.requests
    assert [len(request.body["query"]), *map(len, request.texts)] == [MAX_CHARACTERS, MAX_CHARACTERS, 5]


def test_texts_that_are_too_long_for_the_endpoint_are_shortened_and_stay_so(
    server: Any, reply: Any, opened: Any
) -> None:
    said = "input (808 tokens) is too large to process. increase the physical batch size"

    def refuse_long(request: Any) -> Any:
        return reply(500, json.dumps({"error": {"message": said}})) if max(map(len, request.texts)) > 1500 else None

    server.rule = refuse_long
    reranker = opened(options_of(server))
    [score, _] = reranker.scores(QUESTION, ["t" * 10_000, "short"], PLENTY)
    assert 1000 < score <= 1500
    asked = len(server.requests)
    assert reranker.scores(QUESTION, ["t" * 10_000], PLENTY) == (score,)
    assert len(server.requests) == asked + 1


def test_an_endpoint_that_finds_everything_too_long_is_told_of(server: Any, reply: Any, opened: Any) -> None:
    server.rule = lambda _: reply(500, "input is too large to process")
    assert "--ubatch-size" in failure(opened(options_of(server))).remedy


def entries(*scores: tuple[object, object]) -> str:
    return json.dumps({"results": [{"index": index, "relevance_score": score} for index, score in scores]})


@pytest.mark.parametrize(
    "body",
    [
        entries((0, 0.5)),
        entries(),
        entries((0, 0.5), (1, 0.5), (2, 0.5)),
        entries((0, 0.5), (0, 0.5)),
        entries((0, 0.5), (2, 0.5)),
        entries((0, 0.5), (-1, 0.5)),
        entries((0, 0.5), ("1", 0.5)),
        entries((0, 0.5), (None, 0.5)),
        entries((0, 0.5), ([1], 0.5)),
        entries((0, 0.5), (1, float("nan"))),
        entries((0, 0.5), (1, float("inf"))),
        entries((0, 0.5), (1, None)),
        entries((0, 0.5), (1, 10**400)),
        '{"results": [{"index": 0}, {"index": 1}]}',
        '{"results": null}',
        '{"error": "no"}',
        "[1, 2]",
        "null",
        "",
        "<html>It works!</html>",
        "[" * 100_000,
    ],
)
def test_an_answer_that_is_no_score_for_each_text_is_an_error(server: Any, reply: Any, body: str, opened: Any) -> None:
    server.replies = [reply(body=body)]
    error = failure(opened(options_of(server)))
    assert f"{server.url}/v1/rerank answered with something else than a score for each text" in error.message
    assert "rerank.shape" in error.remedy


@pytest.mark.parametrize(
    ("status", "said", "match", "retryable"),
    [
        (429, "slow down", r"answered 429: slow down", True),
        (500, "oops", r"answered 500: oops", True),
        (503, "Loading model", r"answered 503: Loading model", True),
        (401, f"Invalid key {KEY}", r"answered 401: Invalid key \*\*\*\. .*RERANK_TEST_KEY", False),
        (403, "", r"answered 403\. .*RERANK_TEST_KEY", False),
        (404, "not found", r"answered 404: not found.*rerank\.url", False),
        (422, "model not found", r"answered 422: model not found.*rerank\.model", False),
    ],
)
def test_a_refusal_is_told_with_the_url_and_what_to_do(
    server: Any, reply: Any, status: int, said: str, match: str, retryable: bool, opened: Any
) -> None:
    server.replies = [reply(status, said)]
    error = failure(opened(options_of(server)))
    assert re.search(match, str(error))
    assert server.url in error.message
    assert error.retryable is retryable


def test_half_an_answer_is_an_error(server: Any, reply: Any, opened: Any) -> None:
    server.replies = [reply(body='{"results": [', announced=500)]
    assert f"The connection to {server.url}/v1/rerank failed" in failure(opened(options_of(server))).message


def test_an_endless_answer_is_an_error(server: Any, reply: Any, opened: Any) -> None:
    server.replies = [reply(body=" " * (17 << 20))]
    assert "more than 16 MB" in failure(opened(options_of(server))).message


def test_a_dead_endpoint_is_an_error_that_says_so(serve: Callable[[], Any], opened: Any) -> None:
    server = serve()
    options = options_of(server)
    server.close()
    error = failure(opened(options))
    assert f"The connection to {server.url}/v1/rerank failed" in error.message
    assert "Start the reranker" in error.remedy


@pytest.mark.parametrize(
    "where", ["BEFORE_THE_HEAD", "IN_THE_BODY", "AFTER_EACH_BYTE_OF_THE_HEAD", "AFTER_EACH_BYTE_OF_THE_BODY"]
)
def test_the_deadline_ends_every_hang(server: Any, reply: Any, hang: Any, where: str, opened: Any) -> None:
    server.replies = [reply(hangs=hang[where])]
    error = failure(opened(options_of(server)), deadline=0.2)
    assert str(error) == (
        f"The reranker at {server.url}/v1/rerank took longer than 0.2 s. "
        "Raise rerank.deadline_seconds or lower rerank.depth."
    )
    assert error.retryable


def test_the_deadline_counts_while_connecting(opened: Any) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:  # It never answers the greeting of TLS.
        url = f"https://127.0.0.1:{silent.getsockname()[1]}/v1/rerank"
        error = failure(opened(RerankOptions(provider="http", url=url)), deadline=0.2)
    assert "took longer than 0.2 s" in error.message


def test_an_endpoint_that_failed_is_left_alone_then_tried_once(server: Any, reply: Any, opened: Any) -> None:
    now = [100.0]
    reranker = opened(options_of(server), partial(http_reranker, clock=lambda: now[0]))
    server.replies = [reply(503, "Loading model"), reply(503, "Still loading")]
    failure(reranker)
    error = failure(reranker)
    assert "left alone for 60 s" in error.message
    assert "Loading model" in error.message
    assert len(server.requests) == 1
    now[0] += RETRY_SECONDS
    assert "Still loading" in failure(reranker).message
    assert "left alone" in failure(reranker).message
    assert len(server.requests) == 2
    now[0] += RETRY_SECONDS
    assert reranker.scores(QUESTION, TEXTS, PLENTY) == (8.0, 9.0)
    assert reranker.scores(QUESTION, TEXTS, PLENTY) == (8.0, 9.0)
    assert len(server.requests) == 4


def test_no_texts_need_no_request(server: Any, opened: Any) -> None:
    assert opened(options_of(server)).scores(QUESTION, [], PLENTY) == ()
    assert server.requests == []


def test_a_closed_reranker_opens_again(server: Any, opened: Any) -> None:
    reranker = opened(options_of(server))
    reranker.close()
    before = reranker.scores(QUESTION, TEXTS, PLENTY)
    reranker.close()
    assert reranker.scores(QUESTION, TEXTS, PLENTY) == before


def test_a_key_file_serves_where_the_variable_is_not_set(
    server: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, opened: Any
) -> None:
    file = tmp_path / "key"
    file.write_text("sk-of-file\n")
    file.chmod(0o600)
    options = replace(options_of(server), api_key_file=str(file))
    monkeypatch.delenv("RERANK_TEST_KEY")
    opened(options).scores(QUESTION, TEXTS, PLENTY)
    assert server.requests[-1].headers["authorization"] == "Bearer sk-of-file"


def test_a_key_file_that_is_missing_is_named(server: Any, tmp_path: Path, opened: Any) -> None:
    options = replace(options_of(server), api_key_env="", api_key_file=str(tmp_path / "none"))
    assert str(tmp_path / "none") in failure(opened(options)).message
    assert server.requests == []


def test_a_key_that_no_header_holds_is_neither_sent_nor_told(
    server: Any, monkeypatch: pytest.MonkeyPatch, opened: Any
) -> None:
    monkeypatch.setenv("RERANK_TEST_KEY", f"{KEY}\nX-Other: 1")
    error = failure(opened(options_of(server)))
    assert "RERANK_TEST_KEY" in str(error)
    assert server.requests == []


def test_the_key_of_a_service_goes_to_no_other_host(server: Any, monkeypatch: pytest.MonkeyPatch, opened: Any) -> None:
    monkeypatch.setenv("CO_API_KEY", KEY)
    opened(RerankOptions(provider="http", url=f"{server.url}/v2/rerank")).scores(QUESTION, TEXTS, PLENTY)
    [request] = server.requests
    assert "authorization" not in request.headers
    assert "model" not in request.body


def test_what_goes_to_this_machine_takes_neither_proxy_nor_redirect(
    server: Any, serve: Callable[[], Any], reply: Any, monkeypatch: pytest.MonkeyPatch, opened: Any
) -> None:
    elsewhere = serve()
    for variable in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(variable, elsewhere.url)
    server.replies = [reply(307, headers={"Location": f"{elsewhere.url}/v1/rerank"})]
    assert "answered 307" in failure(opened(options_of(server))).message
    assert len(server.requests) == 1
    assert elsewhere.requests == []


def test_a_password_in_the_url_is_sent_and_not_told(server: Any, reply: Any, opened: Any) -> None:
    url = server.url.replace("//", f"//user:{KEY}@") + "/v1/rerank"
    reranker = opened(RerankOptions(provider="http", url=url))
    server.replies = [reply(401, f"not {KEY}")]
    assert server.url in failure(reranker).message
    assert server.requests[0].headers["authorization"].startswith("Basic ")


def test_a_proxy_that_cannot_be_used_is_an_error(monkeypatch: pytest.MonkeyPatch, opened: Any) -> None:
    monkeypatch.setenv("ALL_PROXY", "gopher://127.0.0.1:1")
    error = failure(opened(RerankOptions(provider="http", url="http://reranker.invalid/v1/rerank")))
    assert "proxies" in error.remedy


def test_a_reranker_that_is_closed_by_another_thread_fails_as_others_do(server: Any, opened: Any) -> None:
    """Once the client's RuntimeError got through."""
    reranker = opened(options_of(server))
    reranker.scores(QUESTION, TEXTS, PLENTY)
    reranker._connection.server().client.close()
    assert failure(reranker).retryable
