"""Group marks into units: indivisible rows, each symbol with its comments and attributes."""

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cqm.chunkers.code.outline import Mark, is_loose
from cqm.chunkers.languages.model import COMMENT, GROUP, IMPORTS, LEADING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cqm.chunkers.code.source import Source

_ATTACHED = frozenset({COMMENT, LEADING})

_DOC_COMMENT = re.compile(r"\s*(?:/\*\*|///|//!|\{- ?\||-- ?\||---|##|#:|<#|=(?:head\d|item|method|attr)\b)")

# A row which only closes code above it.
_CLOSING = re.compile(
    r"\s*(?:[\])}>;,]|</|#\s*end|#pragma\s+endregion|(?:end(?:if|for|foreach|while|try|block)?|fi|done|esac)\b)"
)


@dataclass(slots=True, eq=False)
class Unit:
    """Rows kept together; a unit grows while units are found.

    Attributes:
        first, end: its rows, half-open; surrounding blank rows belong to no unit.
        core: the symbol's own first row, with its attributes, below its comments.
        marks: the marks in it, in order.
        header: whether it is the beginning of a container, up to its first member; `marks` is then the container alone.
    """

    first: int
    end: int
    core: int
    marks: list[Mark]
    header: bool = False

    @property
    def loose(self) -> bool:
        """Tell if nothing in the unit needs a piece of its own."""
        marks = self.marks
        return self.header or (is_loose(marks[0]) if len(marks) == 1 else all(map(is_loose, marks)))


def units_of(marks: "Sequence[Mark]", first: int, end: int, opening: Mark | None, source: "Source") -> list[Unit]:
    """Divide rows into units with every non-blank row, in order.

    Parameters:
        marks: the marks in the rows.
        first, end: the rows, half-open.
        opening: the container of the marks; the rows before them are its header.
    """
    units: list[Unit] = []
    pending: list[Mark] = []
    offsets, lines = source.offsets, source.lines
    for mark in _ungrouped(marks, source):
        kind, row = mark.kind, mark.first
        column = mark.node.start_byte - offsets[row] if kind == COMMENT else 0
        # A comment behind code does not belong to the next unit.
        if column > 0 and not lines[row][:column].isspace():
            if units:
                units[-1].end = max(units[-1].end, mark.last + 1)
        elif kind in _ATTACHED:
            pending.append(mark)
        elif pending:
            free = len(pending) - _attached(pending, mark, source)
            _add_comments(units, pending[:free], source)
            _add(units, _unit(mark, pending[free:]), source)
            pending = []
        else:
            _add(units, Unit(mark.first, mark.last + 1, mark.first, [mark]), source)
    _add_comments(units, pending, source)
    return _without_gaps(units, first, end, opening, source)


def _ungrouped(marks: "Sequence[Mark]", source: "Source") -> list[Mark]:
    # A small group stays whole, such as a guarded import; in a larger one each symbol counts by itself. The outline
    # limits the depth of groups.
    result: list[Mark] = []
    for mark in marks:
        if mark.kind == GROUP and _must_ungroup(mark, source):
            result += _ungrouped(mark.members, source)
        else:
            result.append(mark)
    return result


def _must_ungroup(group: Mark, source: "Source") -> bool:
    size = source.size(group.first, group.last + 1)
    members = [mark for mark in group.members if mark.kind not in (COMMENT, LEADING)]
    if size > source.limit or len(members) == 1:
        return bool(members)
    return size >= source.least and any(_stands_alone(mark, source) for mark in members)


def _stands_alone(mark: Mark, source: "Source") -> bool:
    if mark.kind == GROUP:
        return _must_ungroup(mark, source)
    return not is_loose(mark) and source.size(mark.first, mark.last + 1) >= source.least


def _attached(pending: list[Mark], mark: Mark, source: "Source") -> int:
    """Count the last pending comments and attributes belonging to the mark."""
    following = mark.first
    count = 0
    # A comment such as "//!" in Rust is about the module around both.
    outer = mark.nodes.outer_docs if mark.name else ()
    for above in reversed(pending):
        if above.kind == COMMENT:
            distance = following - above.last
            is_doc = distance == 2 and _DOC_COMMENT.match(source.lines[above.first])  # noqa: PLR2004 - one blank row
            is_apart = distance > 1 and not is_doc
            if is_apart or (outer and source.lines[above.first].lstrip().startswith(outer)):
                break
        following = above.first
        count += 1
    return count


