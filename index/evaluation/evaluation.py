"""Judge search by questions with known answers: ranks of files and lines, and measures by group."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from math import fsum
from typing import NamedTuple

from cqm.index.evaluation.metrics import Rank, ndcg, passes, recall, reciprocal_rank

DEPTH = 10
BUDGETS = (500, 1000, 2000, 4000)
"""Token budgets for measuring recall; an agent pays for tokens."""


class Span(NamedTuple):
    """Lines of a file, 1-based and inclusive."""

    path: str
    start: int
    end: int


class Target(NamedTuple):
    """The answer to a question: lines of a file, or the whole file."""

    path: str
    start: int | None = None
    end: int | None = None


@dataclass(frozen=True, slots=True)
class Topic:
    """A question with its targets; the term is TREC's.

    Attributes:
        tree: the folder to search, below the root; empty for the root itself.
        targets: at least one; paths are relative to the tree.
        split: part of the set, such as "train"; empty if the set is not split.
        is_apart: whether the question shares no word with the path or a name of a target; None if unknown.
    """

    id: str
    text: str
    tree: str
    language: str
    category: str
    targets: tuple[Target, ...]
    split: str = ""
    is_apart: bool | None = None


class Within(NamedTuple):
    """Shares of a question's targets shown within a budget of tokens; None without spans.

    Attributes:
        files: share of targets with any line of their file shown.
        spans: share of targets shown by the measure of `shows`; of a long one, a few lines may do.
        lines: mean share of each target's lines.
    """

    files: float
    spans: float | None
    lines: float | None


@dataclass(frozen=True, slots=True)
class Judged:
    """A question with the ranks of its targets.

    Attributes:
        files: rank of each target's file among the unique files.
        spans: rank of the first result showing each target with lines; empty if no target has lines.
        within: recall under each budget of tokens.
    """

    topic: Topic
    files: tuple[Rank, ...]
    spans: tuple[Rank, ...]
    within: Mapping[int, Within]


def judge(topic: Topic, found: Sequence[Span], shown: Mapping[int, Sequence[Span]]) -> Judged:
    """Find the ranks of a question's targets.

    Parameters:
        found: the results, best first.
        shown: the lines shown within each budget of tokens.
    """
    within = {budget: _within(topic, spans) for budget, spans in shown.items()}
    return Judged(topic, file_ranks(topic, found), span_ranks(topic, found), within)


def file_ranks(topic: Topic, found: Iterable[Span]) -> tuple[Rank, ...]:
    """Find the rank of each target's file among the unique files in order."""
    places = {path: rank for rank, path in enumerate(dict.fromkeys(span.path for span in found), start=1)}
    return tuple(places.get(target.path) for target in topic.targets)


def span_ranks(topic: Topic, found: Sequence[Span]) -> tuple[Rank, ...]:
    """Find the rank of the first result showing each target with lines."""
    spans = _spans(topic)
    return tuple(next((rank for rank, each in enumerate(found, 1) if shows(each, span)), None) for span in spans)


def shows(found: Span, target: Span) -> bool:
    """Whether result and target share at least half of the lines of the shorter one."""
    if found.path != target.path:
        return False
    common = min(found.end, target.end) - max(found.start, target.start) + 1
    return 2 * common >= min(found.end - found.start, target.end - target.start) + 1


def _spans(topic: Topic) -> list[Span]:
    return [Span(path, start, end) for path, start, end in topic.targets if start is not None and end is not None]


def _within(topic: Topic, shown: Sequence[Span]) -> Within:
    files, spans = file_ranks(topic, shown), span_ranks(topic, shown)
    everything = max(len(shown), 1)
    if not spans:
        return Within(recall(files, everything), None, None)
    return Within(
        recall(files, everything), recall(spans, everything), _average([_share(it, shown) for it in _spans(topic)])
    )


def _share(target: Span, shown: Sequence[Span]) -> float:
    """Share of a target's lines shown."""
    ranges = (range(max(it.start, target.start), min(it.end, target.end) + 1) for it in shown if it.path == target.path)
    return len({line for lines in ranges for line in lines}) / (target.end - target.start + 1)


