"""Tell where the code cells of a notebook define their symbols, whatever magics stand in them."""

import re
from collections.abc import Iterator, Sequence

from cqm.chunkers.embedded.parts import Cutter, Name, language_named, with_names
from cqm.chunkers.embedded.tags import blank
from cqm.chunkers.model import ChunkOptions, Piece
from cqm.chunkers.notebooks.cells import CODE, Cell, cells_of, language_of
from cqm.chunkers.structured.spans_of_json import parse

_CELL_MAGIC = re.compile(r"\s*%%(?P<word>\w+)[^\n]*")
_MAGIC = re.compile(r"^[ \t]*(?:%|!|\?)[^\n]*|^[ \t]*[\w, ]{1,80}=[ \t]*[!%][^\n]*|\?\??[ \t]*$", re.MULTILINE)

# Cells of these magics hold the language of the notebook.
_SAME = frozenset({"time", "timeit", "capture", "prun", "memit", "mprun", "skip", "cython", "script", "writefile"})
# Values of one cell say little: every cell has some.
_VALUES = frozenset({"variable", "constant"})
_LANGUAGES = {"sh": "bash", "js": "javascript", "python3": "python", "pypy": "python", "bigquery": "sql"}
_MAY_DEFINE = re.compile(
    r"\b(?:def|class|function|struct|fn|fun|func|interface|trait|object|create|macro)\b|\(\) ?\{|=>|<-", re.IGNORECASE
)


def with_cells(text: str, pieces: Sequence[Piece], options: ChunkOptions, cut: Cutter) -> list[Piece]:
    """Add the symbols of code cells to the pieces of a notebook, at their lines of its file."""
    parsed = parse(text)
    if not pieces or len(parsed.values) != 1 or parsed.error >= 0:
        return [*pieces]
    root = parsed.values[0]
    language = language_of(text, root)
    names = [
        name
        for cell in cells_of(text, root)
        if cell.type == CODE and _MAY_DEFINE.search(cell.source)
        for name in _names(cell, language_named(language, "python"), options, cut)
    ]
    named = with_names(text, pieces, names)
    return [piece._replace(symbol=old.symbol, kind=old.kind) for piece, old in zip(named, pieces, strict=True)]


def _names(cell: Cell, language: str, options: ChunkOptions, cut: Cutter) -> Iterator[Name]:
    source = cell.source
    if match := _CELL_MAGIC.match(source):
        if match["word"] not in _SAME:
            language = _LANGUAGES.get(match["word"], match["word"])
        source = blank(match[0]) + source[match.end() :]
    if language == "python":
        source = _MAGIC.sub(lambda found: blank(found[0]), source)
    starts = [line.start for line in cell.lines if line.role == CODE]
    pieces, _ = cut(source, language, options)
    found = (it for piece in pieces for it in piece.definitions if it.kind not in _VALUES)
    for it in (it for it in found if it.end_line <= len(starts)):
        first, at, last = starts[it.first_line - 1], starts[it.line - 1], starts[it.end_line - 1]
        yield Name(it.name, it.kind, first, last + 1, at)
