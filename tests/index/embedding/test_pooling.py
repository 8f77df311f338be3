"""Parts of a long text and the mean of their vectors."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cqm.index.embedding.service.pooling import Part, pooled, split


@given(text=st.text(alphabet="ab \nあ", max_size=300), size=st.integers(1, 50))
def test_the_parts_of_a_text_give_it_again_and_none_is_too_large(text: str, size: int) -> None:
    parts = split(text, size)
    assert "".join(parts) == text
    assert all(0 < len(part) <= size for part in parts) or text == ""


def test_a_text_is_parted_at_line_ends_else_at_blanks_else_anywhere() -> None:
    assert split("one two\nthree four\nfive", 12) == ["one two\n", "three four\n", "five"]
    assert split("one two three", 10) == ["one two ", "three"]
    assert split("x" * 5, 2) == ["xx", "xx", "x"]


vectors = st.lists(st.floats(-1, 1), min_size=3, max_size=3).filter(lambda row: np.linalg.norm(row) > 0.1)


@given(rows=st.lists(st.tuples(st.integers(1, 100), vectors), min_size=1, max_size=6), data=st.data())
def test_the_mean_is_of_unit_length_and_the_same_in_any_order(
    rows: list[tuple[int, list[float]]], data: st.DataObject
) -> None:
    units = [np.array(row, dtype=np.float32) / np.float32(np.linalg.norm(row)) for _, row in rows]
    parts = [Part(start, length, row) for start, ((length, _), row) in enumerate(zip(rows, units, strict=True))]
    mean = pooled(parts)
    again = pooled(data.draw(st.permutations(parts)))
    if mean is None:
        assert again is None
    else:
        assert np.linalg.norm(mean) == pytest.approx(1, abs=1e-5)
        assert again is not None
        assert np.array_equal(mean, again)


def test_longer_parts_weigh_more_and_opposite_ones_cancel_out() -> None:
    east, north = np.array([1, 0], dtype=np.float32), np.array([0, 1], dtype=np.float32)
    assert pooled([Part(0, 300, east), Part(300, 400, north)]) == pytest.approx([0.6, 0.8])
    assert pooled([Part(0, 5, east), Part(5, 5, -east)]) is None
