"""Measure how many files of a tree are cut by what they say: files and bytes by tier, and what each language loses.

Usage: python tests/bench/breadth.py TREE [TREE ...]

Tier (a) is a grammar with rules for symbols, (b) a language whose symbols are guessed, or a chunker that knows a
document's or a record's structure, (c) lines.
The second table has, for each language of `PATTERNS`, the lines in regions with syntax errors, and how many of the
definitions that a regular expression finds, by line, are definitions of ours on that line or in a list there.
"""

import argparse
import os
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from cqm.chunkers.code.definitions import definitions_of
from cqm.chunkers.code.program import program_of
from cqm.chunkers.code.syntax import lost_rows
from cqm.chunkers.detect import PROSE_FORMATS, language_of
from cqm.chunkers.errors import UndecodableError
from cqm.chunkers.languages.table import BY_NAME
from cqm.chunkers.model import ChunkOptions
from cqm.chunkers.registry import chunker_of
from cqm.chunkers.source_types import source_type_of
from cqm.chunkers.text_of_file import read_text

PATTERNS = {
    "batch": r"^[ \t]*:(?![:.])(?P<name>[\w.-]+)",
    "cmake": r"(?i)^[ \t]*(?:function|macro|option)[ \t]*\([ \t]*(?P<name>\w+)",
    "dockerfile": r"(?i)^FROM[ \t].*?[ \t]AS[ \t]+(?P<name>[\w.-]+)|^ARG[ \t]+(?P<arg>\w+)",
    "graphql": r"^(?:type|input|enum|interface|union|scalar|directive|fragment|query|mutation)[ \t]+@?(?P<name>\w+)",
    "groovy": r"^[ \t]*(?:(?:abstract|public|static|final)[ \t]+)*(?:class|interface|trait|enum)[ \t]+(?P<name>\w+)"
    r"|^[ \t]*def[ \t]+(?P<method>\w+)[ \t]*\([^()]*\)[ \t]*\{",
    "hcl": r'^(?:variable|output|module|provider)[ \t]+"(?P<name>[^"]+)"'
    r'|^(?:resource|data)[ \t]+"[^"]+"[ \t]+"(?P<label>[^"]+)"',
    "ini": r"^\[(?P<name>[^\]\n]+)\][ \t]*$",
    "jsonnet": r"^local[ \t]+(?P<name>\w+)[ \t]*(?:\(|=(?![ \t]*\(?import))",
    "just": r"^@?(?P<name>[a-z_][\w-]*)\b[^:=\n]*:(?!=)",
    "less": r"^(?P<name>@[\w-]+)[ \t]*:|^(?P<mixin>\.[\w-]+)[ \t]*\([^;\n]*\)[^;\n]*\{[ \t]*$",
    "make": r"^(?P<name>(?!\.[A-Z])[\w./%-]+)(?:[ \t]+[\w./%-]+)*[ \t]*::?(?![=:])(?![^\n]*=)"
    r"|^(?P<variable>\w+)[ \t]*[:?+]?=",
    "nix": r"^ {0,4}(?P<name>[A-Za-z_][\w'-]*)[ \t]*=[ \t]*$"
    r"|^ {0,4}(?P<function>[A-Za-z_][\w'-]*)[ \t]*=[ \t]*\w+:[ \t]",
    "properties": r"^(?P<name>[\w.-]+)[ \t]*[=:]",
    "protobuf": r"^[ \t]*(?:message|enum|service|rpc)[ \t]+(?P<name>\w+)",
    "scss": r"^[ \t]*@(?:mixin|function)[ \t]+(?P<name>[\w-]+)|^(?P<variable>\$[\w-]+)[ \t]*:",
    "starlark": r"^def[ \t]+(?P<name>\w+)|^[ \t]{4}name[ \t]*=[ \t]*\"(?P<target>[^\"]+)\",",
    "vim": r"^[ \t]*(?:export[ \t]+)?(?:fu|fun|func|function|def)!?[ \t]+(?P<name>[\w:.#]+)[ \t]*\(",
}
SKIPPED = frozenset({".git", "node_modules", ".venv", "target", "dist"})


