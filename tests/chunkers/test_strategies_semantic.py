from collections.abc import Sequence

import numpy as np
import pytest

from cqm.chunkers.chunking import chunk
from cqm.chunkers.errors import ChunkOptionError, CqmError
from cqm.chunkers.model import Chunk, Document
from cqm.chunkers.strategies.semantic import SemanticOptions

pytestmark = pytest.mark.row("B4")

ANIMALS = ["The cat sleeps. ", "A dog and a cat play. ", "The dog barks. "]
ENGINES = ["The engine runs. ", "An engine needs a valve. ", "The valve opens. "]
VOCABULARY = ("cat", "dog", "engine", "valve")


def by_words(sentences: Sequence[str]) -> np.ndarray:
    """Counts of a few words, and a little of everything else: sentences about the same things are alike."""
    counts = [[*(text.count(word) for word in VOCABULARY), 0.1] for text in sentences]
    return np.array(counts, dtype=np.float32)


def cut(text: str, options: SemanticOptions) -> list[str]:
    return [piece.text for piece in chunk(Document("a.md", text), options).chunks]


def test_a_chunk_ends_where_neighbouring_sentences_are_not_alike() -> None:
    text = "".join(ANIMALS + ENGINES)
    assert cut(text, SemanticOptions(by_words, 0.5, min_tokens=0)) == ["".join(ANIMALS), "".join(ENGINES)]


@pytest.mark.parametrize(("threshold", "count"), [(0.0, 1), (0.5, 2), (0.7, 2), (1.0, 6)])
def test_a_higher_threshold_makes_more_chunks(threshold: float, count: int) -> None:
    assert len(cut("".join(ANIMALS + ENGINES), SemanticOptions(by_words, threshold, min_tokens=0))) == count


def test_a_marker_always_begins_a_chunk_and_only_at_the_start_of_a_block() -> None:
    text = "The cat.\n\n## Cats\n\nThe cat ## sat. The cat.\n\n---\n\nThe cat.\n"
    found = cut(text, SemanticOptions(by_words, 0.0))
    assert found == ["The cat.\n", "## Cats\n\nThe cat ## sat. The cat.\n", "---\n\nThe cat.\n"]
    assert len(cut(text, SemanticOptions(by_words, 0.0, markers=()))) == 1
    assert len(cut("A.\n\nChapter 2\n\nB.\n", SemanticOptions(by_words, 0.0, markers=("Chapter",)))) == 2


def test_a_marker_inside_of_a_fence_is_none() -> None:
    text = "The cat.\n\n```\n## no heading\n---\n```\n\nThe cat.\n"
    assert len(cut(text, SemanticOptions(by_words, 0.0, min_tokens=0))) == 1


@pytest.mark.row("B12")
def test_a_heading_stays_with_what_follows_it() -> None:
    found = cut("The cat.\n\n# Engines\n\nAn engine.\n", SemanticOptions(by_words, 1.0, min_tokens=0))
    assert found == ["The cat.\n", "# Engines\n\nAn engine.\n"]


def test_what_exceeds_the_maximum_is_divided_to_the_target() -> None:
    options = SemanticOptions(by_words, 0.5, target_tokens=128, max_tokens=256)
    report = chunk(Document("a.txt", "The cat sleeps. " * 300), options)
    assert len(report.chunks) == 10
    assert all(100 <= piece.tokens <= 128 for piece in report.chunks)
    kept = chunk(Document("a.txt", "The cat sleeps. " * 60), options)
    assert [piece.tokens for piece in kept.chunks] == [240]


def test_a_sentence_over_the_maximum_is_divided_too() -> None:
    report = chunk(Document("a.txt", "cat and " * 500), SemanticOptions(by_words, target_tokens=128, max_tokens=128))
    assert max(piece.tokens for piece in report.chunks) <= 128


@pytest.mark.row("B12")
def test_a_small_chunk_is_joined_to_the_neighbour_that_is_more_like_it() -> None:
    cats, engines = "The cat sleeps. " * 20, "The engine runs. " * 20
    both = "The cat and a cat and an engine. "
    for text, first in ((cats + both + engines, cats + both), (engines + both + cats, engines)):
        found = cut(text, SemanticOptions(by_words, 0.95))
        assert [len(found), found[0]] == [2, first]


def test_sentences_are_embedded_a_thousand_at_a_time_and_compared_across() -> None:
    calls: list[int] = []

    def embed(sentences: Sequence[str]) -> np.ndarray:
        calls.append(len(sentences))
        return by_words(sentences)

    whole = chunk(Document("a.txt", "The cat. " * 1500 + "An engine. " * 1500), SemanticOptions(embed, max_tokens=8192))
    assert calls == [1024, 1024, 952]
    assert [piece.text[:3] for piece in whole.chunks] == ["The", "An "]


@pytest.mark.row("B11")
@pytest.mark.parametrize(
    "vectors",
    [
        lambda texts: np.zeros((len(texts) + 1, 4)),
        lambda texts: np.zeros(len(texts)),
        lambda texts: np.full((len(texts), 4), np.nan),
    ],
    ids=["too many", "flat", "not numbers"],
)
def test_a_function_that_gives_no_vector_a_sentence_is_refused(vectors: object) -> None:
    with pytest.raises(ChunkOptionError, match="function embed") as caught:
        cut("The cat. The dog. An engine.", SemanticOptions(vectors))  # type: ignore[arg-type]
    assert caught.value.remedy


@pytest.mark.row("B11")
def test_what_the_function_raises_reaches_the_caller_with_its_remedy() -> None:
    def embed(_sentences: Sequence[str]) -> np.ndarray:
        raise CqmError("The service is busy.", remedy="Wait.", retryable=True)

    with pytest.raises(CqmError, match="The service is busy") as caught:
        cut("The cat. The dog.", SemanticOptions(embed))
    assert caught.value.retryable


def test_vectors_of_zeros_are_like_nothing() -> None:
    chunks: tuple[Chunk, ...] = chunk(
        Document("a.txt", "One thing. Another thing."),
        SemanticOptions(lambda texts: np.zeros((len(texts), 3)), 0.7, min_tokens=0),
    ).chunks
    assert len(chunks) == 2


def test_without_a_threshold_chunks_end_at_the_least_alike_sentences_and_have_the_target_on_average() -> None:
    topics = ["A dog and a cat play here. " * 20, "An engine needs a valve to run. " * 17] * 3
    found = cut("".join(topics), SemanticOptions(by_words, target_tokens=136))
    assert found == topics
