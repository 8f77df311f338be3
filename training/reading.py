"""Learn the weights of `cqm.index.rerank.words` from the questions of `training/ranking.py`.

Usage: python training/reading.py SENTENCES TREES TOPICS TREES [--out index/rerank/word_weights.py]

SENTENCES and TOPICS are the output of `tests/bench/evidence.py capture` for questions about TREES. Needs SciPy. It also
prints the results in packages not learned from: in each fourth of those of the split "train" by weights learned from
the others, in the split "held-out", and for topics.

Weights maximise the likelihood of relevant chunks, as those of the first stage do. Its features get new weights, too,
as words take over a part. With the first stage's score as one feature, a quarter is gained.
"""

import argparse
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "bench"))
sys.path.insert(0, str(Path(__file__).parent))

from evidence import captured
from ranking import NAMES as FIRST
from ranking import _loss, _shows, excluded_names

from cqm.index.ranking import weights
from cqm.index.ranking.question import read_question
from cqm.index.ranking.rank import rank
from cqm.index.rerank.words import DEPTH, Reading, readings

Floats = NDArray[np.float64]

NAMES = (*FIRST, *Reading._fields)
OF_TOPICS = 0.5
"""Weight of words for topics, as a share of that for sentences, beside the first stage's other weights. On 490
topics, by score alone, 0 finds the file at .780, .25 to 1.5 at .782 to .791; all weights learned from them, at .776."""
_FOLDS = 4
_EXCLUDED = Path(__file__).with_name("exclude.txt")


@dataclass(frozen=True, slots=True)
class Read:
    """A question with the features and the reading of its first results, and which of them are relevant.

    Attributes:
        rows: shape (results, features), in the order of `NAMES`.
        shown: results showing a target.
        in_file: results in a target's file.
    """

    package: str
    split: str
    rows: Floats
    shown: NDArray[np.bool_]
    in_file: NDArray[np.bool_]


def read(folder: Path, trees: Path) -> Iterator[Read]:
    """Read the first results of the captured questions, without those about excluded projects."""
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
            rows = np.hstack([known, read.astype(np.float64)])
            yield Read(package, topic.split, rows, shown, in_file)


def _lines(folder: Path, path: str) -> list[str]:
    return (folder / path).read_text(encoding="utf-8", errors="replace").split("\n")


@dataclass(frozen=True, slots=True)
class Fit:
    """Bounds of a fit.

    Attributes:
        hold: how strongly they are held near 0, in units of a feature's deviation.
        file_share: weight of a file's part if a question has lines.
    """

    hold: float
    file_share: float


FIT = Fit(hold=0.003, file_share=0.3)


def fitted(asked: Sequence[Read], fit: Fit) -> Floats:
    """Return the weights of `NAMES` that explain some questions best."""
    from scipy.optimize import minimize  # a second, which only fitting needs

    rows = np.concatenate([each.rows for each in asked])
    deviations = rows.std(0) + 1e-6
    starts = np.cumsum([0, *(len(each.rows) for each in asked)])[:-1]
    has_lines = np.array([float(each.shown.any()) for each in asked])
    goals: list[tuple[NDArray[np.bool_], Floats]] = [
        (np.concatenate([each.shown for each in asked]), has_lines),
        (np.concatenate([each.in_file for each in asked]), np.where(has_lines > 0, fit.file_share, 1.0)),
    ]
    prior = np.zeros(rows.shape[1])
    loss = partial(_loss, rows=rows / deviations, starts=starts, goals=goals, prior=prior, hold=fit.hold)
    found: Floats = minimize(loss, prior, jac=True, method="L-BFGS-B", options={"maxiter": 500}).x
    return found / deviations


def _found(asked: Sequence[Read], score: Callable[[Read], Floats]) -> Floats:
    """Return mean reciprocal ranks: of the first chunk showing a target, and of the first in its file."""
    ranks = []
    for each in asked:
        scores = score(each)
        ranks.append([_reciprocal(scores, relevant) for relevant in (each.shown, each.in_file)])
    return np.mean(ranks, axis=0)


def _reciprocal(scores: Floats, relevant: NDArray[Any]) -> float:
    return 1 / (1 + int((scores > scores[relevant].max()).sum())) if relevant.any() else 0.0


def _in_order(each: Read) -> Floats:
    """Return scores keeping the order of the first stage."""
    return -np.arange(len(each.rows), dtype=np.float64)


def checked(sentences: Sequence[Read], topics: Sequence[Read]) -> Floats:
    """Write the results in left-out packages, before and after; return the weights of all of `train`."""
    train = [each for each in sentences if each.split == "train"]
    told = []
    for fold in range(_FOLDS):
        left = [each for each in train if crc32(each.package.encode()) % _FOLDS == fold]
        learned = fitted([each for each in train if crc32(each.package.encode()) % _FOLDS != fold], FIT)
        told.append([*_found(left, _in_order), *_found(left, partial(_scores, weights=learned))])
    _tell(f"{len(train)} sentences, each fourth of the packages left out", np.mean(told, axis=0))
    learned = fitted(train, FIT)
    held = [each for each in sentences if each.split != "train"]
    of_topics = np.array([weights.TOPIC.get(name, OF_TOPICS * learned[at]) for at, name in enumerate(NAMES)])
    for name, some, found in (("sentences held out", held, learned), ("topics", topics, of_topics)):
        _tell(f"{len(some)} {name}", [*_found(some, _in_order), *_found(some, partial(_scores, weights=found))])
    return learned


def _scores(each: Read, weights: Floats) -> Floats:
    scores: Floats = each.rows @ weights
    return scores


def _tell(name: str, found: Iterable[float]) -> None:
    spans, files, spans_now, files_now = found
    sys.stderr.write(
        f"{name}: reciprocal rank of span {spans:.3f}, now {spans_now:.3f}; of file {files:.3f}, now {files_now:.3f}\n"
    )


def source(learned: Floats) -> str:
    """The module of the weights."""
    rows = "".join(f'    "{name}": {weight:.3f},\n' for name, weight in zip(NAMES, learned, strict=True))
    return f'''"""Weights of results whose words are compared; written by `training/reading.py`, which explains them."""

from collections.abc import Mapping

from cqm.index.ranking import weights

SENTENCE: Mapping[str, float] = {{
{rows}}}
"""For sentences, by the names of `ChunkFeatures`, `FileFeatures` and `words.Reading`."""

TOPIC: Mapping[str, float] = {{name: weights.TOPIC.get(name, {OF_TOPICS} * it) for name, it in SENTENCE.items()}}
"""For topics."""
'''


def main() -> None:
    """Learn and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("sentences", "sentence_trees", "topics", "topic_trees"):
        parser.add_argument(name, type=Path)
    default = Path(__file__).parents[1] / "index" / "rerank" / "word_weights.py"
    parser.add_argument("--out", type=Path, default=default)
    given = parser.parse_args()
    learned = checked(list(read(given.sentences, given.sentence_trees)), list(read(given.topics, given.topic_trees)))
    given.out.write_text(source(learned), "utf-8")


if __name__ == "__main__":
    main()
