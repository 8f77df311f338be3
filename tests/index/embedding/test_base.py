"""What holds for every vector and every space."""

import re
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from cqm.index.embedding.base import Embeddings, RefusedInputError, RejectedText, Space, validated
from cqm.index.embedding.batches import BatchLimits, batches, embed_all
from cqm.index.errors import EmbeddingError

numbers = st.floats(width=64) | st.floats(-10, 10)


@example(rows=[[0.0, 1e155, float("inf")]])
@example(rows=[[0.0, 5e-324, 1e300]])
@given(rows=st.lists(st.lists(numbers, min_size=3, max_size=3), min_size=1, max_size=1))
def test_a_vector_is_of_unit_length_or_marked_as_unusable(rows: list[list[float]]) -> None:
    vectors, usable = validated(rows, texts=1, dimensions=3, source="A model")
    assert vectors.dtype == np.float32
    if usable[0]:
        assert np.linalg.norm(vectors[0].astype(np.float64)) == pytest.approx(1, abs=1e-6)
    else:
        assert not np.isfinite(rows[0]).all() or not any(rows[0])


@pytest.mark.parametrize("bad", [[0.0, 0.0], [float("nan"), 1.0], [float("inf"), 1.0]])
def test_a_bad_vector_does_not_spoil_its_neighbours(bad: list[float]) -> None:
    vectors, usable = validated([[3.0, 4.0], bad], texts=2, dimensions=2, source="A model")
    assert usable.tolist() == [True, False]
    assert vectors[0].tolist() == pytest.approx([0.6, 0.8])


def test_a_model_without_a_single_usable_vector_is_an_error() -> None:
    with pytest.raises(EmbeddingError, match="A model returned only vectors without a direction, for 2 texts"):
        validated([[0.0, 0.0], [0.0, 0.0]], texts=2, dimensions=2, source="A model")


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([[1.0, 0.0]], "A model returned 1 vectors for 2 texts"),
        ([[1.0, 0.0], [1.0]], "vectors of 1 and 2 dimensions"),
        ([[1.0], [1.0]], "vectors of 1 dimensions, not of 2"),
        ([["a", "b"], ["c", "d"]], "something else than numbers"),
    ],
)
def test_a_wrong_answer_is_named(rows: list[list[float]], said: str) -> None:
    with pytest.raises(EmbeddingError, match=said):
        validated(rows, texts=2, dimensions=2, source="A model")


spaces = st.builds(Space, st.sampled_from(["embedded", "openai"]), st.text(max_size=60), st.integers(1, 9), st.text())


@given(first=spaces, second=spaces)
def test_spaces_that_differ_have_different_vector_names(first: Space, second: Space) -> None:
    assert (first.vector_name == second.vector_name) == (first.name == second.name)
    assert re.fullmatch(r"[a-z0-9-]{1,49}", first.vector_name)


def test_a_space_is_named_by_provider_model_dimensions_and_version() -> None:
    assert Space("embedded", "m", 256).name == "embedded/m/256"
    assert Space("embedded", "m", 256, "2").name == "embedded/m/256@2"


def test_rows_are_found_by_text() -> None:
    vectors = np.array([[1, 0], [0, 1]], dtype=np.float32)
    rows = Embeddings((0, 2), vectors, (RejectedText(1, "blank"),)).by_text()
    assert [None if row is None else row.tolist() for row in rows] == [[1, 0], None, [0, 1]]


class PickyService:
    """A service that refuses every request with one of some texts in it."""

    source = "A service"
    space = Space("test", "m", 2)

    def __init__(self, refused: set[str], limits: BatchLimits) -> None:
        self.refused = refused
        self.limits = limits
        self.accepted: list[str] = []

    def embed(self, texts: Sequence[str], *, patient: bool) -> list[list[float]]:
        del patient
        if self.refused.intersection(texts):
            message = "not this"
            raise RefusedInputError(message)
        self.accepted += texts
        return [[float(text), 1.0] for text in texts]

    def embed_beginning(self, text: str) -> list[list[float]]:
        raise AssertionError(text)

    def close(self) -> None:
        """Nothing is open."""


limits = st.builds(BatchLimits, st.integers(1, 9), st.integers(1, 12), st.integers(0, 3))


@given(count=st.integers(0, 30), refused=st.sets(st.integers(0, 29)), limits=limits)
def test_exactly_the_refused_texts_are_rejected_wherever_they_stand(
    count: int, refused: set[int], limits: BatchLimits
) -> None:
    service = PickyService({str(number) for number in refused}, limits)
    embeddings = embed_all(service, [str(number) for number in range(count)])
    assert {text.index for text in embeddings.rejected} == refused & set(range(count))
    assert {text.reason for text in embeddings.rejected} <= {"not this"}
    assert list(embeddings.indices) == [number for number in range(count) if number not in refused]
    assert embeddings.vectors.shape == (len(embeddings.indices), 2)
    for index, vector in zip(embeddings.indices, embeddings.vectors, strict=True):
        assert vector[0] / vector[1] == pytest.approx(index, rel=1e-5)
    assert len(service.accepted) == len(set(service.accepted)), "a text was paid for twice"


@given(texts=st.lists(st.text(alphabet="ab ", max_size=40), max_size=40), limits=limits)
def test_batches_hold_every_text_once_within_the_limits(texts: list[str], limits: BatchLimits) -> None:
    found = list(batches(texts, limits))
    assert sorted(index for batch in found for index in batch) == list(range(len(texts)))
    for batch in found:
        assert len(batch) <= limits.texts
        assert len(batch) == 1 or sum(-(-len(texts[index]) // 4) for index in batch) <= limits.tokens
