"""Outline a syntax tree: enter containers only and mark symbols, comments and statements."""

from bisect import bisect_left
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from cqm.chunkers.errors import RuleError
from cqm.chunkers.languages.model import COMMENT, COMPONENT, GAP, GROUP, LEADING, SPLICED, Found, Language, NodeTypes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from tree_sitter import Node

    from cqm.chunkers.code.source import Source
    from cqm.chunkers.languages.model import Rule

TYPES = frozenset({"class", "interface", "struct", "trait", "enum"})
"""Kinds of symbols with methods as functions."""

# Kinds of marks which need no piece of their own.
_LOOSE = frozenset(
    {"statement", COMMENT, LEADING, GROUP, "variable", "constant", "property", "imports", "key", "rule", "element"}
)

# Kinds without a name, the same in every place.
_PLAIN = frozenset({COMMENT, LEADING, GAP, GROUP, SPLICED})

_VALUES = frozenset({"variable", "constant", "property", "imports"})

# Deeper containers are statements of their parent: real code does not nest deeper, and names stay short.
_MAX_DEPTH = 24

_STATEMENT = Found("statement")

Told = TypeVar("Told")


# Not frozen: there is one for every comment line, and frozen ones take four times as long to make.
@dataclass(slots=True, eq=False)
class Mark:
    """A marked node: a symbol, a comment, an attribute, a group of them, or a plain statement.

    Attributes:
        node: of the syntax tree.
        first, last: its rows, inclusive, without those of the next symbol.
        kind: COMMENT, LEADING, GROUP or the kind of a piece.
        name: qualified; empty for anything but a symbol.
        members: marks inside of a container or group, in order.
        nodes: types of its language's nodes with a meaning.
        is_guessed: whether lines tell it, where the grammar could not read the text, and its node is a `Stretch`; or
            rules for any language.
    """

    node: "Node"
    first: int
    last: int
    kind: str
    name: str
    members: "Sequence[Mark]"
    nodes: NodeTypes
    is_guessed: bool = False

    def names(self) -> list[str]:
        """Return the qualified names of this mark and of its members, in order."""
        if not self.members:
            return [self.name] if self.name else []
        names: list[str] = []
        waiting = [self]
        while waiting:
            mark = waiting.pop()
            if mark.name:
                names.append(mark.name)
            if mark.members:
                waiting.extend(reversed(mark.members))
        return names


class Place(NamedTuple):
    """The position of the walk.

    Attributes:
        name, kind: of the enclosing symbol; the name is qualified.
        local: whether it is inside a function.
        depth: number of containers and groups around it.
        row: start of the enclosing body; anything there, such as a condition or a docstring, is not a statement.
        rules: which come before the language's here.
    """

    name: str = ""
    kind: str = ""
    local: bool = False
    depth: int = 0
    row: int = -1
    rules: "Mapping[str, Rule] | None" = None

    @property
    def is_type(self) -> bool:
        """Tell if functions in the enclosing symbol are methods."""
        return self.kind in TYPES or (self.kind == COMPONENT and not self.local)


def outline(
    bodies: "Iterable[Node]", place: Place, language: Language, source: "Source", rows: "Sequence[int] | None" = None
) -> list[Mark]:
    """Return the marks of all children of some nodes in order, with members of containers and groups.

    Parameters:
        bodies: their children are marked.
        place: the symbol around them.
        rows: in order; only nodes with one of them are marked, and all members of nodes beginning in one. None to mark
            all.
    """
    walk = _Walk(language, source, rows)
    top: list[Mark] = []
    walk.waiting = [_Body(body, top, place, rows is None) for body in reversed(list(bodies))]
    while walk.waiting:
        walk.enter(*walk.waiting.pop())
    walk.sort_spliced()
    return _sectioned(top) if language.nodes.opening else top


class _Body(NamedTuple):
    """A node to enter, the marks to add its children's to, its place, and whether all children are marked."""

    node: "Node"
    marks: list[Mark]
    place: Place
    is_all: bool


class _Walk:
    """A walk over bodies, in any order; `rows` as in `outline`."""

    def __init__(self, language: Language, source: "Source", rows: "Sequence[int] | None") -> None:
        self._language, self._source = language, source
        self._rows, self._heads = rows or (), frozenset(rows or ())
        self._spliced: list[list[Mark]] = []
        self.waiting: list[_Body] = []

    def enter(self, body: "Node", marks: list[Mark], place: Place, is_all: bool) -> None:  # noqa: FBT001 - of `_Body`
        """Add the marks of a body's children; bodies among them wait."""
        language, data, offsets = self._language, self._source.data, self._source.offsets
        nodes, is_guessed = language.nodes, language.is_guessed
        rules = {**language.rules, **place.rules} if place.rules else language.rules
        constructors = language.constructors if place.is_type else None
        row = body.start_point[0]
        row_end = offsets[row + 1]
        for node in body.named_children if is_all else _in_rows(body.named_children, self._rows, offsets):
            rule = rules.get(node.type)
            found = (rule and applied(rule, node, data, language)) or _STATEMENT
            kind, name, inside, _, opened_by, _ = found
            if found is not _STATEMENT and kind not in _PLAIN:
                kind, name = identity_of(found, place, constructors)
            # Reading points takes four times as long as reading bytes.
            start = node.start_byte
            while row_end <= start:
                row += 1
                row_end = offsets[row + 1]
            if kind == GAP or (row == place.row and kind == "statement"):
                continue
            if kind == SPLICED:
                self.waiting += [_Body(inner, marks, place, is_all) for inner in inside[::-1]]
                self._spliced.append(marks)
                continue
            first = last = row
            # Many grammars end a comment after its line end.
            if node.end_byte > row_end:
                row, column = node.end_point
                row_end = offsets[row + 1]
                last = _last(first, row, column, language.line_comment, self._source)
            begin = opened_by.start_point[0] if opened_by is not None else first
            mark = Mark(node, begin, last, kind, name, (), nodes, is_guessed)
            marks.append(mark)
            if inside and place.depth < _MAX_DEPTH:
                self._wait_for_members(mark, found, place, is_all=is_all or begin in self._heads)

    def _wait_for_members(self, mark: Mark, found: Found, place: Place, *, is_all: bool) -> None:
        members: list[Mark] = []
        mark.members = members
        self.waiting += [_Body(it, members, _place_in(it, mark, found, place), is_all) for it in found.bodies[::-1]]

    def sort_spliced(self) -> None:
        """Sort the marks that got children of spliced nodes after others."""
        for marks in {id(marks): marks for marks in self._spliced}.values():
            marks.sort(key=lambda mark: mark.node.start_byte)


