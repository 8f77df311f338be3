"""Bring into an outline the symbols missing in its tree: guessed by lines, or of other branches."""

import sys
from bisect import bisect_right
from typing import TYPE_CHECKING, NamedTuple, cast

from cqm.chunkers.code.outline import Mark, Place, identity_of, ungrouped
from cqm.chunkers.code.syntax import changed_rows
from cqm.chunkers.languages.line_patterns import compiled
from cqm.chunkers.languages.model import COMMENT, GROUP, IMPORTS, LEADING, Found
from cqm.chunkers.model import later
from cqm.chunkers.recovery.by_lines import HOLDERS, NOTE_ENDS, outline_by_lines

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from tree_sitter import Node

    from cqm.chunkers.code.source import Source
    from cqm.chunkers.languages.model import Language
    from cqm.chunkers.recovery.by_lines import Guess

_KEPT = frozenset({COMMENT, LEADING, IMPORTS})
_TITLED = frozenset({"section", "scenario", "feature"})
"""Kinds named by titles of several words."""
_ARGUMENTS = later(r"(?P<kept>`[^`]*`)|(?<=\w)<[^<>]*>|\s")
_DEFINE = later(r"[ \t]{0,40}#[ \t]{0,40}define[ \t]{1,40}(?P<name>\w{1,200})")
_HEAD = later(rb"[A-Za-z_][^;(]*\([^;]*[)\w{,][ \t\r]*$")
"""A possible head of a function with the body of another."""
_SEPARATOR = later(r"::|,")


class Stretch:
    """Rows in place of a syntax node, for a symbol missing in the tree; it has no children and no fields."""

    type = "stretch"
    is_named = True
    is_error = is_missing = has_error = False
    parent = next_sibling = prev_sibling = next_named_sibling = prev_named_sibling = None
    children: "Sequence[Node]" = ()
    named_children: "Sequence[Node]" = ()
    child_count = named_child_count = 0

    def __init__(self, first: int, last: int, source: "Source") -> None:
        line = source.lines[first]
        column = len(line) - len(line.lstrip())
        self.start_byte = source.offsets[first] + column
        self.end_byte = max(source.offsets[last + 1] - 1, self.start_byte)
        self.start_point = first, column
        self.end_point = last, self.end_byte - source.offsets[last]
        # Nodes have the addresses of their trees' memory, so no other object can have this one.
        self.id = id(self)

    def named_child(self, _place: int) -> None:
        """Return None."""

    def child_by_field_name(self, _name: str) -> None:
        """Return None."""

    def children_by_field_name(self, _name: str) -> "Sequence[Node]":
        """Return no nodes."""
        return ()


class _Level(NamedTuple):
    """The marks of one scope, and its place."""

    marks: list[Mark]
    place: Place


def with_guesses(
    marks: list[Mark], lost: "Iterable[tuple[int, int]]", language: "Language", source: "Source"
) -> list[Mark]:
    """Add the declarations of lost rows, told by their lines, and statements for their other rows.

    Parameters:
        marks: the outline of the tree; it is changed.
        lost: rows unreadable to the grammar, half-open and in order.
        language: with its patterns (`Language.by_lines`).
    """
    for first, end in lost:
        level = _level(marks, first, end - 1)
        if level is None:
            continue
        guesses = outline_by_lines(source.lines, first, end, language.by_lines) if language.by_lines else []
        guesses = _without_own(guesses, level.place)
        start, stop = _range(level.marks, first, end)
        kept = [mark for mark in ungrouped(level.marks[start:stop]) if mark.name or mark.kind in _KEPT]
        found = _merged([_mark(it, level.place, language, source) for it in guesses], kept, level.place)
        before = level.marks[start - 1].last + 1 if start else 0
        after = level.marks[stop].first if stop < len(level.marks) else len(source.lines)
        found = [mark for mark in found if mark.first >= before and mark.last < after]
        level.marks[start:stop] = _filled(found, max(first, before), min(end, after), language, source)
    return marks


def rows_of_other(marks: list[Mark], other: bytes, data: bytes) -> list[int]:
    """Return the rows only in another branch, if the outline lacks a symbol of it; else none.

    It lacks one if such a row is a head, or is in no symbol without members.

    Parameters:
        marks: the outline of the tree.
        other: the source with other branches of its conditionals.
        data: of the tree.
    """
    changed = [row for row in changed_rows(data, other) if not data[row[1] : row[2]].strip()]
    is_lacking = any(_HEAD.match(other[start:end]) or _is_free(marks, number) for number, start, end in changed)
    return [number for number, _, _ in changed] if is_lacking else []


def _is_free(marks: list[Mark], row: int) -> bool:
    level = _level(marks, row, row)
    if level is None:
        return False
    return _is_over(level.marks, bisect_right(level.marks, row, key=_first), row)


