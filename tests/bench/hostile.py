"""Index hostile files, and tell what each kind cost: seconds, memory, and what came of it.

Usage: python tests/bench/hostile.py [--files N] [--seed S] [--part each|index|all] [--kind KIND]

First each file alone, in a worker of its own: its processor time, the most memory of the worker, what became of it. A
worker that takes longer than it may is ended by its timer of processor time: of such a file, this limit is told.
Then an index of innocent files beside all of them, which must hold of the innocent ones what an index without holds.
2,300 files take 20 minutes of a quiet processor: `--part` does one of the two, `--kind` takes files of one kind.
Runs on Linux.
"""

import argparse
import os
import sys
import tempfile
from collections import defaultdict
from pathlib import Path
from typing import NamedTuple

from hostile_files import Hostile, hostile_files, measured

from cqm.chunkers.model import ChunkOptions
from cqm.index.engine import Index
from cqm.index.files.scan import FoundFile, scan
from cqm.index.model.options import EmbeddingOptions, IndexOptions, ScanOptions
from cqm.index.update.prepare import Preparation
from cqm.index.workers import Job, Workers
from cqm.index.workers.limits import seconds_for

INNOCENT = 200


class Measured(NamedTuple):
    """All that a file cost, and what became of it."""

    seconds: float
    megabytes: float
    state: str
    reason: str


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", type=int, default=2_300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--part", choices=("each", "index", "all"), default="all")
    parser.add_argument("--languages", nargs="*", help="files of these only; of all where not given")
    parser.add_argument("--kind", default="", help="bait, borders, nest, own, drawn, format or bomb; empty for all")
    asked = parser.parse_args()
    here = str(Path(__file__).parent)
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [here, os.environ.get("PYTHONPATH", "")]))
    files = [file for file in hostile_files(asked.files, asked.seed) if asked.kind in {"", file.kind}]
    if asked.languages is not None:
        files = [file for file in files if file.name.partition("/")[0] in asked.languages]
    held = True
    with tempfile.TemporaryDirectory() as folder:
        write(files, Path(folder) / "hostile")
        if asked.part != "index":
            each = _each(files, Path(folder) / "hostile")
            _print_table(files, each)
            _print_languages(files, each)
            worst = max(each, key=lambda one: one.seconds)
            largest = max(each, key=lambda one: one.megabytes)
            print(f"{len(files)} files: at most {worst.seconds:.1f} s and {largest.megabytes:.0f} MB", flush=True)
            held = worst.seconds <= 5 and largest.megabytes <= 512
        if asked.part != "each":
            same = _beside_innocents(Path(folder))
            print(f"innocent files as without the others: {same}")
            held = held and same
    sys.exit(0 if held else 1)


def write(files: list[Hostile], root: Path) -> None:
    """Write the files below a folder."""
    for file in files:
        path = root / file.name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(file.data)


def _each(files: list[Hostile], root: Path) -> list[Measured]:
    preparation = Preparation(root, ScanOptions(), ChunkOptions())
    found = {it.path: it for it in scan(root, ScanOptions())}

    def lost(task: tuple[FoundFile, Preparation], reason: str) -> tuple[float, float, str, str]:
        return seconds_for(task[0].size), 0.0, "lost", reason

    result = []
    with Workers(1, root) as workers:
        for file in files:
            it = found[file.name]
            if it.skip:
                result.append(Measured(0.0, 0.0, "skipped", it.skip.value))
                continue
            job = Job(measured, tuple[float, float, str, str], lambda task: task[0].size, lost)
            [[one]] = workers.run(job, [(it, preparation)])
            result.append(Measured(*one))
            workers.end_idle()
    return result


def _print_table(files: list[Hostile], each: list[Measured]) -> None:
    rows: dict[tuple[str, str], list[tuple[Hostile, Measured]]] = defaultdict(list)
    for file, one in zip(files, each, strict=True):
        rows[file.kind, one.state].append((file, one))
    print(f"{'kind':10}{'became':10}{'files':>6}{'most s':>8}{'most MB':>9}  slowest")
    for (kind, state), row in sorted(rows.items()):
        file, slowest = max(row, key=lambda pair: pair[1].seconds)
        most = max(one.megabytes for _, one in row)
        print(f"{kind:10}{state:10}{len(row):6}{slowest.seconds:8.2f}{most:9.0f}  {file.name} {slowest.reason}")


def _print_languages(files: list[Hostile], each: list[Measured]) -> None:
    rows: dict[str, list[tuple[Hostile, Measured]]] = defaultdict(list)
    for file, one in zip(files, each, strict=True):
        rows[file.name.partition("/")[0]].append((file, one))
    print(f"\n{'language':16}{'files':>6}{'lost':>6}{'most s':>8}{'most MB':>9}  slowest")
    for language, row in sorted(rows.items()):
        file, slowest = max(row, key=lambda pair: pair[1].seconds)
        most = max(one.megabytes for _, one in row)
        lost = [file.name for file, one in row if one.state == "lost"]
        print(f"{language:16}{len(row):6}{len(lost):6}{slowest.seconds:8.2f}{most:9.0f}  {file.name} {' '.join(lost)}")


def _beside_innocents(folder: Path) -> bool:
    innocent = {f"innocent_{n}.py": f"def innocent_{n}(value):\n    return value + {n}\n" for n in range(INNOCENT)}
    rows = []
    for root in (folder / "hostile", folder / "alone"):
        root.mkdir(exist_ok=True)
        for name, text in innocent.items():
            (root / name).write_text(text)
        options = IndexOptions(home=folder / "home", embedding=EmbeddingOptions("none"))
        with Index.open(root, options) as index:
            summary = index.update()
            again = index.update()
            held = {name: index._lineage.serving.manifest.chunks_of(name) for name in innocent}
        rows.append(held)
        seconds, failed = f"{summary.seconds:.1f} s", len(summary.failed)
        tried = again.added + again.modified
        print(f"{root.name}: {summary.added} files indexed in {seconds}, {failed} failed; then {tried} tried again")
    return rows[0] == rows[1]


if __name__ == "__main__":
    main()
