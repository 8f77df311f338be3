"""`cqm eval`: ask questions with known answers of the indexes of their trees, as `cqm search` does."""

import json
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePath
from typing import NamedTuple

from cqm.index.evaluation.evaluation import BUDGETS, MEASURES, Judged, Span, Summary, Target, Topic, judge, summarise
from cqm.index.evaluation.topics import read_topics
from cqm.index.model.errors import TopicError
from cqm.index.model.freshness import NOT_KNOWN
from cqm.index.model.query import Query
from cqm.server.answers.render import shown_spans
from cqm.server.cli.eval_golden import compare_golden, write_golden
from cqm.server.cli.progress import bring_up_to_date
from cqm.server.config.settings import Settings
from cqm.server.console import emit, plain, say, visible
from cqm.server.errors import SettingsError
from cqm.server.owner.open import OpenedIndex, open_index


def totals(summaries: Sequence[Summary]) -> str:
    """Write a table for each level with figures, and a row for each group."""
    return "\n".join(filter(None, (_table(level, summaries) for level in MEASURES)))


def _table(level: str, summaries: Sequence[Summary]) -> str:
    """Write one level's table; empty when no group has a figure."""
    figures = [each.figures[level] for each in summaries]
    if all(value is None for row in figures for value in row.values()):
        return ""
    return "".join(f"{line}\n" for line in _lines(level, summaries))


def _lines(level: str, summaries: Sequence[Summary]) -> Iterator[str]:
    width = max(len(level), *(len(each.group) for each in summaries))
    names = list(MEASURES[level])
    yield f"| {level:{width}} | questions | {' | '.join(f'{name:>9}' for name in names)} |"
    yield f"|{'-' * (width + 2)}|{'|'.join(['----------:'] * (len(names) + 1))}|"
    for each in summaries:
        cells = " | ".join(_cell(each.figures[level][name]) for name in names)
        count = each.with_lines if level.startswith("span") else each.questions
        yield f"| {each.group:{width}} | {count:9} | {cells} |"


def _cell(value: float | None) -> str:
    return " " * 9 if value is None else f"{value:9.3f}"


RESULTS = 50
"""Results asked for: as a rule they include ten files."""
_MOST_MISSING = 5
"""Most targets without a file to name."""
_TREES = "repos.json"


@dataclass(frozen=True, slots=True)
class Asked:
    """Options of `cqm eval` on the command line.

    Attributes:
        root: the tree, or the folder of the trees named by the questions.
        only: required values of the questions' fields.
        results: file for the ranks of each question; None for none.
        golden: folder of golden files to compare with; None for none.
        accept: write the golden files instead.
    """

    questions: Path
    root: Path
    only: dict[str, str]
    results: Path | None
    golden: Path | None
    accept: bool
    as_json: bool


class Tree(NamedTuple):
    """A folder to ask, and a prefix turning its paths into those of the targets ("src/")."""

    folder: Path
    prefix: str


def evaluate(asked: Asked, settings_of: Callable[[Path], Settings]) -> int:
    """Ask all questions and print the measures; 1 when they differ from the golden files.

    Raises:
        TopicError: the file of questions is not valid, or has no wanted one.
    """
    topics = _wanted(asked)
    roots = inner_roots(asked.questions)
    judged: list[Judged] = []
    for name, some in _by_tree(topics).items():
        tree = _tree(asked.root, name, roots.get(name, ""))
        judged += _judged_of(tree, some, settings_of(tree.folder))
    if asked.results:
        asked.results.write_text("".join(f"{json.dumps(result)}\n" for result in map(_result, judged)), "utf-8")
    summaries = list(summarise(judged))
    if asked.as_json:
        emit([summary._asdict() for summary in summaries])
    else:
        sys.stdout.write(visible(totals(summaries)))
    return _against_golden(asked.golden, judged, totals(summaries), accept=asked.accept) if asked.golden else 0


def _wanted(asked: Asked) -> list[Topic]:
    """Read the questions, and keep those with the wanted values."""
    if not asked.questions.is_file():
        # A device or a pipe may go on for ever, and has no files beside it, such as one of roots.
        raise TopicError(f"{asked.questions}: expected a regular file.", remedy="Write the questions to one.")
    try:
        with asked.questions.open("rb") as lines:
            topics = list(read_topics(lines))
    except TopicError as error:
        raise TopicError(f"{asked.questions}: {error.message}", remedy=error.remedy) from error
    kept = [topic for topic in topics if all(getattr(topic, name) == value for name, value in asked.only.items())]
    if not kept:
        wanted = ", ".join(f"{name}={value}" for name, value in asked.only.items())
        raise TopicError(
            f"{asked.questions}: expected a question{' with ' if wanted else ''}{wanted}, found none.",
            remedy="Change --only." if wanted else "Name another file.",
        )
    return kept


