"""The real Ollama and a real server of OpenAI's protocol, with the same model; see `tests/servers/start`."""

import os
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace

import numpy as np
import pytest

from cqm.index.embedding import open_embedder
from cqm.index.embedding.service.base import Embedder
from cqm.index.model.errors import EmbeddingError
from cqm.index.model.options import EmbeddingOptions

pytestmark = pytest.mark.servers

TEXTS = [
    "def unlink(path):\n    os.remove(path)",
    "def connect(host, port):\n    return socket.create_connection((host, port))",
    "The quick brown fox jumps over the lazy dog.",
    "設定ファイルを読み込む",
    "x",
]


@pytest.fixture
def ollama(ollama_url: str) -> EmbeddingOptions:
    return EmbeddingOptions("ollama", "all-minilm", ollama_url)


@pytest.fixture
def openai(openai_url: str) -> EmbeddingOptions:
    return EmbeddingOptions("openai", "all-minilm", openai_url, api_key_env="CQM_TEST_OPENAI_KEY")


def opened(options: EmbeddingOptions) -> Embedder:
    embedder = open_embedder(options, variables=os.environ)
    assert embedder is not None
    return embedder


@pytest.fixture(params=["ollama", "openai"])
def options(request: pytest.FixtureRequest) -> EmbeddingOptions:
    options: EmbeddingOptions = request.getfixturevalue(request.param)
    return options


@pytest.fixture
def embedder(options: EmbeddingOptions) -> Iterator[Embedder]:
    embedder = opened(options)
    yield embedder
    embedder.close()


def test_a_real_model_embeds_and_finds(embedder: Embedder) -> None:
    embeddings = embedder.embed_documents(TEXTS)
    assert embeddings.indices == tuple(range(len(TEXTS)))
    assert embeddings.vectors.shape == (len(TEXTS), embedder.space().dimensions)
    assert np.linalg.norm(embeddings.vectors, axis=1) == pytest.approx(1, abs=1e-5)
    assert int(np.argmax(embeddings.vectors @ embedder.embed_query("delete a file").vector)) == 0


def test_a_text_has_the_same_vector_alone_and_in_a_batch(options: EmbeddingOptions, embedder: Embedder) -> None:
    together = embedder.embed_documents(TEXTS).vectors
    alone = opened(replace(options, batch_size=1))
    assert (together * alone.embed_documents(TEXTS).vectors).sum(axis=1).min() > 0.999
    alone.close()


def test_a_text_over_the_real_context_is_pooled_or_cut_as_asked_and_reported(options: EmbeddingOptions) -> None:
    end = "connect a socket to a host\n"
    texts = [TEXTS[0], "remove the file\n" * 150 + end * 150, TEXTS[1]]
    about_the_end = {}
    for way in ("pool", "cut"):
        with closing(opened(replace(options, long_texts=way))) as embedder:
            embeddings = embedder.embed_documents(texts)
            assert embeddings.indices == (0, 1, 2)
            assert (embeddings.pooled, embeddings.cut) == (((1,), ()) if way == "pool" else ((), (1,)))
            about_the_end[way] = float(embeddings.vectors[1] @ embedder.embed_query(end).vector)
    assert about_the_end["pool"] > about_the_end["cut"] + 0.2, "the end counts where nothing is cut"


def test_what_the_real_server_counts_and_tells_is_taken_from_it(embedder: Embedder) -> None:
    facts = embedder.facts()
    assert facts.dimensions == 384
    assert facts.context_tokens in {256, 512}
    before = embedder.usage()
    embedder.embed_documents(["hello world"] * 3)
    assert (embedder.usage() - before).tokens in {6, 12}, "two words a text, with or without the two around them"


def test_the_real_llama_cpp_names_its_model_itself(openai: EmbeddingOptions) -> None:
    with closing(opened(replace(openai, provider="llamacpp", model=""))) as embedder:
        assert embedder.space().model == "all-minilm"
        assert embedder.facts().context_tokens == 512


def test_threads_get_the_vectors_that_one_request_gets(options: EmbeddingOptions, embedder: Embedder) -> None:
    texts = [f"text {number} of many" for number in range(40)]
    with closing(opened(replace(options, batch_size=3, concurrency=4))) as several:
        cosines = (several.embed_documents(texts).vectors * embedder.embed_documents(texts).vectors).sum(axis=1)
    assert cosines.min() > 0.999


def test_blank_texts_do_not_stop_the_others(embedder: Embedder) -> None:
    embeddings = embedder.embed_documents(["", TEXTS[0], "  "])
    assert embeddings.indices == (1,)
    assert [text.index for text in embeddings.rejected] == [0, 2]


def test_dimensions_that_the_real_model_cannot_give_are_refused(options: EmbeddingOptions) -> None:
    with pytest.raises(EmbeddingError, match="dimensions"):
        opened(replace(options, dimensions=7)).space()


def test_a_model_that_ollama_lacks_is_named_with_the_command_that_gets_it(ollama: EmbeddingOptions) -> None:
    with pytest.raises(EmbeddingError, match=r"has no model no-such-model.*`ollama pull no-such-model`"):
        opened(replace(ollama, model="no-such-model")).space()


def test_a_wrong_key_is_refused_by_the_name_of_its_variable(
    openai: EmbeddingOptions, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CQM_TEST_WRONG_KEY", "sk-wrong")
    with pytest.raises(EmbeddingError, match=r"answered 401.*CQM_TEST_WRONG_KEY"):
        opened(replace(openai, api_key_env="CQM_TEST_WRONG_KEY")).space()


def test_the_same_model_gives_the_same_vectors_through_both_protocols(
    ollama: EmbeddingOptions, openai: EmbeddingOptions
) -> None:
    first, second = opened(ollama), opened(openai)
    cosines = (first.embed_documents(TEXTS).vectors * second.embed_documents(TEXTS).vectors).sum(axis=1)
    assert cosines.min() > 0.999
    first.close()
    second.close()
