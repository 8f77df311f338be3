"""The embedded model, with its real weights."""

import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from tokenizers import Tokenizer

from cqm.index.embedding import open_embedder
from cqm.index.embedding.static_model import FOLDER, MAX_CHARACTERS, StaticEmbedder, word_pieces, words_of
from cqm.index.engine import Index
from cqm.index.model.errors import EmbeddingError
from cqm.index.model.options import EmbeddingOptions, IndexOptions

EMBEDDER = StaticEmbedder(EmbeddingOptions())
FUNCTIONS = [
    "def unlink(path):\n    os.remove(path)",
    "def add(left, right):\n    return left + right",
    "def connect(host, port):\n    sock = socket.create_connection((host, port))\n    return sock",
    "def parse_url(text):\n    scheme, rest = text.split('://')\n    return Url(scheme, rest)",
]


def likeness(first: str, second: str) -> float:
    return float(EMBEDDER.embed_query(first).vector @ EMBEDDER.embed_query(second).vector)


@pytest.mark.parametrize(
    ("question", "best"),
    [
        ("delete a file from the disk", 0),
        ("sum of two numbers", 1),
        ("open a network connection to a server", 2),
        ("split a web address into its parts", 3),
    ],
)
def test_a_question_is_nearest_to_the_function_that_answers_it(question: str, best: int) -> None:
    scores = EMBEDDER.embed_documents(FUNCTIONS).vectors @ EMBEDDER.embed_query(question).vector
    assert int(np.argmax(scores)) == best


@pytest.mark.parametrize("identifier", ["parseHttpUrl", "ParseHTTPUrl", "parse_http_url", "PARSE_HTTP_URL"])
def test_an_identifier_means_the_words_that_it_is_made_of(identifier: str) -> None:
    assert likeness(identifier, "parse http url") == pytest.approx(1, abs=1e-6)


def test_a_word_that_is_repeated_does_not_drown_the_others() -> None:
    assert likeness("socket self", "socket") > likeness("socket " + "self " * 50, "socket") > 0.2
    assert likeness("self", "socket") < 0


@given(texts=st.lists(st.text(max_size=80), max_size=6))
def test_every_text_has_a_unit_vector_or_is_rejected(texts: list[str]) -> None:
    embeddings = EMBEDDER.embed_documents(texts)
    rejected = [text.index for text in embeddings.rejected]
    assert sorted([*embeddings.indices, *rejected]) == list(range(len(texts)))
    assert embeddings.vectors.shape == (len(embeddings.indices), 256)
    assert np.linalg.norm(embeddings.vectors, axis=1) == pytest.approx(1, abs=1e-5)
    for index, row in enumerate(embeddings.by_text()):
        assert (row is None) == (index in rejected)
        assert row is not None or not any(map(str.isalnum, texts[index].replace("_", "")))


@given(texts=st.lists(st.text(alphabet="abcXYZ _.", min_size=1, max_size=30), max_size=5))
def test_a_text_has_the_same_vector_whatever_stands_beside_it(texts: list[str]) -> None:
    for text, row in zip(texts, EMBEDDER.embed_documents(texts).by_text(), strict=True):
        if row is not None:
            assert np.array_equal(row, EMBEDDER.embed_query(text).vector)


def test_a_text_without_words_is_reported_and_the_rest_goes_on() -> None:
    embeddings = EMBEDDER.embed_documents(["one", "}\n\n)", "", "two"])
    assert embeddings.indices == (0, 3)
    assert [(text.index, text.reason) for text in embeddings.rejected] == [(1, "it has no word"), (2, "it has no word")]


def test_a_question_without_words_is_an_error_that_says_so() -> None:
    with pytest.raises(EmbeddingError, match="it has no word"):
        EMBEDDER.embed_query("?!")


def test_only_the_beginning_of_a_very_long_text_counts_and_that_is_reported() -> None:
    beginning = ("socket " * (MAX_CHARACTERS // 7)).ljust(MAX_CHARACTERS)
    embeddings = EMBEDDER.embed_documents(["short", beginning + "database " * 9000])
    assert embeddings.cut == (1,)
    assert float(embeddings.vectors[1] @ EMBEDDER.embed_query("socket").vector) == pytest.approx(1, abs=1e-5)


def test_words_of_other_scripts_have_vectors() -> None:
    embeddings = EMBEDDER.embed_documents(["ファイルを読み込む", "Größe ändern", "удалить файл"])
    assert embeddings.indices == (0, 1, 2)
    assert float(embeddings.vectors[0] @ embeddings.vectors[2]) < 0.99


@pytest.mark.parametrize("around", ["", "é", "_" * 80], ids=["ASCII", "others", "a long word"])
def test_identifiers_are_split_alike_in_every_text(around: str) -> None:
    words = words_of(f"HTTPServer.parse_url(x2\x1f) {around} a÷b _ 2 PARSE")
    assert [it for it in words if it != "é"] == ["http", "server", "parse", "url", "x", "2", "a÷b", "2", "parse"]


def test_a_line_of_one_letter_is_embedded() -> None:
    assert EMBEDDER.embed_documents(["a" * 1_000_000, "文" * 1_000_000]).indices == (0, 1)


def test_no_texts_give_no_vectors() -> None:
    assert EMBEDDER.embed_documents([]).vectors.shape == (0, 256)


def test_vectors_can_be_shortened() -> None:
    short = StaticEmbedder(EmbeddingOptions(dimensions=64))
    assert short.space().name == "embedded/code-256/64@1"
    whole, cut = EMBEDDER.embed_query("read a file").vector[:64], short.embed_query("read a file").vector
    assert cut == pytest.approx(whole / np.linalg.norm(whole), abs=1e-5)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (EmbeddingOptions(model="word2vec"), "embedding.model 'word2vec': expected one of code-256"),
        (EmbeddingOptions(dimensions=100), "embedding.dimensions 100: expected 0, or one of 64, 128, 256"),
    ],
)
def test_what_the_model_does_not_offer_is_refused_before_any_file_is_read(
    options: EmbeddingOptions, told: str, tmp_path: Path
) -> None:
    with pytest.raises(EmbeddingError, match=told):
        Index.open(tmp_path, IndexOptions(home=tmp_path / "home", embedding=options))


