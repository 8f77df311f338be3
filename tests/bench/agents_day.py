"""A day of an agent by script: tasks solved with CQM's tools alone, beside ripgrep, git and reading.

    python tests/bench/agents_day.py MIRRORS --rg PATH/TO/rg --work FOLDER [--of 12] [--seed 7] [--show]

MIRRORS has folders OWNER+NAME/repo with bare git repositories. Of each of five kinds `--of` tasks are drawn, by turns
from the repositories (agents_tasks.py). Both agents go on until each needed line was shown, at most 15 calls. Tokens
are those of requests and replies in o200k_base. Neither pays for the descriptions of its tools.

CQM, over stdio:
- find by name: `read` of the name; then as for prose.
- prose: `search` with a budget of 500 tokens; `read` of the places of its first two results, then of the first one's
  symbol, unless it says that nothing answers; one more page of 1,500. Then as ripgrep, with its searches by mode
  `regex` and windows by `read`.
- a trace: `search` with a budget of 1,500 tokens; then `read` of 60 lines around each frame.
- rename impact, where used: `usages` (calls only, for the second), and its next pages.
- what changed: `changes` with a budget of 1,500 tokens; then as for prose.

ripgrep:
- a name: `rg -n -w NAME`. To find it, read 60 lines from 10 above the likeliest line (one with a keyword of
  definitions first). For the callers, read 60 lines that end 4 below each call whose function's head was not seen,
  then the 60 above.
- prose: identifiers in it, then pairs of its longest words on one line, then single words; after each search, the
  windows of 60 lines around the best three places: files with most words first, tests and documents last.
- what changed: `git log --grep` with the subject; then `git show` of the first commit, of which 30,000 characters are
  shown; then as for prose.
- a trace: one `rg --files` for the names of all its files, then 60 lines around each frame, innermost first.
A search shows 100 lines at most, of 200 columns; windows are printed without line numbers, to ripgrep's favour.
"""

import argparse
import json
import re
import statistics
import subprocess
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from itertools import combinations, takewhile
from pathlib import Path
from sys import executable

import anyio
from agents_tasks import KINDS, Need, Task, export, tasks
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters
from mcp_types import TextContent

from cqm.chunkers.tokens import openai_tokenizer

MOST_CALLS = 15
_WINDOW = 60
_MOST_LINES, _MOST_COLUMNS = 100, 200
_READS_A_SEARCH = 3
_BUDGET, _FIRST_BUDGET = 1_500, 500
_FIRST_READS = 2
_MOST_SHOWN = 30_000
REPOSITORIES = ("starlette", "gin", "express", "monolog", "cobra", "aiohttp", "gson", "sinatra")
_TOKENIZER = openai_tokenizer("o200k_base")
_DEFINING = re.compile(r"\b(?:def|class|func|fn|function|interface|type|struct|enum|trait|module|record)\b")
_ASIDE = re.compile(r"(?i)test|spec|example|docs?/|\.(?:md|rst|txt)$")
_FRAME = re.compile(
    r"(?P<path>[\w./@+\\-]*[\w-]+\.(?:py|go|js|ts|java|rs|rb|php))[\"'):( ,]*(?:line |on line )?(?P<line>\d+)"
)
_STOP = re.compile(
    "(?:about|after|also|been|before|being|does|doesn|each|from|given|have|into|more|must|only|over|same|should|some|such|"
    "than|that|their|them|then|there|these|they|this|those|through|under|until|used|uses|using|were|what|when|where|"
    "which|while|will|with|without|your|returns?)$"
)


@dataclass
class Day:
    """One agent at one task: the calls and tokens spent, and the lines seen."""

    task: Task
    calls: int = 0
    tokens: int = 0
    lines: set[tuple[str, int]] = field(default_factory=set)
    within: dict[tuple[str, int], str] = field(default_factory=dict)
    files: dict[str, list[str]] = field(default_factory=dict)

    @property
    def is_done(self) -> bool:
        """Whether all was seen, or no call is left."""
        return self.is_solved or self.calls >= MOST_CALLS

    @property
    def is_solved(self) -> bool:
        """Whether each needed line was seen, where asked for with its function."""
        return all(self.has(it) for it in self.task.needs)

    def has(self, it: Need) -> bool:
        """Whether a line was seen, with the head or the name of its function where that is needed."""
        place = (it.path, it.line)
        if place not in self.lines:
            return False
        return not it.head or (it.path, it.head) in self.lines or self.within.get(place, "") in it.functions

    def pay(self, request: str, reply: str) -> None:
        """Count a call."""
        self.calls += 1
        self.tokens += _TOKENIZER.count(request) + _TOKENIZER.count(reply)

    def text(self, path: str) -> list[str]:
        """Return the lines of a file; none where there is no such file."""
        if path not in self.files:
            file = self.task.tree / path
            is_there = file.is_file() and ".." not in path
            self.files[path] = file.read_text("utf-8", "replace").split("\n") if is_there else []
        return self.files[path]


