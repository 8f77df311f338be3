"""Frequencies of words: counted over many points, written as lines, and the weights that come of them."""

import math

import numpy as np
import pytest

from cqm.index.store.base import FILE_TERMS, TERMS, Point
from cqm.index.store.frequencies import Counting, Weighing, frequency_lines, read_frequencies
from cqm.index.text.terms import SparseTerms


def point(number: int, terms: range, name: str = TERMS) -> Point:
    return Point(f"{number:032x}", {"path": "a.py"}, {name: SparseTerms(tuple(terms), (1.0,) * len(terms))})


def test_counts_of_more_words_than_a_line_or_the_memory_of_counting_holds_are_all_there() -> None:
    # 4.2 million words of 450,000, which is two merges and three lines.
    counting = Counting()
    for number in range(14):
        counting.add([point(number, range(number % 2 * 150_000, number % 2 * 150_000 + 300_000))])
    counting.add([point(20, range(5), FILE_TERMS), point(21, range(0), FILE_TERMS)])
    lines = [*frequency_lines(counting.counted())]
    read = read_frequencies(iter([*lines, b"not of it"]))
    assert len(lines) == 5
    assert (read[TERMS].points, len(read[TERMS].indices), read[FILE_TERMS].points) == (14, 450_000, 1)
    assert set(read[TERMS].counts[:150_000].tolist()) == {7}
    assert set(read[TERMS].counts[150_000:300_000].tolist()) == {14}
    assert np.array_equal(read[TERMS].indices, np.arange(450_000))


def test_words_weigh_by_the_points_of_base_and_changes_together() -> None:
    counting = Counting()
    counting.add([point(1, range(2)), point(2, range(1)), point(3, range(1))])
    weighing = Weighing(counting.counted())
    weighing.change({TERMS: (0, 7)}, 1)
    weighing.change({TERMS: (0, 1)}, -1)
    asked = SparseTerms((0, 1, 7, 8), (1.0, 2.0, 1.0, 1.0))
    held, points = (3, 0, 1, 0), 3
    expected = [math.log(1 + (points - count + 0.5) / (count + 0.5)) for count in held]
    weighed = weighing.weighed(TERMS, asked)
    assert weighed.indices == asked.indices
    assert weighed.values == pytest.approx([expected[0], 2 * expected[1], *expected[2:]])
    assert weighing.weighed(FILE_TERMS, SparseTerms((), ())) == SparseTerms((), ())


@pytest.mark.parametrize("lines", [[], [b"{}"], [b"[]"], [b"3"], [b"\xff"], [b'{"name": "terms"}']])
def test_lines_that_are_no_frequencies_are_refused(lines: list[bytes]) -> None:
    with pytest.raises(ValueError, match=r".*"):
        read_frequencies(iter(lines))
