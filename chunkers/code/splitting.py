"""Split a symbol over the limit at rows where few and small parts of the syntax are open."""

import functools
from bisect import bisect_right
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from cqm.chunkers.splitting import Columns, Span, Unit, even_spans_of, line_units

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tree_sitter import Node

    from cqm.chunkers.code.source import Source

# A cut costs more the deeper it is; an unfinished string or comment counts as this many levels.
_TEXT_LEVELS = 8
_TEXTS = ("string", "comment", "raw_text", "heredoc", "quoted")

# A blank row, or a comment row without words.
_EMPTY = frozenset({"", "//", "///", "//!", "#", "--", "*", ";"})
_LONGEST_EMPTY = max(map(len, _EMPTY))

_LEVEL = 4
_BLANK_BONUS = 3
_TAIL_COST = 3
_COMMENT_COST = 12


class Rows(NamedTuple):
    """Rows to cut.

    Attributes:
        first, end: the rows, half-open.
        core: the symbol's own first row, below its comments.
        kept: rows from here on stay together; end for none.
    """

    first: int
    core: int
    kept: int
    end: int


def spans_of_rows(nodes: "list[Node]", rows: Rows, source: "Source") -> list[Span]:
    """Cut rows into spans of characters within the limit, of similar size.

    Parameters:
        nodes: the syntax nodes shown in the rows, in order.
    """
    first, core, kept, end = rows
    costs = _costs(nodes, first, end, source.offsets)
    for row in range(first + 1, core + 1):
        costs[row - first] += _COMMENT_COST
    costs[end - first] = 0
    starts, sums, lines = source.starts, source.sizes, source.lines[first:kept]
    sizes = [after - before for before, after in pairwise(sums[first : kept + 1])]
    strengths = [_bonus(line.strip()) - cost for line, cost in zip(lines, costs[1:], strict=False)]
    columns: Columns = [], [], []
    if max(sizes, default=0) <= source.limit:
        columns = starts[first + 1 : kept + 1], sizes, strengths
    else:
        for row, size, strength in zip(range(first, kept), sizes, strengths, strict=True):
            span = starts[row], starts[row + 1]
            is_long = size > source.limit
            parts = line_units(source.text, span, source.limit, lambda _line, _following: 0) if is_long else ()
            _add(parts or [Unit(span[1], size, strength)], columns)
    if kept < end:
        _add([Unit(source.starts[end], source.size(kept, end), 0)], columns)
    return even_spans_of(source.starts[first], columns, source.limit)


def _bonus(bare: str) -> int:
    # Few rows are so short, and a set takes five times as long to tell.
    return _BLANK_BONUS if len(bare) <= _LONGEST_EMPTY and bare in _EMPTY else 0


def _add(units: "Iterable[Unit]", columns: Columns) -> None:
    for unit in units:
        for column, value in zip(columns, unit, strict=True):
            column.append(value)


def _costs(nodes: "list[Node]", first: int, end: int, offsets: list[int]) -> list[int]:
    """Return the cost of a cut before each row: the amount of syntax open there."""
    changes = [0] * (end - first + 2)
    begins = bytearray(end - first + 1)
    waiting = [(nodes, nodes[0].start_point[0])] if nodes else []
    while waiting:
        siblings, above = waiting.pop()
        row_end = offsets[above + 1]
        if first <= above < end:
            begins[above - first] = 1
        for node in siblings:
            # Most nodes are in one row, and reading points takes four times as long as reading bytes.
            start = node.start_byte
            if row_end <= start:
                # Nested selectors and chained calls begin in one row and continue over thousands: avoid a step for
                # each.
                above = bisect_right(offsets, start, above + 1) - 1
                row_end = offsets[above + 1]
                if first <= above < end:
                    begins[above - first] = 1
            if above >= end:
                break
            if node.end_byte < row_end:
                continue
            below = node.end_point[0]
            if below < first:
                continue
            weight = _weight(node.type)
            changes[max(above + 1, first) - first] += weight
            changes[min(below + 1, end) - first] -= weight
            waiting.append((node.named_children, above))
    return _summed(changes, begins)


@functools.cache
def _weight(node_type: str) -> int:
    return _LEVEL * _TEXT_LEVELS if any(word in node_type for word in _TEXTS) else _LEVEL


def _summed(changes: list[int], begins: bytearray) -> list[int]:
    costs: list[int] = []
    open_levels = 0
    for change, begin in zip(changes, begins, strict=False):
        open_levels += change
        # Rows where nothing begins are "}", "else", the rest of a statement.
        costs.append(open_levels + (0 if begin else _TAIL_COST))
    return costs
