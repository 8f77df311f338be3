"""From the write of a file to the first search that shows it, end to end through an MCP client over stdio.

A tree is made of copies of the given ones until its index has enough chunks, and served by a real `cqm serve`. Then
files are edited, added, renamed and deleted in turn. Each change carries a word that occurs nowhere else; the clock
runs from just before the write until a search, repeated back to back, shows the change.

  edit_latency.py TREE... [--chunks 20000] [--changes 50] [--searching 4]

With `--searching` as many other processes search all the time meanwhile, through the owner of the index.
"""

import argparse
import asyncio
import json
import os
import random
import string
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from clients import CLIENT, WORDS
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters
from mcp_types import TextContent

from cqm.chunkers.chunking import chunk
from cqm.chunkers.model import Document

SUFFIXES = {".py", ".ts", ".js", ".go", ".java", ".rs", ".rb", ".c", ".cpp", ".cs", ".kt", ".php", ".md"}
GIVE_UP_SECONDS = 20.0


@dataclass(frozen=True)
class Change:
    """One change: what is done to the disk, what is searched, and what shows that the search sees it."""

    kind: str
    apply: Callable[[], object]
    query: str
    seen: Callable[[str], bool]


def build_tree(trees: list[Path], target: Path, chunks: int) -> int:
    """Copy the trees, again and again under other names, until they give enough chunks; returns how many."""
    made = 0
    for copy in range(1000):
        for tree in trees:
            made += copy_tree(tree, target / f"{tree.name}-{copy}", chunks - made)
            if made >= chunks:
                return made
    raise SystemExit("The trees hold too little code.")


def copy_tree(tree: Path, target: Path, wanted: int) -> int:
    """Copy the source files of a tree until they give the chunks wanted."""
    made = 0
    for file in sorted(tree.rglob("*")):
        if made >= wanted:
            break
        if file.suffix not in SUFFIXES or not file.is_file() or file.stat().st_size > 200_000 or ".git" in file.parts:
            continue
        text = file.read_text(encoding="utf-8", errors="ignore")
        copied = target / file.relative_to(tree)
        copied.parent.mkdir(parents=True, exist_ok=True)
        copied.write_text(text, encoding="utf-8")
        made += len(chunk(Document(str(file), text)).chunks)
    return made


def changes(root: Path, count: int, chosen: random.Random) -> Iterator[Change]:
    """Edits of existing files, new files, renames and deletions of what was added, in turn."""
    files = [path for path in sorted(root.rglob("*.*")) if path.suffix in {".py", ".ts", ".js", ".go"}]
    added: list[tuple[Path, str]] = []
    for number in range(count):
        word = "zq" + "".join(chosen.choices(string.ascii_lowercase, k=12))
        kind = ("edit", "add", "rename", "delete")[number % 4]
        if kind == "edit":
            yield edit(chosen.choice(files), word)
        elif kind == "add":
            added.append((files[0].parent / f"added_{number}.py", word))
            yield add(*added[-1])
        elif kind == "rename":
            path, old_word = added.pop()
            added.append((path.with_name(f"renamed_{number}.py"), old_word))
            yield rename(path, *added[-1])
        else:
            yield delete(*added.pop())


def edit(path: Path, word: str) -> Change:
    """One more function at the end of a file, saved as editors do: written beside it and moved over it."""
    comment = "#" if path.suffix == ".py" else "//"

    def save() -> None:
        draft = path.with_name(f".{path.name}.tmp")
        draft.write_text(f"{path.read_text()}\n\n{comment} {word}\n")
        draft.replace(path)

    return Change("edit", save, word, lambda reply: word in reply.partition("\n")[2])


def add(path: Path, word: str) -> Change:
    """A new file."""
    text = f"def {word}(value):\n    return value\n"
    return Change("add", lambda: path.write_text(text), word, lambda reply: f"{path.name}:" in reply)


def rename(old: Path, new: Path, word: str) -> Change:
    """A file under another name."""
    return Change("rename", lambda: old.rename(new), word, lambda reply: f"{new.name}:" in reply)


