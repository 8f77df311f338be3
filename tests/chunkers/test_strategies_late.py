"""Late chunking, with a small encoder whose embedding of a token depends on what is read with it, as a real one's."""

import re
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from cqm.chunkers.chunking import chunk, chunks_of
from cqm.chunkers.errors import ChunkOptionError
from cqm.chunkers.model import ChunkReport, Document
from cqm.chunkers.strategies.late import LateOptions
from cqm.chunkers.strategies.pooling import Tokens, embed_tokens, pooled, pooled_in_order, text_vector, windows

pytestmark = pytest.mark.row("B6")

TOKEN = re.compile(r"[^\W_]+|[^\w\s]")


@dataclass(frozen=True)
class WordEncoder:
    """A token is a word or a mark; its embedding is the word's own and a share of the mean of what is read with it."""

    window: int = 64
    context: float = 0.5
    name: str = "words"
    read: list[int] = field(default_factory=list)
    """How many tokens were read at once, each time."""

    def tokenize(self, text: str) -> Tokens:
        found = list(TOKEN.finditer(text))
        ids = [zlib.crc32(token[0].lower().encode("utf-8", "replace")) for token in found]
        return Tokens(ids, np.array([token.span() for token in found], np.int64).reshape(-1, 2))

    def encode(self, ids: Sequence[int]) -> NDArray[np.float32]:
        assert 0 < len(ids) <= self.window
        self.read.append(len(ids))
        own = np.stack([self.own(number) for number in ids])
        return own + np.float32(self.context) * own.mean(axis=0)

    def own(self, number: int) -> NDArray[np.float32]:
        return np.random.default_rng(number).normal(size=16).astype(np.float32)

    def close(self) -> None:
        """Nothing is open."""


def late(text: str, **options: object) -> ChunkReport:
    chosen = {"encoder": WordEncoder(), "window_overlap": 16, "target_tokens": 16} | options
    return chunk(Document("notes.txt", text), LateOptions(**chosen))  # type: ignore[arg-type]


def vectors_of(report: ChunkReport) -> NDArray[np.float32]:
    assert report.vectors is not None
    assert report.vectors.shape == (len(report.chunks), 16)
    return report.vectors


def unit(vector: NDArray[np.float32]) -> NDArray[np.float32]:
    return vector / np.linalg.norm(vector)


SENTENCES = (
    "Berlin is the capital of Germany, and it lies on the river Spree. "
    "The city has three and a half million inhabitants in its twelve districts. "
    "Its underground railway has nine lines, and trams run mostly in the east.\n"
)


def test_chunks_are_whole_sentences_with_a_unit_vector_each() -> None:
    report = late(SENTENCES)
    assert [piece.text for piece in report.chunks] == [
        "Berlin is the capital of Germany, and it lies on the river Spree. ",
        "The city has three and a half million inhabitants in its twelve districts. ",
        "Its underground railway has nine lines, and trams run mostly in the east.\n",
    ]
    assert {piece.strategy for piece in report.chunks} == {"late"}
    assert np.linalg.norm(vectors_of(report), axis=1) == pytest.approx(1, abs=1e-6)


def test_a_chunk_has_another_vector_than_its_text_alone() -> None:
    report = late(SENTENCES)
    for piece, vector in zip(report.chunks, vectors_of(report), strict=True):
        alone = text_vector(WordEncoder(), piece.text)
        assert alone is not None
        assert 0.5 < float(alone @ vector) < 0.99


def test_what_a_document_says_elsewhere_changes_a_chunks_vector() -> None:
    first, second = (vectors_of(late(SENTENCES.replace("Berlin", city))) for city in ("Vienna", "Prague"))
    assert np.abs(first[1:] - second[1:]).max(axis=1).min() > 1e-3


class ThreeVectors(WordEncoder):
    """Gives three words these embeddings, whatever they are."""

    def encode(self, ids: Sequence[int]) -> NDArray[np.float32]:
        assert len(ids) == 3
        return np.array([[3, 0, 0, 0], [0, 3, 0, 0], [0, 3, 0, 0]], np.float32)


