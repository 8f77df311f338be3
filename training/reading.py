"""Learn the weights of `cqm.index.rerank.words` from the questions that `training/ranking.py` learns from.

Usage: python training/reading.py SENTENCES TREES TOPICS TREES

SENTENCES and TOPICS are what `tests/bench/evidence.py capture` made of questions about TREES. Wants SciPy. Prints the
weights, and what they find in packages that they were not learned from: in each fourth of the packages of the split
"train" by weights learned from the others, and in the split "held-out".

Weights maximise the likelihood of what is relevant, as those of the first stage do. They are of its features, too: what
reading tells, they need not tell again. With the first stage's score as one feature, span MRR grows by a quarter of that.
"""

import argparse
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path, PurePosixPath
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

sys.path[:0] = [str(Path(__file__).parents[1] / "tests" / "bench"), str(Path(__file__).parent)]

from evidence import captured
from ranking import NAMES as FIRST
from ranking import SHARING, _loss, _shows, excluded_names

from cqm.index.ranking import weights
from cqm.index.ranking.question import read_question
from cqm.index.ranking.rank import rank
from cqm.index.rerank.words import DEPTH, Reading, readings
from cqm.index.text.terms import stems

Floats = NDArray[np.float64]

NAMES = (*FIRST, *Reading._fields)
_FOLDS = 4
_EXCLUDED = Path(__file__).with_name("exclude.txt")


@dataclass(frozen=True, slots=True)
class Read:
    """A question with the features and the reading of its first results, and which of them are relevant.

    Attributes:
        rows: shape (results, features), in the order of `NAMES`.
        shown: results that show a target.
        in_file: results in a target's file.
        shares: whether the question shares a word with the name of a target's file.
    """

    package: str
    split: str
    rows: Floats
    shown: NDArray[np.bool_]
    in_file: NDArray[np.bool_]
    shares: bool


def read(folder: Path, trees: Path) -> Iterator[Read]:
    """Read the first results of the questions that were captured, without those about excluded projects."""
    excluded = excluded_names(_EXCLUDED.read_text("utf-8"))
    for tree in captured(folder):
        lines = lru_cache(maxsize=4096)(partial(_lines, trees / tree.tree))
        for topic, evidence in tree.asked:
            package = f"{tree.tree}/{topic.targets[0].path}".split("/")[1]
            question = read_question(topic.text)
            first = rank(question, evidence)[:DEPTH]
            chunks = [entry.candidate for entry in first]
            texts = ["\n".join(lines(it.path)[it.start_line - 1 : it.end_line]) for it in chunks]
            read = readings(question, [it.symbol for it in chunks], texts)
            files = {target.path for target in topic.targets}
            in_file = np.array([it.path in files for it in chunks])
            if read is None or not in_file.any() or excluded(package):
                continue
            known = np.array([(*entry.own, *entry.of_file.features) for entry in first])
            shown = np.array([_shows(it, topic) for it in chunks])
            shares = any(question.words.intersection(stems(PurePosixPath(path).stem)) for path in files)
            rows = np.hstack([known, read.astype(np.float64)])
            yield Read(package, topic.split, rows, shown, in_file, shares)


def _lines(folder: Path, path: str) -> list[str]:
    return (folder / path).read_text(encoding="utf-8", errors="replace").split("\n")


@dataclass(frozen=True, slots=True)
class Fit:
    """How weights are fitted.

    Attributes:
        first: weights of the first stage, near which those of its features are held.
        hold: how strongly all are held.
        file_share: what a file's part weighs where a question has lines.
    """

    first: Mapping[str, float]
    hold: float
    file_share: float


FITS = {"SENTENCE": Fit({}, 0.001, 0.3), "TOPIC": Fit(weights.TOPIC, 0.03, 1.0)}


def fitted(asked: Sequence[Read], fit: Fit) -> Floats:
    """Return the weights of `NAMES` that explain some questions best."""
    from scipy.optimize import minimize  # a second, which only fitting needs

    rows = np.concatenate([each.rows for each in asked])
    deviations = rows.std(0) + 1e-6
    starts = np.cumsum([0, *(len(each.rows) for each in asked)])[:-1]
    has_lines = np.array([float(each.shown.any()) for each in asked])
    of_question = np.ones(len(asked))
    if fit.first:
        share = sum(each.shares for each in asked) / len(asked)
        of_question = np.array([SHARING / share if it.shares else (1 - SHARING) / (1 - share) for it in asked])
    goals: list[tuple[NDArray[np.bool_], Floats]] = [
        (np.concatenate([each.shown for each in asked]), of_question * has_lines),
        (
            np.concatenate([each.in_file for each in asked]),
            of_question * np.where(has_lines > 0, fit.file_share, 1.0),
        ),
    ]
    prior = np.array([fit.first.get(name, 0.0) for name in NAMES]) * deviations
    loss = partial(_loss, rows=rows / deviations, starts=starts, goals=goals, prior=prior, hold=fit.hold)
    found: Floats = minimize(loss, prior, jac=True, method="L-BFGS-B", options={"maxiter": 500}).x
    return found / deviations


def _found(asked: Sequence[Read], score: Callable[[Read], Floats]) -> Floats:
    """Mean reciprocal ranks: of the first chunk that shows a target, and of the first in its file."""
    ranks = []
    for each in asked:
        scores = score(each)
        ranks.append([_reciprocal(scores, relevant) for relevant in (each.shown, each.in_file)])
    return np.mean(ranks, axis=0)


def _reciprocal(scores: Floats, relevant: NDArray[Any]) -> float:
    return 1 / (1 + int((scores > scores[relevant].max()).sum())) if relevant.any() else 0.0


def _in_order(each: Read) -> Floats:
    """Scores that keep the order of the first stage."""
    return -np.arange(len(each.rows), dtype=np.float64)


def checked(name: str, asked: Sequence[Read], fit: Fit) -> Floats:
    """Print what is found in packages that were left out, before and after; return the weights of all of `train`."""
    train = [each for each in asked if each.split == "train"]
    told = []
    for fold in range(_FOLDS):
        left = [each for each in train if crc32(each.package.encode()) % _FOLDS == fold]
        learned = fitted([each for each in train if crc32(each.package.encode()) % _FOLDS != fold], fit)
        told.append([*_found(left, _in_order), *_found(left, lambda each, learned=learned: each.rows @ learned)])
    print(f"{name}, {len(train)} of train, left out: span and file before, after", np.mean(told, axis=0).round(3))
    learned = fitted(train, fit)
    if held := [each for each in asked if each.split != "train"]:
        print(
            f"{name}, {len(held)} held-out:",
            _found(held, _in_order).round(3),
            _found(held, lambda it: it.rows @ learned).round(3),
        )
    return learned


def main() -> None:
    """Learn and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("sentences", "sentence_trees", "topics", "topic_trees"):
        parser.add_argument(name, type=Path)
    given = parser.parse_args()
    of_kind = {
        "SENTENCE": list(read(given.sentences, given.sentence_trees)),
        "TOPIC": list(read(given.topics, given.topic_trees)),
    }
    for name, fit in FITS.items():
        learned = checked(name, of_kind[name], fit)
        rows = "".join(f'    "{it}": {weight:.3f},\n' for it, weight in zip(NAMES, learned, strict=True))
        print(f"{name}: Mapping[str, float] = {{\n{rows}}}")


if __name__ == "__main__":
    main()