def delete(path: Path, word: str) -> Change:
    """A file that is gone."""
    return Change("delete", path.unlink, word, lambda reply: f"{path.name}:" not in reply)


async def search(client: Client, query: str) -> str:
    """The reply to a search."""
    result = await client.call_tool("search", {"query": query, "limit": 3})
    content = result.content[0]
    if result.is_error or not isinstance(content, TextContent):
        raise SystemExit(f"The search failed: {content}")
    return content.text


async def time_of(client: Client, change: Change) -> tuple[float, int]:
    """Milliseconds until a search shows the change, and how many searches were asked."""
    started = time.perf_counter()
    change.apply()
    for asked in range(1, 100_000):
        reply = await search(client, change.query)
        elapsed = time.perf_counter() - started
        if change.seen(reply):
            return elapsed * 1000, asked
        if elapsed > GIVE_UP_SECONDS:
            break
    raise SystemExit(f"Not seen within {GIVE_UP_SECONDS} s: {change.kind} {change.query}\n{reply}")


@contextmanager
def searching(root: Path, home: Path, count: int) -> Iterator[None]:
    """Other processes that search all the time."""
    command = [sys.executable, "-c", CLIENT, str(root), " ".join(WORDS), "86400"]
    environment = os.environ | {"CQM_INDEX_HOME": str(home)}
    started = [subprocess.Popen([*command, str(number)], env=environment) for number in range(count)]
    try:
        yield
    finally:
        for process in started:
            process.kill()
            process.wait()


async def measure(root: Path, home: Path, count: int, others: int) -> None:
    """Serve the tree, index it, make the changes and print what was measured."""
    server = StdioServerParameters(
        command=str(Path(sys.executable).with_name("cqm")),
        args=["serve", "--root", str(root)],
        env={"CQM_INDEX_HOME": str(home)},
    )
    async with Client(server) as client:
        started = time.perf_counter()
        while "goes on" in (reply := await index(client)):
            print(reply.partition("\n")[0], flush=True)
        print(f"{reply}\nindexed in {time.perf_counter() - started:.1f} s\n", flush=True)
        times = defaultdict(list)
        with searching(root, home, others):
            idle = [await idle_search(client, number) for number in range(50)]
            for change in changes(root, count, random.Random(7)):
                milliseconds, _ = await time_of(client, change)
                times[change.kind].append(milliseconds)
    print("milliseconds          n    p50    p90    p95    max")
    print_row("search, no change", idle)
    for kind, values in times.items():
        print_row(kind, values)
    print_row("all changes", [value for values in times.values() for value in values])
    print(json.dumps({kind: [round(value, 1) for value in values] for kind, values in times.items()}))


async def index(client: Client) -> str:
    """The reply of index_path."""
    result = await client.call_tool("index_path", {})
    content = result.content[0]
    return content.text if isinstance(content, TextContent) else ""


async def idle_search(client: Client, number: int) -> float:
    """Milliseconds of a search that was not asked before, while nothing changes."""
    started = time.perf_counter()
    await search(client, f"parse the request headers {number}")
    return (time.perf_counter() - started) * 1000


def print_row(name: str, values: list[float]) -> None:
    """A row of the table."""
    ordered = sorted(values)
    marks = [ordered[min(len(ordered) - 1, int(len(ordered) * share))] for share in (0.5, 0.9, 0.95, 1)]
    print(f"{name:<18}{len(ordered):>5}{''.join(f'{mark:>7.0f}' for mark in marks)}")


def main() -> None:
    """Parse the command line and run."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("trees", nargs="+", type=Path)
    parser.add_argument("--chunks", type=int, default=20_000)
    parser.add_argument("--changes", type=int, default=52)
    parser.add_argument("--searching", type=int, default=0)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        root, home = Path(folder, "tree").resolve(), Path(folder, "home")
        print(f"about {build_tree(arguments.trees, root, arguments.chunks):,} chunks", flush=True)
        asyncio.run(measure(root, home, arguments.changes, arguments.searching))


if __name__ == "__main__":
    main()
