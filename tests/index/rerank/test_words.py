"""The order of the first results after their words were compared with the question's."""

from math import isclose

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from cqm.index.ranking.evidence import Candidate
from cqm.index.ranking.features import ChunkFeatures, FileFeatures, OfFile
from cqm.index.ranking.question import read_question
from cqm.index.ranking.rank import Ranked, weights_of
from cqm.index.rerank.words import Reading, read_again, readings

QUESTION = read_question("how are broken connections closed after a timeout")
TEXTS = st.text(alphabet=st.sampled_from("ab_Z 9\n\t.(é中\x00"), max_size=200)


def ranked_of(count: int) -> list[Ranked]:
    """Results of different files, equal but for their place."""
    candidates = [Candidate(str(place), f"{place}.py", (), 1, 2) for place in range(count)]
    file = OfFile(FileFeatures(), None)
    return [Ranked(it, 1.0, ChunkFeatures(terms=1.0), file, weights_of({"terms": 1.0})) for it in candidates]


def read(*texts: str) -> list[Reading]:
    rows = readings(QUESTION, [""] * len(texts), texts)
    assert rows is not None
    return [Reading(*map(float, row)) for row in rows]


def test_words_of_like_meaning_count_as_those_of_the_question_do() -> None:
    same, alike, other = read("close(connection)", "disconnect(socket)", "paint(widget)")
    assert same.whole > alike.whole > other.whole


def test_words_in_one_line_are_told_from_the_same_words_far_apart() -> None:
    words = ["broken()", "connections()", "closed()", "timeout()"]
    line, lines, apart = read(" ".join(words), "\n".join(words), ("\n" + "x\n" * 8).join(words))
    assert line.whole == lines.whole == apart.whole
    assert line.window == lines.window > apart.window
    assert line.line > lines.line


def test_the_name_of_a_symbol_counts_by_its_own_words() -> None:
    rows = readings(QUESTION, ["Pool.close_connections", "Canvas.paint", ""], ["x = 1"] * 3)
    assert rows is not None
    first, second, none = (float(row[Reading._fields.index("naming")]) for row in rows)
    assert first > second > none == 0


@given(st.lists(TEXTS, min_size=1, max_size=6), TEXTS)
def test_any_text_has_agreements_from_0_to_1_and_the_narrower_is_never_more(texts: list[str], name: str) -> None:
    rows = readings(QUESTION, [name] * len(texts), texts)
    assert rows is not None
    assert np.isfinite(rows).all()
    for row in rows:
        whole, window, line, of_name, length = row
        assert -1e-6 <= line <= window + 1e-5 <= whole + 2e-5 <= 1 + 3e-5
        assert 0 <= of_name <= 1 + 1e-5
        assert length >= 0


@given(st.lists(TEXTS, min_size=1, max_size=6), st.integers(0, 3))
def test_each_result_stays_once_with_parts_that_sum_to_its_score_and_the_rest_stays_behind(
    texts: list[str], more: int
) -> None:
    before = ranked_of(len(texts) + more)
    after = read_again(QUESTION, before, texts)
    assert {it.candidate.id for it in after[: len(texts)]} == set(map(str, range(len(texts))))
    assert [*after[len(texts) :]] == before[len(texts) :]
    for entry in after[: len(texts)]:
        assert isclose(sum(entry.parts.values()), entry.score, abs_tol=1e-6)


def test_the_lines_that_answer_come_first() -> None:
    texts = ["def paint(widget):\n    draw(widget)\n", "def reap():\n    close_broken_connections(after=timeout)\n"]
    assert [it.candidate.id for it in read_again(QUESTION, ranked_of(2), texts)] == ["1", "0"]


def test_nothing_is_read_where_nothing_is_asked_or_found() -> None:
    ranked = ranked_of(2)
    assert read_again(read_question("?!"), ranked, ["a", "b"]) == ranked
    assert read_again(QUESTION, [], []) == []


@given(st.lists(TEXTS, min_size=1, max_size=4), st.lists(TEXTS, max_size=4))
def test_texts_have_the_same_numbers_whatever_was_read_before(texts: list[str], others: list[str]) -> None:
    before = read(*texts)
    readings(QUESTION, [""] * len(others), others)
    assert read(*reversed(texts)) == before[::-1]


def test_texts_have_the_same_numbers_once_more_words_were_read_than_are_remembered() -> None:
    texts = ["def close_broken_connections(after=timeout):\n    reap()\n", "paint(widget)"]
    before = read(*texts)
    for first in range(0, 10_000, 1_000):
        read(" ".join(f"name{number}" for number in range(first, first + 1_000)))
    assert read(*texts) == before
