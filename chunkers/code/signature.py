"""Find a symbol's declaring lines and its body."""

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Node

    from cqm.chunkers.code.outline import Mark
    from cqm.chunkers.code.source import Source

# Bodies which are not a field of their node.
_BODIES = frozenset(
    {"block", "do_block", "function_body", "class_body", "enum_class_body", "content", "script_block", "lambda_literal"}
)

# Declarations of functions without a body, on any number of rows.
_BODILESS = frozenset(
    {
        "abstract_method_signature",
        "annotation_type_element_declaration",
        "declaration",
        "field_declaration",
        "function_signature",
        "function_signature_item",
        "method_declaration",
        "method_signature",
        "protocol_function_declaration",
    }
)

_SEARCHED_NODES = 40
_MAX_CHARACTERS = 300

# A row above the declaration itself: a decorator, an attribute, a comment.
_ABOVE = re.compile(r"\s*(?:[@\[*/]|#\[|--|#(?!define)|template\b)")


def body_of(node: "Node") -> "Node | None":
    """Find the node with a symbol's statements or members; None without one."""
    # "const f = memo(() => {...})" has its body further inside.
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
    """Return a symbol's declaring lines without decorators, comments and body; at most 300 characters."""
    body = body_of(mark.node)
    first, last = mark.first, body.start_point[0] if body is not None else mark.last
    while first < min(last, mark.last) and _ABOVE.match(source.lines[first]):
        first += 1
    if body is None:
        lines = source.lines[first : last + 1 if mark.node.type in _BODILESS else first + 1]
    else:
        lines = source.lines[first : last + 1]
        lines[-1:] = [line[: body.start_point[1]] for line in lines[-1:]]
    return "\n".join(lines).rstrip()[:_MAX_CHARACTERS].rstrip()
