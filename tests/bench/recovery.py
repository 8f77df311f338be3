"""Measure what is lost of programs that a grammar can't read, before and after recovery.

Usage: python tests/bench/recovery.py TREE [TREE ...] [--language NAME] [--worst N]

Before: non-blank lines of the outermost error nodes of one parse of the whole text, or all lines of a text that is not
parsed. After: non-blank lines of error nodes of the final tree, of declarations and bodies left out of it, and of texts
that are not parsed, without those in a definition. A definition counts with the lines that it has for itself: all of a
function or value, but of a class or namespace only its first and last line, since its members have their own, and the
comments and decorators directly above either. A guessed definition counts too; their number is printed.

Seconds are the thread's own, of parsing once, and of parsing and outlining with recovery; the last column has the
latter for files without errors, as a share of the former.
"""

import argparse
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from time import thread_time

from chunking import documents

from cqm.chunkers.code.outline import Mark
from cqm.chunkers.code.program import Program, parts_of, program_of
from cqm.chunkers.code.syntax import lost_rows, parse
from cqm.chunkers.grammars import grammar
from cqm.chunkers.languages.model import COMMENT, GROUP, IMPORTS, LEADING
from cqm.chunkers.languages.table import BY_NAME
from cqm.chunkers.model import ChunkOptions, Document

ATTACHED = {COMMENT, LEADING}
NO_SYMBOLS = {GROUP, IMPORTS, "statement"}


@dataclass
class Tally:
    """All that was counted for one language; seconds are of parsing once, and of recovery, for files with errors."""

    files: int = 0
    broken: int = 0
    lines: int = 0
    before: int = 0
    after: int = 0
    guessed: int = 0
    once: float = 0.0
    whole: float = 0.0
    worst: list[tuple[int, int, str]] = field(default_factory=list)


def rows_of_definitions(marks: Iterable[Mark]) -> Iterator[int]:
    """The rows that definitions have for themselves, with comments and decorators directly above them."""
    waiting = [list(marks)]
    while waiting:
        pending: list[Mark] = []
        for mark in waiting.pop():
            if mark.kind in ATTACHED:
                pending.append(mark)
                continue
            if mark.name and mark.kind not in NO_SYMBOLS:
                following = mark.first
                for above in reversed(pending):
                    if above.last < following - 1:
                        break
                    yield from range(above.first, above.last + 1)
                    following = above.first
                holds = bool(mark.members)
                yield from (mark.first, mark.last) if holds else range(mark.first, mark.last + 1)
            pending = []
            if mark.members:
                waiting.append(list(mark.members))


def guessed(marks: Iterable[Mark]) -> int:
    """The number of guessed symbols."""
    return sum(mark.is_guessed + guessed(mark.members) for mark in marks)


def count(document: Document, tally: Tally) -> None:
    """Count one file."""
    language = BY_NAME[document.language]
    data = document.text.encode("utf-8", "surrogatepass")
    lines = document.text.split("\n")
    full = {row for row, line in enumerate(lines) if line.strip()}
    started = thread_time()
    for remove in language.removed:
        data = remove(data)
    tree = parse(data, grammar(*language.grammar)) if len(data) <= ChunkOptions().max_parse_bytes else None
    once = thread_time() - started
    lost = full if tree is None else {row for span in lost_rows(tree.root_node) for row in range(*span)} & full
    started = thread_time()
    # A large program is read in parts, as in the index.
    parts = parts_of(document.text, document.language, ChunkOptions())
    programs = [program_of(part, document.language, ChunkOptions()) for part in parts]
    whole = thread_time() - started
    after, row = set[int](), 0
    for part, program in zip(parts, programs, strict=True):
        unread = {*range(part.count("\n") + 1)}
        if isinstance(program, Program):
            unread = {it for first, end in program.unread for it in range(first, end)}
            unread = unread.difference(rows_of_definitions(program.marks)) if unread else set()
            tally.guessed += guessed(program.marks)
        after |= {row + it for it in unread} & full
        row += part.count("\n")
    tally.files += 1
    tally.broken += bool(lost)
    tally.lines += len(full)
    tally.before += len(lost)
    tally.after += len(after)
    if lost:
        tally.once += once
        tally.whole += whole
    if after:
        tally.worst.append((len(after), len(full), document.path))


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("trees", nargs="+", type=Path)
    parser.add_argument("--language", action="append", default=[])
    parser.add_argument("--worst", type=int, default=0, help="files to list, those with most lines lost")
    arguments = parser.parse_args()
    tallies: defaultdict[str, Tally] = defaultdict(Tally)
    for document in documents(arguments.trees, set(arguments.language)):
        count(document, tallies[document.language])
    print("language       files  broken     lines  before %   after %   guessed   parse s  recover s")
    for name, it in sorted(tallies.items(), key=lambda item: -item[1].before):
        before, after = (100 * lost / max(it.lines, 1) for lost in (it.before, it.after))
        counts = f"{name:12} {it.files:7} {it.broken:7} {it.lines:9} {before:9.3f} {after:9.3f} {it.guessed:9}"
        print(f"{counts} {it.once:9.2f} {it.whole:10.2f}")
    worst = sorted((entry for it in tallies.values() for entry in it.worst), reverse=True)
    for lost, lines, path in worst[: arguments.worst]:
        print(f"{lost:7} of {lines:7} {path}")


if __name__ == "__main__":
    main()
