"""The order of the first stage after a reranker's scores."""

from collections.abc import Sequence
from itertools import pairwise
from math import isclose

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cqm.index.ranking.evidence import Candidate
from cqm.index.ranking.features import ChunkFeatures, FileFeatures, OfFile
from cqm.index.ranking.rank import Ranked, weights_of
from cqm.index.rerank.order import reordered

FINITE = st.floats(-1e6, 1e6)
WEIGHTS = st.floats(0, 1)
NO_FILE = OfFile(FileFeatures(), None)
WEIGHTS_OF_TERMS = weights_of({"terms": 1.5})


def ranked_of(scores: Sequence[float]) -> list[Ranked]:
    """Results with these scores, the larger half of each by its terms and a loss by the role of its file."""
    candidates = [Candidate(str(place), f"{place}.py", (), 1, 2) for place in range(len(scores))]
    return [
        Ranked(candidate, score, ChunkFeatures(terms=score), NO_FILE, WEIGHTS_OF_TERMS, (("tests", -0.5 * score),))
        for candidate, score in zip(candidates, scores, strict=True)
    ]


def order_of(ranked: Sequence[Ranked]) -> list[int]:
    return [int(entry.candidate.id) for entry in ranked]


@st.composite
def results_and_verdicts(draw: st.DrawFn) -> tuple[list[Ranked], list[float]]:
    """Results in an order that scores alone do not make, and the reranker's scores for the first of them."""
    scores = draw(st.lists(FINITE, max_size=12))
    verdicts = draw(st.lists(FINITE, max_size=len(scores)))
    return ranked_of(scores), verdicts


@given(results_and_verdicts(), WEIGHTS)
def test_every_result_stays_once_and_its_parts_sum_to_its_score(
    case: tuple[list[Ranked], list[float]], weight: float
) -> None:
    ranked, verdicts = case
    new = reordered(ranked, verdicts, weight)
    looked_at = len(verdicts)
    assert sorted(order_of(new[:looked_at])) == list(range(looked_at))
    assert new[looked_at:] == ranked[looked_at:]
    for entry in new[:looked_at]:
        assert isclose(sum(entry.parts.values()), entry.score, rel_tol=1e-9, abs_tol=1e-6)
        assert entry.parts.get("terms", 0.0) == 1.5 * ranked[int(entry.candidate.id)].score


@given(results_and_verdicts(), WEIGHTS)
def test_the_new_scores_fall_and_stay_within_the_old(case: tuple[list[Ranked], list[float]], weight: float) -> None:
    ranked, verdicts = case
    before = [entry.score for entry in ranked[: len(verdicts)]]
    after = [entry.score for entry in reordered(ranked, verdicts, weight)[: len(verdicts)]]
    assert all(one >= other or isclose(one, other, abs_tol=1e-6) for one, other in pairwise(after))
    assert all(min(before) - 1e-6 <= score <= max(before) + 1e-6 for score in after)


@given(results_and_verdicts())
def test_without_weight_the_order_stays(case: tuple[list[Ranked], list[float]]) -> None:
    ranked, verdicts = case
    assert order_of(reordered(ranked, verdicts, 0)) == order_of(ranked)


@given(results_and_verdicts())
def test_with_all_the_weight_the_order_is_the_rerankers(case: tuple[list[Ranked], list[float]]) -> None:
    ranked, verdicts = case
    new = order_of(reordered(ranked, verdicts, 1))[: len(verdicts)]
    least, best = min(verdicts, default=0), max(verdicts, default=0)
    shares = [(verdicts[place] - least) / (best - least) if best > least else 0.0 for place in new]
    assert shares == sorted(shares, reverse=True)


@given(results_and_verdicts(), WEIGHTS, st.floats(0.5, 8), st.floats(-100, 100))
def test_only_the_order_of_the_rerankers_scores_and_their_distances_count(
    case: tuple[list[Ranked], list[float]], weight: float, scale: float, shift: float
) -> None:
    ranked, _ = case
    verdicts = [float(7 * place % 5) for place in range(len(ranked))]
    moved = [scale * verdict + shift for verdict in verdicts]
    one, other = (reordered(ranked, scores, weight) for scores in (verdicts, moved))
    assert [entry.score for entry in one] == pytest.approx([entry.score for entry in other], abs=1e-6)


def test_both_verdicts_count_by_weight() -> None:
    ranked, verdicts = ranked_of([4.0, 3.0, 2.0, 1.0]), [0.0, -5.0, 5.0]
    assert order_of(reordered(ranked, verdicts, 0.25)) == [0, 1, 2, 3]
    assert order_of(reordered(ranked, verdicts, 0.5)) == [0, 2, 1, 3]
    assert order_of(reordered(ranked, verdicts, 0.75)) == [2, 0, 1, 3]
    [best, *_] = reordered(ranked, verdicts, 0.75)
    assert best.score == 2 + 0.75 * 2
    assert {name: part for name, part in best.parts.items() if part} == {"terms": 3.0, "tests": -1.0, "rerank": 1.5}


def test_equals_stay_as_they_were() -> None:
    assert order_of(reordered(ranked_of([2.0, 2.0, 2.0]), [1.0, 1.0, 1.0], 0.5)) == [0, 1, 2]
    assert order_of(reordered(ranked_of([2.0, 2.0, 2.0]), [1.0, 3.0, 1.0], 0.5)) == [1, 0, 2]


def test_a_chunk_moved_down_for_its_file_counts_no_more_than_those_before_it() -> None:
    ranked = ranked_of([5.0, 3.0, 4.0, 2.0])
    assert order_of(reordered(ranked, [1.0, 1.0, 1.0, 0.0], 0.5)) == [0, 1, 2, 3]


def test_without_scores_nothing_changes() -> None:
    ranked = ranked_of([3.0, 2.0])
    assert reordered(ranked, (), 0.5) == ranked
    assert reordered([], (), 0.5) == []
