"""Recognise React components: functions and classes with a capitalised name which return JSX."""

from typing import TYPE_CHECKING

from cqm.chunkers.languages.model import COMPONENT, child_of_type, text_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree_sitter import Node

LOADERS = frozenset({"lazy", "dynamic", "loadable"})
"""Functions which make a component from a function with an import."""

_JSX = frozenset({"jsx_element", "jsx_self_closing_element", "jsx_fragment"})

# Nodes on the way to a returned value; other nodes, such as inner functions, hold no value the function returns.
_TOWARDS_VALUES = frozenset(
    {
        "binary_expression",
        "else_clause",
        "if_statement",
        "parenthesized_expression",
        "return_statement",
        "statement_block",
        "switch_body",
        "switch_case",
        "switch_default",
        "switch_statement",
        "ternary_expression",
        "try_statement",
    }
)


def kind_of_function(name: str, function: "Node") -> str:
    """Return the kind of a named function of any form: a component, or else a function."""
    return COMPONENT if name[:1].isupper() and _returns_jsx(function) else "function"


def kind_of_class(name: str, body: "Node | None", source: bytes) -> str:
    """Return the kind of a class: a component if its method `render` returns JSX, or else a class."""
    if not name[:1].isupper() or child_of_type(body, "method_definition") is None:
        return "class"
    return COMPONENT if any(_returns_jsx(method) for method in _renderers(body, source)) else "class"


def _renderers(body: "Node | None", source: bytes) -> "Iterator[Node]":
    for member in body.named_children if body is not None else ():
        is_method = member.type == "method_definition"
        if is_method and text_of(member.child_by_field_name("name"), source) == "render":
            yield member


def _returns_jsx(function: "Node") -> bool:
    body = function.child_by_field_name("body")
    waiting = [body] if body is not None else []
    while waiting:
        node = waiting.pop()
        if node.type in _JSX:
            return True
        if node.type in _TOWARDS_VALUES:
            waiting.extend(node.named_children)
    return False