@pytest.mark.parametrize(
    ("pooling", "expected"),
    [
        # (1, 2) of length 1.
        ("mean", (0.4472, 0.8944)),
        ("cls", (1, 0)),
        # Products with the mean are 3, 6 and 6; by 2, the root of 4 dimensions: weights of 1, 4.4817 and 4.4817.
        ("attention", (0.1109, 0.9938)),
    ],
)
def test_each_pooling_makes_of_a_chunks_tokens_what_it_says(pooling: str, expected: tuple[float, float]) -> None:
    vector = text_vector(ThreeVectors(), "one two three", pooling)
    assert vector == pytest.approx([*expected, 0, 0], abs=1e-4)


def test_token_boundaries_make_even_chunks_of_whole_words() -> None:
    text = " ".join(f"word{number}" for number in range(50))
    report = late(text, boundaries="token", target_tokens=20)
    assert [len(piece.text.split()) for piece in report.chunks] == [17, 16, 17]
    assert all(piece.text.startswith("word") for piece in report.chunks)
    assert report.warnings == ()


def test_token_boundaries_are_not_within_words() -> None:
    report = late("first.second/third " * 20, boundaries="token")
    assert len(report.chunks) > 4
    assert {piece.text.split()[0] for piece in report.chunks} == {"first.second/third"}


class ByteEncoder(WordEncoder):
    """A token is a byte, so that a character may have several."""

    def tokenize(self, text: str) -> Tokens:
        places = [index for index, character in enumerate(text) for _ in character.encode()]
        return Tokens(list(text.encode()), np.array([(index, index + 1) for index in places], np.int64))


def test_sizes_count_every_token_of_a_character() -> None:
    report = late("東京" * 20, boundaries="token", encoder=ByteEncoder())
    assert [len(piece.text) for piece in report.chunks] == [5] * 8
    assert vectors_of(report).shape == (8, 16)


def test_a_sentence_over_the_target_is_divided_between_words_with_a_warning() -> None:
    text = "One short sentence stands here. " + "and so it goes on " * 10 + "till the end."
    report = late(text, target_tokens=24)
    assert max(len(TOKEN.findall(piece.text)) for piece in report.chunks) <= 24
    assert all(piece.text[0].isalpha() for piece in report.chunks)
    assert report.warnings == ("1 of 2 sentences are over 24 tokens: divided.",)


def test_semantic_boundaries_are_where_sentences_are_least_alike() -> None:
    cats = ["Cats purr and sleep.", "Cats purr and sleep all day.", "Cats sleep and purr and purr."]
    ships = ["Ships sail on seas.", "Ships sail on far seas.", "Far ships sail on seas."]
    text = " ".join(cats[:2] + ships + cats[2:] + cats[:1])
    encoder = WordEncoder(context=0.1)
    by_meaning = late(text, encoder=encoder, boundaries="semantic", target_tokens=21)
    assert [piece.text.split()[0] for piece in by_meaning.chunks] == ["Cats", "Ships", "Cats"]
    by_sentence = late(text, encoder=encoder, target_tokens=21)
    assert [piece.end for piece in by_sentence.chunks] != [piece.end for piece in by_meaning.chunks]


def test_a_heading_stays_with_its_section_however_unlike_they_are() -> None:
    text = "Cats purr and sleep all day long.\n\n# Ships\n\nThey sail on seas and rivers and lakes.\n"
    encoder = WordEncoder(context=0)
    report = late(text, encoder=encoder, boundaries="semantic")
    assert [piece.text.split()[0] for piece in report.chunks] == ["Cats", "#"]


def test_no_size_in_other_tokens_than_the_encoders_is_warned_of() -> None:
    assert late("Incomprehensibilities notwithstanding. " * 40).warnings == ()


def test_paragraphs_end_chunks_rather_than_sentences() -> None:
    text = "One two three four. Five six seven.\n\nEight nine ten. One two three four five.\n"
    assert [piece.text[:5] for piece in late(text, target_tokens=16).chunks] == ["One t", "Eight"]


def test_a_document_over_the_window_is_read_in_windows_that_overlap() -> None:
    text = " ".join(f"word{number}" for number in range(200))
    for overlap, read in ((0, [64] * 4), (16, [64] * 4), (32, [64] * 6)):
        encoder = WordEncoder()
        report = late(text, encoder=encoder, boundaries="token", window_overlap=overlap)
        assert encoder.read == read
        assert np.linalg.norm(vectors_of(report), axis=1) == pytest.approx(1, abs=1e-6)


