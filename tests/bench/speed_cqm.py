"""One step of CQM, in a process of its own, for `speed.py`: prints its figures as JSON.

Usage: speed_cqm.py index TREE | ask TREE QUESTIONS | stay TREE QUESTIONS FILE...
"""

import json
import os
import sys
import time
from pathlib import Path

from cqm.index.engine import Index
from cqm.index.model.query import Query
from cqm.server.config.settings import load_settings


def index(tree: Path) -> dict[str, object]:
    """Bring the index up to date, without an owner."""
    started = time.perf_counter()
    with Index.open(tree, load_settings(tree).index_options(tree)) as opened:
        opening = time.perf_counter() - started
        done = opened.update()
        started = time.perf_counter()
    stages = {"opening": opening, **done.stages, "closing": time.perf_counter() - started}
    return {
        "chunks": done.chunks_written,
        "files": done.added + done.modified,
        "bytes": done.bytes_read,
        "stages": stages,
    }


def ask(tree: Path, questions: list[str]) -> dict[str, object]:
    """Open an index, and ask the first question."""
    with Index.open(tree, load_settings(tree).index_options(tree)) as opened:
        return {"hits": len(opened.search(Query(questions[0])).hits)}


def stay(tree: Path, questions: list[str], files: list[Path]) -> dict[str, object]:
    """Ask the owner of an index, have it update some files, and look at it when it rests."""
    from speed_machine import memory_of, processor_seconds_of

    from cqm.index.disk.locations import index_folder
    from cqm.server.owner.address import read_address
    from cqm.server.owner.client import RemoteIndex

    options = load_settings(tree).index_options(tree)
    with RemoteIndex.open(tree, options) as remote:
        remote.search(Query("which files are there"))
        address = read_address(index_folder(tree, options))
        owner = address.pid if address else os.getpid()
        times, cpu = [], processor_seconds_of(owner)
        for question in questions:
            started = time.perf_counter()
            remote.search(Query(question))
            times.append(time.perf_counter() - started)
        cpu = processor_seconds_of(owner) - cpu
        edits = []
        for number, file in enumerate(files):
            with file.open("a", encoding="utf-8") as opened:
                opened.write(f"\n# edited {number}\n")
            started = time.perf_counter()
            remote.update([file])
            edits.append(time.perf_counter() - started)
        time.sleep(float(os.environ["SPEED_REST"]))
        return {"times": times, "cpu": cpu, "edits": edits, "resting": memory_of(owner)}


def main() -> None:
    """Do a step."""
    step, tree = sys.argv[1], Path(sys.argv[2])
    if step == "index":
        found = index(tree)
    elif step == "ask":
        found = ask(tree, json.loads(sys.argv[3]))
    else:
        found = stay(tree, json.loads(sys.argv[3]), list(map(Path, sys.argv[4:])))
    print(json.dumps(found))


if __name__ == "__main__":
    main()
