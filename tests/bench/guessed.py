"""Measure the guessed symbols of languages without rules of their own: recall and precision beside regular expressions.

Usage: python tests/bench/guessed.py [--by-lines] TREE [TREE ...]

A declaration counts as found if one of ours has its name on its line. Fields, variables and constants of ours count
nowhere, but in the languages of `WITH_VALUES`, whose expressions know them. `--by-lines` measures what an installation
without the extra `more-languages` says: its patterns are of the same kind as the expressions here, so that these
figures flatter it.
"""

import argparse
import re
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

from breadth import files_below

from cqm.chunkers.code import program
from cqm.chunkers.code.definitions import definitions_of
from cqm.chunkers.detect import language_of
from cqm.chunkers.errors import UndecodableError
from cqm.chunkers.model import ChunkOptions
from cqm.chunkers.text_of_file import read_text

PATTERNS = {
    "apex": (
        r"(?i)^\s*(?:@\w+(?:\([^)]*\))?\s*)*(?:(?:public|private|global|protected|virtual|abstract"
        r"|with sharing|without sharing|inherited sharing|static|override|transient|final"
        r"|testMethod)\s+)+(?:class|interface|enum)\s+(?P<n>\w+)"
        r"|^\s*(?:(?:public|private|global|protected|virtual|abstract|static"
        r"|override)\s+)+[\w<>,.\[\] ]*?(?P<n2>\w+)\s*\([^=;]*$"
    ),
    "bicep": (r"^(?:@\w.*\s)?(?:param|var|resource|module|output|type|func|metadata)\s+(?P<n>\w+)"),
    "capnp": (
        r"^\s*(?:struct|enum|interface|const|annotation)\s+(?P<n>\w+)"
        r"|^\s+(?P<n2>\w+)\s+@\d+\s*(?:\[.*\]\s*)?\("
    ),
    "fennel": (r"^\((?:fn|lambda|λ|macro|local|var|global)\s+(?P<n>[^\s()\[\]{}]+)"),
    "fish": (r"^\s*function\s+(?P<n>\S+)"),
    "pony": (
        r"^(?:class|actor|primitive|trait|interface|struct|type)\s+(?:val |ref |iso |box |trn "
        r"|tag )?(?P<n>\w+)"
        r"|^\s+(?:fun|new|be)\s+(?:val |ref |iso |box |trn |tag )?(?P<n2>\w+)"
    ),
    "prisma": (r"^(?:model|enum|datasource|generator|type|view)\s+(?P<n>\w+)"),
    "puppet": (r"^\s*(?:class|define|function|type)\s+(?P<n>[\w:]+)"),
    "purescript": (
        r"^(?:data|newtype|type|class(?:\s+\(?[^=]*?<=)?)\s+(?P<n>[A-Z]\w*)"
        r"|^(?:foreign import\s+)?\s*(?P<n2>[a-z_][\w']*)(?:\s*::|\s*$(?=\n\s+::))"
    ),
    "qml": (
        r"^\s*function\s+(?P<n>\w+)"
        r"|^\s*(?:default |readonly |required )*property\s+(?:alias|[\w.<>]+)\s+(?P<n2>\w+)"
        r"|^\s*signal\s+(?P<n3>\w+)"
    ),
    "rego": (
        r"^(?:default\s+)?(?P<n>(?!package\b|import\b|else\b|default\b)[a-z_]\w*)\s*(?:\[|\(|\{|:?="
        r"|contains|if)"
    ),
    "smithy": (
        r"^(?:structure|union|enum|intEnum|service|resource|operation|list|map|string|integer|boolean"
        r"|blob|timestamp|long|float|double|short|byte|bigInteger|bigDecimal|document)\s+(?P<n>\w+)"
    ),
    "thrift": (
        r"^\s*(?:enum|struct|union|exception|service|senum)\s+(?P<n>[\w.:#'!?-]+)"
        r"|^typedef\s+.*?(?P<n2>\w+)\s*(?:\(.*\))?;?\s*$"
        r"|^\s*const\s+\S+(?:\s*<[^>]*>)?\s+(?P<n3>\w+)\s*="
        r"|^\s+(?:oneway\s+)?[\w.<>, ]+\s+(?P<n4>\w+)\s*\((?!.*=)"
    ),
    "v": (
        r"^(?:pub )?(?:struct|interface|enum|union|type)\s+(?P<n>\w+)"
        r"|^(?:pub )?fn\s+(?:\([^)]*\)\s*)?(?P<n2>\w+)"
        r"|^(?:pub )?const\s+(?P<n3>\w+)"
    ),
    "vhdl": (
        r"(?i)^\s*(?:entity|architecture|package(?: body)?|(?:pure |impure )?function|procedure"
        r"|component|type|subtype|alias)\s+(?!is\b|instance)(?P<n>\w+|\"[^\"]+\")"
    ),
}
WITH_VALUES = frozenset({"bicep", "qml"})
_VALUES = frozenset({"property", "variable", "constant"})
_COMMENT = re.compile(r"\s*(?://|#|--|;|\*|/\*|%)")


@dataclass(slots=True)
class Counts:
    """Files read; declarations expected, and found of them; ours, and true of them."""

    files: int = 0
    expected: int = 0
    found: int = 0
    ours: int = 0
    true: int = 0


def add(counts: Counts, text: str, language: str) -> None:
    parsed = program.program_of(text, language, ChunkOptions())
    if parsed is None or isinstance(parsed, str):
        return
    lines = text.split("\n")
    matches = re.compile(PATTERNS[language], re.MULTILINE).finditer(text)
    places = {(text.count("\n", 0, it.start(it.lastgroup or 0)), it[it.lastgroup or 0]) for it in matches}
    wanted = {(row, name.strip('"').replace("::", ".")) for row, name in places if not _COMMENT.match(lines[row])}
    defined = [it for _, it in definitions_of(parsed.marks, parsed.language, parsed.source)]
    ours = {(it.line - 1, it.name) for it in defined if it.kind not in _VALUES or language in WITH_VALUES}
    everything = {(it.line - 1, it.name) for it in defined}
    counts.files += 1
    counts.expected += len(wanted)
    counts.found += sum(any(_is(name, ours_) for at, ours_ in everything if at == row) for row, name in wanted)
    counts.ours += len(ours)
    counts.true += sum(any(_is(name, ours_) for at, name in wanted if at == row) for row, ours_ in ours)


def _is(name: str, ours: str) -> bool:
    return ours == name or ours.endswith(f".{name}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--by-lines", action="store_true", help="as without the extra")
    parser.add_argument("trees", nargs="+", type=Path)
    asked = parser.parse_args()
    if asked.by_lines:
        program._has_grammar = lambda row: False  # noqa: ARG005 - called by its name
    counts: dict[str, Counts] = defaultdict(Counts)
    for path in files_below(asked.trees):
        try:
            text = read_text(path.name, path.read_bytes()).text
        except (UndecodableError, OSError):
            continue
        language = language_of(path.name, text)
        if language in PATTERNS:
            add(counts[language], text, language)
    print(f"{'language':12}{'files':>6}{'expected':>10}{'recall':>8}{'ours':>8}{'precision':>11}")
    for language, it in sorted(counts.items()):
        recall, precision = it.found / max(1, it.expected), it.true / max(1, it.ours)
        print(f"{language:12}{it.files:6}{it.expected:10}{recall:8.3f}{it.ours:8}{precision:11.3f}")


if __name__ == "__main__":
    main()
