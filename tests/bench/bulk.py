"""Snapshots of many repositories by workers of Ray, one of them killed, beside those that one process makes in turn.

  bulk.py FOLDER... [--workers 4] [--imported 5] [--list FILE]

Each FOLDER, or line of FILE, is a repository. They are indexed and exported one after the other here; then by
`cqm bulk --engine ray`, where the worker of a repository is killed with SIGKILL while it works, once a third are done.
The snapshots are compared record by record: a record has ids, hashes, texts, words and vectors. Some of Ray's are then
imported over changed copies, whose answers are compared with those of a new index. Needs the extra ray, and Linux.
"""

import argparse
import json
import os
import resource
import shutil
import signal
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from snapshots import answers

from cqm.index import Index, IndexOptions
from cqm.index.snapshots.restore import opened_snapshot
from cqm.server.bulk.bulk import make_snapshots
from cqm.server.bulk.listed import Repository
from cqm.server.bulk.work import Made, Plan, attempt, export_here


class Killer:
    """Kills the worker of a repository once some repositories are done."""

    def __init__(self, after: int) -> None:
        self.after, self.done, self.killed = after, 0, ""

    def __call__(self, made: Made) -> None:
        self.done += 1
        print(f"  {self.done:3} {made.name} {made.seconds:.1f} s {made.error}", flush=True)
        if self.done >= self.after and not self.killed:
            self.killed = self._kill()

    def _kill(self) -> str:
        """Ray writes the name of its task into a worker's command line."""
        for place in Path("/proc").glob("[0-9]*/cmdline"):
            try:
                title = place.read_bytes().rstrip(b"\0").decode()
            except (OSError, UnicodeDecodeError):
                continue
            if title.startswith("ray::r") and title[6:8].isdigit():
                os.kill(int(place.parent.name), signal.SIGKILL)
                print(f"  killed the worker of {title[5:]}", flush=True)
                return title[5:]
        return ""


def records(file: Path) -> list[bytes]:
    with opened_snapshot(file, IndexOptions()) as opened:
        return list(opened._archive.lines(opened.snapshot.records))


def ids_and_hashes(lines: Sequence[bytes]) -> list[object]:
    """The path and hash of a file, the id and hash of a chunk."""
    read = [json.loads(line) for line in lines]
    return [
        tuple(it["row"][name] for name in ("id", "digest", "fingerprint")) if "row" in it else (it["path"], it["hash"])
        for it in read
    ]


def compare(repositories: Sequence[Repository], one: Path, many: Path) -> None:
    total = alike = named = 0
    for it in repositories:
        first, second = (records(place / f"{it.name}.cqm") for place in (one, many))
        total += len(first)
        named += sum(a == b for a, b in zip(ids_and_hashes(first), ids_and_hashes(second), strict=False))
        alike += sum(a == b for a, b in zip(first, second, strict=False))
        if first != second:
            print(f"  DIFFERS: {it.name}, {len(first)} and {len(second)} records")
    print(f"records of files and chunks: {total:,}; ids and hashes equal {named:,}; equal to the byte {alike:,}")


def import_over_changes(repository: Repository, file: Path, place: Path) -> bool:
    """Import a snapshot over a copy with changed, deleted and new files; whether it answers as a new index."""
    copy = place / repository.name
    shutil.copytree(repository.source, copy, copy_function=shutil.copy, symlinks=True, ignore_dangling_symlinks=True)
    files = sorted(path for path in copy.rglob("*") if path.is_file() and not path.is_symlink())
    for path in files[1:4]:
        path.write_bytes(path.read_bytes() + b"\nchanged_since = 1\n")
    files[-1].unlink()
    (copy / "added_since.py").write_text("def added_since(address):\n    return parse(address)\n")
    found = []
    for home in ("imported", "anew"):
        with Index.open(copy, IndexOptions(home=place / home)) as index:
            index.restore(file) if home == "imported" else index.update()
            found.append((index.paths("", 100_000), index.status().chunks, answers(index)))
    return found[0] == found[1]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", type=Path, nargs="*")
    parser.add_argument("--list", type=argparse.FileType(), help="a folder a line")
    parser.add_argument("--workers", type=int, default=4)
    parser.add_argument("--imported", type=int, default=5)
    asked = parser.parse_args()
    folders = [*asked.folders, *(Path(line.strip()) for line in asked.list or [])]
    repositories = [Repository(str(it.resolve()), f"r{n:02}-{it.name}") for n, it in enumerate(folders)]
    print(f"{len(repositories)} repositories, {os.cpu_count()} processors, load {os.getloadavg()[0]:.1f}")
    with tempfile.TemporaryDirectory() as made:
        place = Path(made)
        alone, plan = (Plan(place / it, place / f"{it}-work", asked.workers, 2, {}) for it in ("one", "many"))
        alone.out.mkdir()
        begun = time.monotonic()
        held = [attempt(it, alone, export_here) for it in repositories]
        seconds = time.monotonic() - begun
        used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
        cpu = sum(it.ru_utime + it.ru_stime for it in used)
        chunks = sum(it.chunks for it in held)
        print(f"one process: {seconds:.1f} s, {cpu:.1f} s of a processor, {chunks:,} chunks", flush=True)
        killer, begun = Killer(len(repositories) // 3), time.monotonic()
        by_ray = make_snapshots(repositories, plan, killer, "ray")
        whole = time.monotonic() - begun
        failed = [it.name for it in by_ray if it.error]
        print(f"{asked.workers} workers of Ray: {whole:.1f} s, failed {failed}, killed {killer.killed or 'NONE'}")
        print(f"speed-up {seconds / whole:.2f}, start of Ray and the lost work included")
        compare(repositories, alone.out, plan.out)
        some = repositories[: asked.imported]
        same = sum(import_over_changes(it, plan.out / f"{it.name}.cqm", place / f"i-{it.name}") for it in some)
        print(f"imported over local changes: {same} of {len(some)} answer as a new index")


if __name__ == "__main__":
    main()