def _is_over(marks: list[Mark], place: int, row: int) -> bool:
    """Tell if the mark before a place is over in a row; "template <typename T>" may share the row of its function."""
    before = marks[place - 1] if place else None
    return before is None or before.last < row + (before.kind == LEADING)


def _without_own(guesses: "Iterable[Guess]", place: Place) -> "list[Guess]":
    """Replace a guessed type by its members if it is the type around it, which has an error in its head."""
    own = place.name.rpartition(".")[2]
    return [
        it
        for guess in guesses
        for it in (guess.members if guess.kind in HOLDERS and place.kind in HOLDERS and guess.name == own else [guess])
    ]


def with_other_branches(marks: list[Mark], others: "Sequence[Mark]", data: bytes, source: "Source") -> list[Mark]:
    """Add the symbols and comments of other branches of conditionals; their rows are blank in the data.

    Of two heads with one body, only the first can be a mark. Nothing inside a function can.

    Parameters:
        marks: the outline of the tree; it is changed.
        others: the outline of the tree with other branches.

    Returns:
        The symbols in such rows left out.
    """
    left: list[Mark] = []
    waiting = [*others][::-1]
    while waiting:
        mark = waiting.pop()
        is_other = (mark.name or mark.kind in _KEPT) and _is_blank(mark.first, data, source)
        if not is_other or not _is_blank(mark.last, data, source):
            left += [mark] if is_other and mark.name else []
            waiting += mark.members[::-1]
            continue
        level = _level(marks, mark.first, mark.last)
        if level is None:
            left += [mark] if mark.name else []
            continue
        place = bisect_right(level.marks, mark.first, key=_first)
        is_below = place == len(level.marks) or mark.last < level.marks[place].first
        if is_below and _is_over(level.marks, place, mark.first):
            level.marks.insert(place, mark)
        elif mark.name:
            left.append(mark)
    return left


def with_macros(marks: list[Mark], data: bytes, language: "Language", source: "Source") -> list[Mark]:
    """Add the macros defined in further branches of conditionals, in blank rows of the data.

    Parameters:
        marks: the outline of the tree, with other branches; it is changed.
        language: of the text, with lines such as "#define".
    """
    for row in [row for row, line in enumerate(source.lines) if "define" in line]:
        found = _DEFINE.match(source.lines[row])
        if found is None or not data[source.offsets[row] : source.offsets[row + 1]].isspace():
            continue
        level = _level(marks, row, row)
        place = bisect_right(level.marks, row, key=_first) if level is not None else 0
        if level is not None and (place == 0 or level.marks[place - 1].last < row):
            node = cast("Node", Stretch(row, row, source))
            level.marks.insert(place, Mark(node, row, row, "macro", found["name"], (), language.nodes, is_guessed=True))
    return marks


def _is_blank(row: int, data: bytes, source: "Source") -> bool:
    return not source.is_blank(row) and data[source.offsets[row] : source.offsets[row + 1]].isspace()


def _first(mark: Mark) -> int:
    return mark.first


def _level(marks: list[Mark], first: int, last: int) -> _Level | None:
    """Find the innermost scope around some rows; None if a symbol without members is around them."""
    level = _Level(marks, Place())
    while True:
        place = bisect_right(level.marks, first, key=_first) - 1
        around = level.marks[place] if place >= 0 else None
        if around is None or around.last < last or around.first > first:
            return level
        if not isinstance(around.members, list):
            return None if around.name else level
        inside = level.place if around.kind == GROUP else Place(around.name or level.place.name, around.kind)
        level = _Level(around.members, inside)


def _range(marks: list[Mark], first: int, end: int) -> tuple[int, int]:
    """Return the range of marks within some rows."""
    start = bisect_right(marks, first - 1, key=_first)
    stop = start
    while stop < len(marks) and marks[stop].first < end:
        stop += 1
    # The last one may reach further, such as a class after a lost row.
    while stop > start and marks[stop - 1].last >= end:
        stop -= 1
    return start, stop


def _mark(guess: "Guess", place: Place, language: "Language", source: "Source") -> Mark:
    name = guess.name.strip() if guess.kind in _TITLED else _SEPARATOR.sub(".", _without_arguments(guess.name))
    own = place.name.rpartition(".")[2]
    found = Found("constructor" if place.is_type and guess.kind == "function" and name == own else guess.kind, name)
    kind, name = identity_of(found, place, language.constructors if place.is_type else None)
    node = cast("Node", Stretch(guess.first, guess.last, source))
    mark = Mark(node, guess.first, guess.last, kind, name, (), language.nodes, is_guessed=True)
    if guess.kind in HOLDERS:
        inside = Place(name, kind)
        mark.members = [_mark(inner, inside, language, source) for inner in guess.members]
    return mark


