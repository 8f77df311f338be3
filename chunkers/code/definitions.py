"""Tell where each symbol of an outline is defined."""

import functools
import re
import sys
from bisect import bisect_left
from typing import TYPE_CHECKING, NamedTuple

from cqm.chunkers.code.outline import TYPES, Mark, Place, applied, failed, outline
from cqm.chunkers.languages.model import COMMENT, COMPONENT, GROUP, IMPORTS, LEADING, first_named
from cqm.chunkers.model import Definition, maker
from cqm.chunkers.recovery.by_lines import parts_by_lines

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator

    from tree_sitter import Node

    from cqm.chunkers.code.source import Source
    from cqm.chunkers.languages.line_patterns import LinePatterns
    from cqm.chunkers.languages.model import Language, Part, PartRule

_NO_DEFINITIONS = frozenset({COMMENT, LEADING, GROUP, IMPORTS, "statement", "extension"})
_CLOSED = frozenset({COMMENT, LEADING, IMPORTS, "interface", "type", "struct", "enum"})
"""Kinds without functions inside except their members."""

_LOCAL = frozenset(
    {"function", "method", "constructor", "class", "interface", "struct", "trait", "enum", "module", "type"}
)
_LOCAL_KINDS = _LOCAL | {COMPONENT, "macro"}
"""Kinds of symbols inside functions which are definitions: no variables, no tests."""

_CALLABLE = frozenset({"function", "method", "constructor", "test"})
_MAX_DEPTH = 24
"""Functions around a function; real code does not nest deeper."""
_SEARCHED_ROWS = 12
"""Rows of a declaration to look for its name in: a return type or receiver may stand above it."""

_made = maker(Definition)

_COMMENTS = ("* ", "*\t", "*/", "** ", "/*", "//")
"""Beginnings of rows in comments; "*name(void)" is the second row of a function."""


def definitions_of(
    marks: "Iterable[Mark]", language: "Language", source: "Source"
) -> "Iterator[tuple[int, Definition]]":
    """Yield the definition of each symbol with the first character of its node, in order.

    Parameters:
        marks: the outline of a document.
        language: with the rules of the outline.
    """
    waiting = [(mark, "", 0, False) for mark in [*marks][::-1] if mark.kind != COMMENT]
    told: set[str] = set()
    data = source.data.lower() if language.nodes.local_in_small else source.data
    hits = _hits_of(language.nodes.local, data)
    while waiting:
        mark, around, depth, is_local = waiting.pop()
        kind, node, nodes = mark.kind, mark.node, mark.nodes
        node_type = node.type
        is_symbol = bool(mark.name) and kind not in _NO_DEFINITIONS
        has_equations = bool(nodes.equations) and node_type in nodes.clauses
        if is_symbol and not _is_told_elsewhere(mark, node_type, told):
            last = _last_equation(mark, (it[0] for it in reversed(waiting))) if has_equations else mark.last
            yield source.starts[mark.first], _definition(mark, last, source)
        # Members of an opening have names of their own, as "ENV A=1 B=2" below "FROM x AS y".
        # "const _: () = { fn f() {} }" has no name in use.
        is_around = is_symbol and node_type not in nodes.opening and mark.name != "_"
        inside = mark.name if is_around else around
        rule = nodes.parts.get(node_type)
        # Statements in a function declare nothing.
        if rule and (is_symbol or not is_local):
            parts = [*_parts_of(mark, (inside, around), _listed(rule, node, source.data, language), source)]
            if has_equations:
                told.update(it.name for _, it in parts)
            yield from parts
        if mark.is_guessed and is_symbol and language.by_lines is not None and language.by_lines.parts:
            yield from _parts_by_lines(mark, language.by_lines, source)
        if has_equations:
            told.add(_told_as(mark))
        if mark.members:
            is_local = kind in _CALLABLE or (is_local and kind not in TYPES)
            waiting += [(it, inside, depth, is_local) for it in mark.members[::-1] if it.kind != COMMENT]
        elif hits.starts and depth < _MAX_DEPTH and not _is_closed(mark, node_type) and _may_hold(node, hits):
            starts = _starts_in(node, language.nodes.local, data, hits)
            found = _local(mark, inside, language, source, starts)[::-1]
            waiting += [(member, inside, depth + 1, True) for member in found]


def _is_closed(mark: "Mark", node_type: str) -> bool:
    """Whether no function or type begins inside a symbol."""
    return mark.kind in _CLOSED or (node_type in mark.nodes.loose and mark.kind not in _CALLABLE)


def _is_told_elsewhere(mark: "Mark", node_type: str, told: "Container[str]") -> bool:
    """Whether a symbol is a further equation of a told one, an addition to one, or nobody's, as `_`."""
    nodes, name = mark.nodes, mark.name
    if node_type in nodes.equations and _told_as(mark) in told:
        return True
    if nodes.additions and _is_addition(mark, node_type):
        return True
    return name[-1] == "_" and (name == "_" or name.endswith("._")) and mark.kind != "namespace"


