"""Find every line of the index with a word: chunks by the word's term, then lines by the word itself."""

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from typing import Any, NamedTuple

from cqm.chunkers.facts.names import word
from cqm.index.batched import batched
from cqm.index.generations.generation import Generation
from cqm.index.store.base import TERMS, Nearest
from cqm.index.text.stored_definitions import read_definitions
from cqm.index.text.terms import WORD, name_term

MOST_NAMESAKES = 3
"""Symbols with one last name: calls of a more common name, such as "get" and "run", could mean anything."""
_MOST_CHUNKS = 20_000
_PAGE = 500
_COLUMNS = ("id", "path", "language", "symbol", "kind", "start_line")


class Symbol(NamedTuple):
    """A definition; lines count from 1.

    Attributes:
        name: qualified.
        kind: as in `Definition.kind`.
        first, line, last: its first line, the one with its name, its last line.
    """

    name: str
    kind: str
    first: int
    line: int
    last: int


class Part(NamedTuple):
    """A chunk as stored.

    Attributes:
        path, language, symbol, kind: as in `ChunkRow`.
    """

    path: str
    language: str
    symbol: str
    kind: str
    start: int
    text: str
    symbols: tuple[Symbol, ...]


@dataclass(frozen=True, slots=True)
class FileLines:
    """A file's lines containing a word.

    Attributes:
        parts: the chunks with these lines, in order.
        lines: by number.
    """

    path: str
    language: str
    parts: tuple[Part, ...]
    lines: Mapping[int, str]


def files_with(generation: Generation, name: str) -> tuple[list[FileLines], bool]:
    """Return the files with lines containing a name as a word, by path, and whether these are all."""
    found: dict[str, list[Part]] = {}
    limit = min(_MOST_CHUNKS, generation.manifest.chunk_count() + 1)
    # A name with hyphens is of several words; the longest is in the fewest chunks.
    longest = max(WORD.findall(name), key=len)
    (scores,) = generation.store.search([Nearest(TERMS, name_term(longest), limit)])
    for part in parts_of(generation, scores):
        if name in part.text:
            found.setdefault(part.path, []).append(part)
    files = (_file_lines(sorted(found[path], key=lambda it: it.start), name) for path in sorted(found))
    return [file for file in files if file.lines], len(scores) < _MOST_CHUNKS


def whole_files(generation: Generation, paths: Iterable[str]) -> Iterator[tuple[Part, ...]]:
    """Yield all chunks of each file, in order."""
    for some in batched(paths, _PAGE // 10):
        rows = {row.id: row for path in some for row in generation.manifest.chunks_of(path)}
        found: dict[str, list[Part]] = {path: [] for path in some}
        for part in parts_of(generation, rows):
            found[part.path].append(part)
        for path in some:
            yield tuple(sorted(found[path], key=lambda it: it.start))


def text_of_file(parts: Sequence[Part]) -> str:
    """Put a file's text together from its chunks; lines of no chunk are blank."""
    lines: list[str] = []
    for part in parts:
        lines += [""] * (part.start - 1 - len(lines))
        for number, line in enumerate(part.text.split("\n"), part.start - 1):
            if number == len(lines):
                lines.append(line)
            elif len(line) > len(lines[number]):
                lines[number] = line
    return "\n".join(lines)


def innermost(parts: Sequence[Part], line: int) -> Symbol | None:
    """Return the innermost symbol around a line; one beginning in a chunk not given is known by name alone."""
    around = [it for part in parts for it in part.symbols if it.first <= line <= it.last]
    if around:
        return min(around, key=_inner_first)
    beyond = (part for part in parts if part.start <= line <= _end(part))
    return _named_alone(next(beyond, None))


def innermost_of(parts: Sequence[Part], lines: Iterable[int]) -> Iterator[Symbol | None]:
    """Yield `innermost` for each of many lines, sorting the symbols once.

    Parameters:
        parts: in order of their starts.
        lines: ascending.
    """
    coming = deque(sorted((it for part in parts for it in part.symbols), key=lambda it: it.first))
    # Open symbols, innermost first; of several with the same lines, the first.
    around: list[tuple[tuple[int, int], int, Symbol]] = []
    ends = [_end(part) for part in parts]
    here = 0
    for line in lines:
        while coming and coming[0].first <= line:
            symbol = coming.popleft()
            heappush(around, (_inner_first(symbol), -len(coming), symbol))
        while around and around[0][2].last < line:
            heappop(around)
        while here < len(parts) and ends[here] < line:
            here += 1
        if around:
            yield around[0][2]
        else:
            yield _named_alone(parts[here] if here < len(parts) and parts[here].start <= line else None)


def _inner_first(symbol: Symbol) -> tuple[int, int]:
    return symbol.last - symbol.first, -symbol.first


def _end(part: Part) -> int:
    return part.start + part.text.count("\n")


def _named_alone(part: Part | None) -> Symbol | None:
    """Return the symbol of a chunk, if it begins in an earlier chunk."""
    if part is None or not part.symbol or any(it.name == part.symbol for it in part.symbols):
        return None
    return Symbol(part.symbol, "", 0, 0, 0)


def parts_of(generation: Generation, ids: Iterable[str]) -> Iterator[Part]:
    """Yield chunks by their ids, without those of vanished files."""
    for some in batched(ids, _PAGE):
        rows = generation.manifest.columns_of(some, _COLUMNS)
        payloads = generation.store.payloads(some, ["text", "definitions"])
        for id_, *columns in rows:
            if id_ in payloads:
                yield _part(columns, payloads[id_])


def _part(columns: Sequence[Any], payload: Mapping[str, Any]) -> Part:
    path, language, symbol, kind, start = columns
    symbols = (
        Symbol(name, kind, start + first, start + line, start + last)
        for name, kind, first, line, last in read_definitions(payload.get("definitions", ""))
    )
    return Part(path, language, symbol, kind, start, str(payload.get("text", "")), tuple(symbols))


def _file_lines(parts: Sequence[Part], name: str) -> FileLines:
    pattern, lines = word(name), dict[int, str]()
    for part in parts:
        for number, line in enumerate(part.text.split("\n"), part.start):
            if name in line and pattern.search(line) and len(line) > len(lines.get(number, "")):
                lines[number] = line
    return FileLines(parts[0].path, parts[0].language, tuple(parts), lines)
