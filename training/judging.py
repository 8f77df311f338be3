"""Learn the weights of `cqm.index.ranking.confidence` from questions asked of their own tree and of others.

Usage: python training/judging.py capture --bench DIR --trees DIR --packages DIR [DIR ...] --home DIR --out DIR
       python training/judging.py learn DIR [--out index/ranking/confidence_weights.py]

`capture` takes the folders of tests/bench/confidence.py; `--packages` are the output of question_set.py. Each tree is
asked its own questions (of packages 30 sentences, and those of topics.jsonl), 80 of others in other languages, and
nonsense: as a search asks them, without the reader, and by words alone. DIR/TREE.jsonl gets the signs of each answer.

`learn` learns from every second tree by name, of repositories and of packages each, and reports the others. There is a
regression for sentences read by the reader; one for topics, and for unread sentences; one for words alone. Own
questions count if the answer is among the first ten. Thresholds are those at which, of the trees learned from, `KEPT`
of the answers are high and `SEEN` are not none; that of topics by the repositories alone, since topics.jsonl was
written to share few words with the files. The chance of a right result is learned from all own questions of packages,
and from those of others, without any right result: one question in eleven is taken to be such.
"""

import argparse
import json
import random
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "bench"))

from confidence import NONSENSE, Asked, is_answered, packages, repositories

from cqm.index.engine import Index
from cqm.index.model.options import IndexOptions, RerankOptions
from cqm.index.model.query import Query, SearchMode
from cqm.index.ranking.confidence import ENOUGH_WORDS, SURE, Judgement, Signs
from cqm.index.ranking.question import Question
from cqm.index.search import judging
from cqm.index.search.search import Searching, find

Floats = NDArray[np.float64]

KEPT, SEEN = 0.95, 0.99
UNANSWERED = 0.1
"""Unanswered questions for each answered one, among those behind a result's chance."""
OF_OTHERS = {"repository": 25, "package": 40, "topic": 15}
"""Questions of others asked of a tree, by their origin."""
MODES = ("read", "unread", "words")
NAMES = {
    "READ": [name for name in Signs._fields if name != "unknown"],
    "UNREAD": [name for name in Signs._fields if name not in ("number", "least")],
    "WORDS_ALONE": [name for name in Signs._fields if name not in ("cosine", "usual", "number", "least")],
}
"""Signs of each regression: a sentence is no name, and vectors and the reader are not always there."""
HOLD = 1e-3
"""How strongly weights are held near 0, in units of a sign's deviation, a question."""
_LEAST = 20
"""Least own questions to report a share of."""
_TOPICS = Path(__file__).with_name("topics.jsonl")
_PLACES = 10
_STEP = 1e-8
_FORM = 0.5
_RIGHT = ("right", "right_likelihood", "right_place", "right_first")
_BINS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 1.0)


@dataclass(frozen=True, slots=True)
class Answered:
    """An answer with its signs.

    Attributes:
        tree: its name and language.
        source: "repository" or "package".
        kind: "own", "others" or "nonsense".
        origin: where the question comes from: "repository", "package" or "topic"; empty for nonsense.
        mode: of `MODES`.
        sentence: likeness of the question to a sentence.
        fixed: the confidence if no regression gave it; empty otherwise.
        signs: None where there is no word to look for, or `fixed`.
        right: whether each of the first ten results has a line of the answer.
    """

    tree: str
    source: str
    kind: str
    origin: str
    mode: str
    sentence: float
    fixed: str
    signs: list[float] | None
    right: list[bool]


def topics() -> dict[str, list[tuple[str, list[tuple[str, int, int]]]]]:
    """The topics of packages by "LANGUAGE/PACKAGE"; any line of a file answers."""
    found = defaultdict(list)
    for line in _TOPICS.read_text(encoding="utf-8").splitlines():
        it = json.loads(line)
        found[it["tree"]].append((it["query"], [(each["path"], 1, sys.maxsize) for each in it["targets"]]))
    return found


