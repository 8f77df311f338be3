"""Measure search by span: sentences of doc comments are asked of code without them; are the functions found?

Usage: python tests/bench/spans.py --work DIR [--ollama URL] [--model NAME] [--without-header]
           [--context-model NAME --chat URL] [--dense | --only PACKAGE ...] [--results FILE]

The packages of spans_packages.py are fetched into DIR, once; all of their code becomes one tree, and spans_set.py makes
the questions. The tree is indexed afresh for each embedder, and each index answers all questions in each mode. The mode
"cosine" is no mode of ours: the order of all chunks by nothing but their vectors, to compare models and headers by.

A result hits when it covers at least half of the function's lines, or when at least half of its own lie in it. Only
the first hit counts. Each question has one target, so Recall@10 is Pass@10. Files count at their first result.
Questions are "apart" when no word of theirs stands in the target's path or qualified name.

--without-header embeds chunks once more without what index/text/headers.py puts before them; their terms keep it.
--context-model has a chat model write contexts too, through OpenAI's protocol at URL (its key in CHAT_KEY), which takes
seconds a chunk: name a few packages with --only. --dense asks a thousand questions about less than half of the chunks.
FILE gets a line per question, embedder and mode, with the ranks from 0 of file and function.
"""

import argparse
import json
import math
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from statistics import fmean
from typing import Any
from unittest.mock import patch

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))

from spans_packages import DENSE, PACKAGES, Package, unpacked
from spans_set import Question, chosen, counts, strip_tree

from cqm.chunkers.chunking import chunk
from cqm.chunkers.model import Chunk, ChunkOptions, Document
from cqm.chunkers.text_of_file import read_text
from cqm.index.embedding import PROVIDERS, open_embedder
from cqm.index.embedding.service.base import Embedder
from cqm.index.engine import Index
from cqm.index.model.options import ContextOptions, EmbeddingOptions, IndexOptions, RouteOptions
from cqm.index.model.progress import UpdateSummary
from cqm.index.model.query import Hit, Query, SearchMode
from cqm.index.model.spaces import Embeddings, PlacedVector, Space
from cqm.index.text.headers import dense_text

DEPTH = 10
RESULTS = 50
"""Asked for, so that there are ten files among them."""
PASSES = (1, 5, 20)
CAP, DENSE_CAP = 60, 100
"""Questions of a package at most."""
MOST_SECONDS = 60.0
"""For the vector of a question."""

Rank = int | None
"""From 0; None for what was not found."""


RULES = ContextOptions()


@dataclass(frozen=True, slots=True)
class Setup:
    """A measured embedder, whether it gets headers, who writes contexts, and the modes of the questions."""

    name: str
    embedding: EmbeddingOptions
    has_headers: bool = True
    context: ContextOptions = RULES
    modes: tuple[SearchMode, ...] = (SearchMode.HYBRID, SearchMode.SEMANTIC)

    def options(self, home: Path) -> IndexOptions:
        """The index's options, which wait for a slow model where people would not."""
        patient = RouteOptions(query_seconds=MOST_SECONDS)
        return IndexOptions(home=home, embedding=self.embedding, context=self.context, routes=patient)


@dataclass(frozen=True, slots=True)
class Answered:
    """A question with the ranks of its file and its function."""

    question: Question
    file: Rank
    span: Rank


@dataclass(frozen=True, slots=True)
class Run:
    """All that one setup did in one mode: its answers, what building its index took, and the seconds of a question."""

    name: str
    mode: str
    answered: tuple[Answered, ...]
    summary: UpdateSummary
    question_seconds: float


class Observed:
    """An embedder that keeps the vectors of chunks by the texts that it was given, and may embed others instead.

    Parameters:
        inner: the embedder that does the work.
        instead: what to embed by what was given; empty to embed what was given.
    """

    def __init__(self, inner: Embedder, instead: Mapping[str, str]) -> None:
        self._inner = inner
        self._instead = instead
        self.vectors: dict[str, Any] = {}

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def space(self) -> Space:
        space = self._inner.space()
        return replace(space, provider=f"headerless-{space.provider}") if self._instead else space

    def embed_documents(self, texts: Sequence[str]) -> Embeddings:
        embeddings = self._inner.embed_documents([self._instead[text] for text in texts] if self._instead else texts)
        self.vectors.update(zip(texts, embeddings.by_text(), strict=True))
        return replace(embeddings, space=self.space())

    def embed_query(self, text: str) -> PlacedVector:
        return self._inner.embed_query(text)._replace(space=self.space())


@contextmanager
def observed(embedding: EmbeddingOptions, instead: Mapping[str, str]) -> Iterator[Observed | None]:
    """Have every embedder of these options be one that can be looked at; None where the provider has none."""
    inner = open_embedder(embedding, variables=os.environ)
    looked_at = Observed(inner, instead) if inner else None
    with patch.dict(PROVIDERS, {embedding.provider: lambda *_: looked_at}):
        yield looked_at


