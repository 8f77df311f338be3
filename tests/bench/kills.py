"""Owners and clients that are killed at random moments of every operation, and what the index becomes after each.

  kills.py [--kills 200] [--files 80] [--seed 1]

In every round some files of a tree change, an operation is begun by a real `cqm` process, and kill -9 falls on the
index's owner, on the client, or on both. Then `cqm index` is run, and what the index holds must be what a fresh index
of the same tree holds. Prints a table: for each operation the rounds, the kills that fell while it went on, the rounds
after which the index was as it should be, and of the files that the index had for good at the kill, how many were
indexed again.
"""

import argparse
import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path
from shutil import rmtree
from threading import Event

from cqm.index.disk.locations import index_folder
from cqm.index.engine import Index
from cqm.index.generations.folders import manifest_path
from cqm.index.generations.generation import generation_name
from cqm.index.model.options import IndexOptions
from cqm.index.store.edge import EdgeStore
from cqm.server.config.settings import load_settings
from cqm.server.owner.address import read_address
from cqm.server.owner.connect import dismiss

PROGRAM = Path(sys.executable).with_name("cqm")
OPERATIONS = {
    "create": ("index",),
    "update": ("index",),
    "rename": ("index",),
    "delete": ("index",),
    "rebuild": ("index", "--force"),
    "switch": ("index",),
    "compact": ("compact",),
}
LONGEST_SECONDS = 3.0


def write(path: Path, number: int, version: int) -> None:
    """A module of some chunks, of which another version changes half."""
    path.parent.mkdir(parents=True, exist_ok=True)
    parts = (
        f'def compute_{number}_{part}(value_{version if part % 2 else 0}):\n    """Compute part {part}."""\n'
        + "".join(f"    step_{line} = value_{line} * {number + line}\n" for line in range(20))
        for part in range(10)
    )
    path.write_text("\n\n".join(parts))


def change(root: Path, operation: str, version: int, chosen: random.Random) -> None:
    """Return what is done to the tree before an operation."""
    files = sorted(root.rglob("*.py"))
    for path in chosen.sample(files, len(files) // 3):
        if operation == "rename":
            path.rename(path.with_name(f"renamed_{version}_{path.name[-12:]}"))
        elif operation == "delete":
            path.unlink()
            write(root / f"new_{version}_{path.name[-12:]}", version, version)
        elif operation != "compact":
            write(path, files.index(path), version)


def settled(root: Path, folder: Path, options: IndexOptions) -> int:
    """Return how many files are in the generation for good as they are on disk, whatever happens to its process."""
    path = manifest_path(folder, generation_name(options))
    if not path.exists():
        return 0
    with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)) as database:
        rows = database.execute(
            "SELECT path, mtime_ns FROM file WHERE state = 'indexed' AND path NOT IN (SELECT path FROM unsettled)"
        ).fetchall()
    return sum((root / path).exists() and (root / path).stat().st_mtime_ns == changed for path, changed in rows)


def kill(root: Path, folder: Path, arguments: tuple[str, ...], chosen: random.Random) -> bool:
    """Begin an operation and kill who works on it; whether it went on still."""
    command = [str(PROGRAM), *arguments, str(root)]
    client = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    Event().wait(chosen.random() ** 2 * LONGEST_SECONDS)
    goes_on = client.poll() is None
    victims = chosen.choice(["owner", "client", "both"])
    address = read_address(folder)
    if victims != "client" and address:
        with suppress(ProcessLookupError):
            os.kill(address.pid, signal.SIGKILL)
    if victims != "owner":
        client.kill()
    client.wait()
    return goes_on


def contents(root: Path, options: IndexOptions) -> set[tuple[object, ...]]:
    """Everything that an index holds, brought up to date."""
    with Index.open(root, options) as index:
        index.update()
        manifest, store = index._lineage.serving.manifest, index._lineage.serving.store
        assert isinstance(store, EdgeStore)
        ids = set(store.ids())
        rows = {row for path in manifest.paths() for row in manifest.chunks_of(path)}
        assert {row.id for row in rows} <= ids, "points are missing"
        assert len(ids) == len(rows) + len(manifest.paths()), "points are left over"
        return {(row.id, row.path, row.position, row.start_line, row.fingerprint, row.space) for row in rows}


def main() -> None:
    """Parse the command line and run."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--files", type=int, default=80)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    chosen, table = random.Random(arguments.seed), defaultdict[str, Counter[str]](Counter)
    with tempfile.TemporaryDirectory() as temporary:
        root, home = Path(temporary).resolve() / "tree", Path(temporary) / "home"
        os.environ |= {"CQM_INDEX_HOME": str(home), "CQM_INDEX_IDLE_SECONDS": "2"}
        for number in range(arguments.files):
            write(root / f"package_{number % 7}" / f"module_{number}.py", number, 0)
        for turn in range(arguments.kills):
            operation = chosen.choice(sorted(OPERATIONS))
            spoiled = one_round(root, Path(temporary), operation, turn, chosen)
            table[operation].update(spoiled)
            print(turn, operation, dict(spoiled), flush=True)
    names = ("rounds", "killed", "converged", "settled", "again")
    print(f"{'':10}{''.join(f'{name:>11}' for name in names)}")
    table["all"] = sum(table.values(), Counter())
    for operation, row in table.items():
        print(f"{operation:10}{''.join(f'{row[name]:>11,}' for name in names)}")


def one_round(root: Path, temporary: Path, operation: str, turn: int, chosen: random.Random) -> Counter[str]:
    """Change, operate, kill, converge, compare."""
    counted = Counter(rounds=1)
    options = load_settings(root).index_options(root)
    folder = index_folder(root, options)
    if operation == "create":
        dismiss(folder)
        subprocess.run([PROGRAM, "remove", "--yes", root], check=False, capture_output=True)
    if operation == "switch":
        size = os.environ.get("CQM_CHUNK_MAX_TOKENS", "512")
        os.environ["CQM_CHUNK_MAX_TOKENS"] = "128" if size == "512" else "512"
        options = load_settings(root).index_options(root)
    change(root, operation, turn, chosen)
    counted["killed"] += kill(root, folder, OPERATIONS[operation], chosen)
    counted["settled"] += settled(root, folder, options)
    done = subprocess.run([PROGRAM, "index", "--json", root], check=False, capture_output=True, text=True)
    if done.returncode:
        print(done.stderr)
        return counted
    counted["again"] += max(0, counted["settled"] - json.loads(done.stdout)["unchanged"])
    dismiss(folder)
    fresh = temporary / "fresh"
    counted["converged"] += contents(root, options) == contents(root, replace(options, home=fresh))
    rmtree(fresh)
    return counted


if __name__ == "__main__":
    main()
