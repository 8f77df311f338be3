"""Learn the weights of `cqm.index.ranking.rank` from questions about packages without a reported figure.

Usage: python tests/bench/evidence.py capture QUESTIONS.jsonl TREES --out SENTENCES
       python tests/bench/evidence.py capture training/topics.jsonl TREES --out TOPICS
       python training/ranking.py SENTENCES TOPICS [--out index/ranking/weights.py]

QUESTIONS and TREES are made by tests/bench/question_set.py: sentences of doc comments and comments, of which those of
the split "train" count. topics.jsonl was written by hand about packages of the same split. Questions about a project of
exclude.txt are left out of both. Wants SciPy. It also prints the results of a fit without each fourth of the packages.

Weights maximise the likelihood of relevant chunks, when a chunk is chosen with a probability proportional to the
exponential of its score (softmax): of a chunk that shows the target and, apart from it, of any chunk of its file. They
are held near prior ones, which were chosen by hand on the development benchmark long before, by the square of how far
they depart in units of a feature's deviation.

- For sentences: all questions; the prior is weak and so is the file's part, since chunks are wanted.
- For topics: the topics alone; the prior is strong, since they are few. Only 45 of 100 of them share a word with their
  file's name, for they were written so; of questions people ask, 73 do (the public benchmark's). So those that do count
  more and the others less.
"""

import argparse
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "bench"))

from evidence import captured

from cqm.index.evaluation.evaluation import Span, Topic, shows
from cqm.index.ranking.evidence import Candidate, Evidence
from cqm.index.ranking.features import ChunkFeatures, FileFeatures, features
from cqm.index.ranking.question import read_question
from cqm.index.ranking.question_form import form
from cqm.index.text.terms import stems

Floats = NDArray[np.float64]

NAMES = (*ChunkFeatures._fields, *FileFeatures._fields)
PRIOR: Mapping[str, float] = {
    "terms": 1, "dense": 1, "name": 1, "file": 0.4, "matches": 0.45, "path": 0.25, "stem": 0.25, "role": 1.5,
}  # fmt: skip
SHARING = 0.73
"""Share of topics with a word of their file's name."""
_FOLDS = 4
_EXCLUDED = Path(__file__).with_name("exclude.txt")


@dataclass(frozen=True, slots=True)
class Asked:
    """A question with the features of its candidates, shape (candidates, features), and which of them are relevant.

    Attributes:
        package: its subject.
        shown: candidates showing a target; None if the question has no lines.
        in_file: candidates in a target's file.
        shares: whether the question shares a word with the name of a target's file.
    """

    text: str
    package: str
    features: Floats
    shown: NDArray[np.bool_] | None
    in_file: NDArray[np.bool_]
    shares: bool


@dataclass(frozen=True, slots=True)
class Fit:
    """The way in which weights are fitted.

    Attributes:
        prior: times `PRIOR`.
        hold: how strongly they are held near it.
        file_share: weight of a file's part if a question has lines.
    """

    prior: float
    hold: float
    file_share: float


FOR_SENTENCES = Fit(4, 0.01, 0.3)
FOR_TOPICS = Fit(10, 0.1, 1.0)


def read(folder: Path) -> Iterator[Asked]:
    """Yield the questions captured in a folder, without those about excluded projects or of another split."""
    excluded = excluded_names(_EXCLUDED.read_text("utf-8"))
    for tree in captured(folder):
        for topic, evidence in tree.asked:
            package = f"{tree.tree}/{topic.targets[0].path}".split("/")[1]
            if topic.split == "train" and not excluded(package) and (asked := _asked(topic, evidence, package)):
                yield asked


def excluded_names(projects: str) -> Callable[[str], bool]:
    """Tells whether a package is of one of some projects (lines "owner/name"), by the words of its name."""
    names = {line.split("/")[1].lower() for line in projects.splitlines() if "/" in line and not line.startswith("#")}
    # Less words that other projects have in their names as well, and parts of projects whose packages are named else.
    words = names - {"core", "framework", "json", "react"} | {
        "activerecord",
        "activesupport",
        "actionpack",
        "illuminate",
        "nlohmann",
        "absl",
    }
    return lambda package: not words.isdisjoint(re.split(r"[-_/.@]", package.lower()))