# CQM


_HEADER = re.compile(r"^(?:#\d+ |\[?#?\d*\]? ?)?(?P<path>[^\s:]+\.\w+):(?P<start>\d+)(?:-(?P<end>\d+))?(?:  |$)")
_MARKED = re.compile(r"^#\d+ \[(?:imports, )?lines? (?P<start>\d+)(?:-(?P<end>\d+))?(?P<out> left out)?\]")
_ENTRY = re.compile(r"^  (?:(?P<path>\S+):|  )(?P<line>\d+)(?:-\d+)?  (?P<rest>.*)$")
_ABOVE = re.compile(r"^  (?P<path>\S+\.\w+)$")


def see(day: Day, reply: str) -> None:
    """Take the lines that a reply shows.

    A line counts where its text stands below a place and is, in order, a line of that file. Of a signature, the first
    line counts.
    """
    path, listed, at, end = "", "", 1, 0
    for text in reply.split("\n"):
        if above := _ABOVE.match(text):
            listed = above["path"]
        if entry := _ENTRY.match(text):
            _entry(day, entry, entry["path"] or listed)
        if marked := _MARKED.match(text):
            at = int(marked["end"] or marked["start"]) + 1 if marked["out"] else int(marked["start"])
            continue
        if found := _HEADER.match(text):
            path, at, end = found["path"], int(found["start"]), int(found["end"] or found["start"])
            continue
        wanted, lines = text.strip(), day.text(path) if path else []
        for number in range(at, min(end, len(lines)) + 1) if wanted else ():
            line = lines[number - 1].strip()
            if line == wanted or (text.startswith("  ") and len(wanted) > 5 and wanted in line):
                day.lines.add((path, number))
                at = number + 1
                break


def _entry(day: Day, entry: re.Match[str], path: str) -> None:
    """Take a line of a list of references: its place, the function around it and its text."""
    place, rest = (path, int(entry["line"])), entry["rest"]
    lines = day.text(place[0])
    text = " ".join(lines[place[1] - 1].split()) if place[1] <= len(lines) else ""
    if text and (" ".join(rest.split()).endswith(text) or text[:60] in " ".join(rest.split())):
        day.lines.add(place)
        day.within[place] = re.split(r"[.:#]", rest.split("  ")[0])[-1].rstrip("?!=")


