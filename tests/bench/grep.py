"""Modes exact and regex beside ripgrep, on one tree: seconds per query, and whether both find the same lines.

A tree is made of copies of the given ones until its index has enough chunks, and indexed without vectors. Each query is
asked once to warm up and then timed, inside the process that has the index; ripgrep is a process each time, as it is
used. Without `--rg` GNU grep takes its place for texts; it knows no `\\w` of Unicode.

  grep.py TREE... [--chunks 100000] [--times 20] [--rg PATH/TO/rg] [--work FOLDER]
"""

import argparse
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from edit_latency import build_tree

from cqm.index.engine import Index
from cqm.index.model.options import EmbeddingOptions, IndexOptions
from cqm.index.model.query import Answer, Query, SearchMode

EXACT, REGEX = SearchMode.EXACT, SearchMode.REGEX
QUERIES = (
    (EXACT, "zzqqxx"),
    (EXACT, "ctx.ShouldBindWith("),
    (EXACT, "getUser"),
    (EXACT, "parseInt("),
    (EXACT, "Bind"),
    (EXACT, "timeout"),
    (EXACT, "return nil, err"),
    (EXACT, "import"),
    (REGEX, r"\bfunc \(\w+ \*Context\) \w+\("),
    (REGEX, r"class \w+Error\b"),
    (REGEX, r"(?i)todo|fixme"),
    (REGEX, r"^\s*return nil$"),
    (REGEX, r"\w+_\w+_id\b"),
    (REGEX, r"[A-Z]\w{30,}"),
)
MOST_COMPARED = 3_000
"""Lines compared one by one; of more, only the number is."""


@dataclass(frozen=True)
class Timed:
    """Seconds of a query: the middle one, and the one that 95 of 100 stay below."""

    p50: float
    p95: float


def timed(work: Callable[[], object], times: int) -> Timed:
    work()
    seconds = []
    for _ in range(times):
        began = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - began)
    seconds.sort()
    return Timed(statistics.median(seconds), seconds[min(len(seconds) - 1, round(0.95 * len(seconds)))])


def command(rg: str, mode: SearchMode, query: str) -> list[str]:
    if rg:
        how = ["-F"] if mode is EXACT else []
        return [rg, "--no-config", "--hidden", "--crlf", "-n", "--no-heading", *how, "-e", query, "."]
    return ["grep", "-rnIF" if mode is EXACT else "-rnIP", "-e", query, "."]


def lines_of(command: list[str], root: Path) -> set[tuple[str, int]]:
    done = subprocess.run(command, cwd=root, capture_output=True, check=False)
    found = (line.split(b":", 2) for line in done.stdout.split(b"\n") if line.count(b":") > 1)
    return {(path.decode().removeprefix("./"), int(number)) for path, number, _ in found if number.isdigit()}


def pages(index: Index, query: Query) -> Iterator[Answer]:
    cursor = ""
    while True:
        answer = index.search(replace(query, limit=100, cursor=cursor, around=0))
        yield answer
        cursor = answer.next_cursor
        if not cursor:
            return


def verdict(index: Index, query: Query, theirs: set[tuple[str, int]]) -> str:
    """Compare the lines found in files of the index, without those in which secrets are redacted."""
    known = index._asked().known.of(index._lineage.serving)
    files = {file.path for file in known if file.is_plain}
    query = replace(query, exclude=tuple(f"/{file.path}" for file in known if not file.is_plain))
    theirs = {place for place in theirs if place[0] in files}
    if len(theirs) > MOST_COMPARED:
        counts = index.search(query).matched
        assert counts
        return f"{len(theirs)} lines" if counts.lines == len(theirs) else f"{counts.lines} lines, not {len(theirs)}"
    ours = {(hit.path, line) for answer in pages(index, query) for hit in answer.hits for line, _, _ in hit.matches}
    return f"{len(ours)} lines" if ours == theirs else f"differ: {sorted(ours ^ theirs)[:3]}"


def compare(index: Index, rg: str, times: int) -> None:
    ratios = []
    for mode, text in QUERIES:
        query, line = Query(text, limit=50, mode=mode), command(rg, mode, text)
        same = verdict(index, query, lines_of(line, index.root))
        ours = timed(partial(index.search, query), times)
        theirs = timed(partial(subprocess.run, line, cwd=index.root, capture_output=True, check=False), times)
        ratios.append(ours.p50 / theirs.p50)
        shown = " ".join(f"{seconds * 1e3:6.1f}" for seconds in (ours.p50, ours.p95, theirs.p50, theirs.p95))
        print(f"{mode.value:6} {text:34} {shown}  {ratios[-1]:5.2f}  {same}", flush=True)
    print(f"median ratio {statistics.median(ratios):.2f}, of {min(ratios):.2f} to {max(ratios):.2f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("trees", nargs="+", type=Path)
    parser.add_argument("--chunks", type=int, default=100_000)
    parser.add_argument("--times", type=int, default=20)
    parser.add_argument("--rg", default="", help="ripgrep's binary; GNU grep without")
    parser.add_argument("--work", type=Path, help="keep tree and index here, and use those that are there")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        work = asked.work or Path(scratch)
        if not (work / "tree").is_dir():
            print(f"{build_tree(asked.trees, work / 'tree', asked.chunks)} chunks made")
        options = IndexOptions(home=work / "home", embedding=EmbeddingOptions("none"))
        with Index.open(work / "tree", options) as index:
            index.update()
            # What was read within two seconds of its writing is not relied upon.
            time.sleep(2.5)
            index.update()
            began = time.perf_counter()
            answer = index.search(Query("zzqqxx", mode=EXACT))
            assert answer.matched
            print(
                f"{answer.chunks} chunks of {answer.matched.searched} files; first {time.perf_counter() - began:.1f} s"
            )
            print(f"{'':41} {'p50 ms':>6} {'p95':>6} {'rg p50':>6} {'p95':>6}  ratio")
            compare(index, asked.rg, asked.times)


if __name__ == "__main__":
    main()
