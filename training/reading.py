"""Learn the weights of `cqm.index.rerank.words` from the questions that `training/ranking.py` learns from.

Usage: python training/reading.py SENTENCES TREES TOPICS TREES

SENTENCES and TOPICS are what `tests/bench/evidence.py capture` made of questions about TREES. Wants SciPy. Prints the
weights, and what they find in packages that they were not learned from: in each fourth of the packages of the split
"train" by weights learned from the others, and in the split "held-out".

Weights maximise the likelihood of what is relevant, as those of the first stage do. The first stage's score has a
weight too; the others are given in its unit.
"""

import argparse
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

sys.path[:0] = [str(Path(__file__).parents[1] / "tests" / "bench"), str(Path(__file__).parent)]

from evidence import captured
from ranking import _loss, _shows, excluded_names

from cqm.index.ranking.question import read_question
from cqm.index.ranking.rank import rank
from cqm.index.rerank.words import DEPTH, Reading, readings

Floats = NDArray[np.float64]

_FOLDS = 4
_HOLD = 0.003
"""How strongly the weights are held near 0."""
_EXCLUDED = Path(__file__).with_name("exclude.txt")


@dataclass(frozen=True, slots=True)
class Read:
    """A question with the score and the reading of its first results, and which of them are relevant."""

    package: str
    split: str
    rows: Floats
    shown: NDArray[np.bool_]
    in_file: NDArray[np.bool_]


def read(folder: Path, trees: Path) -> Iterator[Read]:
    """Read the first results of the questions that were captured, without those about excluded projects."""
    excluded = excluded_names(_EXCLUDED.read_text("utf-8"))
    for tree in captured(folder):
        lines = lru_cache(maxsize=2048)(partial(_lines, trees / tree.tree))
        for topic, evidence in tree.asked:
            package = f"{tree.tree}/{topic.targets[0].path}".split("/")[1]
            question = read_question(topic.text)
            first = rank(question, evidence)[:DEPTH]
            chunks = [entry.candidate for entry in first]
            texts = ["\n".join(lines(it.path)[it.start_line - 1 : it.end_line]) for it in chunks]
            rows = readings(question, [it.symbol for it in chunks], texts)
            files = {target.path for target in topic.targets}
            in_file = np.array([it.path in files for it in chunks])
            if rows is None or not in_file.any() or excluded(package):
                continue
            scores = np.array([[entry.score] for entry in first])
            shown = np.array([_shows(it, topic) for it in chunks])
            yield Read(package, topic.split, np.hstack([scores, rows.astype(np.float64)]), shown, in_file)


def _lines(folder: Path, path: str) -> list[str]:
    return (folder / path).read_text(encoding="utf-8", errors="replace").split("\n")


def fitted(asked: Sequence[Read], file_share: float) -> Floats:
    """Return the weights of the score and of a reading that explain some questions best.

    Parameters:
        asked: the questions.
        file_share: weight of a file's part where a question has lines.
    """
    from scipy.optimize import minimize  # a second, which only fitting needs

    rows = np.concatenate([each.rows for each in asked])
    deviations = rows.std(0) + 1e-6
    starts = np.cumsum([0, *(len(each.rows) for each in asked)])[:-1]
    has_lines = np.array([float(each.shown.any()) for each in asked])
    goals: list[tuple[NDArray[np.bool_], Floats]] = [
        (np.concatenate([each.shown for each in asked]), has_lines),
        (np.concatenate([each.in_file for each in asked]), np.where(has_lines > 0, file_share, 1.0)),
    ]
    prior = np.zeros(rows.shape[1])
    loss = partial(_loss, rows=rows / deviations, starts=starts, goals=goals, prior=prior, hold=_HOLD)
    found: Floats = minimize(loss, prior, jac=True, method="L-BFGS-B", options={"maxiter": 300}).x / deviations
    return found / found[0]


def _found(asked: Sequence[Read], weights: Floats) -> list[float]:
    """Reciprocal ranks of the first chunk that shows a target, and of the first in its file."""
    ranks = []
    for each in asked:
        scores = each.rows @ weights
        ranks.append([_reciprocal(scores, relevant) for relevant in (each.shown, each.in_file)])
    return [float(it) for it in np.mean(ranks, axis=0)]


def _reciprocal(scores: Floats, relevant: NDArray[Any]) -> float:
    return 1 / (1 + int((scores > scores[relevant].max()).sum())) if relevant.any() else 0.0


def checked(name: str, asked: Sequence[Read], learn: Callable[[Sequence[Read]], Floats]) -> Floats:
    """Print what is found in packages that were left out, before and after; return the weights of all of `train`."""
    train = [each for each in asked if each.split == "train"]
    before = np.eye(1, asked[0].rows.shape[1])[0]
    told = []
    for fold in range(_FOLDS):
        left = [each for each in train if crc32(each.package.encode()) % _FOLDS == fold]
        rest = [each for each in train if crc32(each.package.encode()) % _FOLDS != fold]
        told.append([*_found(left, before), *_found(left, learn(rest))])
    print(f"{name}, {len(train)} of train, left out: span and file before, after", np.mean(told, axis=0).round(3))
    weights = learn(train)
    if held := [each for each in asked if each.split != "train"]:
        print(f"{name}, {len(held)} held-out:", np.round([*_found(held, before), *_found(held, weights)], 3))
    return weights


def main() -> None:
    """Learn and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("sentences", "sentence_trees", "topics", "topic_trees"):
        parser.add_argument(name, type=Path)
    given = parser.parse_args()
    sentences = list(read(given.sentences, given.sentence_trees))
    topics = list(read(given.topics, given.topic_trees))
    for name, asked, file_share in (("SENTENCE", sentences, 0.3), ("TOPIC", topics, 1.0)):
        weights = checked(name, asked, partial(fitted, file_share=file_share))
        print(
            f"{name} = Reading({', '.join(f'{it}={weight:.3f}' for it, weight in zip(Reading._fields, weights[1:], strict=True))})"
        )


if __name__ == "__main__":
    main()
