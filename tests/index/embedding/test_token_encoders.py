"""The token encoder of a model on this machine: all-MiniLM-L6-v2 with its real weights."""

import os
import re
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cqm.chunkers.chunking import chunk
from cqm.chunkers.model import Document
from cqm.chunkers.strategies.late import LateOptions
from cqm.chunkers.strategies.pooling import (
    POOLINGS,
    TokenEmbeddings,
    TokenEncoder,
    embed_tokens,
    pooled,
    text_vector,
)
from cqm.index.embedding.late import open_token_encoder
from cqm.index.model.errors import EmbeddingError

pytestmark = pytest.mark.row("B6")

PRONOUNS = Path(__file__).parents[2] / "chunkers" / "fixtures" / "pronouns.txt"
"""Documents written for this test, whose first paragraph names their subject, and what may be asked of the others."""
TEXT = "Café Zürich 東京です 😀 unbelievably HTTPServer foo_bar. [SEP] [UNK] ガ e\u0301 ﬁn \x00 ΟΔΟΣ straße ½ 한국어"


@pytest.fixture(scope="module")
def minilm(folder: Path) -> TokenEncoder:
    return open_token_encoder(str(folder), variables=os.environ)


def test_the_model_tells_where_its_tokens_are_and_what_they_mean(minilm: TokenEncoder) -> None:
    assert minilm.name == "onnx/all-MiniLM-L6-v2-int8/384@8199be6f699a"
    assert minilm.window == 254
    ids, offsets = minilm.tokenize("The Café unbelievably")
    assert ["The Café unbelievably"[start:end] for start, end in offsets] == [
        "The",
        "Café",
        "un",
        "bel",
        "ie",
        "va",
        "bly",
    ]
    assert minilm.encode(ids).shape == (7, 384)
    assert minilm.encode(ids).dtype == np.float32


def test_the_model_finds_what_a_question_asks_for(minilm: TokenEncoder) -> None:
    question = text_vector(minilm, "How do I delete a file?")
    answers = ["Remove it from the disk with unlink.", "Open a socket to the host.", "Add both numbers."]
    scores = [text_vector(minilm, answer) @ question for answer in answers]
    assert int(np.argmax(scores)) == 0


def test_control_tokens_and_lone_surrogates_in_a_text_are_read_as_text(minilm: TokenEncoder) -> None:
    text = "a [SEP] b \ud800 c"
    _, offsets = minilm.tokenize(text)
    assert [text[start:end] for start, end in offsets] == ["a", "[", "SEP", "]", "b", "c"]


@given(text=st.text(max_size=60))
def test_any_text_has_tokens_with_offsets_in_it(minilm: TokenEncoder, text: str) -> None:
    ids, offsets = minilm.tokenize(text)
    assert offsets.shape == (len(ids), 2)
    assert (offsets >= 0).all()
    assert (offsets <= len(text)).all()
    assert (np.diff(offsets[:, 0]) >= 0).all()


def test_a_document_over_the_window_has_vectors_to_its_end(minilm: TokenEncoder) -> None:
    text = PRONOUNS.read_text(encoding="utf-8")
    report = chunk(Document("notes.txt", text), LateOptions(minilm, target_tokens=64))
    assert len(minilm.tokenize(text).ids) > 5 * minilm.window
    assert report.vectors is not None
    assert report.vectors.shape == (len(report.chunks), 384)
    assert report.vectors.dtype == np.float32
    assert np.linalg.norm(report.vectors, axis=1) == pytest.approx(1, abs=1e-5)


Paragraphs = list[list[str]]
Questions = list[tuple[str, int, int]]
"""With the document and the paragraph that answers."""


def paragraphs_and_questions() -> tuple[Paragraphs, Questions]:
    documents: Paragraphs = []
    questions: Questions = []
    for number, document in enumerate(PRONOUNS.read_text(encoding="utf-8").split("\n====\n")):
        blocks = document.strip().split("\n\n")
        asked = [re.match(r"\? (.*)\n", block) for block in blocks]
        questions += [(match[1], number, place) for place, match in enumerate(asked) if match]
        documents.append([block[match.end() if match else 0 :] for block, match in zip(blocks, asked, strict=True)])
    return documents, questions


def late_vectors_of(read: TokenEmbeddings, paragraphs: list[str], pooling: str) -> Any:
    starts = np.cumsum([0, *(len(paragraph) + 2 for paragraph in paragraphs)])
    spans = [(start, start + len(paragraph)) for start, paragraph in zip(starts, paragraphs, strict=False)]
    return pooled(read, spans, pooling)


@dataclass(frozen=True)
class Reading:
    """The documents, their paragraphs and the questions, each as the model reads it."""

    documents: list[TokenEmbeddings]
    paragraphs: list[TokenEmbeddings]
    questions: list[TokenEmbeddings]


@pytest.fixture(scope="module")
def reading(minilm: TokenEncoder) -> Reading:
    documents, questions = paragraphs_and_questions()
    texts = (
        ["\n\n".join(paragraphs) for paragraphs in documents],
        [text for paragraphs in documents for text in paragraphs],
        [question for question, *_ in questions],
    )
    return Reading(*([embed_tokens(minilm, text, 64) for text in own] for own in texts))