class Cqm:
    """The agent with CQM's tools."""

    def __init__(self, client: Client) -> None:
        self.client = client

    async def _call(self, day: Day, tool: str, **arguments: object) -> str:
        result = await self.client.call_tool(tool, arguments)
        assert isinstance(result.content[0], TextContent)
        reply = result.content[0].text
        day.pay(json.dumps({"name": tool, "arguments": arguments}, ensure_ascii=False), reply)
        return reply

    async def solve(self, task: Task) -> Day:
        """Go on until all is seen, or no call is left."""
        day = Day(task)
        if task.kind in {"rename impact", "where used"}:
            kinds = {"kind": ["calls"]} if task.kind == "where used" else {}
            await self._pages(day, 9, "usages", name=task.name, **kinds)
        elif task.kind == "trace":
            await self._pages(day, 1, "search", query=task.text, token_budget=_BUDGET)
            for path, line in frames_of(task.text):
                await self._read(day, path, line)
        elif task.name:
            see(day, await self._call(day, "read", what=task.name, token_budget=_BUDGET))
        if task.name or task.kind == "trace":
            return day
        if task.kind == "what changed":
            await self._pages(day, 1, "changes", what=task.text, token_budget=_BUDGET)
        more = await self._first(day)
        if more and not day.is_done:
            await self._pages(day, 1, "search", query=task.text, token_budget=_BUDGET, cursor=more)
        await self._by_pattern(day)
        return day

    async def _pages(self, day: Day, pages: int, tool: str, **arguments: object) -> str:
        """Ask for some pages; return the cursor of the next."""
        more = ""
        while pages and not day.is_done:
            pages -= 1
            reply = await self._call(day, tool, **arguments, **({"cursor": more} if more else {}))
            see(day, reply)
            found = re.search(r'^#\d+ .*cursor "?(\d+)', reply, re.MULTILINE)
            if not found:
                return ""
            more = found[1]
        return more

    async def _first(self, day: Day) -> str:
        """Search in short, and read the best results whole; return the cursor of the next page."""
        if day.is_done:
            return ""
        reply = await self._call(day, "search", query=day.task.text, token_budget=_FIRST_BUDGET)
        see(day, reply)
        heads = re.findall(r"^#\d+ (\S+\.\w+:\d+-\d+)  ([\w.#:]+) \(", reply, re.MULTILINE)
        for what in [*(place for place, _ in heads[:_FIRST_READS]), *(symbol for _, symbol in heads[:1])]:
            if not day.is_done:
                see(day, await self._call(day, "read", what=what, token_budget=_BUDGET))
        found = re.search(r'^#\d+ .*cursor "?(\d+)', reply, re.MULTILINE)
        return found[1] if found else ""

    async def _by_pattern(self, day: Day) -> None:
        """Search by patterns, and read around the best places."""
        for words in searches(day.task.text):
            if day.is_done:
                return
            pattern = rf"\b{words[1]}\b" if words[0] == "-w" else f"(?i){words[1]}"
            reply = await self._call(day, "search", query=pattern, mode="regex", token_budget=_BUDGET)
            see(day, reply)
            for path, line in best([*matching(reply)], day.task.text)[:_READS_A_SEARCH]:
                await self._read(day, path, line)

    async def _read(self, day: Day, path: str, line: int) -> None:
        if not day.is_done:
            start = max(1, line - _WINDOW // 2)
            what = f"{path}:{start}-{start + _WINDOW - 1}"
            see(day, await self._call(day, "read", what=what, token_budget=_BUDGET))


def matching(reply: str) -> Iterator[tuple[str, int, str]]:
    """Yield the lines with a match, with their texts: they stand below the path of their file."""
    path = ""
    for text in reply.split("\n"):
        if head := re.fullmatch(r"#\d+ (?P<path>\S+\.\w+)", text):
            path = head["path"]
        elif path and (found := re.match(r"(?P<line>\d+):(?P<text>.*)", text)):
            yield path, int(found["line"]), found["text"]


# ripgrep and reading


class Ripgrep:
    """The agent with ripgrep and windows of files."""

    def __init__(self, rg: str) -> None:
        self.rg = rg

    def _search(self, day: Day, *arguments: str) -> list[tuple[str, int, str]]:
        """Run `rg -n` and return its places and texts."""
        command = [self.rg, "--no-config", "-n", "--no-heading", "--sort=path", *arguments, "."]
        done = subprocess.run(command, cwd=day.task.tree, capture_output=True, check=False)
        printed = done.stdout.decode("utf-8", "replace").split("\n")
        lines = [it.removeprefix("./")[:_MOST_COLUMNS] for it in printed if it]
        day.pay("rg -n " + " ".join(arguments), "\n".join(lines[:_MOST_LINES]))
        hits = []
        for line in lines[:_MOST_LINES]:
            path, _, rest = line.partition(":")
            number, _, text = rest.partition(":")
            if number.isdigit():
                hits.append((path, int(number), text))
                day.lines.add((path, int(number)))
        return hits

    def _read(self, day: Day, path: str, start: int) -> None:
        """Read a window; free of charge if it was read before."""
        start = max(1, start)
        lines = day.text(path)[start - 1 : start - 1 + _WINDOW]
        places = {(path, start + n) for n in range(len(lines))}
        if not day.is_done and not places <= day.lines:
            day.pay(f"sed -n {start},{start + _WINDOW - 1}p {path}", "\n".join(lines))
            day.lines |= places

    async def solve(self, task: Task) -> Day:
        """Go on until all is seen, or no call is left."""
        day = Day(task)
        if task.kind == "trace":
            self._follow(day)
        elif task.name:
            self._by_name(day)
        else:
            if task.kind == "what changed":
                self._by_commit(day)
            for words in searches(task.text):
                if day.is_done:
                    break
                hits = self._search(day, *words)
                for path, line in best(hits, task.text)[:_READS_A_SEARCH]:
                    self._read(day, path, line - _WINDOW // 2)
        return day

    def _by_commit(self, day: Day) -> None:
        """Look for the commit and show it: a needed line counts if the commit added one with its text."""
        tree = day.task.tree
        found = _git(tree, "log", "--oneline", "--no-merges", "-20", "-F", "-i", f"--grep={day.task.text}")
        day.pay(f"git log --oneline --no-merges -20 -F -i --grep='{day.task.text}'", found)
        if not found:
            return
        commit = found.split()[0]
        shown = _git(tree, "show", commit)[:_MOST_SHOWN]
        day.pay(f"git show {commit}", shown)
        for path, added in _added(shown).items():
            day.lines |= {
                (it.path, it.line) for it in day.task.needs if it.path == path and day.text(path)[it.line - 1] in added
            }

    def _follow(self, day: Day) -> None:
        """Read around the frames of a trace."""
        frames = frames_of(day.task.text)
        names = sorted({path.rpartition("/")[2] for path, _ in frames})
        arguments = ["--files", *(part for name in names for part in ("-g", name))]
        command = [self.rg, "--no-config", "--sort=path", *arguments]
        found = subprocess.run(command, cwd=day.task.tree, capture_output=True, check=False).stdout.decode().split()
        day.pay("rg " + " ".join(arguments), "\n".join(found[:_MOST_LINES]))
        for path, line in frames:
            alike = [it for it in found if Path(it).name == Path(path).name]
            if alike and not day.is_done:
                self._read(day, max(alike, key=lambda it: _common_end(it, path)), line - 30)

    def _by_name(self, day: Day) -> None:
        hits = self._search(day, "-w", day.task.name)
        if day.task.kind == "find":
            likeliest = sorted(hits, key=lambda it: (not _DEFINING.search(it[2]), bool(_ASIDE.search(it[0]))))
            for path, line, _ in likeliest:
                self._read(day, path, line - 10)
        elif day.task.kind == "where used":
            needed = {(it.path, it.line): it for it in day.task.needs}
            for above in (_WINDOW - 5, 2 * _WINDOW - 5, 3 * _WINDOW - 5):
                for path, line, text in hits:
                    is_call = f"{day.task.name}(" in text and not _ASIDE.search(path)
                    it = needed.get((path, line))
                    if is_call and (not it or not day.has(it)):
                        self._read(day, path, line - above)


def _git(tree: Path, *arguments: str) -> str:
    done = subprocess.run(["git", "-C", tree, *arguments], check=True, capture_output=True)
    return done.stdout.decode("utf-8", "replace")


def _added(diff: str) -> dict[str, set[str]]:
    """Return the lines that a diff adds, by path."""
    added: defaultdict[str, set[str]] = defaultdict(set)
    path = ""
    for line in diff.split("\n"):
        if line.startswith("+++ b/"):
            path = line.removeprefix("+++ b/")
        elif line.startswith("+"):
            added[path].add(line[1:])
    return added


def frames_of(trace: str) -> list[tuple[str, int]]:
    """Return the places of a trace, innermost first."""
    frames = [(it["path"].replace("\\", "/"), int(it["line"])) for it in _FRAME.finditer(trace)]
    return frames[::-1] if re.search(r"\.py\b", trace) else frames


def _common_end(one: str, other: str) -> int:
    """Return how many parts of two paths are the same, from the end."""
    pairs = zip(reversed(one.split("/")), reversed(other.split("/")), strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def searches(text: str) -> Iterator[list[str]]:
    """Yield the arguments for searches of a question, likeliest first."""
    identifiers = re.findall(r"`([\w.]+)`|\b(\w+_\w+|[a-z]+[A-Z]\w*|[A-Z]\w*[a-z][A-Z]\w*)\b", text)
    for name in dict.fromkeys(a or b for a, b in identifiers):
        yield ["-w", name.rpartition(".")[2] or name]
    words = content(text)[:4]
    for one, other in combinations(words, 2):
        yield ["-i", f"{one}.*{other}|{other}.*{one}"]
    for word in words:
        yield ["-i", word]


def content(text: str) -> list[str]:
    """Return the words that say something, longest first."""
    words = dict.fromkeys(it.lower() for it in re.findall(r"[A-Za-z]{4,}", text))
    return sorted((it for it in words if not _STOP.match(it)), key=len, reverse=True)


def best(hits: list[tuple[str, int, str]], text: str) -> list[tuple[str, int]]:
    """Return places to read: of files with the most words of the question, tests and documents last."""
    words = content(text)
    of_file: defaultdict[str, set[str]] = defaultdict(set)
    for path, _, line in hits:
        of_file[path] |= {it for it in words if it in line.lower()}
    ranked = sorted(
        hits,
        key=lambda it: (
            bool(_ASIDE.search(it[0])), -len(of_file[it[0]]), -sum(word in it[2].lower() for word in words),
        ),
    )  # fmt: skip
    kept: list[tuple[str, int]] = []
    for path, at, _ in ranked:
        if all(path != other or abs(at - known) > _WINDOW // 2 for other, known in kept):
            kept.append((path, at))
    return kept


# The day


async def measured(drawn: list[Task], rg: str, work: Path, *, show: bool) -> list[tuple[Day, Day]]:
    """Return both agents' days for the tasks of one tree."""
    home = str(work / "home")
    environment = {"CQM_INDEX_HOME": str(work / "indexes"), "HOME": home, "XDG_CONFIG_HOME": home}
    cqm = str(Path(executable).with_name("cqm"))
    server = StdioServerParameters(command=cqm, args=["serve", "--root", str(drawn[0].tree)], env=environment)
    days = []
    async with Client(server, read_timeout_seconds=600) as client:
        await client.call_tool("index_path", {"wait_seconds": 240})
        for task in drawn:
            pair = (await Cqm(client).solve(task), await Ripgrep(rg).solve(task))
            days.append(pair)
            if show:
                told = "; ".join(f"{it.is_solved:d} {it.calls:2} calls {it.tokens:6} tokens" for it in pair)
                lacking = [f"{it.path}:{it.line}" for it in task.needs if not pair[0].has(it)][:2]
                print(f"  {task.tree.name:10} {task.kind:14} {told}  {task.name or task.text[:60]!r} {lacking}")
    return days


def row(kind: str, days: list[tuple[Day, Day]]) -> None:
    """Print solved, median calls and tokens, their sums, and the ratios of the sums."""
    shown = f"{kind:14}{len(days):4}"
    for side in zip(*days, strict=True):
        calls, tokens = [it.calls for it in side], [it.tokens for it in side]
        shown += f"  {sum(it.is_solved for it in side):4} {statistics.median(calls):5.1f} {sum(calls):5}"
        shown += f" {statistics.median(tokens):7.0f} {sum(tokens):8}"
    ours, theirs = zip(*days, strict=True)
    ratios = (
        sum(it.calls for it in ours) / sum(it.calls for it in theirs),
        sum(it.tokens for it in ours) / sum(it.tokens for it in theirs),
    )
    print(f"{shown}  {ratios[0]:.2f} {ratios[1]:.2f}")


def main() -> None:
    """Draw the tasks, have both agents solve them, and print a row for each kind."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("mirrors", type=Path)
    parser.add_argument("--rg", required=True)
    parser.add_argument("--work", type=Path, required=True, help="keeps trees and indexes")
    parser.add_argument("--of", type=int, default=12, help="tasks of a kind")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--show", action="store_true", help="print a row for each task too")
    given = parser.parse_args()
    (given.work / "home").mkdir(parents=True, exist_ok=True)
    of_repository: list[list[Task]] = []
    for name in REPOSITORIES:
        mirror, tree = min(given.mirrors.glob(f"*+{name}/repo")), given.work / "trees" / name
        if not tree.is_dir():
            export(mirror, tree)
        of_repository.append([*tasks(mirror, tree, given.of, given.seed)])
    drawn: list[Task] = []
    for kind in KINDS:
        left = [[it for it in some if it.kind == kind] for some in of_repository]
        turns = (some[n] for n in range(given.of) for some in left if n < len(some))
        drawn += [task for _, task in zip(range(given.of), turns, strict=False)]
    days: list[tuple[Day, Day]] = []
    for tree in dict.fromkeys(it.tree for it in drawn):
        some = [it for it in drawn if it.tree == tree]
        days += anyio.run(partial(measured, some, given.rg, given.work, show=given.show))
    print(f"{'':18}  {'CQM: solved, calls, tokens':34}  {'ripgrep, git: solved, calls, tokens':34}CQM / ripgrep")
    for kind in KINDS:
        row(kind, [it for it in days if it[0].task.kind == kind])
    row("all", days)
    print("repositories:", dict(Counter(it[0].task.tree.name for it in days)))


if __name__ == "__main__":
    main()
