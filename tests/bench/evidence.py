"""Capture what the searches of a set of questions find, once; rank it again and again, without an index.

Usage: python tests/bench/evidence.py capture QUESTIONS.jsonl TREES --out DIR [--home DIR]
       python tests/bench/evidence.py rank DIR TREES [--only FIELD=VALUE ...] [--without FEATURE ...]
                                                     [--again words reader]

`capture` indexes each tree of the questions (see `cqm eval` for their format) below a home of its own, which is kept
and updated by the next call, and writes DIR/TREE.pickle: for each question its `Evidence`, as `rank.rank` gets it, and
for each chunk of any what the manifest knows of it. `rank` ranks that with `rank.rank` as the working tree has it, and
prints the tables of `cqm eval`. A budget of tokens is spent on results in order: a line that names the place, then the
lines, the last result cut where the budget ends. With `--again`, the first results of sentences are read again, as a
search does: by their words, by the reader.

In a script:  for tree in captured(DIR): for topic, evidence in tree.asked: ...; tree.chunks[candidate.id]
"""

import argparse
import pickle
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

from cqm.chunkers.tokens import estimate
from cqm.index.engine import Index
from cqm.index.evaluation.evaluation import BUDGETS, Judged, Span, Topic, judge, summarise
from cqm.index.evaluation.topics import read_topics
from cqm.index.model.options import IndexOptions
from cqm.index.model.query import Query, SearchMode
from cqm.index.ranking import rank
from cqm.index.ranking.evidence import Candidate, Evidence
from cqm.index.ranking.exact import exact_first
from cqm.index.ranking.features import ChunkFeatures, FileFeatures
from cqm.index.ranking.question import read_question
from cqm.index.rerank.reader import READ, read_together
from cqm.index.rerank.words import DEPTH, LEAST_SENTENCE, read_again
from cqm.index.search.candidates import Wanted, for_question
from cqm.index.search.search import Searching, embedded
from cqm.server.cli.eval import inner_roots, totals

COLUMNS = ("id", "language", "kind", "symbol", "tokens", "position")
"""Of a chunk, beside those of a candidate."""
RESULTS = 50

AGAIN = {"words": (DEPTH, read_again), "reader": (READ, read_together)}
"""By name: how many results are read, and what orders them anew."""

Ordered = Callable[[Topic, Evidence, Path], Sequence[Candidate]]
"""Orders what was found for a question about a folder."""


@dataclass(frozen=True, slots=True)
class Captured:
    """A folder below the root: its questions with their evidence, and what is known of the chunks by id."""

    tree: str
    asked: list[tuple[Topic, Evidence]]
    chunks: Mapping[str, Mapping[str, Any]]


def captured(folder: Path) -> Iterator[Captured]:
    """Yield what was captured, tree by tree."""
    for path in sorted(folder.glob("*.pickle")):
        yield _load(path)


def _load(path: Path) -> Captured:
    return Captured(*pickle.loads(path.read_bytes()))


def read(questions: Path) -> dict[str, list[Topic]]:
    """Questions by the folder that is asked, below the root; their paths are relative to it."""
    roots = inner_roots(questions)
    by_tree: dict[str, list[Topic]] = {}
    with questions.open("rb") as lines:
        for topic in read_topics(lines):
            inner = roots.get(topic.tree, "")
            targets = tuple(each._replace(path=each.path.removeprefix(f"{inner}/")) for each in topic.targets)
            folder = "/".join(filter(None, (topic.tree, inner)))
            by_tree.setdefault(folder, []).append(replace(topic, targets=targets))
    return by_tree


def capture(by_tree: Mapping[str, Sequence[Topic]], root: Path, out: Path, home: Path) -> None:
    """Index the trees of questions, and keep what is found for each question."""
    for tree, some in by_tree.items():
        started = time.monotonic()
        with Index.open(root / tree, IndexOptions(home=home)) as index:
            summary = index.update()
            if summary.lacking:
                index.improve()
            indexed = time.monotonic()
            found = _captured(index, tree, some)
        (out / f"{tree.replace('/', '+') or 'all'}.pickle").write_bytes(
            pickle.dumps((found.tree, found.asked, found.chunks))
        )
        seconds = f"{indexed - started:.0f} s to index, {(time.monotonic() - indexed) / len(some) * 1e3:.1f} ms each"
        print(f"{tree}: {len(some)} questions, {len(found.chunks)} chunks found, {seconds}", flush=True)


def _captured(index: Index, tree: str, topics: Sequence[Topic]) -> Captured:
    seen: dict[Any, Any] = {}
    with index._lineage.reading() as serving:
        searching = Searching(serving, index._services.routes)
        asked = [(topic, _shared(_evidence(searching, topic.text), seen)) for topic in topics]
        ids = dict.fromkeys(chunk.id for _, evidence in asked for chunk in evidence.candidates)
        rows = serving.manifest.columns_of(ids, COLUMNS)
    return Captured(tree, asked, {row[0]: dict(zip(COLUMNS[1:], row[1:], strict=True)) for row in rows})


def _evidence(searching: Searching, text: str) -> Evidence:
    vectors, _ = embedded(searching, Query(text))
    mode = SearchMode.HYBRID if vectors else SearchMode.LEXICAL
    return for_question(searching.generation, Wanted(read_question(text), mode, vectors), 1).evidence