def make_set(work: Path, packages: Sequence[Package], cap: int) -> tuple[Path, list[Question]]:
    """The tree to index and its questions."""
    tree = work / "tree"
    shutil.rmtree(tree, ignore_errors=True)
    found = [each for one in packages for each in strip_tree(unpacked(one, work / "packages"), tree, one.key)]
    return tree, chosen(found, tree, cap)


def chunks_of(tree: Path) -> Iterator[Chunk]:
    """The chunks that an index of the tree holds."""
    for path in sorted(path for path in tree.rglob("*") if path.is_file()):
        text = read_text(path.name, path.read_bytes()).text
        yield from chunk(Document(path.relative_to(tree).as_posix(), text), ChunkOptions()).chunks


def setups(given: argparse.Namespace) -> Iterator[Setup]:
    """Yield what is measured, in order."""
    yield Setup("lexical", EmbeddingOptions(provider="none"), modes=(SearchMode.LEXICAL,))
    embedders = {"embedded": EmbeddingOptions()}
    if given.ollama:
        embedders[given.model] = EmbeddingOptions(provider="ollama", model=given.model, base_url=given.ollama)
    for name, embedding in embedders.items():
        yield Setup(name, embedding)
        if given.without_header:
            yield Setup(f"{name}, no header", embedding, has_headers=False)
        if given.context_model:
            written = ContextOptions("openai", given.context_model, given.chat, "CHAT_KEY", timeout_seconds=300)
            yield Setup(f"{name}, contexts by {given.context_model}", embedding, context=written)


def measured(setup: Setup, tree: Path, questions: Sequence[Question], chunks: Sequence[Chunk]) -> Iterator[Run]:
    """Index the tree in a home of its own and ask all questions in each mode."""
    instead = {} if setup.has_headers else {dense_text(part): part.content or part.text for part in chunks}
    with tempfile.TemporaryDirectory() as home, observed(setup.embedding, instead) as embedder:
        with Index.open(tree, setup.options(Path(home))) as index:
            summary = built(index)
            for mode in setup.modes:
                yield run(setup, mode, questions, summary, partial(search, index, mode=mode))
        if embedder and setup.context is RULES:
            nearest = by_cosine(embedder, chunks)
            yield run(setup, "cosine", questions, summary, nearest)


def built(index: Index) -> UpdateSummary:
    """Return what it took to index the tree, with what an update leaves for later."""
    summary = index.update()
    if summary.failed:
        sys.exit(f"{summary.failed[0].path}: {summary.failed[0].reason}")
    if not summary.lacking:
        return summary
    later = index.improve()
    both = summary.embedded + later.embedded
    return replace(summary, embedded=both, lacking=later.lacking, seconds=summary.seconds + later.seconds)


def run(
    setup: Setup,
    mode: str,
    questions: Sequence[Question],
    summary: UpdateSummary,
    find: Callable[[str], Sequence[Hit | Chunk]],
) -> Run:
    """Ask all questions in one way."""
    started = time.monotonic()
    answered = tuple(judged(question, find(question.text)) for question in questions)
    return Run(setup.name, mode, answered, summary, (time.monotonic() - started) / len(questions))


def search(index: Index, text: str, mode: SearchMode) -> Sequence[Hit]:
    """The best results of an index."""
    found = index.search(Query(text, limit=RESULTS, mode=mode))
    if found.degraded:
        sys.exit(f"{text!r}: {found.degraded}")
    return found.hits


def by_cosine(embedder: Observed, chunks: Sequence[Chunk]) -> Callable[[str], Sequence[Chunk]]:
    """Return what finds the chunks whose vectors are nearest to a question's."""
    embedded = [part for part in chunks if embedder.vectors.get(dense_text(part)) is not None]
    matrix = np.stack([embedder.vectors[dense_text(part)] for part in embedded])

    def find(text: str) -> list[Chunk]:
        cosines = matrix @ embedder.embed_query(text).vector
        return [embedded[place] for place in np.argsort(-cosines, kind="stable")[:RESULTS]]

    return find


def judged(question: Question, found: Sequence[Hit | Chunk]) -> Answered:
    """Where the question's file and function stand among what was found."""
    files = dict.fromkeys(each.path for each in found)
    file = next((rank for rank, path in enumerate(files) if path == question.path), None)
    return Answered(question, file, next((rank for rank, each in enumerate(found) if is_hit(each, question)), None))


def is_hit(found: Hit | Chunk, question: Question) -> bool:
    """Whether a result shows the function: half of it, or little else."""
    if found.path != question.path:
        return False
    common = min(found.end_line, question.end_line) - max(found.start_line, question.start_line) + 1
    shorter = min(found.end_line - found.start_line, question.end_line - question.start_line) + 1
    return 2 * common >= shorter