def _asked(topic: Topic, evidence: Evidence, package: str) -> Asked | None:
    question = read_question(topic.text)
    chunks, of_files = features(question, evidence)
    files = {target.path for target in topic.targets}
    candidates = evidence.candidates
    in_file = np.array([chunk.path in files for chunk in candidates])
    if not in_file.any():
        return None
    rows = [(*own, *of_files[chunk.path].features) for own, chunk in zip(chunks, candidates, strict=True)]
    shown = np.array([_shows(chunk, topic) for chunk in candidates])
    shares = any(question.words.intersection(stems(PurePosixPath(path).stem)) for path in files)
    return Asked(topic.text, package, np.array(rows), shown if shown.any() else None, in_file, shares)


def _shows(chunk: Candidate, topic: Topic) -> bool:
    here = Span(chunk.path, chunk.start_line, chunk.end_line)
    return any(shows(here, Span(*target)) for target in topic.targets if target.start is not None)


def fitted(weighted: Sequence[tuple[Asked, float]], fit: Fit, without: str = "") -> Floats:
    """Return the weights of `NAMES` that explain some weighted questions best.

    Parameters:
        without: a feature of weight 0.
    """
    asked = [each for each, _ in weighted]
    rows = np.concatenate([each.features for each in asked]) * [name != without for name in NAMES]
    deviations = rows.std(0) + 1e-6
    prior = fit.prior * np.array([PRIOR.get(name, 0.0) * (name != without) for name in NAMES]) * deviations
    starts = np.cumsum([0, *(len(each.features) for each in asked)])[:-1]
    nothing = [np.zeros(len(each.features), bool) if each.shown is None else each.shown for each in asked]
    has_lines = np.array([each.shown is not None for each in asked])
    weights = np.array([weight for _, weight in weighted])
    goals = [
        (np.concatenate(nothing), weights * has_lines),
        (np.concatenate([each.in_file for each in asked]), weights * np.where(has_lines, fit.file_share, 1.0)),
    ]
    from scipy.optimize import minimize  # a second, which only fitting needs

    loss = partial(_loss, rows=rows / deviations, starts=starts, goals=goals, prior=prior, hold=fit.hold)
    found: Floats = minimize(loss, prior, jac=True, method="L-BFGS-B", options={"maxiter": 300}).x / deviations
    return found


def _loss(
    weights: Floats,
    rows: Floats,
    starts: NDArray[np.intp],
    goals: Sequence[tuple[NDArray[np.bool_], Floats]],
    prior: Floats,
    hold: float,
) -> tuple[float, Floats]:
    """Return the loss and its gradient."""
    counts = np.diff([*starts, len(rows)])
    scores = rows @ weights
    powers = np.exp(scores - np.repeat(np.maximum.reduceat(scores, starts), counts))
    chances = powers / np.repeat(np.add.reduceat(powers, starts), counts)
    loss, slope = 0.0, np.zeros(len(rows))
    for relevant, of_question in goals:
        hits = np.maximum(np.add.reduceat(chances * relevant, starts), 1e-12)
        loss -= float((of_question * np.log(hits)).sum())
        slope += np.repeat(of_question, counts) * (chances - chances * relevant / np.repeat(hits, counts))
    total = sum(of_question.sum() for _, of_question in goals)
    apart = weights - prior
    return loss / total + hold * float(apart @ apart), rows.T @ slope / total + 2 * hold * apart


def weighed_topics(topics: Sequence[Asked]) -> list[tuple[Asked, float]]:
    """Weight topics so that those sharing a word with their file's name are `SHARING` of all."""
    share = sum(each.shares for each in topics) / len(topics)
    return [(each, SHARING / share if each.shares else (1 - SHARING) / (1 - share)) for each in topics]