def _without_arguments(name: str) -> str:
    """Drop types' arguments and blanks, except those of a name in backticks."""
    return _ARGUMENTS.sub(lambda it: it["kept"] or "", name)


def _merged(guesses: list[Mark], kept: "Iterable[Mark]", place: Place) -> list[Mark]:
    """Put symbols of the tree among guessed ones, or into them; a node is better than a guess."""
    result = guesses
    waiting = [(mark, place.name) for mark in kept][::-1]
    while waiting:
        mark, former = waiting.pop()
        twin = _twin(result, mark)
        if twin is not None and (mark.last > twin.last or (mark.node.has_error and mark.last != twin.guess.last)):
            # The error ends the node too early or too late: the guess has its members.
            waiting += [(inner, mark.name) for inner in mark.members[::-1]]
            continue
        if twin is not None:
            _replace(twin, mark, former)
            continue
        level = _level(result, mark.first, mark.last)
        if level is None:
            continue
        start, stop = _range(level.marks, mark.first, mark.last + 1)
        before = level.marks[start - 1] if start else None
        if before is not None and before.last >= mark.first:
            continue
        _rename(mark, former, level.place.name or place.name)
        level.marks[start:stop] = [mark]
    return result


class _Twin(NamedTuple):
    """A guess, the marks around it with its place there, and the last row before the next mark."""

    guess: Mark
    marks: list[Mark]
    place: int
    last: int


def _twin(marks: list[Mark], mark: Mark) -> _Twin | None:
    """Find the guess for a type declared by a node, in any scope."""
    last = sys.maxsize
    while mark.kind in HOLDERS:
        place = bisect_right(marks, mark.first, key=_first) - 1
        around = marks[place] if place >= 0 else None
        if around is None or around.last < mark.first:
            break
        if around.is_guessed and around.kind in HOLDERS and around.first == mark.first and _own(around) == _own(mark):
            return _Twin(around, marks, place, marks[place + 1].first - 1 if place + 1 < len(marks) else last)
        if not isinstance(around.members, list):
            break
        marks, last = around.members, around.last
    return None


def _own(mark: Mark) -> str:
    return mark.name.rpartition(".")[2]


def _replace(twin: _Twin, mark: Mark, former: str) -> None:
    """Replace a guess by a node; members of the guess below the node stand beside it."""
    guess, marks, place, _ = twin
    scope = guess.name.rpartition(".")[0]
    below = [it for it in guess.members if it.first > mark.last]
    for it in below:
        _rename(it, guess.name, scope)
    _rename(mark, former, scope)
    marks[place : place + 1] = [mark, *below]


def _rename(mark: Mark, former: str, scope: str) -> None:
    # A member torn from its class by an error, or put into one.
    if former == scope:
        return
    waiting = [mark]
    while waiting:
        inner = waiting.pop()
        if inner.name:
            own = inner.name.removeprefix(f"{former}.") if former else inner.name
            inner.name = f"{scope}.{own}" if scope else own
        waiting += inner.members


def _filled(marks: list[Mark], first: int, end: int, language: "Language", source: "Source") -> list[Mark]:
    """Put a statement without a name into each run of rows without marks."""
    result: list[Mark] = []
    place = first
    for mark in marks:
        begins = _above(place, mark, language, source)
        result += _stretch("statement", place, begins, language, source)
        result += _stretch(COMMENT, begins, mark.first, language, source)
        result.append(mark)
        place = mark.last + 1
    return [*result, *_stretch("statement", place, end, language, source)]


def _above(first: int, mark: Mark, language: "Language", source: "Source") -> int:
    """Return the first row of the comments and decorators directly above a guessed symbol."""
    row = mark.first
    if not mark.is_guessed or language.by_lines is None:
        return row
    patterns = compiled(language.by_lines)
    while row > first and not source.is_blank(row - 1):
        line = source.lines[row - 1]
        if patterns.comment.match(line) or patterns.above.match(line):
            row -= 1
        elif (begins := _note_above(first, row, source)) < row:
            row = begins
        else:
            break
    return row


def _note_above(first: int, row: int, source: "Source") -> int:
    """Return the first row of a comment of several rows that ends above a row; the row itself for none."""
    end = source.lines[row - 1].rstrip()[-2:]
    opening = next((opening for opening, closing in NOTE_ENDS.items() if closing == end), "")
    rows = (it for it in range(row - 1, first - 1, -1) if source.lines[it].lstrip().startswith(opening))
    return next(rows, row) if opening else row


def _stretch(kind: str, first: int, end: int, language: "Language", source: "Source") -> list[Mark]:
    end = source.trimmed(first, end)
    while first < end and source.is_blank(first):
        first += 1
    if first >= end:
        return []
    node = cast("Node", Stretch(first, end - 1, source))
    return [Mark(node, first, end - 1, kind, "", (), language.nodes)]
