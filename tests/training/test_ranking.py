"""Weights of the ranking are learned from questions that no reported figure is of."""

import json
from pathlib import Path

import numpy as np
import ranking

from cqm.index.ranking.question_form import form, sentence_likeness
from cqm.index.ranking.weights import PHRASING, SENTENCE, TOPIC

TRAINING = Path(ranking.__file__).parent
TRUTH = np.array([3.0 if name in ("terms", "stem") else 0.0 for name in ranking.NAMES])


def asked(number: int, *, has_lines: bool) -> ranking.Asked:
    chance = np.random.default_rng(number)
    rows = chance.random((30, len(ranking.NAMES)))
    best = np.arange(30) == np.argmax(rows @ TRUTH)
    return ranking.Asked(f"q{number}", f"p{number}", rows, best if has_lines else None, best, shares=number % 4 == 0)


def test_what_decides_what_is_relevant_gets_its_weight() -> None:
    questions = [asked(number, has_lines=number % 2 == 0) for number in range(200)]
    weights = ranking.fitted([(each, 1.0) for each in questions], ranking.Fit(0.0, 0.0001, 1.0))
    assert {ranking.NAMES[place] for place in np.argsort(-weights)[:2]} == {"terms", "stem"}
    fresh = [asked(number, has_lines=False) for number in range(1000, 1100)]
    assert ranking.first_found(fresh, weights) > 0.9


def test_weights_that_are_held_stay_where_they_were() -> None:
    questions = [(asked(number, has_lines=True), 1.0) for number in range(20)]
    weights = ranking.fitted(questions, ranking.Fit(2.0, 1e6, 1.0))
    assert np.allclose(weights, [2 * ranking.PRIOR.get(name, 0.0) for name in ranking.NAMES], atol=1e-3)


def test_a_feature_that_is_left_out_weighs_nothing() -> None:
    questions = [(asked(number, has_lines=True), 1.0) for number in range(20)]
    weights = dict(zip(ranking.NAMES, ranking.fitted(questions, ranking.Fit(2.0, 0.01, 1.0), "terms"), strict=True))
    assert weights["terms"] == 0 < weights["stem"]


def test_topics_that_share_a_word_with_their_file_weigh_as_much_as_people_ask_them() -> None:
    weighed = ranking.weighed_topics([asked(number, has_lines=False) for number in range(100)])
    total = sum(weight for _, weight in weighed)
    assert np.isclose(sum(weight for each, weight in weighed if each.shares) / total, ranking.SHARING)


def test_sentences_are_told_from_topics() -> None:
    sentences = ["returns the size of it", "if it is there, it is read", "removes a node from the tree"] * 5
    topics = ["routing", "how routing works", "Router.match"] * 5
    weights = [*ranking.phrasing(sentences, topics)]
    assert min(sentence_likeness(text, weights) for text in sentences) > 0.5
    assert max(sentence_likeness(text, weights) for text in topics) < 0.5


def test_no_topic_is_about_a_project_that_figures_are_reported_of() -> None:
    excluded = ranking.excluded_names((TRAINING / "exclude.txt").read_text("utf-8"))
    assert excluded("golang-github-go-chi-chi-dev")
    assert excluded("ruby-rack")
    assert not excluded("ruby-rspec-core")
    topics = [json.loads(line) for line in (TRAINING / "topics.jsonl").read_text("utf-8").splitlines()]
    assert len({topic["id"] for topic in topics}) == len(topics) > 900
    assert not [topic["tree"] for topic in topics if excluded(topic["tree"].split("/")[1])]
    assert {topic["split"] for topic in topics} == {"train"}


def test_what_is_written_has_a_weight_for_every_feature() -> None:
    assert set(TOPIC) == set(SENTENCE) == set(ranking.NAMES)
    assert len(PHRASING) == len(form("a question"))
    written: dict[str, object] = {}
    source = ranking.source(np.array(PHRASING), np.arange(len(ranking.NAMES)) / 2, TRUTH)
    exec(source, written)
    assert written["PHRASING"] == PHRASING
    assert [*written["TOPIC"].values()] == [number / 2 for number in range(len(ranking.NAMES))]  # type: ignore[attr-defined]
    assert written["SENTENCE"] == dict(zip(ranking.NAMES, TRUTH, strict=True))
