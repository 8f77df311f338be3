"""Against real servers, where their addresses are given.

CQM_TEST_OLLAMA_URL, and CQM_TEST_OLLAMA_MODEL when it is not all-minilm; CQM_TEST_OPENAI_URL of an endpoint of OpenAI's
protocol (ending in /v1), CQM_TEST_OPENAI_MODEL likewise, and CQM_TEST_OPENAI_KEY when it wants a key. Both models must
be the same one for the test that compares them.
"""

import os
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest

from cqm.index.embedding import open_embedder
from cqm.index.embedding.base import Embedder
from cqm.index.errors import EmbeddingError
from cqm.index.options import EmbeddingOptions

TEXTS = [
    "def unlink(path):\n    os.remove(path)",
    "def connect(host, port):\n    return socket.create_connection((host, port))",
    "The quick brown fox jumps over the lazy dog.",
    "設定ファイルを読み込む",
    "x",
]


def options_of(provider: str) -> EmbeddingOptions:
    prefix = f"CQM_TEST_{provider.upper()}"
    url = os.environ.get(f"{prefix}_URL", "")
    if not url:
        pytest.skip(f"{prefix}_URL is not set")
    model = os.environ.get(f"{prefix}_MODEL", "all-minilm")
    key = "CQM_TEST_OPENAI_KEY" if provider == "openai" else ""
    return EmbeddingOptions(provider, model, url, api_key_env=key)


def opened(options: EmbeddingOptions) -> Embedder:
    embedder = open_embedder(options)
    assert embedder is not None
    return embedder


@pytest.fixture(params=["ollama", "openai"])
def options(request: pytest.FixtureRequest) -> EmbeddingOptions:
    return options_of(request.param)


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
    assert int(np.argmax(embeddings.vectors @ embedder.embed_query("delete a file"))) == 0


def test_a_text_has_the_same_vector_alone_and_in_a_batch(options: EmbeddingOptions, embedder: Embedder) -> None:
    together = embedder.embed_documents(TEXTS).vectors
    alone = opened(replace(options, batch_size=1))
    assert (together * alone.embed_documents(TEXTS).vectors).sum(axis=1).min() > 0.999
    alone.close()


def test_a_text_over_the_real_context_is_cut_and_reported(embedder: Embedder) -> None:
    embeddings = embedder.embed_documents([TEXTS[0], "remove the file " * 2000, TEXTS[1]])
    assert embeddings.indices == (0, 1, 2)
    assert embeddings.cut == (1,)


def test_blank_texts_do_not_stop_the_others(embedder: Embedder) -> None:
    embeddings = embedder.embed_documents(["", TEXTS[0], "  "])
    assert embeddings.indices == (1,)
    assert [text.index for text in embeddings.rejected] == [0, 2]


def test_dimensions_that_the_real_model_cannot_give_are_refused(options: EmbeddingOptions) -> None:
    with pytest.raises(EmbeddingError, match="dimensions"):
        opened(replace(options, dimensions=7)).space()


def test_a_model_that_ollama_lacks_is_named_with_the_command_that_gets_it() -> None:
    with pytest.raises(EmbeddingError, match=r"has no model no-such-model.*`ollama pull no-such-model`"):
        opened(replace(options_of("ollama"), model="no-such-model")).space()


def test_a_wrong_key_is_refused_by_the_name_of_its_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    options = options_of("openai")
    if not os.environ.get("CQM_TEST_OPENAI_KEY"):
        pytest.skip("CQM_TEST_OPENAI_KEY is not set: the endpoint takes any key")
    monkeypatch.setenv("CQM_TEST_WRONG_KEY", "sk-wrong")
    with pytest.raises(EmbeddingError, match=r"answered 401.*CQM_TEST_WRONG_KEY"):
        opened(replace(options, api_key_env="CQM_TEST_WRONG_KEY")).space()


def test_the_same_model_gives_the_same_vectors_through_both_protocols() -> None:
    first, second = opened(options_of("ollama")), opened(options_of("openai"))
    cosines = (first.embed_documents(TEXTS).vectors * second.embed_documents(TEXTS).vectors).sum(axis=1)
    assert cosines.min() > 0.999
    first.close()
    second.close()
