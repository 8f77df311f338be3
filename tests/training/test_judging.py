"""The weights of confidence are learned from trees that no reported figure is of."""

import judging
import numpy as np
import pytest
from judging import NAMES, Answered, confidence_of, halves, learn, logistic, text_of, told_at

from cqm.index.ranking import confidence_weights
from cqm.index.ranking.confidence import Signs


def answers(number: int) -> list[Answered]:
    """Answers of a tree: those to its own questions have more of their words, and are right at the first place."""
    chance = np.random.default_rng(number)
    made = []
    for kind in ("own", "others"):
        for form in (0.1, 0.9):
            for _ in range(30):
                numbers = chance.random(len(Signs._fields))
                numbers[0] = numbers[0] / 2 + (kind == "own") * 0.4
                right = [kind == "own", *[False] * 9]
                source = ("repository", "package")[number % 2]
                made += [
                    Answered(f"tree{number}", source, kind, "package", mode, form, "", numbers.tolist(), right)
                    for mode in judging.MODES
                ]
    return made


LEARNED_FROM = [it for number in range(4) for it in answers(number)]
LEARNED = {name: learn(LEARNED_FROM, name) for name in NAMES}


def test_a_sign_that_tells_gets_the_weight() -> None:
    chance = np.random.default_rng(1)
    rows = chance.normal(size=(4000, 3))
    goals = (chance.random(4000) < 1 / (1 + np.exp(-(1 + 2 * rows[:, 0])))).astype(float)
    assert logistic(rows, goals) == pytest.approx([1, 2, 0, 0], abs=0.2)


def test_a_question_that_counts_twice_is_as_good_as_two() -> None:
    rows, goals = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([0.0, 1.0, 0.0, 1.0])
    twice = logistic(np.repeat(rows, 2, axis=0), np.repeat(goals, 2))
    assert logistic(rows, goals, np.full(4, 2.0), hold=2 * judging.HOLD) == pytest.approx(twice, abs=1e-6)


def test_a_threshold_keeps_its_share() -> None:
    scores, is_own = np.arange(200.0), np.arange(200) >= 100
    assert told_at(scores, is_own, 0.95) == (105.0, 1.0)


def test_no_tree_is_learned_from_and_reported() -> None:
    some, others = halves([it for number in range(9) for it in answers(number)])
    assert {it.tree for it in some}.isdisjoint({it.tree for it in others})
    assert len(some) + len(others) == len([it for number in range(9) for it in answers(number)])


def test_own_questions_are_kept_and_those_of_others_told() -> None:
    fresh = answers(10)
    told = {
        kind: [confidence_of(it, LEARNED) == "high" for it in fresh if it.kind == kind] for kind in ("own", "others")
    }
    assert np.mean(told["own"]) > 0.85
    assert np.mean(told["others"]) < 0.15


def test_signs_that_are_not_there_weigh_nothing() -> None:
    assert LEARNED["UNREAD"]["number"] == LEARNED["UNREAD"]["least"] == 0
    assert LEARNED["WORDS_ALONE"]["cosine"] == LEARNED["WORDS_ALONE"]["usual"] == 0
    assert LEARNED["READ"]["best"] > 0


def test_the_module_of_weights_is_as_the_script_writes_it() -> None:
    weights = {name: getattr(confidence_weights, name) for name in NAMES}
    assert all(each.keys() == LEARNED["READ"].keys() for each in weights.values())
    space: dict[str, dict[str, float]] = {}
    exec(text_of(LEARNED), space)
    assert space["READ"]["best"] == round(LEARNED["READ"]["best"], 3)
