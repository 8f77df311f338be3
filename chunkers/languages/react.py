"""Which functions and classes are components of React: the name is capitalised, and what they return is JSX."""

from typing import TYPE_CHECKING

from cqm.chunkers.languages.model import COMPONENT, child_of_type, text_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree_sitter import Node

LOADERS = frozenset({"lazy", "dynamic", "loadable"})
"""Functions that make a component of a function that imports one."""

_JSX = frozenset({"jsx_element", "jsx_self_closing_element", "jsx_fragment"})

# Where a returned value may stand; what is in other nodes, such as an inner function, is not what a function returns.
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
    """The kind of a function of any form that has the name: a component, or else a function."""
    return COMPONENT if name[:1].isupper() and _returns_jsx(function) else "function"


def kind_of_class(name: str, body: "Node | None", source: bytes) -> str:
    """The kind of a class with the body: a component, whose method `render` returns JSX, or else a class."""
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