def for_topics(asked: Sequence[Asked], without: str = "") -> Floats:
    """The weights for topics."""
    return fitted(weighed_topics(asked), FOR_TOPICS, without)


def for_sentences(asked: Sequence[Asked], without: str = "") -> Floats:
    """The weights for sentences."""
    return fitted([(each, 1.0) for each in asked], FOR_SENTENCES, without)


def phrasing(sentences: Iterable[str], topics: Iterable[str]) -> Floats:
    """Return weights telling sentences from topics by their form, as if there were as many of both."""
    forms = [np.array([form(text) for text in texts]) for texts in (sentences, topics)]
    rows = np.concatenate(forms)
    is_sentence = np.repeat([1.0, 0.0], [len(some) for some in forms])
    from scipy.optimize import minimize  # see above

    share = np.repeat([1 / len(some) for some in forms], [len(some) for some in forms])

    def loss(weights: Floats) -> float:
        scores = rows @ weights
        missed = share * (np.logaddexp(0, scores) - is_sentence * scores)
        return float(missed.sum() + 1e-3 * weights @ weights)

    found: Floats = minimize(loss, np.zeros(rows.shape[1])).x
    return found


def first_found(asked: Sequence[Asked], weights: Floats) -> float:
    """Mean reciprocal rank of the first chunk in a target's file."""
    return float(np.mean([1 / (1 + _rank(each.features @ weights, each.in_file)) for each in asked]))


def _rank(scores: Floats, relevant: NDArray[Any]) -> int:
    return int((scores > scores[relevant].max()).sum())


def left_out(asked: Sequence[Asked], learn: Callable[[Sequence[Asked]], Floats]) -> float:
    """`first_found` in each fourth of the packages, by weights learned from the others."""
    found = []
    for fold in range(_FOLDS):
        left = [each for each in asked if crc32(each.package.encode()) % _FOLDS == fold]
        rest = [each for each in asked if crc32(each.package.encode()) % _FOLDS != fold]
        found.append(first_found(left, learn(rest)))
    return float(np.mean(found))


def checked(name: str, asked: Sequence[Asked], learn: Callable[[Sequence[Asked]], Floats]) -> None:
    """Print the results in left-out packages, by the prior and by the weights learned from the others."""
    prior = np.array([PRIOR.get(feature, 0.0) for feature in NAMES])
    told = f"{name}: {len(asked)} questions, reciprocal rank of the file in packages left out"
    sys.stderr.write(f"{told}: prior {left_out(asked, lambda _: prior):.3f}, learned {left_out(asked, learn):.3f}\n")


def source(told: Floats, topic: Floats, sentence: Floats) -> str:
    """The module of the weights."""

    def table(weights: Floats) -> str:
        rows = "".join(f'    "{name}": {weight:.3f},\n' for name, weight in zip(NAMES, weights, strict=True))
        return f"{{\n{rows}}}"

    return f'''"""Weights of the features; written by `training/ranking.py`, which explains them."""

from collections.abc import Mapping

PHRASING = ({", ".join(f"{weight:.2f}" for weight in told)})
"""Of `question_form.form`."""

TOPIC: Mapping[str, float] = {table(topic)}
"""For questions that name a topic, by the names of `features.ChunkFeatures` and `features.FileFeatures`."""

SENTENCE: Mapping[str, float] = {table(sentence)}
"""For sentences."""
'''


def main() -> None:
    """Learn and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sentences", type=Path)
    parser.add_argument("topics", type=Path)
    parser.add_argument("--out", type=Path, default=Path(__file__).parents[1] / "index" / "weights.py")
    given = parser.parse_args()
    sentences, topics = list(read(given.sentences)), list(read(given.topics))

    checked("topics", topics, for_topics)
    checked("sentences", sentences, for_sentences)
    told = phrasing((each.text for each in sentences), (each.text for each in topics))
    given.out.write_text(source(told, for_topics(topics), for_sentences([*sentences, *topics])), "utf-8")


if __name__ == "__main__":
    main()
