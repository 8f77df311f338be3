"""Tell where each symbol of an outline is defined."""

from typing import TYPE_CHECKING

from cqm.chunkers.languages.model import COMMENT, GROUP, IMPORTS, LEADING
from cqm.chunkers.model import Definition

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from cqm.chunkers.code.outline import Mark
    from cqm.chunkers.code.source import Source
    from cqm.chunkers.languages.model import Part

_NO_DEFINITIONS = frozenset({COMMENT, LEADING, GROUP, IMPORTS, "statement"})
_SEARCHED_ROWS = 12
"""Rows of a declaration to look for its name in: a return type or receiver may stand above it."""


def definitions_of(marks: "Iterable[Mark]", source: "Source") -> "Iterator[tuple[int, Definition]]":
    """Yield the definition of each symbol with the first character of its node, in order.

    Parameters:
        marks: the outline of a document.
        source: the text.
    """
    waiting = [*marks][::-1]
    while waiting:
        mark = waiting.pop()
        if mark.name and mark.kind not in _NO_DEFINITIONS and not _is_addition(mark):
            first = declared_row(mark)
            line = _row_of_name(mark.name.rpartition(".")[2] or mark.name, first, mark.last, source)
            place = first + 1, line + 1, mark.last + 1
            yield source.starts[mark.first], Definition(mark.name, mark.kind, *place, mark.is_guessed)
            if rule := mark.nodes.parts.get(mark.node.type):
                yield from _parts_of(mark, rule(mark.node, source.data), source)
        if mark.members:
            waiting += mark.members[::-1]


def _is_addition(mark: "Mark") -> bool:
    additions = mark.nodes.additions
    keyword = mark.node.child_by_field_name("declaration_kind") if additions else None
    return mark.node.type in additions or (keyword is not None and keyword.type in additions)


def _parts_of(mark: "Mark", parts: "Iterable[Part]", source: "Source") -> "Iterator[tuple[int, Definition]]":
    outer = mark.name.rpartition(".")[0]
    for kind, name, node, name_node, is_beside in parts:
        around = outer if is_beside else mark.name
        first, line, last = node.start_point[0], name_node.start_point[0], node.end_point[0]
        qualified = f"{around}.{name}" if around else name
        yield source.starts[first], Definition(qualified, kind or mark.kind, first + 1, line + 1, last + 1)


def declared_row(mark: "Mark") -> int:
    """Find the row a declaration begins in, below its decorators, attributes and comments."""
    node = mark.node.child_by_field_name("definition") or mark.node
    for child in node.children:
        if child.type not in mark.nodes.above:
            return max(mark.first, int(child.start_point[0]))
    return mark.first


def _row_of_name(name: str, first: int, last: int, source: "Source") -> int:
    """Find the first row with the name as a whole word; the first row if none has it."""
    for row in range(first, min(last, first + _SEARCHED_ROWS) + 1):
        line = source.lines[row]
        place = line.find(name)
        while place >= 0:
            end = place + len(name)
            if not (_is_of_word(line[place - 1 : place]) or _is_of_word(line[end : end + 1])):
                return row
            place = line.find(name, place + 1)
    return first


def _is_of_word(character: str) -> bool:
    return character.isalnum() or character in {"_", "$"}
