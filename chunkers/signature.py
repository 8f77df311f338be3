"""The lines that declare a symbol, and where its body begins."""

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Node

    from cqm.chunkers.outline import Mark
    from cqm.chunkers.source import Source

# Bodies that are no field of their node.
_BODIES = frozenset(
    {"block", "do_block", "function_body", "class_body", "enum_class_body", "content", "script_block", "lambda_literal"}
)

_SEARCHED_NODES = 40
_MAX_CHARACTERS = 300

# A row above the declaration itself: a decorator, an attribute, a comment.
_ABOVE = re.compile(r"\s*(?:[@\[*/]|#\[|--|#(?!define)|template\b)")


def body_of(node: "Node") -> "Node | None":
    """The node with a symbol's statements or members; None when it has none."""
    # "const f = memo(() => {...})" has its body further in.
    waiting = [node]
    for searched in waiting:
        body = searched.child_by_field_name("body")
        if body is not None:
            return body
        children = searched.named_children
        body = next((child for child in children if child.type in _BODIES), None)
        if body is not None:
            return body
        if len(waiting) < _SEARCHED_NODES:
            waiting.extend(children)
    return None


def signature(mark: "Mark", source: "Source") -> str:
    """The lines that declare a symbol, without its decorators, comments and body; at most 300 characters."""
    body = body_of(mark.node)
    row, column = body.start_point if body is not None else (mark.first + 1, 0)
    first = mark.first
    while first < min(row, mark.last) and _ABOVE.match(source.lines[first]):
        first += 1
    lines = source.lines[first : row + 1]
    if lines and first + len(lines) == row + 1:
        lines[-1] = lines[-1][:column]
    return "\n".join(lines).rstrip()[:_MAX_CHARACTERS].rstrip()
