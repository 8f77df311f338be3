"""The embedder that asks the cache first, before a server that counts what it is asked."""

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from cqm.index.cache import Cache, open_cache
from cqm.index.embedding import open_embedder
from cqm.index.embedding.cached import CachedEmbedder, _Keys
from cqm.index.model.errors import EmbeddingError, RefusedInputError
from cqm.index.model.options import CacheOptions, EmbeddingOptions

if TYPE_CHECKING:
    from scripted_server import Reply, Request, ScriptedServer

TEXTS = ["alpha", "beta beta", "gamma, gamma and gamma"]


@pytest.fixture
def cache(tmp_path: Path) -> Iterator[Cache]:
    cache = open_cache(CacheOptions(memory_mb=1), tmp_path, variables=os.environ)
    yield cache
    cache.close()


Connect = Callable[..., CachedEmbedder]


@pytest.fixture
def connect(server: "ScriptedServer", cache: Cache, request: pytest.FixtureRequest) -> Connect:
    """Open embedders over the server and the cache."""

    def open_one(model: str = "tiny", in_cache: Cache = cache, **options: object) -> CachedEmbedder:
        embedder = open_embedder(EmbeddingOptions("ollama", model, server.url, **options), variables=os.environ)
        assert embedder is not None
        request.addfinalizer(embedder.close)
        return CachedEmbedder(embedder, in_cache)

    return open_one


def asked(server: "ScriptedServer") -> list[str]:
    """The texts that were embedded, without the one by which a server is met."""
    return [text for request in server.embeddings for text in request.texts if not text.startswith("def add(left")]


def test_a_text_is_asked_for_once(server: "ScriptedServer", connect: Connect) -> None:
    embedder = connect()
    first = embedder.embed_documents(TEXTS)
    second = embedder.embed_documents([*TEXTS, "delta"])
    assert asked(server) == [*TEXTS, "delta"]
    assert second.indices == (0, 1, 2, 3)
    assert np.array_equal(second.vectors[:3], first.vectors)
    assert embedder.cached == 3


def test_texts_that_occur_twice_are_sent_once_and_in_one_request(server: "ScriptedServer", connect: Connect) -> None:
    embedder = connect()
    embedder.embed_documents(["beta beta"])
    server.requests.clear()
    embeddings = embedder.embed_documents(["alpha", "beta beta", "alpha", "gamma", "beta beta"])
    assert [request.texts for request in server.embeddings] == [["alpha", "gamma"]]
    assert embeddings.indices == (0, 1, 2, 3, 4)
    assert np.array_equal(embeddings.vectors[0], embeddings.vectors[2])
    assert np.array_equal(embeddings.vectors[1], embeddings.vectors[4])
    assert embedder.cached == 2


def test_another_process_finds_the_vectors_bit_by_bit(
    server: "ScriptedServer", connect: Connect, tmp_path: Path
) -> None:
    fresh = connect().embed_documents(TEXTS)
    other = connect(in_cache=open_cache(CacheOptions(memory_mb=0), tmp_path, variables=os.environ))
    server.requests.clear()
    cached = other.embed_documents(TEXTS)
    assert asked(server) == []
    assert np.array_equal(cached.vectors, fresh.vectors)
    assert np.linalg.norm(cached.vectors, axis=1) == pytest.approx(1, abs=1e-6)


def test_vectors_are_those_of_the_model_within_half_precision(connect: Connect) -> None:
    embedder = connect()
    exact = open_embedder(
        EmbeddingOptions("ollama", "tiny", connect()._embedder._options.base_url), variables=os.environ
    )
    assert exact is not None
    assert embedder.embed_documents(TEXTS).vectors == pytest.approx(exact.embed_documents(TEXTS).vectors, abs=1e-3)
    exact.close()


def test_questions_and_documents_are_kept_apart(server: "ScriptedServer", connect: Connect) -> None:
    embedder = connect(query_prefix="query: ", document_prefix="document: ")
    embedder.embed_documents(["alpha"])
    first = embedder.embed_query("alpha").vector
    assert np.array_equal(embedder.embed_query("alpha").vector, first)
    assert asked(server) == ["document: alpha", "query: alpha"]
    assert embedder.cached == 0


def test_another_model_or_prefix_is_another_space_with_vectors_of_its_own(
    server: "ScriptedServer", connect: Connect
) -> None:
    connect().embed_documents(["alpha"])
    connect(model="other").embed_documents(["alpha"])
    connect(document_prefix="passage: ").embed_documents(["alpha"])
    assert asked(server) == ["alpha", "alpha", "passage: alpha"]


def test_a_refused_text_is_reported_each_time_it_occurs_and_is_not_kept(
    server: "ScriptedServer", connect: Connect, reply: "type[Reply]"
) -> None:
    refusal = reply(400, json.dumps({"error": "bad text"}))

    def rule(request: "Request") -> "Reply | None":
        return refusal if "bad" in request.texts else None

    server.rule = rule
    embedder = connect()
    for _ in range(2):
        server.requests.clear()
        embeddings = embedder.embed_documents(["bad", "alpha", "", "bad"])
        assert embeddings.indices == (1,)
        assert [text.index for text in embeddings.rejected] == [0, 2, 3]
        assert "bad" in asked(server)
    with pytest.raises(RefusedInputError):
        embedder.embed_query("bad")
    server.rule = lambda _: None
    assert embedder.embed_documents(["bad"]).indices == (0,)