@given(tokens=st.integers(0, 400), size=st.integers(1, 64), share=st.floats(0, 1))
def test_each_token_counts_once_where_it_lies_most_centrally(tokens: int, size: int, share: float) -> None:
    found = list(windows(tokens, size, int(share * (size // 2))))
    assert [token for window in found for token in range(window.first, window.last)] == list(range(tokens))

    def margin(token: int, start: int, end: int) -> int:
        # An end of the document is no loss of context.
        before = token - start if start else tokens
        after = end - 1 - token if end < tokens else tokens
        return min(before, after)

    for window in found:
        assert 0 <= window.start <= window.first <= window.last <= window.end <= tokens
        assert window.end - window.start == min(size, tokens)
        for token in range(window.first, window.last):
            best = max(margin(token, each.start, each.end) for each in found if each.start <= token < each.end)
            assert margin(token, window.start, window.end) >= best - 1


@pytest.mark.parametrize("text", ["", " \n\t\n", "___ ___"])
def test_a_document_without_tokens_has_no_vectors(text: str) -> None:
    report = late(text)
    assert "".join(piece.text for piece in report.chunks).split() == text.split()
    assert report.vectors is None
    assert any("no token" in warning for warning in report.warnings) == bool(text)


@pytest.mark.parametrize(("span", "token"), [((0, 3), 0), ((25, 31), 3), ((60, 60), 6)])
def test_a_span_without_tokens_has_the_vector_of_the_token_before_it_or_of_the_first(
    span: tuple[int, int], token: int
) -> None:
    text = "___ One word stands here ______ and so on ___"
    encoder = WordEncoder()
    vectors = pooled(embed_tokens(encoder, text, 0), [span], "mean")
    assert vectors is not None
    assert vectors[0] == pytest.approx(unit(encoder.encode(encoder.tokenize(text).ids)[token]), abs=1e-6)
    in_order = pooled_in_order(encoder, text, [span], "mean", 0)
    assert in_order == pytest.approx(vectors, abs=1e-6)


@given(
    text=st.text(st.sampled_from("aé東。.!? \n_#*`-\r\0\ud800😀"), max_size=300) | st.text(max_size=100),
    boundaries=st.sampled_from(["sentence", "token", "semantic"]),
    pooling=st.sampled_from(["mean", "cls", "attention"]),
    window=st.sampled_from([2, 7, 64]),
)
def test_any_text_gives_true_chunks_and_a_unit_vector_for_each(
    text: str, boundaries: str, pooling: str, window: int
) -> None:
    report = late(text, boundaries=boundaries, pooling=pooling, encoder=WordEncoder(window), window_overlap=window // 2)
    assert all(piece.text == text[piece.start : piece.end] for piece in report.chunks)
    assert all(len(TOKEN.findall(piece.text)) <= 16 for piece in report.chunks)
    assert "".join("".join(piece.text for piece in report.chunks).split()) == "".join(text.split())
    if report.vectors is not None:
        assert np.linalg.norm(vectors_of(report), axis=1) == pytest.approx(1, abs=1e-5)
    else:
        assert not TOKEN.search(text)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"pooling": "max"}, r"pooling is 'max'; it must be one of mean, cls, attention"),
        ({"boundaries": "page"}, r"boundaries is 'page'; it must be one of sentence, token, semantic"),
        ({"target_tokens": 15}, r"target_tokens is 15; it must be from 16 to 8192"),
        ({"target_tokens": 8193}, r"target_tokens is 8193; it must be from 16 to 8192"),
        ({"window_overlap": 33}, r"window_overlap is 33; it must be from 0 to 32"),
        ({"window_overlap": -1}, r"window_overlap is -1; it must be from 0 to 32"),
        ({"encoder": "minilm"}, r"encoder is 'minilm'; it must be a token encoder"),
    ],
)
def test_an_option_out_of_its_range_is_refused_by_name_value_and_range(
    options: dict[str, object], message: str
) -> None:
    with pytest.raises(ChunkOptionError, match=message):
        late("text", **options)


def test_chunks_can_be_had_one_at_a_time() -> None:
    options = LateOptions(WordEncoder(), target_tokens=16, window_overlap=16)
    assert tuple(chunks_of(Document("notes.txt", SENTENCES), options)) == late(SENTENCES).chunks
