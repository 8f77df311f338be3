"""Memory of the owner of many projects: python tests/bench/owners.py FOLDER... [--rest SECONDS] [--apart]

Opens the index of each folder through its owner, indexes it, follows its files and asks a question; then waits. Prints
the memory of the owners with the processes that fork their workers: resident, and with what they share counted once.
With --apart each project has a home of its own, and so an owner of its own. Linux.
"""

import argparse
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path

from speed_machine import memory_of

from cqm.index.disk.locations import index_folder
from cqm.index.model.options import IndexOptions
from cqm.index.model.query import Query
from cqm.server.config.watch_options import WatchOptions
from cqm.server.owner.address import read_address
from cqm.server.owner.client import RemoteIndex


def _resident(pid: int) -> float:
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * 4096 / 1e6


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--rest", type=float, default=60.0, help="seconds of rest before the last look")
    parser.add_argument("--apart", action="store_true", help="an owner for each project")
    arguments = parser.parse_args()
    owners: dict[int, None] = {}
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as home, ExitStack() as opened:
        for number, folder in enumerate(arguments.folders, 1):
            options = IndexOptions(home=Path(home, str(number) if arguments.apart else "all"))
            index = opened.enter_context(RemoteIndex.open(folder, options, idle_seconds=5))
            index.update()
            index.follow(WatchOptions())
            index.search(Query("where is it done"))
            address = read_address(index_folder(folder.resolve(), options))
            if address:
                owners[address.pid] = None
            print(f"{folder.name:<24}{index.status().chunks:>8} chunks{_row(owners)}", flush=True)
        time.sleep(arguments.rest)
        print(f"{f'after {arguments.rest:g} s of rest':<39}{_row(owners)}")


def _row(owners: dict[int, None]) -> str:
    resident, shared = sum(map(_resident, owners)), sum(map(memory_of, owners)) / 1e6
    return f"{len(owners):>4} owners{resident:>8.0f} MB{shared:>8.0f} MB with workers, shared counted once"


if __name__ == "__main__":
    main()
