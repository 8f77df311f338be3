"""One step of semble, in its own environment, for `speed.py`: prints its figures as JSON. Imports nothing of ours.

Usage: speed_semble.py index TREE | ask TREE QUESTIONS | stay TREE QUESTIONS FILE...

The variable SPEED_MODEL names the folder of its model; SEMBLE_CACHE_LOCATION that of its indexes.
"""

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

from semble import SembleIndex
from semble.cache import save_index_to_cache


def opened(tree: Path) -> Any:
    """Bring the index up to date, and keep it, as its commands do."""
    index = SembleIndex.from_path(str(tree), model_path=os.environ["SPEED_MODEL"])
    save_index_to_cache(index, str(tree))
    return index


def stay(tree: Path, questions: list[str], files: list[Path]) -> dict[str, object]:
    """Ask an open index, update it after edits, and look at the process when it rests."""
    from speed_machine import memory_of, processor_seconds_of

    index = opened(tree)
    index.search("which files are there")
    times, cpu = [], processor_seconds_of(os.getpid())
    for question in questions:
        started = time.perf_counter()
        index.search(question)
        times.append(time.perf_counter() - started)
    cpu = processor_seconds_of(os.getpid()) - cpu
    edits = []
    for number, file in enumerate(files):
        with file.open("a", encoding="utf-8") as written:
            written.write(f"\n# edited {number}\n")
        started = time.perf_counter()
        index = opened(tree)
        edits.append(time.perf_counter() - started)
    time.sleep(float(os.environ["SPEED_REST"]))
    return {"times": times, "cpu": cpu, "edits": edits, "resting": memory_of(os.getpid())}


def main() -> None:
    """Do a step."""
    step, tree = sys.argv[1], Path(sys.argv[2])
    found: dict[str, object]
    if step == "index":
        index = opened(tree)
        files = {chunk.file_path for chunk in index.chunks}
        size = sum(len(chunk.content.encode()) for chunk in index.chunks)
        found = {"chunks": len(index.chunks), "files": len(files), "bytes": size, "stages": {}}
    elif step == "ask":
        found = {"hits": len(opened(tree).search(json.loads(sys.argv[3])[0]))}
    else:
        found = stay(tree, json.loads(sys.argv[3]), list(map(Path, sys.argv[4:])))
    print(json.dumps(found))


if __name__ == "__main__":
    main()