def questions_of(asked: Asked, sources: Sequence[Asked]) -> Iterator[tuple[str, str, str, Any]]:
    """Yield kind, origin, text and answers of the questions asked of a tree."""
    named = topics()
    yield from (("own", asked.kind, *question) for question in asked.questions)
    if asked.kind == "package":
        yield from (("own", "topic", *question) for question in named.get(f"{asked.language}/{asked.name}", []))
    chance = random.Random(f"{asked.kind} {asked.language} {asked.name}")  # noqa: S311 - a fixed choice
    others = [it for it in sources if it.language != asked.language]
    texts = {kind: [text for it in others if it.kind == kind for text, _ in it.questions] for kind in OF_OTHERS}
    texts["topic"] = [
        text for tree, some in named.items() if not tree.startswith(f"{asked.language}/") for text, _ in some
    ]
    for origin, count in OF_OTHERS.items():
        yield from (
            ("others", origin, text, []) for text in chance.sample(texts[origin], min(count, len(texts[origin])))
        )
    yield from (("nonsense", "", text, []) for text in NONSENSE)


def capture(asked: Asked, sources: Sequence[Asked], home: Path) -> Iterator[Answered]:
    """Ask a tree, and keep the signs behind each answer's judgement."""
    seen: list[tuple[Question, Signs | None]] = []
    judge = judging.judge

    def noted(question: Question, signs: Signs | None) -> Judgement:
        seen.append((question, signs))
        return judge(question, signs)

    def answered(searching: Searching, kind: str, origin: str, text: str, wanted: list[Any], mode: str) -> Answered:
        seen.clear()
        query = Query(text, mode=SearchMode.LEXICAL if mode == "words" else SearchMode.HYBRID)
        page = find(replace(searching, rerank=RerankOptions(reader=mode == "read")), query)
        places = [{"path": it.path, "start_line": it.start_line, "end_line": it.end_line} for it in page.hits[:_PLACES]]
        right = [is_answered([it], wanted) for it in places]
        tree = f"{asked.name} {asked.language}"
        if not seen:
            return Answered(tree, asked.kind, kind, origin, mode, 0.0, str(page.confidence), None, right)
        ((question, signs),) = seen
        found = list(signs) if signs else None
        return Answered(tree, asked.kind, kind, origin, mode, question.sentence, "", found, right)

    judging.judge = noted
    try:
        with Index.open(asked.tree, IndexOptions(home=home)) as index:
            if index.update().lacking:
                index.improve()
            routes = index._services.routes  # noqa: SLF001 - as below
            with index._lineage.reading() as serving:  # noqa: SLF001 - a search has options of its own here
                searching = Searching(serving, routes, root=str(asked.tree))
                for question in questions_of(asked, sources):
                    yield from (answered(searching, *question, mode) for mode in MODES)
    finally:
        judging.judge = judge


def captured(folder: Path) -> list[Answered]:
    """Return everything captured."""
    files = sorted(folder.glob("*.jsonl"))
    return [Answered(**json.loads(line)) for file in files for line in file.read_text("utf-8").splitlines()]


def halves(answers: Sequence[Answered]) -> tuple[list[Answered], list[Answered]]:
    """Answers of the trees learned from, which are every second by name, and of the others."""
    trees = {kind: sorted({it.tree for it in answers if it.source == kind}) for kind in ("repository", "package")}
    learned = {(kind, tree) for kind, names in trees.items() for tree in names[::2]}
    return (
        [it for it in answers if (it.source, it.tree) in learned],
        [it for it in answers if (it.source, it.tree) not in learned],
    )


def is_read(answer: Answered) -> bool:
    """Whether the reader read results."""
    return answer.signs is not None and Signs(*answer.signs).least != 0


def regressed(answers: Sequence[Answered], regression: str) -> list[Answered]:
    """Return the answers judged by a regression; a topic's is the same with the reader and without."""
    if regression == "WORDS_ALONE":
        return [it for it in answers if it.mode == "words" and it.signs]
    if regression == "READ":
        return [it for it in answers if it.mode == "read" and is_read(it)]
    return [it for it in answers if it.mode == "unread" and it.signs]


def logistic(rows: Floats, goals: Floats, counts: Floats | None = None, hold: float = HOLD) -> Floats:
    """Return constant and weights of the logistic regression of goals (0 or 1), by Newton's method.

    Parameters:
        rows: shape (questions, signs).
        goals: shape (questions,).
        counts: how often each counts, shape (questions,); None for once.
        hold: see `HOLD`.
    """
    deviations = rows.std(0) + 1e-9
    scaled = np.column_stack([np.ones(len(rows)), (rows - rows.mean(0)) / deviations])
    counts = np.ones(len(rows)) if counts is None else counts
    held = np.diag([0.0, *[hold * len(rows)] * rows.shape[1]])
    weights = np.zeros(scaled.shape[1])
    for _ in range(50):
        chances = 1 / (1 + np.exp(-scaled @ weights))
        slope = scaled.T @ (counts * (goals - chances)) - held @ weights
        step = np.linalg.solve((scaled * (counts * chances * (1 - chances))[:, None]).T @ scaled + held, slope)
        weights += step
        if np.abs(step).max() < _STEP:
            break
    found = weights[1:] / deviations
    return np.array([weights[0] - float(found @ rows.mean(0)), *found])


