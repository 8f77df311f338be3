"""Costs of an index by its size, for planning: processor, disk, snapshot, memory, a question; what a chunk adds.

  unit_costs.py FOLDER... [--keep PLACE]

Each FOLDER is indexed, opened again and asked in processes of its own. CPU is that of a process and of its workers, the
start of Python left out. Memory is what the process has to itself (RssAnon) after the questions. The last lines are
least squares over the folders: a constant, and what each chunk or MB adds. Have PLACE on a disk: a file system in
memory may fill holes of files.
"""

import argparse
import multiprocessing
import os
import re
import resource
import tempfile
import time
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from cqm.index import Index, IndexOptions, Query
from cqm.index.disk.size import size_on_disk

QUESTIONS = (
    "how are connections closed",
    "parse an address",
    "where are retries limited",
    "error when it takes too long",
)
ROUNDS = 10


class Cost(NamedTuple):
    name: str
    mb: float
    files: int
    chunks: int
    cpu: float
    disk: int
    snapshot: int
    memory: int
    opened: float
    question: float


def cpu() -> float:
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(it.ru_utime + it.ru_stime for it in used)


def make(root: Path, home: Path) -> tuple[float, int, int, int, float, int]:
    begun = cpu()
    with Index.open(root, IndexOptions(home=home)) as index:
        done = index.update()
    seconds = cpu() - begun
    with Index.open(root, IndexOptions(home=home)) as index:
        told, folder = index.export(home / "snapshot.cqm"), index.folder
    return done.bytes_read / 1e6, done.added, told.chunks, told.size_bytes, seconds, size_on_disk(folder)


def ask(root: Path, home: Path) -> tuple[int, float, float]:
    """Own memory of a process that has answered, in bytes; its time to open; the median of its questions."""
    begun = cpu()
    with Index.open(root, IndexOptions(home=home)) as index:
        index.search(Query("first"))
        opened, taken = cpu() - begun, []
        for n in range(ROUNDS):
            for text in QUESTIONS:
                started = time.process_time()
                index.search(Query(f"{text} {n}"))
                taken.append(time.process_time() - started)
        found = re.search(r"RssAnon:\s+(\d+)", Path("/proc/self/status").read_text(encoding="ascii"))
        return int(found[1]) * 1024 if found else 0, opened, float(np.median(taken))


def measured(root: Path, home: Path) -> Cost:
    spawn = multiprocessing.get_context("spawn")
    answers: list[Any] = []
    for step in (make, ask):
        with spawn.Pool(1) as pool:
            answers.append(pool.apply(step, (root, home)))
    (mb, files, chunks, snapshot, seconds, disk), (memory, opened, question) = answers
    return Cost(root.name, mb, files, chunks, seconds, disk, snapshot, memory, opened, question)


def fitted(what: str, per: str, sizes: list[float], costs: list[float]) -> None:
    """Print a constant and a slope, with the largest error of the line."""
    lines = np.stack([np.ones(len(sizes)), np.array(sizes)], 1)
    (constant, slope), *_ = np.linalg.lstsq(lines, np.array(costs), rcond=None)
    worst = np.abs(lines @ [constant, slope] - costs).max()
    print(f"{what:22}{constant:12.3f} + {slope:10.5f} a {per}, off by at most {worst:.3f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", type=Path, nargs="+")
    parser.add_argument("--keep", type=Path, help="where indexes are made; they stay there")
    asked = parser.parse_args()
    print(f"{os.cpu_count()} processors, load {os.getloadavg()[0]:.1f}")
    print(f"{'':14}{'MB':>7}{'files':>7}{'chunks':>8}{'CPU s':>8}{'disk MB':>9}{'snap MB':>9}", end="")
    print(f"{'own MB':>8}{'open s':>8}{'ask ms':>8}")
    costs = []
    with tempfile.TemporaryDirectory() as made:
        for number, root in enumerate(asked.folders):
            found = measured(root.resolve(), (asked.keep or Path(made)) / str(number))
            costs.append(found)
            print(f"{found.name[:13]:14}{found.mb:7.2f}{found.files:7,}{found.chunks:8,}{found.cpu:8.1f}", end="")
            print(f"{found.disk / 1e6:9.1f}{found.snapshot / 1e6:9.2f}{found.memory / 1e6:8.0f}", end="")
            print(f"{found.opened:8.2f}{found.question * 1e3:8.1f}", flush=True)
    if len(costs) > 1:
        chunks, read = [float(it.chunks) for it in costs], [it.mb for it in costs]
        fitted("CPU s", "MB", read, [it.cpu for it in costs])
        fitted("CPU ms", "chunk", chunks, [it.cpu * 1e3 for it in costs])
        fitted("source KB", "chunk", chunks, [it.mb * 1e3 for it in costs])
        fitted("disk KB", "chunk", chunks, [it.disk / 1e3 for it in costs])
        fitted("snapshot KB", "chunk", chunks, [it.snapshot / 1e3 for it in costs])
        fitted("own memory KB", "chunk", chunks, [it.memory / 1e3 for it in costs])
        fitted("question ms", "chunk", chunks, [it.question * 1e3 for it in costs])


if __name__ == "__main__":
    main()
