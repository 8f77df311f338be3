"""Many processes at one index at once: searches, and updates of files that change, for some minutes.

  crowd.py ROOT [--seconds 300] [--searching 8] [--indexing 2] [--pause 0.5]

Those that search do so back to back. Those that index change a file and have it indexed, and begin the next change
--pause seconds after the one before began, or at once where that took longer.

ROOT is copied file by file as links, so that what is edited is the copy; it is indexed first. Each process is a client
of the index's owner as every `cqm` process is. Prints searches and updates a second with the times that they took, and
everything that went wrong: an error, a line on standard error, an answer without a hit.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from clients import WORDS, end_owner, row

from cqm.index.engine import Index
from cqm.server.config.settings import load_settings

CLIENT = """
import json, sys, time
from pathlib import Path
from cqm.chunkers.errors import CqmError
from cqm.index.model.query import Query
from cqm.server.config.settings import load_settings
from cqm.server.owner.client import RemoteIndex
kind, root, seconds, pause = sys.argv[1], Path(sys.argv[2]), float(sys.argv[3]), float(sys.argv[4])
number, words = int(sys.argv[5]), sys.argv[6:]
times, wrong = [], []
files = sorted(root.rglob("*.py"))[number::2]

def search(index, turn):
    # No question is another client's: the cache of answers must not answer it.
    answer = index.search(Query(f"{words[turn % 16]} {words[turn % 13]} {number}_{turn}"))
    return "" if answer.hits else "no hit"

def update(index, turn):
    path = files[turn % len(files)]
    text = path.read_text(encoding="utf-8", errors="surrogateescape")
    path.unlink()  # it may be a link to the file that it is a copy of
    path.write_text(f"{text}\\n# changed {turn}\\n", encoding="utf-8", errors="surrogateescape")
    summary = index.update([path])
    return "" if summary.modified + summary.added + summary.unchanged else "not indexed"

with RemoteIndex.open(root, load_settings(root).index_options(root)) as index:
    end = time.perf_counter() + seconds
    while (begun := time.perf_counter()) < end:
        try:
            problem = (search if kind == "search" else update)(index, len(times))
        except CqmError as error:
            problem = str(error)
        times.append(time.perf_counter() - begun)
        wrong += [problem] * bool(problem)
        if kind == "update":
            time.sleep(max(0.0, begun + pause - time.perf_counter()))
print(json.dumps([times, wrong]))
"""


def crowd(root: Path, seconds: float, searching: int, indexing: int, pause: float) -> None:
    """Have clients at work, and print what they saw."""
    kinds = ["search"] * searching + ["update"] * indexing
    started = [subprocess.Popen(
        [sys.executable, "-c", CLIENT, kind, str(root), str(seconds), str(pause), str(number), *WORDS],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    ) for number, kind in enumerate(kinds)]  # fmt: skip
    times: dict[str, list[float]] = {"search": [], "update": []}
    wrong: Counter[str] = Counter()
    for kind, process in zip(kinds, started, strict=True):
        printed, said = process.communicate()
        wrong.update([said] if said or process.returncode else [])
        took, problems = json.loads(printed) if printed else ([], ["nothing was printed"])
        times[kind] += took
        wrong.update(problems)
    for kind, number in ((kind, number) for kind, number in (("search", searching), ("update", indexing)) if number):
        row(f"{kind}, {number} processes: {len(times[kind]) / seconds:.1f}/s", times[kind])
    print(f"{wrong.total()} went wrong", *(f"{count} x {problem}" for problem, count in wrong.items()), sep="\n")


def main() -> None:
    """Parse the command line and run."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("root", type=Path)
    parser.add_argument("--seconds", type=float, default=300)
    parser.add_argument("--searching", type=int, default=8)
    parser.add_argument("--indexing", type=int, default=2)
    parser.add_argument("--pause", type=float, default=0.5, help="seconds between two changes of a process")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        os.environ["CQM_INDEX_HOME"] = str(Path(folder) / "indexes")
        root = Path(folder).resolve() / "tree"
        shutil.copytree(arguments.root, root, copy_function=os.link, ignore=shutil.ignore_patterns(".git"))
        begun = time.perf_counter()
        with Index.open(root, load_settings(root).index_options(root)) as index:
            print(f"{index.update().chunks_written:,} chunks in {time.perf_counter() - begun:.0f} s", flush=True)
            place = index.folder
        print(f"{'ms':62}{'p50':>10}{'p95':>10}{'p99':>10}")
        try:
            crowd(root, arguments.seconds, arguments.searching, arguments.indexing, arguments.pause)
        finally:
            end_owner(place)


if __name__ == "__main__":
    main()