def _told_as(mark: "Mark") -> str:
    """Return a key common to the equations of one definition."""
    apart = mark.nodes.told_apart
    return mark.name if apart is None else f"{mark.name}/{apart(mark.node)}"


class _Hits(NamedTuple):
    """First bytes and ends of all places where a function or type may begin, in order."""

    starts: list[int]
    ends: list[int]


def _hits_of(patterns: tuple[bytes, ...], data: bytes, first: int = 0, end: int = sys.maxsize) -> _Hits:
    """Find the places of some patterns between two bytes; none begins in another."""
    hits = _Hits([], [])
    last = 0
    for start, ending in sorted([it.span() for one in _compiled(patterns) for it in one.finditer(data, first, end)]):
        if start >= last:
            hits.starts.append(start)
            hits.ends.append(ending)
            last = ending
    return hits


@functools.cache
def _compiled(patterns: tuple[bytes, ...]) -> list[re.Pattern[bytes]]:
    return [re.compile(one) for one in patterns]


def _may_hold(node: "Node", hits: _Hits) -> bool:
    """Tell if a place may be inside a node, and not only at its own keyword, before all its named children."""
    start, end = node.start_byte, node.end_byte
    place = bisect_left(hits.starts, start)
    if place and hits.ends[place - 1] > start:
        # The result depends on the start of the search.
        return True
    if place == len(hits.starts) or hits.starts[place] >= end:
        return False
    if place + 1 < len(hits.starts) and hits.starts[place + 1] < end:
        return True
    child = first_named(node)
    return child is not None and hits.starts[place] >= child.start_byte


def _local(mark: Mark, around: str, language: "Language", source: "Source", starts: list[int]) -> list[Mark]:
    """Return the functions and types inside a symbol or statement without members, the outer ones of them."""
    own, own_name = mark.node, mark.name.rpartition(".")[2]
    found: list[Mark] = []
    waiting = [own] if starts else []
    while waiting:
        node = waiting.pop()
        inner = _symbol_at(node, around, language, source) if node != own else None
        # "const f = () => {...}" is told by the statement and by the declarator in it.
        if inner is not None and not (inner.name == f"{around}.{own_name}" and node.end_byte + 1 >= own.end_byte):
            found.append(inner)
        else:
            waiting += _children_at(starts, node)[::-1]
    return found


def _starts_in(node: "Node", patterns: tuple[bytes, ...], data: bytes, hits: _Hits) -> list[int]:
    """Return the places in a node as if nothing but it were searched."""
    start, end = node.start_byte, node.end_byte
    first, last = bisect_left(hits.starts, start), bisect_left(hits.starts, end)
    reaches_in = first > 0 and hits.ends[first - 1] > start
    if reaches_in or (first < last and hits.ends[last - 1] > end):
        return _hits_of(patterns, data, start, end).starts
    return hits.starts[first:last]


def _children_at(starts: list[int], node: "Node") -> "list[Node]":
    """Return the named children of a node with one or more of some places, which are few."""
    found: list[Node] = []
    place = bisect_left(starts, node.start_byte)
    for child in node.named_children if place < len(starts) else ():
        end = child.end_byte
        if end <= starts[place]:
            continue
        place = bisect_left(starts, child.start_byte, place)
        if place < len(starts) and starts[place] < end:
            found.append(child)
            place = bisect_left(starts, end, place)
        if place == len(starts):
            break
    return found


def _symbol_at(node: "Node", around: str, language: "Language", source: "Source") -> Mark | None:
    rule = language.rules.get(node.type)
    found = applied(rule, node, source.data, language) if rule else None
    if found is None or found.kind not in _LOCAL_KINDS or not found.name:
        return None
    name = f"{around}.{found.name}" if around else found.name
    first, last = node.start_point[0], node.end_point[0]
    last = max(first, last - (node.end_point[1] == 0))
    members = outline(found.bodies, Place(name, found.kind, found.local), language, source)
    return Mark(node, first, last, found.kind, " ".join(name.split()), members, language.nodes)


def _last_equation(mark: Mark, following: "Iterable[Mark]") -> int:
    """Return the last row of a signature and the equations right below it."""
    last = mark.last
    for after in following:
        if after.node.type in after.nodes.equations and _told_as(after) == _told_as(mark):
            last = after.last
        elif after.kind != COMMENT:
            break
    return last


