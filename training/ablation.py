"""The worth of each feature of `cqm.index.ranking.rank`: results of weights learned without it.

Usage: python training/ablation.py SENTENCES TOPICS [--repositories CAPTURED]

SENTENCES and TOPICS are those of `ranking.py`; CAPTURED is the output of tests/bench/evidence.py for the public
benchmark. Prints a row for nothing and for each feature: the mean over repositories of NDCG@10 of files; of held-out
questions, NDCG@10 of files, MRR@10 and Recall@10 of spans; the reciprocal rank of a topic's file in each fourth of the
packages, by weights learned from the others. Needs SciPy.
"""

import argparse
import sys
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from statistics import fmean

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "bench"))

from evidence import RESULTS, captured
from ranking import NAMES, Asked, for_sentences, for_topics, left_out, read

from cqm.index.evaluation.evaluation import MEASURES, Judged, Span, Topic, judge
from cqm.index.ranking.evidence import Evidence
from cqm.index.ranking.exact import exact_first
from cqm.index.ranking.question import read_question
from cqm.index.ranking.rank import rank, weights_for

Questions = Sequence[tuple[Topic, Evidence]]
Weighed = tuple[Mapping[str, float], Mapping[str, float]]
"""The weights for topics and those for sentences."""


def learned(sentences: Sequence[Asked], topics: Sequence[Asked], without: str) -> Weighed:
    """The weights, as `ranking.py` learns them, without a feature; empty for all of them."""
    found = for_topics(topics, without), for_sentences([*sentences, *topics], without)
    topic, sentence = (dict(zip(NAMES, weights.tolist(), strict=True)) for weights in found)
    return topic, sentence


def judged(questions: Questions, weights: Weighed) -> list[Judged]:
    """Where the targets of questions stand."""
    return [judge(topic, _found(topic.text, evidence, weights), {}) for topic, evidence in questions]


def _found(text: str, evidence: Evidence, weights: Weighed) -> list[Span]:
    question = read_question(text)
    ranked = exact_first(question, rank(question, evidence, weights_for(question, *weights)))
    places = (entry.candidate for entry in ranked[:RESULTS])
    return [Span(chunk.path, chunk.start_line, chunk.end_line) for chunk in places]


def figure(answers: Sequence[Judged], level: str, name: str) -> float:
    """The mean of a measure."""
    values = (MEASURES[level][name](each) for each in answers)
    return fmean(value for value in values if value is not None)


def row(sentences: Sequence[Asked], topics: Sequence[Asked], asked: Sequence[Questions], without: str) -> str:
    """A row of the table.

    Parameters:
        asked: the held-out questions, then those of each repository.
    """
    weights = learned(sentences, topics, without)
    held_out, *repositories = (judged(questions, weights) for questions in asked)
    left = left_out(topics, partial(for_topics, without=without))
    mean = fmean(figure(each, "file", "NDCG@10") for each in repositories) if repositories else float("nan")
    of_spans = (figure(held_out, "span", name) for name in ("MRR@10", "Recall@10"))
    figures = (mean, figure(held_out, "file", "NDCG@10"), *of_spans, left)
    return " | ".join([f"| {without or 'nothing':12}", *(f"{each:.3f}" for each in figures)]) + " |\n"


def main() -> None:
    """Learn without each feature, and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sentences", type=Path)
    parser.add_argument("topics", type=Path)
    parser.add_argument("--repositories", type=Path, metavar="CAPTURED")
    given = parser.parse_args()
    sentences, topics = list(read(given.sentences)), list(read(given.topics))
    held_out = [each for tree in captured(given.sentences) for each in tree.asked if each[0].split == "held-out"]
    repositories = [tree.asked for tree in captured(given.repositories)] if given.repositories else []
    sys.stdout.write("| left out     | repositories | file NDCG@10 | span MRR@10 | span Recall@10 | topics |\n")
    sys.stdout.write("|---|---:|---:|---:|---:|---:|\n")
    for without in ("", *NAMES):
        sys.stdout.write(row(sentences, topics, [held_out, *repositories], without))
        sys.stdout.flush()


if __name__ == "__main__":
    main()