def told_at(scores: Floats, is_own: NDArray[np.bool_], kept: float) -> tuple[float, float]:
    """Return the least score keeping a share of own questions, and the share of the others below it."""
    own = np.sort(scores[is_own])
    least = float(own[int((1 - kept) * len(own))])
    return least, float((scores[~is_own] < least).mean())


def _share(odds: Floats) -> Floats:
    return np.asarray(1 / (1 + np.exp(-odds)), np.float64)


def _rows(answers: Sequence[Answered], names: Sequence[str]) -> Floats:
    places = [Signs._fields.index(name) for name in names]
    return np.array([it.signs or [] for it in answers], np.float64)[:, places]


def judged_ones(answers: Sequence[Answered]) -> list[Answered]:
    """Own questions with an answer among the results, and those of others."""
    return [it for it in answers if it.kind == "others" or (it.kind == "own" and any(it.right))]


def likelihoods(answers: Sequence[Answered], learned: Mapping[str, float]) -> Floats:
    """Return the logarithm of the odds of each answer to be one."""
    return learned["constant"] + _rows(answers, Signs._fields) @ np.array([learned[name] for name in Signs._fields])


def learn(answers: Sequence[Answered], regression: str) -> dict[str, float]:
    """Learn a regression, its thresholds, and the chance of a result."""
    some, names = judged_ones(regressed(answers, regression)), NAMES[regression]
    is_own = np.array([it.kind == "own" for it in some])
    constant, *weights = logistic(_rows(some, names), is_own.astype(np.float64))
    learned = {"constant": constant, **dict.fromkeys(Signs._fields, 0.0), **dict(zip(names, weights, strict=True))}
    found = likelihoods(some, learned)
    is_sentence = np.array([it.sentence > _FORM for it in some])
    is_asked = np.array([it.source == "repository" for it in some]) & ~is_sentence
    learned["sentence"] = float(_share(np.array(told_at(found[is_sentence], is_own[is_sentence], KEPT)[0])))
    # The reader reads no topics.
    has_topics = (is_own & is_asked).sum() >= _LEAST
    topic = told_at(found[is_asked], is_own[is_asked], KEPT)[0] if has_topics else None
    learned["topic"] = learned["sentence"] if topic is None else float(_share(np.array(topic)))
    learned["low"] = float(_share(np.array(told_at(found, is_own, SEEN)[0])))
    rows, right, counts = by_place(regressed(answers, regression), learned)
    return learned | dict(zip(_RIGHT, logistic(rows, right, counts), strict=True))


def by_place(answers: Sequence[Answered], learned: Mapping[str, float]) -> tuple[Floats, Floats, Floats]:
    """Likelihood and place of each result of packages, whether it is right, and how often it counts."""
    some = [it for it in answers if it.source == "package" and it.kind != "nonsense"]
    own = sum(it.kind == "own" for it in some)
    share = UNANSWERED * own / max(1, len(some) - own)
    found = np.minimum(likelihoods(some, learned), SURE)
    rows = [
        (odds, np.log1p(place), float(not place))
        for it, odds in zip(some, found, strict=True)
        for place in range(len(it.right))
    ]
    counts = [1.0 if it.kind == "own" else share for it in some for _ in it.right]
    return np.array(rows), np.array([float(is_right) for it in some for is_right in it.right]), np.array(counts)


def report(answers: Sequence[Answered], regression: str, learned: Mapping[str, float]) -> None:
    """Print a regression's results for trees it was not learned from."""
    some = regressed(answers, regression)
    for source in ("repository", "package"):
        for form, of in (("topic", False), ("sentence", True)):
            those = [it for it in some if it.source == source and (it.sentence > _FORM) is of]
            _tell(regression, f"{source} {form}", those, learned)
    _tell(regression, "all", some, learned)
    rows, right, counts = by_place(some, learned)
    told = _share(learned[_RIGHT[0]] + rows @ np.array([learned[name] for name in _RIGHT[1:]]))
    for low, high in pairwise(_BINS):
        within = (told >= low) & (told < high)
        own = within & (counts == 1)
        if own.any():
            mixed = [np.average(of[within], weights=counts[within]) for of in (told, right)]
            sys.stdout.write(
                f"{regression:12} chance {low:.1f} to {high:.1f}: {own.sum():6} results, told {told[own].mean():.2f}, "
                f"right {right[own].mean():.2f}; with those of others {mixed[0]:.2f}, {mixed[1]:.2f}\n"
            )