@pytest.mark.parametrize("treatment", ["cut", "pooled"])
def test_what_became_of_a_text_that_was_too_long_is_kept_with_its_vector(
    server: "ScriptedServer", connect: Connect, treatment: str
) -> None:
    embedder = connect(long_texts={"cut": "cut", "pooled": "pool"}[treatment])
    for _ in range(2):
        embeddings = embedder.embed_documents(["alpha", "many words " * 2000, "beta"])
        assert getattr(embeddings, treatment) == (1,)
        assert len(embeddings.cut) + len(embeddings.pooled) == 1
    assert embedder.cached == 3


def test_when_the_service_fails_nothing_is_kept_and_the_error_is_its_own(
    server: "ScriptedServer", connect: Connect, reply: "type[Reply]"
) -> None:
    embedder = connect()
    embedder.embed_documents(["alpha"])
    server.rule = lambda _: reply(401, json.dumps({"error": "unauthorized"}))
    with pytest.raises(EmbeddingError, match="401"):
        embedder.embed_documents(["alpha", "beta"])
    assert embedder.embed_documents(["alpha"]).indices == (0,)
    server.rule = lambda _: None
    server.requests.clear()
    embedder.embed_documents(["alpha", "beta"])
    assert asked(server) == ["beta"]


@pytest.mark.parametrize("bad", [b"", b"\0", b"\0" * 9, b"\0" + b"\xff" * 8, b"\0" * 500])
def test_a_kept_value_that_is_no_vector_is_embedded_again(
    server: "ScriptedServer", connect: Connect, cache: Cache, bad: bytes
) -> None:
    embedder = connect()
    first = embedder.embed_documents(["alpha"]).vectors
    cache.put("vectors", {_Keys(embedder.space(), "document").of("alpha"): bad})
    assert np.array_equal(embedder.embed_documents(["alpha"]).vectors, first)
    assert asked(server) == ["alpha", "alpha"]


def test_no_text_asks_nothing(server: "ScriptedServer", connect: Connect) -> None:
    assert connect().embed_documents([]).indices == ()
    assert asked(server) == []


def test_a_disabled_cache_passes_everything_on_as_it_is(server: "ScriptedServer", connect: Connect) -> None:
    embedder = connect(in_cache=open_cache(CacheOptions(enabled=False), Path("unused"), variables=os.environ))
    plain = embedder._embedder
    for _ in range(2):
        assert np.array_equal(embedder.embed_documents(TEXTS).vectors, plain.embed_documents(TEXTS).vectors)
        assert np.array_equal(embedder.embed_query("alpha").vector, plain.embed_query("alpha").vector)
    assert asked(server).count("alpha") == 8
    assert embedder.cached == 0


def test_the_embedded_model_is_not_cached(cache: Cache) -> None:
    plain = open_embedder(EmbeddingOptions(), variables=os.environ)
    assert plain is not None
    embedder = CachedEmbedder(plain, cache)
    assert np.array_equal(embedder.embed_documents(TEXTS).vectors, plain.embed_documents(TEXTS).vectors)
    assert np.array_equal(embedder.embed_query("alpha").vector, plain.embed_query("alpha").vector)
    assert [layer.stored for layer in cache.layers()] == [0, 0]


def test_usage_counts_only_what_was_asked_for(server: "ScriptedServer", connect: Connect) -> None:
    embedder = connect()
    embedder.embed_documents(TEXTS)
    before = embedder.usage()
    embedder.embed_documents(TEXTS)
    assert embedder.usage() == before
    assert embedder.facts().context_tokens == 256


def test_the_cache_outlives_the_embedder(server: "ScriptedServer", connect: Connect) -> None:
    embedder = connect()
    embedder.embed_documents(TEXTS)
    embedder.close()
    server.requests.clear()
    assert embedder.embed_documents(TEXTS).indices == (0, 1, 2)
    assert asked(server) == []


ROWS = arrays(np.float32, st.tuples(st.integers(1, 5), st.just(24)), elements=st.floats(-1, 1, width=32))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows=ROWS.filter(lambda rows: np.abs(rows).max(axis=1).min() > 1e-3))
def test_a_vector_is_the_same_alone_and_with_others_and_close_to_the_models(
    server: "ScriptedServer", connect: Connect, rows: np.ndarray
) -> None:
    texts = [uuid4().hex for _ in rows]
    table = dict(zip(texts, rows.tolist(), strict=True))
    server.vectors = lambda texts: [table.get(text, [1.0] * 24) for text in texts]
    embedder = connect(model="wide")
    together = embedder.embed_documents(texts).vectors
    assert np.array_equal(together, np.concatenate([embedder.embed_documents([text]).vectors for text in texts]))
    assert np.linalg.norm(together, axis=1) == pytest.approx(1, abs=1e-6)
    exact = embedder._embedder.embed_documents(texts).vectors
    assert (together * exact).sum(axis=1).min() > 0.99999