def _by_tree(topics: Iterable[Topic]) -> dict[str, list[Topic]]:
    trees: dict[str, list[Topic]] = {}
    for topic in topics:
        trees.setdefault(topic.tree, []).append(topic)
    return trees


def inner_roots(questions: Path) -> dict[str, str]:
    """Read the searched folder of each tree from a `repos.json` beside the questions, as semble has one."""
    try:
        listed = json.loads(questions.with_name(_TREES).read_text(encoding="utf-8"))
        roots = {tree["name"]: tree["benchmark_root"] for tree in listed}
        return {name: PurePath(root).as_posix() if root else "" for name, root in roots.items()}
    except FileNotFoundError:
        return {}
    except (ValueError, TypeError, KeyError) as error:
        message = f"{questions.with_name(_TREES)}: expected a list of trees: {error}."
        raise TopicError(message, remedy='Write each as an object with "name" and "benchmark_root".') from error


def _tree(root: Path, name: str, inner: str) -> Tree:
    folder = root / name / inner
    # The names come with the questions, often from elsewhere: they may not make CQM index anything outside the root.
    if not folder.resolve().is_relative_to(root.resolve()):
        raise SettingsError(f"{folder}: expected a tree in {root}.", remedy="Correct the trees of the questions.")
    if not folder.is_dir():
        remedy = "Name the folder with the trees of the questions as ROOT."
        raise SettingsError(f"{folder}: expected a folder.", remedy=remedy)
    return Tree(folder.resolve(), f"{inner}/" if inner else "")


def _judged_of(tree: Tree, topics: Sequence[Topic], settings: Settings) -> Iterator[Judged]:
    """Bring the index of one tree up to date, and judge its questions."""
    with open_index(tree.folder, settings) as opened:
        if bring_up_to_date(opened).lacking:
            opened.improve()
        placed = [_in_place(topic, tree) for topic in topics]
        _tell_missing(tree, placed)
        for topic in placed:
            yield _judged(opened, tree, topic, settings)


def _tell_missing(tree: Tree, topics: Sequence[Topic]) -> None:
    """Name targets without a file: a renamed file or a typing error would look like a worse search."""
    paths = [(topic.id, target.path) for topic in topics for target in topic.targets]
    missing = [f"{name}: {path}" for name, path in paths if not (tree.folder / path.removeprefix(tree.prefix)).exists()]
    if missing:
        more = f", and {len(missing) - _MOST_MISSING} more" if len(missing) > _MOST_MISSING else ""
        say(f"{tree.folder} has no file for {', '.join(missing[:_MOST_MISSING])}{more}. Correct these targets.")


def _in_place(topic: Topic, tree: Tree) -> Topic:
    """Make all paths relative to the tree; some sets name files from the inner root."""
    if not tree.prefix:
        return topic
    return replace(topic, targets=tuple(_target_in_place(target, tree) for target in topic.targets))


def _target_in_place(target: Target, tree: Tree) -> Target:
    is_inner = not target.path.startswith(tree.prefix) and (tree.folder / target.path).exists()
    return target._replace(path=f"{tree.prefix}{target.path}") if is_inner else target


def _judged(opened: OpenedIndex, tree: Tree, topic: Topic, settings: Settings) -> Judged:
    query = Query(topic.text, limit=RESULTS, mode=settings.search.mode)
    answer = opened.search(query)
    if answer.degraded:
        say(f"{topic.id}: {answer.degraded}")
    # Its age must not change what fits into a budget.
    page = replace(answer, hits=answer.hits[: settings.search.limit], updated_at=time.time(), freshness=NOT_KNOWN)
    shown = {budget: _placed(tree, shown_spans(query, page, budget)) for budget in BUDGETS}
    return judge(topic, _placed(tree, [Span(hit.path, hit.start_line, hit.end_line) for hit in answer.hits]), shown)


def _placed(tree: Tree, spans: Iterable[Span]) -> list[Span]:
    """Put the tree's prefix before the paths, as the targets have it."""
    return [span._replace(path=f"{tree.prefix}{span.path}") for span in spans]


def _result(judged: Judged) -> object:
    """Make a line of the results: the ranks of a question's targets."""
    topic = judged.topic
    named = ("id", "tree", "language", "category", "split")
    return {
        **{name: getattr(topic, name) for name in named},
        "apart": topic.is_apart,
        "files": judged.files,
        "spans": judged.spans,
        "within": plain({budget: shares._asdict() for budget, shares in judged.within.items()}),
    }


def _against_golden(folder: Path, judged: Sequence[Judged], figures: str, *, accept: bool) -> int:
    if accept:
        write_golden(folder, judged, figures)
        return 0
    difference = compare_golden(folder, judged, figures)
    sys.stdout.write(visible(difference))
    return 1 if difference else 0
