"""Count the modules and calls of CQM that two trips pass: from an edit to searchable, and from a question to its text.

  trips.py FOLDER [--home DIR] [--question "..."]

The folder's index is made, or brought up to date, first; then a small file is written into it, indexed, and deleted.
Counted are calls of Python functions of the package in this process, on any thread, not those in parsing workers.
"""

import argparse
import sys
import threading
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from tempfile import NamedTemporaryFile
from types import FrameType
from typing import Any

import cqm.index
from cqm.index.engine import Index
from cqm.index.model.options import CacheOptions, IndexOptions
from cqm.index.model.query import Query
from cqm.server.answers.render import render_answer

PACKAGE = str(Path(cqm.index.__file__).parent.parent)


def passed(trip: Callable[[], object]) -> Counter[str]:
    """Count the calls by module while something runs."""
    calls = Counter[str]()

    def note(frame: FrameType, event: str, _: Any) -> None:
        if event == "call" and frame.f_code.co_filename.startswith(PACKAGE):
            calls[frame.f_code.co_filename] += 1

    threading.setprofile(note)
    sys.setprofile(note)
    try:
        trip()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return calls


def print_row(name: str, calls: Counter[str]) -> None:
    """Print a row of the table, and the modules that are called most."""
    most = ", ".join(f"{Path(path).stem} {count:,}" for path, count in calls.most_common(6))
    print(f"{name:<22}{len(calls):>8}{calls.total():>8,}  {most}")


def main() -> None:
    """Parse the command line and run."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--home", type=Path)
    parser.add_argument("--question", default="how are request headers parsed")
    arguments = parser.parse_args()
    options = IndexOptions(home=arguments.home, cache=CacheOptions(enabled=False))
    with (
        Index.open(arguments.folder, options) as index,
        NamedTemporaryFile("w", suffix=".py", dir=index.root, encoding="utf-8") as file,
    ):
        index.update()
        for value in range(3):
            # The first edits open things, which later ones find open.
            file.seek(0)
            file.write(f"def edited(value):\n    return value + {value}\n")
            file.flush()
            edit = passed(lambda: index.update([file.name]))
        query = Query(arguments.question)
        index.search(query)
        found = passed(lambda: index.search(query))
        answer = index.search(query)
        shown = passed(lambda: render_answer(query, answer, 8_000))
    with Index.open(arguments.folder, options) as index:
        index.update()
    print(f"{'':<22}{'modules':>8}{'calls':>8}  most in")
    print_row("edit to searchable", edit)
    print_row("question to hits", found)
    print_row("hits to text", shown)


if __name__ == "__main__":
    main()