def _shared(evidence: Evidence, seen: dict[Any, Any]) -> Evidence:
    """With equal texts and candidates the same objects, so that they are written once."""

    def keys(scores: Mapping[str, float]) -> dict[str, float]:
        return {seen.setdefault(key, key): score for key, score in scores.items()}

    candidates = []
    for chunk in evidence.candidates:
        path, name = seen.setdefault(chunk.path, chunk.path), seen.setdefault(chunk.id, chunk.id)
        candidates.append(seen.setdefault(("chunk", name), replace(chunk, path=path, id=name)))
    return replace(
        evidence,
        candidates=tuple(candidates),
        terms=keys(evidence.terms),
        dense=tuple(map(keys, evidence.dense)),
        file_terms=keys(evidence.file_terms),
        path_terms=keys(evidence.path_terms),
        mentioning=frozenset(evidence.mentioning),
    )


def judged_of(tree: Captured, root: Path, order: Ordered) -> list[Judged]:
    """Judge the questions of a tree by an order of their candidates."""
    lines = partial(_tokens, root / tree.tree)
    judged = []
    for topic, evidence in tree.asked:
        found = [
            Span(each.path, each.start_line, each.end_line)
            for each in order(topic, evidence, root / tree.tree)[:RESULTS]
        ]
        judged.append(judge(topic, found, {budget: within(found, lines, budget) for budget in BUDGETS}))
    return judged


def within(found: Sequence[Span], tokens: Callable[[Span], Sequence[int]], budget: int) -> list[Span]:
    """Return what a text of so many tokens shows of results in order.

    Parameters:
        tokens: of the line that names a result, and of each of its lines.
    """
    shown = []
    for span in found:
        head, *lines = tokens(span)
        budget -= head
        kept = 0
        while kept < len(lines) and lines[kept] <= budget:
            budget -= lines[kept]
            kept += 1
        if kept:
            shown.append(span._replace(end=span.start + kept - 1))
        if kept < len(lines):
            break
    return shown


@lru_cache(maxsize=1 << 16)
def _tokens(folder: Path, span: Span) -> tuple[int, ...]:
    lines = _lines(folder, span.path)[span.start - 1 : span.end]
    return (estimate(f"{span.path}:{span.start}-{span.end}\n"), *map(_estimate, lines))


@lru_cache(maxsize=1 << 18)
def _estimate(line: str) -> int:
    return estimate(line + "\n")


@lru_cache(maxsize=1 << 11)
def _lines(folder: Path, path: str) -> list[str]:
    return (folder / path).read_text(encoding="utf-8", errors="replace").split("\n")


def by_rank(
    topic: Topic,
    evidence: Evidence,
    folder: Path,
    without: frozenset[str] = frozenset(),
    again: frozenset[str] = frozenset(),
) -> list[Candidate]:
    """The order of the results of a search.

    Parameters:
        folder: that is asked about.
        without: features left out; "repeat" stands for spreading over files.
        again: names of `AGAIN`.
    """
    question = read_question(topic.text)
    weights = rank.weights_for(question)
    own = [0.0 if name in without else it for name, it in zip(ChunkFeatures._fields, weights.own, strict=True)]
    of_file = [0.0 if name in without else it for name, it in zip(FileFeatures._fields, weights.of_file, strict=True)]
    left = rank.Weights(tuple(own), tuple(of_file), 0.0 if "repeat" in without else weights.repeat)
    ranked: Sequence[rank.Ranked] = rank.rank(question, evidence, left)
    if question.sentence >= LEAST_SENTENCE and not question.symbol:
        for depth, read in (each for name, each in AGAIN.items() if name in again):
            chunks = [entry.candidate for entry in ranked[:depth]]
            texts = ["\n".join(_lines(folder, it.path)[it.start_line - 1 : it.end_line]) for it in chunks]
            ranked = read(question, ranked, texts)
    return [each.candidate for each in exact_first(question, ranked)]


def judge_file(path: Path, root: Path, order: Ordered, only: Mapping[str, str]) -> list[Judged]:
    """Judge the questions of one file that was captured."""
    tree = _load(path)
    asked = [each for each in tree.asked if all(getattr(each[0], name) == value for name, value in only.items())]
    return judged_of(replace(tree, asked=asked), root, order)


def judge_all(folder: Path, root: Path, order: Ordered, only: Mapping[str, str]) -> list[Judged]:
    """Judge all questions that were captured, in two processes."""
    paths = sorted(folder.glob("*.pickle"), key=lambda path: -path.stat().st_size)
    with ProcessPoolExecutor(2) as pool:
        return [
            each for some in pool.map(partial(judge_file, root=root, order=order, only=only), paths) for each in some
        ]


def main() -> None:
    """Capture, or rank what was captured."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    capturing = commands.add_parser("capture")
    capturing.add_argument("questions", type=Path)
    capturing.add_argument("trees", type=Path)
    capturing.add_argument("--out", type=Path, required=True)
    capturing.add_argument("--home", type=Path)
    ranking = commands.add_parser("rank")
    ranking.add_argument("captured", type=Path)
    ranking.add_argument("trees", type=Path)
    ranking.add_argument("--only", action="append", default=[], metavar="FIELD=VALUE")
    ranking.add_argument("--without", nargs="+", default=[], metavar="FEATURE")
    ranking.add_argument("--again", nargs="+", default=[], choices=[*AGAIN])
    given = parser.parse_args()
    if given.command == "capture":
        given.out.mkdir(parents=True, exist_ok=True)
        capture(read(given.questions), given.trees, given.out, given.home or given.out / "home")
        return
    order = partial(by_rank, without=frozenset(given.without), again=frozenset(given.again))
    only = dict(each.split("=", 1) for each in given.only)
    print(totals(list(summarise(judge_all(given.captured, given.trees, order, only)))))


if __name__ == "__main__":
    main()