Measure = Callable[[Judged], float | None]
"""A figure of one question; None if it has none at this level."""


def _of_files(measure: Callable[[Sequence[Rank], int], float], depth: int, judged: Judged) -> float | None:
    return measure(judged.files, depth)


def _of_spans(measure: Callable[[Sequence[Rank], int], float], depth: int, judged: Judged) -> float | None:
    return measure(judged.spans, depth) if judged.spans else None


def _files_within(budget: int, judged: Judged) -> float | None:
    return judged.within[budget].files


def _spans_within(budget: int, judged: Judged) -> float | None:
    return judged.within[budget].spans


def _lines_within(budget: int, judged: Judged) -> float | None:
    return judged.within[budget].lines


_RANKED = (
    ("NDCG@10", ndcg, DEPTH),
    ("MRR@10", reciprocal_rank, DEPTH),
    *((f"Recall@{depth}", recall, depth) for depth in (5, 10, 20, 50)),
    *((f"Pass@{depth}", passes, depth) for depth in (1, 5, 10)),
)
MEASURES: Mapping[str, Mapping[str, Measure]] = {
    "file": {name: partial(_of_files, measure, depth) for name, measure, depth in _RANKED},
    "span": {name: partial(_of_spans, measure, depth) for name, measure, depth in _RANKED},
    "file recall within tokens": {str(budget): partial(_files_within, budget) for budget in BUDGETS},
    "span recall within tokens": {str(budget): partial(_spans_within, budget) for budget in BUDGETS},
    "line recall within tokens": {str(budget): partial(_lines_within, budget) for budget in BUDGETS},
}
"""All figures of a question, by level and name."""


class Summary(NamedTuple):
    """The means over a group of questions.

    Attributes:
        group: its name, such as "language go"; "all" for all questions.
        questions: their number.
        with_lines: number of questions having a target with lines; figures of spans cover only these.
        figures: by the levels and names of `MEASURES`; None if no question has one.
    """

    group: str
    questions: int
    with_lines: int
    figures: Mapping[str, Mapping[str, float | None]]


def summarise(judged: Sequence[Judged]) -> Iterator[Summary]:
    """Yield the means over all questions, over trees, and over each language, category, split and so on."""
    yield _summary("all", judged)
    if len(trees := _grouped(judged, lambda topic: topic.tree)) > 1:
        yield _mean_of([_summary(name, some) for name, some in trees.items()])
    for name, key in _GROUPS.items():
        groups = _grouped(judged, key)
        yield from (_summary(f"{name} {value}", groups[value]) for value in sorted(groups) if value)


def _apart(topic: Topic) -> str:
    return "" if topic.is_apart is None else ("no word in a name" if topic.is_apart else "words in names")


_GROUPS: Mapping[str, Callable[[Topic], str]] = {
    "language": lambda topic: topic.language,
    "category": lambda topic: topic.category,
    "split": lambda topic: topic.split,
    "apart:": _apart,
}


def _grouped(judged: Iterable[Judged], key: Callable[[Topic], str]) -> dict[str, list[Judged]]:
    groups: dict[str, list[Judged]] = {}
    for each in judged:
        groups.setdefault(key(each.topic), []).append(each)
    return groups


def _summary(group: str, judged: Sequence[Judged]) -> Summary:
    figures = {
        level: {name: _mean(map(measure, judged)) for name, measure in measures.items()}
        for level, measures in MEASURES.items()
    }
    return Summary(group, len(judged), sum(bool(each.spans) for each in judged), figures)


def _mean_of(summaries: Sequence[Summary]) -> Summary:
    """Average over trees; each counts the same."""
    figures = {
        level: {name: _mean(each.figures[level][name] for each in summaries) for name in measures}
        for level, measures in MEASURES.items()
    }
    counts = (sum(each.questions for each in summaries), sum(each.with_lines for each in summaries))
    return Summary("mean of trees", *counts, figures)


def _mean(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return _average(known) if known else None


def _average(values: Sequence[float]) -> float:
    # `statistics` takes 40 ms to import, in each command showing an answer.
    return fsum(values) / len(values)