def _definition(mark: Mark, last: int, source: "Source") -> Definition:
    first = mark.first
    if source.offsets[first] <= mark.node.start_byte and mark.node.end_byte <= source.offsets[first + 1]:
        # In one row, as most fields and constants are.
        return _made(mark.name, mark.kind, first + 1, first + 1, last + 1, mark.is_guessed)
    first = declared_row(mark)
    # A rule of a style sheet has all of its selectors for a name.
    named = mark.node.child_by_field_name("name") if mark.kind != "rule" else None
    own = mark.name.rpartition(".")[2] or mark.name
    if named is not None:
        is_below = named.start_byte >= source.offsets[first + 1]
        line = named.start_point[0] if is_below else first
    else:
        line = _row_of_name(own, first, mark.last, source) if mark.kind != "rule" else first
        at_end = _name_at_end(mark.node) if mark.node.type in mark.nodes.named_at_end else None
        if at_end is not None and not _has_word(source.lines[first], own):
            line = at_end.start_point[0]
    return _made(mark.name, mark.kind, first + 1, min(line, last) + 1, last + 1, mark.is_guessed)


def _name_at_end(node: "Node") -> "Node | None":
    """Find the name below the declaration in a node or its child."""
    names = (
        it.child_by_field_name("declarator") or it.child_by_field_name("type_name")
        for it in (node, *node.named_children)
    )
    return next((it for it in names if it is not None), None)


def _is_addition(mark: Mark, node_type: str) -> bool:
    additions = mark.nodes.additions
    if node_type in additions:
        return True
    keyword = mark.node.child_by_field_name("declaration_kind")
    return keyword is not None and keyword.type in additions


def _listed(rule: "PartRule", node: "Node", source: bytes, language: "Language") -> "list[Part]":
    try:
        return [*rule(node, source)]
    except Exception as error:
        raise failed(node, language, error) from error


def _parts_of(
    mark: Mark, scopes: tuple[str, str], parts: "Iterable[Part]", source: "Source"
) -> "Iterator[tuple[int, Definition]]":
    """Yield the definitions of a mark's parts; the scopes are those in the mark and around it."""
    for kind, name, node, name_node, is_beside in parts:
        if name == "_" or (kind or mark.kind) == "statement":
            continue
        around = scopes[is_beside]
        first, line, (last, column) = node.start_point[0], name_node.start_point[0], node.end_point
        # Some grammars end a node after its line end.
        last -= column == 0 and last > line
        qualified = f"{around}.{name}" if around else name
        yield source.starts[first], _made(qualified, kind or mark.kind, first + 1, line + 1, last + 1)


def _parts_by_lines(mark: Mark, patterns: "LinePatterns", source: "Source") -> "Iterator[tuple[int, Definition]]":
    """Yield the definitions of a guessed symbol's parts, told by its rows outside its members."""
    rows: list[int] = []
    first = mark.first
    for member in mark.members:
        rows += range(first, member.first)
        first = max(first, member.last + 1)
    rows += range(first, mark.last + 1)
    for row, kind, name in parts_by_lines(source.lines, rows, mark.kind, patterns):
        yield source.starts[row], _made(f"{mark.name}.{name}", kind, row + 1, row + 1, row + 1, True)  # noqa: FBT003


def declared_row(mark: Mark) -> int:
    """Find the row a declaration begins in, below its decorators, attributes and comments."""
    node = mark.node.child_by_field_name("definition")
    if node is None:
        node = mark.node
        # Nearly always, and reading points takes four times as long as reading bytes.
        begins = node.child(0) if node.child_count else None
        if begins is None or (begins.start_byte == node.start_byte and begins.type not in mark.nodes.above):
            return mark.first
    if mark.first < node.start_point[0]:
        return mark.first
    # Nearly always the first one decides, so a list of all would be in vain.
    for number in range(node.child_count):
        child = node.child(number)
        if child is not None and child.type not in mark.nodes.above:
            return max(mark.first, int(child.start_point[0]))
    return mark.first


def _row_of_name(name: str, first: int, last: int, source: "Source") -> int:
    """Find the first row with the name as a whole word; the first row if none has it."""
    for row in range(first, min(last, first + _SEARCHED_ROWS) + 1):
        line = source.lines[row]
        if not line.lstrip().startswith(_COMMENTS) and _has_word(line, name):
            return row
    return first


def _has_word(line: str, name: str) -> bool:
    place = line.find(name)
    while place >= 0:
        end = place + len(name)
        if not (_is_of_word(_before(line, place)) or _is_of_word(line[end : end + 1])):
            return True
        place = line.find(name, place + 1)
    return False


def _before(line: str, place: int) -> str:
    # "$" begins a word, but in "caps$run" it stands between two.
    is_between = line[place - 1 : place] == "$" and line[place - 2 : place - 1].isalnum()
    return "" if is_between else line[place - 1 : place]


def _is_of_word(character: str) -> bool:
    return character.isalnum() or character in {"_", "$"}
