"""Tell how a program's lines belong together: its imports, and its symbols with the comments above them."""

from typing import TYPE_CHECKING

from cqm.chunkers.code.definitions import declared_row
from cqm.chunkers.code.outline import ungrouped
from cqm.chunkers.code.program import program_of
from cqm.chunkers.languages.model import COMMENT, GAP, GROUP, IMPORTS, LEADING
from cqm.chunkers.model import Extent, Layout

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from cqm.chunkers.code.outline import Mark
    from cqm.chunkers.code.source import Source
    from cqm.chunkers.model import ChunkOptions, Document

_ABOVE = frozenset({COMMENT, LEADING})
_NO_SYMBOLS = frozenset({COMMENT, LEADING, GAP, GROUP, IMPORTS, "statement"})


def layout_of(document: "Document", options: "ChunkOptions") -> Layout:
    """Return the layout of a program; an empty one if no grammar can read it."""
    program = program_of(document.text, document.language, options)
    if program is None or isinstance(program, str):
        return Layout()
    extents: list[Extent] = []
    imports: list[tuple[int, int]] = []
    waiting = [program.marks]
    while waiting:
        for mark, begins in _with_comments(waiting.pop(), program.source):
            if mark.kind == IMPORTS:
                imports.append((mark.first + 1, mark.last + 1))
            elif mark.name and mark.kind not in _NO_SYMBOLS:
                extents.append(Extent(mark.name, begins + 1, declared_row(mark) + 1, mark.last + 1))
            if mark.members:
                waiting.append([*mark.members])
    return Layout(tuple(sorted(extents, key=lambda it: (it.first, -it.last))), tuple(sorted(imports)))


def _with_comments(marks: "Sequence[Mark]", source: "Source") -> "Iterator[tuple[Mark, int]]":
    """Yield the marks of one scope, groups as their members, with the first row of the comments directly above."""
    begins, following = -1, -1
    last_of_symbol = -1
    for mark in ungrouped(marks):
        if mark.kind in _ABOVE:
            # A comment at the end of a symbol's last line is about the symbol.
            if mark.first > last_of_symbol and not source.lines[mark.first].lstrip().startswith(mark.nodes.outer_docs):
                begins = begins if mark.first <= following else mark.first
                following = mark.last + 1
            continue
        yield mark, begins if begins >= 0 and mark.first <= following else mark.first
        begins, following, last_of_symbol = -1, -1, mark.last
