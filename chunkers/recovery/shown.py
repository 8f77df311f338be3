"""Tell from the tree of a whole program how its segments read, which saves parsing each by itself."""

from enum import Enum
from typing import TYPE_CHECKING, NamedTuple

from cqm.chunkers.recovery.errors import errors_of, insides

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tree_sitter import Node

    from cqm.chunkers.languages.model import Language
    from cqm.chunkers.recovery.segments import Segment


class State(Enum):
    """The reading of a segment: without an error, with errors in a function alone, or with such as harm its outline."""

    CLEAN = 1
    HARMLESS = 2
    SPOILT = 3


class Shown(NamedTuple):
    """The node of a segment.

    Attributes:
        node: it has the segment's bytes; a semicolon after it may belong to the segment.
        data: the parsed text.
        is_inside: whether it is in a body or a list of parameters.
        is_direct: whether it stands by itself in the program, or in a body of declarations. A part of a statement need
            not be one when read alone.
    """

    node: "Node"
    data: bytes
    is_inside: bool = False
    is_direct: bool = False


_BODIES = ("declaration_list", "_body", "block")
_STATEMENT = "_statement"


def shown(around: Shown, segments: "Sequence[Segment]", language: "Language") -> "list[Shown | None]":
    """Return the nodes of some segments; None for one divided otherwise in the tree, or in an error.

    A statement without an error in its node reads the same when parsed by itself between the heads around it. A
    declaration may not: with a macro's call before it, the tree of the program may take both for one.

    Parameters:
        around: the node around all segments.
    """
    found: list[Shown | None] = [None] * len(segments)
    waiting = [(around, 0, len(segments))]
    while waiting:
        outer, first, end = waiting.pop()
        if outer.node.is_error:
            continue
        children = outer.node.children
        is_direct = outer.node == around.node or outer.node.type.endswith(_BODIES)
        flags = insides(outer.node, children, language, around.data, is_inside=outer.is_inside)
        place = 0
        while first < end:
            start, stop = segments[first].start, segments[first].end
            while place < len(children) and children[place].end_byte <= start:
                place += 1
            if place == len(children):
                break
            inner = Shown(children[place], around.data, flags[place], is_direct)
            last = first + 1
            if inner.node.start_byte == start and _ends(children, place, stop):
                found[first] = inner
            elif inner.node.start_byte <= start and stop <= inner.node.end_byte:
                while last < end and segments[last].end <= inner.node.end_byte:
                    last += 1
                waiting.append((inner, first, last))
            first = last
    return found


def nodes_beside_errors(around: Shown, language: "Language") -> dict[tuple[int, int], Shown]:
    """Return the declarations and statements in nodes with errors, by first and last bytes, half-open.

    A brace too many or an error may tear a declaration out of its surroundings. If it has no errors itself, it reads
    the same alone.

    Parameters:
        around: the node of the program.
        language: with its rules: nodes of other types may be parts of a declaration.
    """
    found: dict[tuple[int, int], Shown] = {}
    waiting = [around.node]
    while waiting:
        children = waiting.pop().children
        for child, after in zip(children, [*children[1:], None], strict=True):
            if child.has_error and child.child_count:
                waiting.append(child)
            node_type = child.type
            is_declared = node_type in language.rules
            if not (is_declared or node_type.endswith(_STATEMENT)) or child.is_error:
                continue
            start, end = child.start_byte, child.end_byte
            inner = Shown(child, around.data, is_direct=is_declared)
            found[start, end] = inner
            if after is not None and after.type == ";":
                found[start, after.end_byte] = inner
    return found


def blocks_of(nodes: "Mapping[tuple[int, int], Shown]") -> dict[int, tuple[int, int]]:
    """Return where the blocks of declarations without errors begin, and their ends, by their first bytes.

    Parameters:
        nodes: by first and last bytes, half-open.
    """
    found: dict[int, tuple[int, int]] = {}
    for (start, end), it in nodes.items():
        if it.node.has_error or not it.is_direct:
            continue
        node: Node | None = it.node
        # A template's declaration is its last part.
        while node is not None and (body := node.child_by_field_name("body")) is None:
            node = node.named_child(node.named_child_count - 1) if node.named_child_count else None
        if node is not None and body is not None and end - body.end_byte <= 1:
            found[start] = body.start_byte, end
    return found


def _ends(children: "list[Node]", place: int, end: int) -> bool:
    """Tell if a node ends at a byte, or the semicolon after it does."""
    if children[place].end_byte == end:
        return children[place].is_named
    after = children[place + 1] if place + 1 < len(children) else None
    return after is not None and after.type == ";" and after.end_byte == end


def state_of(it: Shown, language: "Language") -> State:
    """Tell how a segment reads by its node."""
    if not (it.node.has_error or it.node.is_missing):
        return State.CLEAN
    harm = next(errors_of(it.node, language, it.data, is_inside=it.is_inside), None)
    return State.HARMLESS if harm is None else State.SPOILT
