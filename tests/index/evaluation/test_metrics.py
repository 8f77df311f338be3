"""Measures of retrieval: their bounds, what raises them, and values worked out by hand."""

import math

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from cqm.index.evaluation.evaluation import (
    BUDGETS,
    Span,
    Target,
    Topic,
    file_ranks,
    judge,
    shows,
    span_ranks,
    summarise,
)
from cqm.index.evaluation.metrics import ndcg, passes, recall, reciprocal_rank

ranks = st.lists(st.none() | st.integers(1, 60), min_size=1, max_size=6)
depths = st.integers(1, 50)
spans = st.builds(
    lambda path, start, length: Span(path, start, start + length),
    st.sampled_from(["a.py", "b.py", "c.py"]),
    st.integers(1, 40),
    st.integers(0, 20),
)


def topic(*targets: Target) -> Topic:
    return Topic("1", "q", "", "", "", targets)


@given(ranks, depths)
def test_every_measure_is_from_0_to_1_and_0_just_when_nothing_is_found(found: list[int | None], depth: int) -> None:
    is_found = any(rank is not None and rank <= depth for rank in found)
    for measure in (ndcg, recall, reciprocal_rank, passes):
        assert 0 <= measure(found, depth) <= 1
        assert (measure(found, depth) > 0) == is_found


@given(ranks, depths, st.data())
def test_no_measure_falls_when_a_target_moves_up_to_a_free_place(
    found: list[int | None], depth: int, data: st.DataObject
) -> None:
    place = data.draw(st.integers(0, len(found) - 1))
    better = data.draw(st.integers(1, (found[place] or 61) - 1 or 1))
    assume(better not in found)
    # Targets that one result answers count once: to part them is to find more.
    after = [*found[:place], better, *found[place + 1 :]]
    for measure in (ndcg, recall, reciprocal_rank, passes):
        assert measure(after, depth) >= measure(found, depth) - 1e-12


@given(ranks)
def test_recall_and_pass_grow_with_depth(found: list[int | None]) -> None:
    for measure in (recall, passes):
        figures = [measure(found, depth) for depth in range(1, 61)]
        assert figures == sorted(figures)


@given(st.integers(1, 10), depths)
def test_targets_in_the_first_places_are_the_ideal(count: int, depth: int) -> None:
    assert ndcg(list(range(1, count + 1)), depth) == pytest.approx(1)


def test_measures_of_a_question_worked_out_by_hand() -> None:
    found = [3, None, 1]
    ideal = 1 + 1 / math.log2(3) + 1 / 2
    assert ndcg(found, 10) == pytest.approx((1 + 1 / 2) / ideal)
    assert recall(found, 10) == pytest.approx(2 / 3)
    assert recall(found, 2) == pytest.approx(1 / 3)
    assert reciprocal_rank([None, 4], 10) == 1 / 4
    assert (passes([None, 4], 3), passes([None, 4], 4)) == (0, 1)


def test_targets_that_one_result_answers_gain_once() -> None:
    assert ndcg([1, 1], 10) == pytest.approx(1 / (1 + 1 / math.log2(3)))


@given(st.lists(spans, max_size=20), spans)
def test_a_target_has_the_rank_of_the_first_result_that_shows_it(found: list[Span], target: Span) -> None:
    (rank,) = span_ranks(topic(Target(*target)), found)
    assert [shows(each, target) for each in found[: rank or len(found)]].count(True) == (rank is not None)


@given(st.lists(spans, max_size=20), st.sampled_from(["a.py", "b.py", "c.py"]))
def test_a_files_further_results_take_no_rank(found: list[Span], path: str) -> None:
    files = list(dict.fromkeys(each.path for each in found))
    (rank,) = file_ranks(topic(Target(path)), found)
    assert rank == (files.index(path) + 1 if path in files else None)


@pytest.mark.parametrize(
    ("found", "is_shown"),
    [
        ((10, 19), True),  # the same
        ((1, 14), True),  # half of the target
        ((1, 13), False),  # less, and less than half of its own
        ((12, 14), True),  # little else
        ((15, 18), True),
        ((1, 40), True),
        ((20, 30), False),
    ],
)
def test_a_result_shows_a_target_by_half_of_either(found: tuple[int, int], is_shown: bool) -> None:
    assert shows(Span("a.py", *found), Span("a.py", 10, 19)) is is_shown
    assert not shows(Span("b.py", *found), Span("a.py", 10, 19))


def test_targets_without_lines_count_among_files_alone() -> None:
    judged = judge(topic(Target("a.py"), Target("b.py", 1, 5)), [Span("b.py", 50, 60), Span("a.py", 1, 2)], {})
    assert judged.files == (2, 1)
    assert judged.spans == (None,)


def test_every_tree_counts_the_same_in_the_mean_of_trees() -> None:
    def asked(tree: str, rank: int | None) -> Topic:
        return Topic(f"{tree}{rank}", "q", tree, "go", "", (Target("a.py"),))

    hit, miss = [Span("a.py", 1, 2)], [Span("b.py", 1, 2)]
    shown: dict[int, list[Span]] = {budget: [] for budget in BUDGETS}
    judged = [judge(asked("x", place), hit, shown) for place in range(3)] + [judge(asked("y", 0), miss, shown)]
    by_group = {each.group: each.figures["file"]["MRR@10"] for each in summarise(judged)}
    assert by_group == {"all": 0.75, "mean of trees": 0.5, "language go": 0.75}