def _in_rows(nodes: "list[Node]", rows: "Sequence[int]", offsets: list[int]) -> "Iterator[Node]":
    """Yield the nodes within some rows, even partly."""
    for node in nodes:
        place = bisect_left(rows, node.end_byte, key=offsets.__getitem__)
        if place and offsets[rows[place - 1] + 1] > node.start_byte:
            yield node


def ungrouped(marks: "Sequence[Mark]") -> "Iterator[Mark]":
    """Yield the marks in order, in place of a group those in it."""
    waiting = [*marks][::-1]
    while waiting:
        mark = waiting.pop()
        if mark.kind == GROUP:
            waiting += mark.members[::-1]
        else:
            yield mark


def applied(rule: "Callable[[Node, bytes], Told]", node: "Node", source: bytes, language: Language) -> Told:
    """Return a rule's answer about a node.

    Raises:
        RuleError: the rule failed; the message names it.
    """
    try:
        return rule(node, source)
    except Exception as error:
        raise failed(node, language, error) from error


def failed(node: "Node", language: Language, error: Exception) -> RuleError:
    """Return the error of a failed rule for a node; it names the rule, without text of the document."""
    return RuleError(f"the rule of {language.name} for {node.type} failed ({type(error).__name__})")


def _sectioned(marks: list[Mark]) -> list[Mark]:
    """Make marks members of the section-opening mark before them, up to the next such mark and its comments.

    One without a name only ends a section.
    """
    sections: list[Mark] = []
    held: list[Mark] = []
    opened: Mark | None = None
    for mark in marks:
        if mark.node.type not in mark.nodes.opening:
            held.append(mark)
            continue
        above = _comments_above(held, mark) if mark.name else []
        inside = held[: len(held) - len(above)] if mark.name else [*held, mark]
        _close(opened, inside, sections)
        sections += [*above, mark] if mark.name else []
        opened, held = (mark if mark.name else None), []
    _close(opened, held, sections)
    return sections


def _comments_above(marks: list[Mark], mark: Mark) -> list[Mark]:
    above: list[Mark] = []
    first = mark.first
    for comment in reversed(marks):
        if comment.kind != COMMENT or comment.last + 1 != first:
            break
        first = comment.first
        above.append(comment)
    return above[::-1]


def _close(opened: Mark | None, members: list[Mark], sections: list[Mark]) -> None:
    if opened is None:
        sections += members
    elif members:
        opened.members = members
        opened.last = members[-1].last


def _place_in(body: "Node", mark: Mark, found: Found, where: Place) -> Place:
    # Fields of a type inside a function are no local variables.
    local, row = found.local or (where.local and found.kind not in TYPES), body.start_point[0]
    if found.kind == GROUP:
        return Place(where.name, where.kind, local, where.depth + 1, row, found.within or where.rules)
    return Place(mark.name or where.name, found.kind, local, where.depth + 1, row, found.within)


def identity_of(found: Found, where: Place, constructors: frozenset[str] | None) -> tuple[str, str]:
    """Return kind and qualified name of a found symbol; `constructors` is None where functions are not methods."""
    kind, name = found.kind, found.name
    if where.local and kind in _VALUES and not found.bodies:
        return "statement", ""
    if constructors is not None:
        kind = "constructor" if name in constructors else _MEMBER_KINDS.get(kind, kind)
    if name and where.name:
        # Selectors have dots of their own: ".menu .item", ".menu:hover".
        name = f"{where.name} {name}".replace(" &", "") if kind == "rule" else f"{where.name}.{name}"
    return kind, name if name.isprintable() else " ".join(name.split())


_MEMBER_KINDS = {"function": "method", "variable": "property"}


def _last(first: int, last: int, column: int, line_comment: str, source: "Source") -> int:
    # Some grammars end a node after the following white space.
    if column == 0 or not source.lines[last][:column].strip():
        last -= 1
        while last > first and source.is_blank(last):
            last -= 1
    return _without_comments(first, last, line_comment, source) if line_comment and last > first else last


def _without_comments(first: int, last: int, sign: str, source: "Source") -> int:
    # A comment at the end of a node, indented no more than the node, is about the following code.
    indentation = _indentation(source.lines[first])
    row = last
    while row > first and (source.is_blank(row) or _is_outer_comment(source.lines[row], sign, indentation)):
        row -= 1
    return row


def _is_outer_comment(line: str, sign: str, indentation: int) -> bool:
    return line.lstrip().startswith(sign) and _indentation(line) <= indentation


def _indentation(line: str) -> int:
    return len(line) - len(line.lstrip())


def is_loose(mark: Mark) -> bool:
    """Tell if the mark needs no piece of its own: a statement, value, key, declaration, comment or group."""
    return mark.kind in _LOOSE or mark.node.type in mark.nodes.loose
