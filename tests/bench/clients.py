"""The costs and gains of sharing an index: from a client's start to its first answer, and a search through the owner.

Prints a table. `python tests/bench/clients.py [chunks]`; an owner's processes are its own, and are ended.
"""

import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from itertools import pairwise
from pathlib import Path

from filelock import FileLock

from cqm.index.engine import Index
from cqm.index.model.options import IndexOptions
from cqm.index.model.query import Query
from cqm.server.config.settings import Settings, load_settings
from cqm.server.owner.address import read_address
from cqm.server.owner.client import RemoteIndex

PROGRAM = Path(sys.executable).with_name("cqm")
STARTS, SEARCHES, CLIENTS, SECONDS = 7, 200, 8, 10.0
WORDS = (
    *("load", "parse", "token", "cache", "index", "read", "write", "flush"),
    *("retry", "session", "header", "cookie", "proxy", "route", "vector", "chunk"),
)

CLIENT = """
import sys, time
from pathlib import Path
from cqm.index.model.query import Query
from cqm.server.config.settings import load_settings
from cqm.server.owner.client import RemoteIndex
root, words, seconds, client = Path(sys.argv[1]), sys.argv[2].split(), float(sys.argv[3]), int(sys.argv[4])
times = []
with RemoteIndex.open(root, load_settings(root).index_options(root)) as index:
    end = time.perf_counter() + seconds
    while (begun := time.perf_counter()) < end:
        number = len(times)
        # No question is another client's: the cache of answers must not answer it.
        index.search(Query(f"{words[number % 16]} {words[number % 13]} {client}_{number}"))
        times.append(time.perf_counter() - begun)
print(*times)
"""


def write_tree(root: Path, chunks: int) -> None:
    """Python files with ten functions each, every one of them a chunk's size."""
    for number in range(chunks // 10):
        folder = root / f"package_{number % 20}"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"module_{number}.py").write_text("\n\n".join(function(number, part) for part in range(10)))


def function(number: int, part: int) -> str:
    words = [WORDS[(number * 7 + part * 3 + step * 5) % len(WORDS)] for step in range(40)]
    body = "\n".join(
        f"    {word}_{step} = {other}(value, {number}, limit={step})"
        for step, (word, other) in enumerate(pairwise(words))
    )
    return f'def {words[0]}_{words[1]}_{number}_{part}(value):\n    """The {words[2]} of a {words[3]}."""\n{body}\n'


def question(number: int) -> Query:
    return Query(f"{WORDS[number % 16]} {WORDS[number % 13]} {number % 977}")


def seconds_of(call: Callable[[], object]) -> float:
    begun = time.perf_counter()
    call()
    return time.perf_counter() - begun


def end_owner(folder: Path) -> None:
    address = read_address(folder)
    if address:
        os.kill(address.pid, signal.SIGTERM)
    with FileLock(folder / "owner.lock", timeout=60):
        pass


def ask(root: Path, *arguments: str, shared: bool) -> float:
    """Seconds from the start of a process to its answer."""
    command = [str(PROGRAM), "search", "parse the token of a session", "--path", str(root), *arguments]
    environment = os.environ | {"CQM_INDEX_SHARED": str(shared).lower()}
    return seconds_of(lambda: subprocess.run(command, env=environment, check=True, capture_output=True))


def row(name: str, times: list[float]) -> None:
    ordered = sorted(times)
    marks = [statistics.median(ordered), *(ordered[int(len(ordered) * share)] for share in (0.95, 0.99))]
    print(f"{name:62}{''.join(f'{mark * 1000:10.2f}' for mark in marks)}   n={len(ordered)}", flush=True)


def starts(root: Path, folder: Path) -> None:
    """From a process's start to its answer, over and over, one kind after the other each time."""
    kinds: dict[str, list[float]] = {}
    for _ in range(STARTS):
        for arguments in (("--no-update",), ()):
            name = "cqm search --no-update" if arguments else "cqm search"
            end_owner(folder)
            kinds.setdefault(f"{name}, alone", []).append(ask(root, *arguments, shared=False))
            kinds.setdefault(f"{name}, owner started by it", []).append(ask(root, *arguments, shared=True))
            kinds.setdefault(f"{name}, owner warm", []).append(ask(root, *arguments, shared=True))
    for name, times in kinds.items():
        row(name, times)


def searches(root: Path, options: IndexOptions, folder: Path) -> None:
    end_owner(folder)
    first, others = range(SEARCHES), range(-SEARCHES, 0)
    with Index.open(root, options) as index:
        row("search, in process", search_seconds(index.search, first))
        row("the same again, from the cache", search_seconds(index.search, first))
    with RemoteIndex.open(root, options) as remote:
        row("search, through the owner", search_seconds(remote.search, others))
        row("the same again, from the cache", search_seconds(remote.search, others))
        row("smallest call, a kept connection", [seconds_of(remote.skipped) for _ in first])
        row("one more client (connection and greeting)", [one_more(root, options) for _ in first])


def search_seconds(search: Callable[[Query], object], numbers: range) -> list[float]:
    return [seconds_of(partial(search, question(number))) for number in numbers]


def one_more(root: Path, options: IndexOptions) -> float:
    return seconds_of(lambda: RemoteIndex.open(root, options).close())


def crowd(root: Path) -> None:
    """Many clients at once."""
    command = [sys.executable, "-c", CLIENT, str(root), " ".join(WORDS), str(SECONDS)]
    clients = [subprocess.Popen([*command, str(n)], stdout=subprocess.PIPE, text=True) for n in range(CLIENTS)]
    times = [float(text) for client in clients for text in client.communicate()[0].split()]
    row(f"search, {CLIENTS} clients at once: {len(times) / SECONDS:.0f} searches/s", times)


@contextmanager
def indexed(chunks: int) -> Iterator[tuple[Path, Settings]]:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder).resolve() / "tree"
        write_tree(root, chunks)
        os.environ["CQM_INDEX_HOME"] = str(Path(folder) / "indexes")
        settings = load_settings(root)
        with Index.open(root, settings.index_options(root)) as index:
            print(f"{index.update().chunks_written} chunks", flush=True)
        yield root, settings


def main() -> None:
    with indexed(int(sys.argv[1]) if len(sys.argv) > 1 else 20_000) as (root, settings):
        options = settings.index_options(root)
        with Index.open(root, options) as index:
            folder = index.folder
        print(f"{'':62}{'p50 ms':>10}{'p95 ms':>10}{'p99 ms':>10}")
        starts(root, folder)
        searches(root, options, folder)
        crowd(root)
        end_owner(folder)


if __name__ == "__main__":
    main()