def test_threads_get_the_vectors_that_one_thread_gets() -> None:
    texts = [f"def value_{number}(left, right): return {number} * left" for number in range(200)]
    expected = EMBEDDER.embed_documents(texts).vectors
    fresh = StaticEmbedder(EmbeddingOptions())
    with ThreadPoolExecutor(8) as pool:
        found = [placed.vector for placed in pool.map(fresh.embed_query, texts)]
    assert np.array_equal(np.array(found), expected)


def test_a_closed_embedder_opens_again() -> None:
    embedder = StaticEmbedder(EmbeddingOptions())
    before = embedder.embed_query("read a file").vector
    embedder.close()
    assert np.array_equal(embedder.embed_query("read a file").vector, before)


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """A copy of the model's files."""
    return Path(shutil.copytree(FOLDER, tmp_path / "static"))


@pytest.mark.parametrize("file", ["code-256.safetensors", "code-256.tokenizer.json"])
def test_a_missing_or_changed_model_file_is_refused_with_the_way_to_get_it_back(files: Path, file: str) -> None:
    path = files / file
    content = path.read_bytes()
    path.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    embedder = StaticEmbedder(EmbeddingOptions(), folder=files)
    with pytest.raises(EmbeddingError, match=r"is not the file of this release.*Install CQM again"):
        embedder.embed_query("read a file")
    path.unlink()
    with pytest.raises(EmbeddingError, match=r"cannot be read: .*Install CQM again"):
        embedder.embed_query("read a file")
    path.write_bytes(content)
    assert embedder.embed_query("read a file").vector.shape == (256,)


def test_a_question_is_nearest_to_the_code_that_does_it_whatever_words_that_has() -> None:
    code = [
        "def connect(host):\n    sock.settimeout(deadline)\n    raise ConnectionTimeout(host)",
        "def render(self, canvas):\n    canvas.fill(self.colour)\n    canvas.draw(self.shape)",
        "def parse(tokens):\n    tree = Node(tokens.pop())\n    return tree.children",
    ]
    questions = ["give up when the server does not respond", "paint it on the screen", "build a syntax tree"]
    near = EMBEDDER.embed_documents(code).vectors @ EMBEDDER.embed_documents(questions).vectors.T
    assert near.argmax(axis=0).tolist() == [0, 1, 2]


@pytest.mark.processes
def test_opening_an_embedder_loads_nothing() -> None:
    script = """
import sys
from cqm.index.embedding import open_embedder
from cqm.index.model.options import EmbeddingOptions
embedders = [open_embedder(EmbeddingOptions(provider=name), {}) for name in ("embedded", "ollama", "openai", "none")]
heavy = {"numpy", "ollama", "openai", "httpx", "httpx2", "stamina", "tiktoken"}
early = heavy & set(sys.modules)
assert not early, early
"""
    subprocess.run([sys.executable, "-c", script], check=True)


def test_an_unknown_provider_is_refused_with_the_known_ones() -> None:
    with pytest.raises(EmbeddingError, match=r"one of embedded, ollama, openai, voyage, jina, .*none"):
        open_embedder(EmbeddingOptions(provider="word2vec"), variables=os.environ)


def test_the_provider_none_opens_no_embedder() -> None:
    assert open_embedder(EmbeddingOptions(provider="none"), variables=os.environ) is None


def test_the_default_is_the_embedded_model() -> None:
    embedder = open_embedder(EmbeddingOptions(), variables=os.environ)
    assert embedder is not None
    assert embedder.space().name == "embedded/code-256/256@1"


_TOKENS = (FOLDER / "code-256.tokenizer.json").read_bytes()
_LIBRARY = Tokenizer.from_str(_TOKENS.decode())
_OURS = word_pieces(_TOKENS)


@given(st.text(min_size=1, max_size=32))
@example("ünïcödé")
@example("設定")
@example("retrievalserver")
def test_words_have_the_tokens_that_the_library_gives_them(word: str) -> None:
    # A control token written in a text is one to the library; words have no angle brackets.
    assume("<" not in word)
    assert list(_OURS(word)) == _LIBRARY.encode(word, add_special_tokens=False).ids
