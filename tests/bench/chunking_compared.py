"""Compare our chunks of code with those of other chunkers on the same files, in the same run.

Usage: python tests/bench/chunking_compared.py TREE [TREE ...] --rival NAME=PYTHON [--rival ...] [--language L ...]

PYTHON is an interpreter that has the rival (see rivals.py for the names). Each chunk is looked up in its file by its
characters that are not blank, so that a rival that strips or rewrites white space loses nothing by it; text that is not
found is text that the file does not hold. A function is whole when one chunk holds it with the comments directly above
it and its decorators; functions over 512 estimated tokens are left out. The first call of each language warms up.

Columns: files that it could read; chunks; share of non-blank characters covered; characters in chunks per covered
character; share of true first lines; functions whole; chunks under 32 tokens; median and 95th percentile of tokens;
MB a second of CPU.
"""

import argparse
import json
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import accumulate
from pathlib import Path
from statistics import median, quantiles

sys.path.insert(0, str(Path(__file__).parent))

from chunking import TINY, documents, functions, percent
from tree_sitter import Parser

from cqm.chunkers.chunking import chunk
from cqm.chunkers.grammars import grammar
from cqm.chunkers.languages.table import BY_NAME
from cqm.chunkers.model import ChunkOptions, Document
from cqm.chunkers.tokens import estimate

LANGUAGES = ("python", "typescript", "tsx", "javascript", "java", "go", "rust", "csharp", "cpp", "c", "ruby", "php")
MOST_TOKENS = 512

Chunks = list[tuple[str, "int | None"]]
Cut = Callable[[Document], "tuple[float, Chunks] | None"]
"""CPU seconds and chunks of a document; None when the chunker cannot read it."""


@dataclass
class Tally:
    """All that was counted of one chunker in one language."""

    files: int = 0
    size: int = 0
    seconds: float = 0.0
    characters: int = 0
    covered: int = 0
    spent: int = 0
    told: int = 0
    true: int = 0
    functions: int = 0
    whole: int = 0
    tokens: list[int] = field(default_factory=list)

    def row(self, name: str) -> str:
        """A line of the table."""
        tiny = sum(size < TINY for size in self.tokens)
        p95 = quantiles(self.tokens, n=20)[-1] if len(self.tokens) > 1 else 0
        cells = [
            f"{name:22}{self.files:6}{len(self.tokens):8}",
            f"{percent(self.covered, self.characters):>8}",
            f"{self.spent / self.covered if self.covered else 0:7.2f}",
            f"{percent(self.true, self.told):>8}",
            f"{percent(self.whole, self.functions):>8}",
            f"{percent(tiny, len(self.tokens)):>7}",
            f"{median(self.tokens) if self.tokens else 0:6.0f}{p95:6.0f}",
            f"{self.size / 1e6 / self.seconds if self.seconds else 0:7.2f}",
        ]
        return " ".join(cells)


class Packed:
    """A text without its blank characters, and where each of them stands."""

    def __init__(self, text: str) -> None:
        self.text = "".join(text.split())
        self.rows = [row for row, line in enumerate(text.split("\n")) for part in line.split() for _ in part]


def ours(document: Document) -> tuple[float, Chunks]:
    """Our own chunker."""
    started = time.process_time()
    report = chunk(document)
    seconds = time.process_time() - started
    return seconds, [(piece.text, piece.start_line) for piece in report.chunks]


def rival(name: str, python: str) -> Cut:
    """A rival in its own interpreter."""
    command = [python, str(Path(__file__).with_name("rivals.py")), name]
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )

    def cut(document: Document) -> tuple[float, Chunks] | None:
        assert process.stdin
        assert process.stdout
        file = {"path": document.path, "language": document.language, "text": document.text}
        process.stdin.write(json.dumps(file) + "\n")
        process.stdin.flush()
        answer = json.loads(process.stdout.readline())
        return None if "unsupported" in answer else (answer["seconds"], answer["chunks"])

    return cut


def measure(document: Document, spent: tuple[float, Chunks], tally: Tally) -> None:
    """Look the chunks of a document up in it and count."""
    seconds, chunks = spent
    packed = Packed(document.text)
    changes = [0] * (len(packed.text) + 1)
    spans: list[tuple[int, int]] = []
    position = 0
    for text, line in chunks:
        own = "".join(text.split())
        start = packed.text.find(own, position) if own else -1
        start = packed.text.find(own) if own and start < 0 else start
        tally.tokens.append(estimate(text))
        tally.spent += len(own)
        tally.told += line is not None and bool(own)
        if start < 0:
            continue
        position = start
        changes[start] += 1
        changes[start + len(own)] -= 1
        first, last = packed.rows[start], packed.rows[start + len(own) - 1]
        # A chunk may begin with blank lines, which are lines of it.
        tally.true += line is not None and line - 1 in (first, first - leading(text))
        spans.append((first, last))
    tally.files += 1
    tally.size += len(document.text.encode())
    tally.seconds += seconds
    tally.characters += len(packed.text)
    tally.covered += sum(depth > 0 for depth in accumulate(changes))
    count_functions(document, spans, tally)


def leading(text: str) -> int:
    """Return how many blank lines a text begins with."""
    return text[: len(text) - len(text.lstrip())].count("\n")


def count_functions(document: Document, spans: list[tuple[int, int]], tally: Tally) -> None:
    """Count functions within the limit, and those that one chunk holds."""
    tree = Parser(grammar(*BY_NAME[document.language].grammar)).parse(document.text.encode())
    lines = document.text.split("\n")
    for first, last in functions(tree.root_node, document.language):
        if estimate("\n".join(lines[first : last + 1]) + "\n") <= MOST_TOKENS:
            tally.functions += 1
            tally.whole += any(begins <= first and last <= ends for begins, ends in spans)


def compared(trees: list[Path], languages: set[str], cutters: dict[str, Cut]) -> Iterator[tuple[str, str, Tally]]:
    """The tallies by language and chunker."""
    tallies: dict[tuple[str, str], Tally] = defaultdict(Tally)
    warm: set[tuple[str, str]] = set()
    for document in documents(trees, languages):
        if len(document.text) > ChunkOptions().max_parse_bytes or not document.text.strip():
            continue
        for name, cut in cutters.items():
            if (name, document.language) not in warm:
                warm.add((name, document.language))
                cut(document)
            spent = cut(document)
            if spent is not None:
                measure(document, spent, tallies[document.language, name])
                measure(document, spent, tallies["all", name])
    for (language, name), tally in sorted(tallies.items(), key=lambda item: (item[0][0] == "all", item[0])):
        yield language, name, tally


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("trees", nargs="+", type=Path)
    parser.add_argument("--rival", action="append", default=[], metavar="NAME=PYTHON")
    parser.add_argument("--language", action="append", default=[])
    arguments = parser.parse_args()
    cutters: dict[str, Cut] = {"cqm": ours}
    for name, _, python in (each.partition("=") for each in arguments.rival):
        cutters[name] = rival(name, python)
    print(f"{'':22} files  chunks covered  copies    lines   whole    tiny median   p95    MB/s")
    for language, name, tally in compared(arguments.trees, set(arguments.language or LANGUAGES), cutters):
        print(tally.row(f"{language} {name}"))


if __name__ == "__main__":
    main()
