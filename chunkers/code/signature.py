"""Find a symbol's declaring lines and its body."""

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Node

    from cqm.chunkers.code.outline import Mark
    from cqm.chunkers.code.source import Source

_SEARCHED_NODES = 40
_MAX_CHARACTERS = 300

# A row above the declaration itself: a decorator, an attribute, a comment.
_ABOVE = re.compile(r"\s*(?:[@\[*/]|#\[|--|#(?!define)|template\b)")


def body_of(mark: "Mark") -> "Node | None":
    """Find the node with a symbol's statements or members; None without one."""
    # "const f = memo(() => {...})" has its body further in.
    waiting, types = [mark.node], mark.nodes.bodies
    for searched in waiting:
        body = searched.child_by_field_name("body")
        if body is not None:
            return body
        children = searched.named_children
        for child in children:
            if child.type in types:
                return child
        if len(waiting) < _SEARCHED_NODES:
            waiting.extend(children)
    return None


_OPENED = re.compile(r"(?<=[(\[<]) (?=\S)")
_CLOSED = re.compile(r",? (?=[)\]>](?:$|[^=]))")


def declaration(mark: "Mark", source: "Source") -> str:
    """Return a symbol's signature on one line, indented as its first line is."""
    lines = signature(mark, source).split("\n")
    if len(lines) == 1:
        return lines[0]
    indentation = lines[0][: len(lines[0]) - len(lines[0].lstrip())]
    return indentation + _CLOSED.sub("", _OPENED.sub("", " ".join(" ".join(lines).split())))


def signature(mark: "Mark", source: "Source") -> str:
    """Return a symbol's declaring lines without decorators, comments and body; at most 300 characters."""
    body = body_of(mark)
    first, last = mark.first, body.start_point[0] if body is not None else mark.last
    while first < min(last, mark.last) and _ABOVE.match(source.lines[first]):
        first += 1
    if body is None:
        lines = source.lines[first : last + 1 if mark.node.type in mark.nodes.bodiless else first + 1]
    else:
        lines = source.lines[first : last + 1]
        lines[-1:] = [line[: body.start_point[1]] for line in lines[-1:]]
    return "\n".join(lines).rstrip()[:_MAX_CHARACTERS].rstrip()