def ndcg(rank: Rank) -> float:
    """NDCG@10 of a single target."""
    return 1 / math.log2(rank + 2) if rank is not None and rank < DEPTH else 0.0


def reciprocal(rank: Rank) -> float:
    """MRR@10 of a single target."""
    return 1 / (rank + 1) if rank is not None and rank < DEPTH else 0.0


def within(depth: int) -> Callable[[Rank], float]:
    """Recall and Pass of a single target."""
    return lambda rank: float(rank is not None and rank < depth)


MEASURES: Mapping[str, Callable[[Rank], float]] = {"NDCG@10": ndcg, "MRR@10": reciprocal, "Recall@10": within(DEPTH)}
SPAN_MEASURES = {**MEASURES, **{f"Pass@{depth}": within(depth) for depth in PASSES}}


def print_rows(title: str, columns: Sequence[str], rows: Iterable[tuple[Run, Sequence[str]]]) -> None:
    """A table in Markdown."""
    print(f"\n{title}\n\n| embedder | mode | {' | '.join(columns)} |\n|---|---|{'---:|' * len(columns)}")
    for run, cells in rows:
        print(f"| {run.name} | {run.mode} | {' | '.join(cells)} |")


def means(run: Run, keep: Callable[[Question], bool]) -> list[str]:
    """All measures of the questions that are kept; empty cells where there are none."""
    kept = [each for each in run.answered if keep(each.question)]
    cells = [mean(measure(each.file) for each in kept) for measure in MEASURES.values()]
    return cells + [mean(measure(each.span) for each in kept) for measure in SPAN_MEASURES.values()]


def mean(values: Iterable[float]) -> str:
    """The mean as a cell of a table; empty when there is nothing to average."""
    known = list(values)
    return f"{fmean(known):.3f}" if known else ""


def print_tables(runs: Sequence[Run], questions: Sequence[Question]) -> None:
    """Everything that was measured."""
    columns = [*(f"file {name}" for name in MEASURES), *(f"span {name}" for name in SPAN_MEASURES)]
    apart = sum(question.is_apart for question in questions)
    print_rows(f"all {len(questions)} questions", columns, [(run, means(run, lambda _: True)) for run in runs])
    print_rows(f"the {apart} apart", columns, [(run, means(run, lambda question: question.is_apart)) for run in runs])
    languages = sorted(counts(questions).items())
    by_language = [(run, spans_by_language(run, [name for name, _ in languages])) for run in runs]
    print_rows("span NDCG@10 by language", [f"{name} ({count})" for name, count in languages], by_language)
    columns = ["indexed in, s", "embedded", "lacking", "a question, ms"]
    print_rows("work done", columns, [(run, work_of(run)) for run in runs])


def spans_by_language(run: Run, languages: Sequence[str]) -> list[str]:
    """NDCG@10 of spans for the questions of each language."""
    return [mean(ndcg(each.span) for each in run.answered if each.question.language == name) for name in languages]


def work_of(run: Run) -> list[str]:
    """Seconds of the index, texts embedded, chunks without their vector or written context, milliseconds a question."""
    done = run.summary
    return [f"{done.seconds:.1f}", str(done.embedded), str(done.lacking), f"{run.question_seconds * 1e3:.1f}"]


def main() -> None:
    """Make the set, measure and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--ollama", default="", metavar="URL")
    parser.add_argument("--model", default="all-minilm")
    parser.add_argument("--context-model", default="", metavar="NAME")
    parser.add_argument("--chat", default="", metavar="URL")
    parser.add_argument("--only", nargs="+", choices=[one.key for one in PACKAGES], metavar="PACKAGE", default=())
    parser.add_argument("--dense", action="store_true")
    parser.add_argument("--without-header", action="store_true")
    parser.add_argument("--results", type=Path)
    given = parser.parse_args()
    keys = DENSE if given.dense else given.only
    packages = [one for one in PACKAGES if not keys or one.key in keys]
    tree, questions = make_set(given.work.resolve(), packages, DENSE_CAP if given.dense else CAP)
    chunks = list(chunks_of(tree))
    print(f"{len(questions)} questions over {len(chunks)} chunks of {len(packages)} packages", flush=True)
    runs: list[Run] = []
    for setup in setups(given):
        runs += measured(setup, tree, questions, chunks)
        print(f"{setup.name} done", file=sys.stderr, flush=True)
    if given.results:
        lines = (json.dumps({"name": one.name, "mode": one.mode, **asdict(it)}) for one in runs for it in one.answered)
        given.results.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    print_tables(runs, questions)


if __name__ == "__main__":
    main()