def whole(read: list[TokenEmbeddings], pooling: str) -> Any:
    return np.concatenate([pooled(each, [(0, 10_000)], pooling) for each in read])


@pytest.mark.long
@pytest.mark.parametrize("pooling", POOLINGS)
def test_late_chunked_vectors_find_paragraphs_that_name_their_subject_only_by_a_pronoun(
    reading: Reading, pooling: str
) -> None:
    documents, questions = paragraphs_and_questions()
    pairs = zip(reading.documents, documents, strict=True)
    late = np.concatenate([late_vectors_of(read, paragraphs, pooling) for read, paragraphs in pairs])
    alone, asked = whole(reading.paragraphs, pooling), whole(reading.questions, pooling)
    places = [(number, place) for number, paragraphs in enumerate(documents) for place in range(len(paragraphs))]
    right = [places.index((number, place)) for _, number, place in questions]

    def reciprocal_rank(vectors: Any) -> float:
        scores = asked @ vectors.T
        ranks = [1 + (row > row[answer]).sum() for row, answer in zip(scores, right, strict=True)]
        return float(np.mean(1 / np.array(ranks)))

    of_late, of_alone = reciprocal_rank(late), reciprocal_rank(alone)
    likeness = float((late * alone).sum(axis=1).mean())
    print(
        f"{pooling}: MRR of {len(questions)} questions over {len(places)} paragraphs: late {of_late:.3f}, "
        f"alone {of_alone:.3f}; a paragraph's late vector and its vector alone have a cosine of {likeness:.2f}"
    )
    assert likeness < 0.9
    assert of_late > of_alone + {"mean": 0.2, "attention": 0.2, "cls": 0.0}[pooling]


def test_a_folder_as_the_models_own_repository_has_it_is_read_too(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "onnx").mkdir()
    shutil.copy(folder / "model.onnx", tmp_path / "onnx")
    shutil.copy(folder / "tokenizer.json", tmp_path)
    assert open_token_encoder(str(tmp_path), variables=os.environ).window == 254


def test_weights_that_nobody_knows_are_refused(folder: Path, tmp_path: Path) -> None:
    shutil.copytree(folder, tmp_path, dirs_exist_ok=True)
    with (tmp_path / "model.onnx").open("r+b") as file:
        file.seek(1_000_000)
        file.write(b"\xff\x00\xff\x00")
    with pytest.raises(EmbeddingError, match=r"holds the weights of no known model.*all-MiniLM-L6-v2") as caught:
        open_token_encoder(str(tmp_path), variables=os.environ).tokenize("text")
    assert "SHA-256" in caught.value.message


def test_another_tokenizer_is_refused(folder: Path, tmp_path: Path) -> None:
    shutil.copytree(folder, tmp_path, dirs_exist_ok=True)
    (tmp_path / "tokenizer.json").write_text("{}")
    with pytest.raises(EmbeddingError, match=r"is not the tokenizer of all-MiniLM-L6-v2-int8"):
        open_token_encoder(str(tmp_path), variables=os.environ).tokenize("text")


def test_a_missing_folder_shows_at_the_first_use_with_what_belongs_there(tmp_path: Path) -> None:
    encoder = open_token_encoder(str(tmp_path / "nowhere"), variables=os.environ)
    with pytest.raises(EmbeddingError, match=r"model\.onnx.* cannot be read.*Give a folder with tokenizer\.json"):
        encoder.tokenize("text")


def test_no_location_is_refused_at_once() -> None:
    with pytest.raises(EmbeddingError, match=r"late\.encoder is empty\. Set it to a folder"):
        open_token_encoder("", variables=os.environ)


def test_a_missing_extra_is_named_with_the_command_that_installs_it(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "onnxruntime", None)  # As where it is not installed: its import fails.
    with pytest.raises(EmbeddingError, match=r"needs onnxruntime.*pip install 'cqm-mcp\[late\]'"):
        open_token_encoder(str(folder), variables=os.environ).tokenize("text")


def test_a_closed_encoder_opens_again(minilm: TokenEncoder) -> None:
    ids, _ = minilm.tokenize("one two")
    before = minilm.encode(ids)
    minilm.close()
    assert np.array_equal(minilm.encode(ids), before)


@pytest.mark.servers
def test_a_real_server_with_the_same_model_tells_the_same_tokens_and_vectors(
    minilm: TokenEncoder, llama_tokens_url: str
) -> None:
    encoder = open_token_encoder(llama_tokens_url, variables=os.environ)
    ids, offsets = encoder.tokenize(TEXT)
    # The one tokenizer composes Korean syllables, which MiniLM knows only as letters.
    own, own_offsets = minilm.tokenize(TEXT)
    korean = TEXT.index("한")
    known, own_known = offsets[:, 0] < korean, own_offsets[:, 0] < korean
    assert np.array(ids)[known].tolist() == np.array(own)[own_known].tolist()
    assert offsets[known].tolist() == own_offsets[own_known].tolist()
    paragraphs = paragraphs_and_questions()[0][0]
    text = "\n\n".join(paragraphs)
    for pooling in POOLINGS:
        first, second = (
            late_vectors_of(embed_tokens(each, text, 64), paragraphs, pooling) for each in (encoder, minilm)
        )
        assert (first * second).sum(axis=1).min() > 0.99
    encoder.close()