@dataclass(slots=True)
class Losses:
    """Counts of one language.

    Attributes:
        files: read.
        lines, lost: of them, and those in error regions.
        definitions: of ours.
        expected, found: that the pattern finds, and those which are definitions of ours.
    """

    files: int = 0
    lines: int = 0
    lost: int = 0
    definitions: int = 0
    expected: int = 0
    found: int = 0


def files_below(trees: Sequence[Path]) -> Iterator[Path]:
    for tree in trees:
        for folder, folders, names in os.walk(tree):
            folders[:] = [name for name in folders if name not in SKIPPED]
            yield from (Path(folder, name) for name in sorted(names) if not Path(folder, name).is_symlink())


def tier_of(language: str, text: str) -> str:
    name = chunker_of(language, text).name
    # A component's symbols are those of the rules for its scripts.
    has_rules = name == "component" or (name == "code" and not BY_NAME[language].is_guessed)
    return "a" if has_rules else "c" if name == "lines" else "b"


def add_losses(losses: Losses, text: str, language: str, pattern: re.Pattern[str]) -> None:
    program = program_of(text, language, ChunkOptions())
    lines = text.split("\n")
    losses.files += 1
    losses.lines += len(lines)
    expected = {(text.count("\n", 0, it.start()) + 1, it[it.lastgroup or 0]) for it in pattern.finditer(text)}
    losses.expected += len(expected)
    if program is None or isinstance(program, str):
        losses.lost += len(lines)
        return
    losses.lost += len({row for first, last in lost_rows(program.root) for row in range(first, last + 1)})
    ours = [it for _, it in definitions_of(program.marks, program.language, program.source)]
    losses.definitions += len(ours)
    spans = [(it.first_line, it.end_line, f".{it.name}") for it in ours]
    losses.found += sum(
        any(first <= line <= last and name.endswith((f".{wanted}", wanted)) for first, last, name in spans)
        for line, wanted in expected
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("trees", nargs="+", type=Path)
    files, sizes = Counter[tuple[str, str]](), Counter[tuple[str, str]]()
    by_lines, losses = Counter[str](), {name: Losses() for name in PATTERNS}
    patterns = {name: re.compile(pattern, re.MULTILINE) for name, pattern in PATTERNS.items()}
    prose = {row.name for row in PROSE_FORMATS}
    for path in files_below(parser.parse_args().trees):
        try:
            text = read_text(path.name, path.read_bytes()).text
        except (UndecodableError, OSError):
            continue
        language = language_of(str(path), text)
        kind = "documentation" if language in prose else source_type_of(language)
        tier = tier_of(language, text)
        files[kind, tier] += 1
        sizes[kind, tier] += len(text)
        if tier == "c":
            by_lines[language] += 1
        if language in patterns and len(text) < ChunkOptions().max_parse_bytes:
            add_losses(losses[language], text, language, patterns[language])
    heads = ("(a) files", "(b)", "(c)", "(a) MB", "(b)", "(c)")
    print(f"{'content':14}", *(f"{head:>9}" for head in heads), " (a) of files, bytes")
    for kind in sorted({kind for kind, _ in files}):
        counts, bytes_ = ([count[kind, tier] for tier in "abc"] for count in (files, sizes))
        numbers = [*(f"{it:9}" for it in counts), *(f"{it / 1e6:9.2f}" for it in bytes_)]
        shares = f"{counts[0] / sum(counts):.1%}, {bytes_[0] / max(1, sum(bytes_)):.1%}"
        print(f"{kind:14}", *numbers, f" {shares}")
    print("by lines:", ", ".join(f"{name} {count}" for name, count in by_lines.most_common(12)), "\n")
    heads = ("files", "lines", "in errors", "definitions", "expected", "recall")
    print(f"{'language':11}", *(f"{head:>11}" for head in heads))
    for name, it in losses.items():
        if it.files:
            lost, recall = it.lost / it.lines, it.found / it.expected if it.expected else 1
            numbers_of = f"{it.files:11} {it.lines:11} {lost:11.2%} {it.definitions:11} {it.expected:11}"
            print(f"{name:11} {numbers_of} {recall:11.3f}")


if __name__ == "__main__":
    main()