def _tell(regression: str, of: str, answers: Sequence[Answered], learned: Mapping[str, float]) -> None:
    some = judged_ones(answers)
    is_own = np.array([it.kind == "own" for it in some], bool)
    if is_own.sum() < _LEAST or is_own.all():
        return
    found = likelihoods(some, learned)
    is_high = _share(found) >= np.where([it.sentence > _FORM for it in some], learned["sentence"], learned["topic"])
    own, others = f"kept {is_high[is_own].mean():.3f}", f"told {1 - is_high[~is_own].mean():.3f}"
    at = "  ".join(f"{told_at(found, is_own, kept)[1]:.3f} at {kept}" for kept in (0.93, 0.95, 0.97))
    counts = f"{is_own.sum():5} {own}  {(~is_own).sum():5} of others {others}"
    sys.stdout.write(f"{regression:12} {of:20} {counts}  told {at}\n")


def confidence_of(answer: Answered, learned: Mapping[str, Mapping[str, float]]) -> str:
    """Return the confidence told by a search, by the learned weights."""
    if answer.fixed or not answer.signs:
        return answer.fixed or "none"
    signs = Signs(*answer.signs)
    weights = learned["WORDS_ALONE" if not signs.cosine else "READ" if is_read(answer) else "UNREAD"]
    chance = float(_share(likelihoods([answer], weights))[0])
    if chance >= weights["sentence" if answer.sentence > _FORM else "topic"]:
        return "high"
    return "low" if chance >= weights["low"] or signs.best >= ENOUGH_WORDS else "none"


def told(answers: Sequence[Answered], learned: Mapping[str, Mapping[str, float]]) -> None:
    """Print the confidence of searches by kind of question, with found names too, which no regression judges."""
    counts: defaultdict[tuple[str, ...], Counter[str]] = defaultdict(Counter)
    for it in answers:
        if it.kind != "own" or any(it.right):
            origin = it.origin if it.kind == "own" else ""
            counts[it.mode, it.source, it.kind, origin][confidence_of(it, learned)] += 1
    for names, shares in sorted(counts.items()):
        total = shares.total()
        each = "  ".join(f"{name} {shares[name] / total:.3f}" for name in ("high", "low", "none"))
        sys.stdout.write(f"{' '.join(names):34} {total:6}  {each}\n")


def text_of(learned: Mapping[str, Mapping[str, float]]) -> str:
    """The module with the weights."""
    lines = [
        '"""Weights of signs of an answer; written by `training/judging.py`, which explains them."""\n',
        "from collections.abc import Mapping\n",
    ]
    for regression, weights in learned.items():
        numbers = "".join(f'    "{name}": {weight:.3f},\n' for name, weight in weights.items())
        lines.append(f"{regression}: Mapping[str, float] = {{\n{numbers}}}")
    return "\n".join(lines) + "\n"


def main() -> None:
    """Capture, or learn and report."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    capturing = commands.add_parser("capture")
    for name in ("--bench", "--trees", "--home", "--out"):
        capturing.add_argument(name, type=Path, required=True)
    capturing.add_argument("--packages", type=Path, nargs="*", default=[])
    learning = commands.add_parser("learn")
    learning.add_argument("folder", type=Path)
    learning.add_argument("--out", type=Path)
    given = parser.parse_args()
    if given.command == "capture":
        sources = [*repositories(given.bench, given.trees), *(it for made in given.packages for it in packages(made))]
        given.out.mkdir(parents=True, exist_ok=True)
        for asked in sources:
            file = given.out / f"{asked.kind}+{asked.language}+{asked.name}.jsonl"
            if not file.exists():
                file.write_text("".join(f"{json.dumps(asdict(it))}\n" for it in capture(asked, sources, given.home)))
                sys.stdout.write(f"{file.name}\n")
                sys.stdout.flush()
        return
    learned_from, others = halves(captured(given.folder))
    learned = {name: learn(learned_from, name) for name in NAMES}
    for name, weights in learned.items():
        report(others, name, weights)
    told(others, learned)
    if given.out:
        given.out.write_text(text_of(learned), encoding="utf-8")


if __name__ == "__main__":
    main()
