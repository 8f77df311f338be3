"""The promises of every vector and every space."""

import re

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from cqm.index.embedding.service.base import validated
from cqm.index.model.errors import EmbeddingError
from cqm.index.model.spaces import Embeddings, RejectedText, Space

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
    rows = Embeddings((0, 2), vectors, Space("test", "m", 2), (RejectedText(1, "blank"),)).by_text()
    assert [None if row is None else row.tolist() for row in rows] == [[1, 0], None, [0, 1]]
