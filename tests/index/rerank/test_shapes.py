"""The kinds of /rerank endpoints: what each is sent, how its answer is read, and what tells it."""

import os
from typing import Any

import pytest

from cqm.index.model.errors import RerankError
from cqm.index.model.options import RerankOptions
from cqm.index.rerank import open_reranker
from cqm.index.rerank.shapes import shape_by_url

QUESTION = "How is a file removed?"
TEXTS = ["a socket", "unlink it"]
PLENTY = 30.0
"""Seconds that no test waits for."""


def options_of(server: Any, path: str, **more: Any) -> RerankOptions:
    return RerankOptions(provider="http", url=server.url + path, api_key_env="RERANK_TEST_KEY", **more)


# Requests and answers as the services document them; answers list the best first.
RESULTS = '{"results": [{"index": 1, "relevance_score": 0.9}, {"index": 0, "relevance_score": 0.1}], "meta": {}}'
DATA = '{"object": "list", "data": [{"relevance_score": 0.9, "index": 1}, {"relevance_score": 0.1, "index": 0}]}'
ENTRIES = '[{"index": 1, "score": 0.9}, {"index": 0, "score": 0.1}]'
SHAPES = {
    "cohere": ({"model": "m", "query": QUESTION, "documents": TEXTS, "top_n": 2}, RESULTS),
    "jina": ({"model": "m", "query": QUESTION, "documents": TEXTS, "top_n": 2, "return_documents": False}, RESULTS),
    "voyage": ({"model": "m", "query": QUESTION, "documents": TEXTS, "top_k": 2}, DATA),
    "tei": ({"model": "m", "query": QUESTION, "texts": TEXTS, "truncate": True, "raw_scores": True}, ENTRIES),
    "llamacpp": ({"model": "m", "query": QUESTION, "documents": TEXTS, "top_n": 2}, RESULTS),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_each_shape_is_asked_and_read_as_documented(server: Any, reply: Any, shape: str, opened: Any) -> None:
    body, answer = SHAPES[shape]
    server.replies = [reply(body=answer)]
    reranker = opened(options_of(server, "/any", shape=shape, model="m"))
    assert reranker.scores(QUESTION, TEXTS, PLENTY) == (0.1, 0.9)
    [request] = server.requests
    assert request.body == body
    assert request.path == "/any"
    assert request.headers["authorization"] == "Bearer sk-very-secret"


@pytest.mark.parametrize(
    ("url", "shape"),
    [
        ("https://api.cohere.com/v2/rerank", "cohere"),
        ("https://api.jina.ai/v1/rerank", "jina"),
        ("https://api.voyageai.com/v1/rerank", "voyage"),
        ("http://127.0.0.1:8080/rerank", "tei"),
        ("http://127.0.0.1:8080/rerank/", "tei"),
        ("http://127.0.0.1:8000/v2/rerank", "cohere"),
        ("http://127.0.0.1:8080/v1/rerank", "llamacpp"),
        ("http://gpu.example/some/where", "llamacpp"),
    ],
)
def test_the_url_tells_the_shape(url: str, shape: str) -> None:
    assert shape_by_url(url) == shape


def test_a_shape_that_is_named_wins_over_the_url(server: Any, opened: Any) -> None:
    assert opened(options_of(server, "/rerank")).scores(QUESTION, TEXTS, PLENTY) == (8.0, 9.0)
    assert opened(options_of(server, "/rerank", shape="llamacpp")).scores(QUESTION, TEXTS, PLENTY) == (8.0, 9.0)
    assert ["texts" in request.body for request in server.requests] == [True, False]


def test_a_service_without_an_address_is_asked_at_its_own() -> None:
    assert open_reranker(RerankOptions(provider="http", shape="jina"), variables=os.environ) is not None


@pytest.mark.parametrize(
    ("options", "match"),
    [
        (RerankOptions(provider="magic"), r"rerank.provider 'magic'.*none, http, onnx"),
        (RerankOptions(provider="http"), r"rerank\.url is empty"),
        (RerankOptions(provider="http", url="localhost:80/rerank"), r"no address"),
        (RerankOptions(provider="http", url="http://[::1/rerank"), r"no address"),
        (RerankOptions(provider="http", url="http://h/rerank", shape="round"), r"rerank.shape 'round'.*cohere, jina"),
    ],
)
def test_options_that_name_no_reranker_are_refused(options: RerankOptions, match: str) -> None:
    with pytest.raises(RerankError, match=match):
        open_reranker(options, variables=os.environ)


def test_no_provider_is_no_reranker() -> None:
    assert open_reranker(RerankOptions(), variables=os.environ) is None
