"""The cost of a search: CPU milliseconds of each stage, peak memory, and searches per second by threads.

The folder's index is made, or brought up to date, first. Every question is asked once, so that no answer cache helps.
CPU is that of the whole process, the store's own threads included. The cache is off. With --stages the questions are
asked twice: at first nothing of their chunks is remembered.

  search_cost.py FOLDER QUESTIONS.jsonl [--home DIR] [--limit 10] [--threads 1,2,4,8] [--stages] [--edits 40]
    [--hits FILE.json]
"""

import argparse
import json
import resource
import statistics
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from itertools import cycle
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

from cqm.index.engine import Index
from cqm.index.generations.candidate_cache import Candidates
from cqm.index.model.options import CacheOptions, IndexOptions
from cqm.index.model.query import Answer, Query
from cqm.index.ranking import rank
from cqm.index.search import search
from cqm.index.store.base import Nearest
from cqm.index.store.edge import EdgeStore
from cqm.index.text.terms import SparseTerms
from cqm.server.answers.render import render_answer

Times = dict[str, list[float]]

REPLY_TOKENS = 4_000

STAGES: tuple[tuple[Any, str, str], ...] = (
    (search, "_read", "question"),
    (search, "embedded", "vector of the question"),
    (search, "for_question", "candidates"),
    (EdgeStore, "payloads", "payloads"),
    (Candidates, "of", "fetch"),
    (Candidates, "paths", "fetch"),
    (rank, "features", "features"),
    (search, "rank", "ranking"),
    (search, "exact_first", "ranking"),
    (search, "_read_again", "reader"),
    (search, "_judgement", "confidence"),
    (search, "hits_of", "hits"),
    (search, "parents_of", "hits"),
)
"""Functions by their places, each with the stage that it is of; what they call counts for the stage of that."""


