"""The cost of a search: CPU milliseconds of each stage, peak memory, and searches per second by threads.

The folder's index is made, or brought up to date, first. Every question is asked once, so that no answer cache helps.
CPU is that of the whole process, the store's own threads included. The cache is off.

  search_cost.py FOLDER QUESTIONS.jsonl [--home DIR] [--limit 10] [--threads 1,2,4,8] [--edits 40] [--hits FILE.json]
"""

import argparse
import json
import os
import resource
import statistics
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import cycle
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from cqm.index.cache import open_cache
from cqm.index.embedding.opening import open_routes
from cqm.index.engine import Index
from cqm.index.generations.folders import current_name
from cqm.index.generations.generation import open_generation
from cqm.index.model.options import CacheOptions, IndexOptions
from cqm.index.model.query import Answer, Query
from cqm.index.search.search import Searching, find

Times = dict[str, list[float]]

RANKING = "ranking and the rest"


class Timed:
    """An object whose methods note the CPU time of each call."""

    def __init__(self, timed: Any, times: Times) -> None:
        self._timed = timed
        self._times = times

    def __getattr__(self, name: str) -> Callable[..., Any]:
        method = getattr(self._timed, name)

        def call(*arguments: Any, **named: Any) -> Any:
            started = time.process_time()
            try:
                return method(*arguments, **named)
            finally:
                self._times[name].append((time.process_time() - started) * 1e3)

        return call


def stages(index: Index, questions: Sequence[str], limit: int) -> Times:
    """CPU milliseconds of the stages of each search; those of a stage that comes twice are added up."""
    cache = open_cache(index.options.cache, index.folder, variables=os.environ)
    routes = open_routes(index.options, cache, variables=os.environ)
    generation = open_generation(index.folder, current_name(index.folder), index.options, variables=os.environ)
    of_query: Times = defaultdict(list)
    try:
        for question in questions:
            times: Times = defaultdict(list)
            timed = replace(
                generation, store=Timed(generation.store, times), candidates=Timed(generation.candidates, times)
            )
            started = time.process_time()
            find(Searching(timed, Timed(routes, times)), Query(question, limit=limit))
            whole = (time.process_time() - started) * 1e3
            for name, values in times.items():
                of_query[name].append(sum(values))
            of_query[RANKING].append(whole - sum(map(sum, times.values())))
            of_query["all stages"].append(whole)
    finally:
        generation.close()
        if routes:
            routes.close()
        cache.close()
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
        times, answers = whole(index, asked, arguments.limit)
        chunks = answers[0].chunks
        print(
            f"{chunks:,} chunks; milliseconds of CPU a search, {len(asked)} questions\n{'':28}     p50     p95    mean"
        )
        print_row("Index.search", times)
        for threads in map(int, filter(None, arguments.threads.split(","))):
            per_second, cpu = rate(index, asked, arguments.limit, threads)
            print(f"{threads} threads: {per_second:6.1f} searches/s, {cpu:5.1f} ms of CPU each", flush=True)
        if arguments.edits:
            print("milliseconds from a write to a search that shows it")
            for threads in (0, 4):
                print_row(f"while {threads} threads search", edits(index, asked, arguments.edits, threads))
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(f"peak memory {peak:.0f} MB, {opened:.0f} after opening; per 100,000 chunks {peak / chunks * 1e5:.0f} MB")
    of_stages = stages(index, asked, arguments.limit)
    for name, values in of_stages.items():
        print_row(name, values)
    every, second = (statistics.median(of_stages[name]) for name in ("all stages", RANKING))
    print(f"all stages take {every / (every - second):.2f} times as long as without the ranking")
    if arguments.hits:
        shown = {q: [(h.path, h.start_line, h.score) for h in a.hits] for q, a in zip(asked, answers, strict=True)}
        arguments.hits.write_text(json.dumps(shown), encoding="utf-8")


if __name__ == "__main__":
    main()