def _unit(mark: Mark, attached: list[Mark]) -> Unit:
    core = mark.first
    for above in reversed(attached):
        if above.kind == COMMENT:
            break
        core = above.first
    return Unit(attached[0].first if attached else mark.first, mark.last + 1, core, [mark])


def _add_comments(units: list[Unit], comments: list[Mark], source: "Source") -> None:
    # Comments of no symbol; those without a blank row between them stay together.
    last = -1
    for comment in comments:
        if last >= 0 and comment.first <= last + 1:
            units[-1].marks.append(comment)
            units[-1].end = comment.last + 1
        else:
            _add(units, Unit(comment.first, comment.last + 1, comment.first, [comment]), source)
        last = comment.last


def _add(units: list[Unit], unit: Unit, source: "Source") -> None:
    if not units:
        units.append(unit)
        return
    before = units[-1]
    shares_row = unit.first < before.end
    if shares_row or _continues(before, unit, source):
        end = max(before.end, unit.end)
        if source.size(before.first, end) <= source.limit or end == before.end:
            before.marks.extend(unit.marks)
            before.end = end
            return
    if shares_row and before.first == unit.first and all(map(_says_nothing, before.marks)):
        # A non-symbol, such as a sign before it, does not take the row of a symbol's name.
        units[-1] = unit
        return
    if shares_row:
        unit.first, unit.core = before.end, max(unit.core, before.end)
    units.append(unit)


def _says_nothing(mark: Mark) -> bool:
    return not (mark.name or mark.members or mark.kind in (IMPORTS, COMMENT))


def _continues(before: Unit, unit: Unit, source: "Source") -> bool:
    # Clauses of a function, its separate signature, and its declaring overloads.
    mark = unit.marks[0]
    if mark.kind == GROUP:
        mark = _declared(mark)
    if not mark.name:
        return False
    above = _declared(before.marks[-1])
    if above.name != mark.name:
        return False
    return (
        mark.node.type in mark.nodes.clauses or above.node.type in above.nodes.overloads or _is_overload(before, source)
    )


def _declared(mark: Mark) -> Mark:
    # "export function f(a: string): void;" and decorated declarations.
    while mark.kind == GROUP and mark.members and mark.members[-1].kind not in (COMMENT, LEADING):
        mark = mark.members[-1]
    return mark


def _is_overload(unit: Unit, source: "Source") -> bool:
    *others, last = unit.marks
    first = others[-1].last + 1 if others else unit.core
    return any(_OVERLOAD.match(source.lines[row]) for row in range(first, last.first))


_OVERLOAD = re.compile(r"\s*@(?:\w+\.)*overload\b")


def _without_gaps(units: list[Unit], first: int, end: int, opening: Mark | None, source: "Source") -> list[Unit]:
    header = [] if opening is None else [opening]
    if not units:
        return [Unit(first, end, first, header, header=bool(header))]
    start = _first_used(first, units[0].first, source)
    opened: list[Unit] = []
    if opening and start < units[0].first:
        opened.append(Unit(start, source.trimmed(start, units[0].first), start, header, header=True))
        start = units[0].first
    for unit, following in zip(units, [*units[1:], None], strict=True):
        limit = following.first if following else end
        unit.first = min(start, unit.first)
        if unit.end < limit:
            unit.end = _closed(unit.end, limit, source) if following else source.trimmed(unit.end, end)
        start = _first_used(unit.end, limit, source)
    return [*opened, *units]


def _first_used(first: int, end: int, source: "Source") -> int:
    lines = source.lines
    while first < end and (not (line := lines[first]) or line.isspace()):
        first += 1
    return first


def _closed(first: int, end: int, source: "Source") -> int:
    closed = first
    lines = source.lines
    for row in range(first, end):
        line = lines[row]
        if not line or line.isspace():
            continue
        if not _CLOSING.match(line):
            break
        closed = row + 1
    return closed