class Clock:
    """CPU milliseconds by stage: each moment counts for the innermost stage."""

    def __init__(self) -> None:
        self.spent: dict[str, float] = defaultdict(float)
        self._within = ["the rest"]
        self._since = time.process_time()

    def turn(self) -> None:
        """Count the time since the last turn for the stage that it is."""
        now = time.process_time()
        self.spent[self._within[-1]] += (now - self._since) * 1e3
        self._since = now

    def timed(self, stage: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return a function whose time counts for a stage."""

        def call(*arguments: Any, **named: Any) -> Any:
            self.turn()
            self._within.append(stage)
            try:
                return function(*arguments, **named)
            finally:
                self.turn()
                self._within.pop()

        return call


def stages(index: Index, questions: Sequence[str], limit: int) -> Times:
    """CPU milliseconds of the stages of each search, and of the text of its answer.

    Searches by words and by vectors, which the store does together, are done apart here.
    """
    clock = Clock()
    found = EdgeStore.search
    by_words, by_vector = (clock.timed(stage, found) for stage in ("sparse", "dense"))

    def apart(store: EdgeStore, searches: Sequence[Nearest]) -> list[dict[str, float]]:
        are_words = [isinstance(it.vector, SparseTerms) for it in searches]
        words = iter(by_words(store, [it for it, is_words in zip(searches, are_words, strict=True) if is_words]))
        dense = [it for it, is_words in zip(searches, are_words, strict=True) if not is_words]
        vectors = iter(by_vector(store, dense) if dense else ())
        return [next(words if is_words else vectors) for is_words in are_words]

    with ExitStack() as patched:
        for place, name, stage in STAGES:
            patched.enter_context(patch.object(place, name, clock.timed(stage, getattr(place, name))))
        patched.enter_context(patch.object(EdgeStore, "search", apart))
        reply = clock.timed("reply", render_answer)
        of_query: Times = defaultdict(list)
        for number, question in enumerate(questions):
            clock.turn()
            clock.spent.clear()
            query = Query(question, limit=limit)
            reply(query, index.search(query), REPLY_TOKENS)
            clock.turn()
            for stage in {*clock.spent, *of_query}:
                of_query[stage] += [0.0] * (number - len(of_query[stage])) + [clock.spent.get(stage, 0.0)]
    return of_query


def whole(index: Index, questions: Sequence[str], limit: int) -> tuple[list[float], list[Answer]]:
    """CPU milliseconds of whole searches, and their answers."""
    times, answers = [], []
    for question in questions:
        started = time.process_time()
        answers.append(index.search(Query(question, limit=limit)))
        times.append((time.process_time() - started) * 1e3)
    return times, answers


def rate(index: Index, questions: Sequence[str], limit: int, threads: int) -> tuple[float, float]:
    """Searches per second by so many threads, and the CPU milliseconds of one."""
    started, cpu = time.perf_counter(), time.process_time()
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(lambda question: index.search(Query(question, limit=limit)), questions))
    return (
        len(questions) / (time.perf_counter() - started),
        (time.process_time() - cpu) / len(questions) * 1e3,
    )


def edits(index: Index, questions: Sequence[str], count: int, threads: int) -> list[float]:
    """Milliseconds from the write of a file to the search that shows it, while threads search back to back."""
    done = threading.Event()

    def search() -> None:
        for question in cycle(questions):
            if done.is_set():
                return
            index.search(Query(question))

    times = []
    with ThreadPoolExecutor(max(threads, 1)) as pool, TemporaryDirectory(dir=index.root) as folder:
        searching = [pool.submit(search) for _ in range(threads)]
        try:
            for number in range(count):
                file, word = Path(folder, f"file{number % 5}.py"), f"zqword{number:05}"
                started = time.perf_counter()
                file.write_text(f"def {word}(value):\n    return value\n", encoding="utf-8")
                index.update([file])
                hits = index.search(Query(word, limit=3)).hits
                times.append((time.perf_counter() - started) * 1e3)
                if not hits or word not in hits[0].text:
                    raise SystemExit(f"The search for {word} does not show it.")
        finally:
            done.set()
        for future in searching:
            future.result()
    index.update()
    return times


def print_row(name: str, values: Sequence[float]) -> None:
    """A row of the table: median, 95th percentile, mean."""
    ordered = sorted(values)
    p95 = ordered[min(len(ordered) - 1, int(len(ordered) * 0.95))]
    print(f"{name:<28}{statistics.median(ordered):8.2f}{p95:8.2f}{statistics.fmean(ordered):8.2f}", flush=True)


def main() -> None:
    """Parse the command line and run."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("questions", type=Path, help='JSON lines, each with a "query"')
    parser.add_argument("--home", type=Path)
    parser.add_argument("--limit", type=int, default=10)
    parser.add_argument("--count", type=int, default=300, help="questions to ask")
    parser.add_argument("--threads", default="1,2,4,8")
    parser.add_argument("--stages", action="store_true", help="tell the stages of searches asked for the first time")
    parser.add_argument(
        "--edits", type=int, default=0, help="files to write into the folder, and delete, while 4 threads search"
    )
    parser.add_argument("--hits", type=Path, help="where to write the answers, to compare with those of another run")
    arguments = parser.parse_args()
    lines = arguments.questions.read_text(encoding="utf-8").splitlines()
    asked = list(dict.fromkeys(json.loads(line)["query"] for line in lines))[: arguments.count]
    options = IndexOptions(home=arguments.home, cache=CacheOptions(enabled=False))
    with Index.open(arguments.folder, options) as index:
        index.update()
        opened = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        for question in asked[:10]:
            index.search(Query(question))
        of_stages = stages(index, asked, arguments.limit) if arguments.stages else {}
        times, answers = whole(index, asked, arguments.limit)
        chunks = answers[0].chunks
        print(
            f"{chunks:,} chunks; milliseconds of CPU a search, {len(asked)} questions\n{'':28}     p50     p95    mean"
        )
        print_row("asked again" if of_stages else "Index.search", times)
        if of_stages:
            print_row("asked first, with the reply", [sum(it) for it in zip(*of_stages.values(), strict=True)])
        for name, values in sorted(of_stages.items(), key=lambda it: -statistics.fmean(it[1])):
            print_row(f"  {name}", values)
        for threads in map(int, filter(None, arguments.threads.split(","))):
            per_second, cpu = rate(index, asked, arguments.limit, threads)
            print(f"{threads} threads: {per_second:6.1f} searches/s, {cpu:5.1f} ms of CPU each", flush=True)
        if arguments.edits:
            print("milliseconds from a write to a search that shows it")
            for threads in (0, 4):
                print_row(f"while {threads} threads search", edits(index, asked, arguments.edits, threads))
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(f"peak memory {peak:.0f} MB, {opened:.0f} after opening; per 100,000 chunks {peak / chunks * 1e5:.0f} MB")
    if arguments.hits:
        shown = {q: [(h.path, h.start_line, h.score) for h in a.hits] for q, a in zip(asked, answers, strict=True)}
        arguments.hits.write_text(json.dumps(shown), encoding="utf-8")


if __name__ == "__main__":
    main()
