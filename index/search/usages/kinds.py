"""Tell how each line uses a name: by the syntax of its file, parsed in a worker, or by its words."""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from cqm.chunkers.facts.names import COMMENT, DEFINITION, DOCUMENT, KINDS, VALUE, Occurrence
from cqm.chunkers.model import Document
from cqm.chunkers.source_types import CODE, source_type_of
from cqm.index.generations.generation import Generation
from cqm.index.model.uses import ReferenceGroup
from cqm.index.ranking.file_roles import TEST, is_test, role_of
from cqm.index.search.usages.lines import FileLines, Part, Symbol, innermost, text_of_file, whole_files
from cqm.index.search.usages.words import kind_in_page, kind_of_line
from cqm.index.workers import Job, Workers

_MOST_FILES = 400
_MOST_BYTES = 4_000_000
"""Files to parse for an answer: about a second of a processor. Lines of further files are told by word."""
_RUST_TEST = re.compile(
    r"#\[(?:\w+::)*(?:test|rstest|bench|test_case|quickcheck|wasm_bindgen_test|cfg\((?:all\()?test)\b"
)
_DOCUMENTS = frozenset({"documentation", "issue"})


class Line(NamedTuple):
    """A line containing the name.

    Attributes:
        path, language, number, text: of the line.
        kind: one of `KINDS`.
        declares: kind of the symbol defined in it; empty for none.
        uses: the occurrences in it; none if the kind is told by word.
        by_syntax: whether a grammar told the kind.
        is_test: whether it is in a test, or in the file of one.
    """

    path: str
    language: str
    number: int
    text: str
    kind: str
    around: Symbol | None
    declares: str
    uses: tuple[Occurrence, ...]
    by_syntax: bool
    is_test: bool

    @property
    def group(self) -> ReferenceGroup:
        """Its group in an answer."""
        if self.kind == DOCUMENT:
            return ReferenceGroup.DOCUMENTATION
        if self.is_test:
            return ReferenceGroup.TESTS
        if self.kind == COMMENT:
            return ReferenceGroup.DOCUMENTATION
        return ReferenceGroup.CALLS if self.kind == "call" else ReferenceGroup.USES


def _is_in_test(file: FileLines, parts: Sequence[Part], number: int) -> bool:
    """Whether a line is in the file of a test, or in a test beside the program: by its kind, name or attributes."""
    role = role_of(file.path)
    if role is not None and role.name == TEST:
        return True
    return any(
        is_test(file.language, it.kind, it.name) or (file.language == "rust" and _has_test_above(part, it))
        for part in parts
        for it in part.symbols
        if it.first <= number <= it.last
    )


def _has_test_above(part: Part, symbol: Symbol) -> bool:
    """Whether an attribute of Rust, on a line of a symbol or above it, makes it a test."""
    lines, line = part.text.split("\n"), symbol.line - part.start
    while line >= 0:
        text = lines[line].strip()
        if _RUST_TEST.match(text):
            return True
        if line + part.start < symbol.first and not text.startswith(("#", "/")):
            return False
        line -= 1
    return False


def lines_of(
    generation: Generation, workers: Workers, files: Sequence[FileLines], name: str
) -> Iterator[tuple[tuple[Part, ...], list[Line]]]:
    """Yield for each file its chunks, all of them if it is parsed, and its lines with their kinds."""
    wholes = {parts[0].path: parts for parts in whole_files(generation, _worth_parsing(generation, files)) if parts}
    texts = {path: text_of_file(parts) for path, parts in wholes.items()}
    tasks = [(Document(path, text, wholes[path][0].language), name) for path, text in _within_bytes(texts)]
    found = [each for batch in workers.run(_PARSING, tasks) for each in batch]
    told = {task[0].path: uses for task, uses in zip(tasks, found, strict=True) if uses is not None}
    for file in files:
        parts = wholes.get(file.path, file.parts)
        if file.path in told:
            lines = list(_by_syntax(file, parts, told[file.path], name))
        else:
            lines = list(_by_word(file, parts, name))
        yield parts, lines


def _worth_parsing(generation: Generation, files: Sequence[FileLines]) -> list[str]:
    programs = [file.path for file in files if source_type_of(file.language) == CODE]
    return sorted(programs, key=lambda path: bool(generation.role_of(path)))[:_MOST_FILES]


def _within_bytes(texts: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    left = _MOST_BYTES
    for path, text in texts.items():
        left -= len(text)
        if left < 0:
            return
        yield path, text


def _occurrences(task: tuple[Document, str]) -> tuple[Occurrence, ...] | None:
    # Loaded by the process forking the workers only: its clients don't parse.
    from cqm.chunkers.facts.occurrences import occurrences

    return occurrences(*task)


def _nothing(_task: tuple[Document, str], _reason: str) -> tuple[Occurrence, ...] | None:
    return None


_PARSING: Job[tuple[Document, str], tuple[Occurrence, ...] | None] = Job(
    _occurrences, tuple[Occurrence, ...] | None, lambda task: len(task[0].text), _nothing
)


def _by_syntax(file: FileLines, parts: Sequence[Part], uses: Sequence[Occurrence], name: str) -> Iterator[Line]:
    by_row: defaultdict[int, list[Occurrence]] = defaultdict(list)
    for use in uses:
        by_row[use.row + 1].append(use)
    for number, text in file.lines.items():
        of_line = tuple(by_row.get(number, ()))
        if not of_line:
            yield _line(file, parts, number, kind_of_line(text, name, file.language))
            continue
        first = min(of_line, key=lambda use: KINDS.index(use.kind))
        yield Line(
            file.path,
            file.language,
            number,
            text,
            first.kind,
            innermost(parts, number),
            first.declares,
            of_line,
            by_syntax=True,
            is_test=_is_in_test(file, parts, number),
        )


def _by_word(file: FileLines, parts: Sequence[Part], name: str) -> Iterator[Line]:
    source = source_type_of(file.language)
    if source == CODE:
        kinds = {number: kind_of_line(text, name, file.language) for number, text in file.lines.items()}
    elif source in _DOCUMENTS:
        kinds = {number: kind_in_page(text, name, file.language) for number, text in file.lines.items()}
    else:
        kinds = dict.fromkeys(file.lines, VALUE)
    return (_line(file, parts, number, kind) for number, kind in kinds.items())


def _line(file: FileLines, parts: Sequence[Part], number: int, kind: str) -> Line:
    # A word alone is no proof of a definition.
    kind = VALUE if kind == DEFINITION else kind
    around, is_in_test = innermost(parts, number), _is_in_test(file, parts, number)
    text = file.lines[number]
    return Line(file.path, file.language, number, text, kind, around, "", (), by_syntax=False, is_test=is_in_test)
