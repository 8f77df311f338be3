"""Define the rows of Nix and Jsonnet: in these languages a program is one expression."""

from typing import TYPE_CHECKING

from cqm.chunkers.grammars import BUNDLE
from cqm.chunkers.languages.line_patterns import LinePatterns
from cqm.chunkers.languages.model import (
    COMMENT,
    IMPORTS,
    SPLICED,
    Found,
    Language,
    NodeTypes,
    child_of_type,
    groups,
    role,
    text_of,
)
from cqm.chunkers.languages.usage_nodes import UsageNodes

if TYPE_CHECKING:
    from tree_sitter import Node

_MOST_WRAPPERS = 24
"""Most expressions around the one telling a value's kind."""

_NIX_SETS = frozenset({"attrset_expression", "rec_attrset_expression", "let_attrset_expression"})
_NIX_INSIDE = {
    "function_expression": "body",
    "let_expression": "body",
    "with_expression": "body",
    "assert_expression": "body",
    "parenthesized_expression": "expression",
    "apply_expression": "argument",
}


def _nix_value(node: "Node | None") -> tuple[str, tuple["Node", ...]]:
    """Return the kind of a binding's value, with its local bindings and the set of its attributes."""
    kind = "property"
    bodies: list[Node] = []
    for _ in range(_MOST_WRAPPERS):
        if node is None:
            break
        if node.type == "function_expression":
            kind = "function"
        if node.type in _NIX_SETS:
            bodies.append(node)
            break
        if bindings := child_of_type(node, "binding_set") if node.type == "let_expression" else None:
            bodies.append(bindings)
        inner = _NIX_INSIDE.get(node.type, "")
        node = node.child_by_field_name(inner) if inner else None
    return kind, tuple(bodies)


def _binding(node: "Node", source: bytes) -> Found:
    path = node.child_by_field_name("attrpath")
    kind, bodies = _nix_value(node.child_by_field_name("expression"))
    # Of a function's results only sets and functions are symbols.
    return Found(kind, text_of(path, source).replace('"', ""), bodies, local=kind == "function")


NIX = Language(
    name="nix",
    grammar=(BUNDLE, "nix"),
    suffixes=(".nix",),
    rules={
        "binding": _binding,
        **role(COMMENT, "comment"),
        **dict.fromkeys(
            ("function_expression", "let_expression", "with_expression", "assert_expression", "binding_set"),
            lambda node, _source: Found(SPLICED, "", (node,)),
        ),
        **groups(*_NIX_SETS, "apply_expression", "parenthesized_expression", "ERROR"),
        **groups("list_expression", "binary_expression"),
    },
    nodes=NodeTypes(loose=frozenset({"inherit", "inherit_from"})),
    usage=UsageNodes(calls=frozenset({"apply_expression"}), members=frozenset({"attrpath", "variable_expression"})),
)


def _bind(node: "Node", source: bytes) -> Found | None:
    function = node.child_by_field_name("function")
    if function is not None:
        return Found("function", text_of(function, source))
    name, value = (node.named_children[0], node.named_children[-1]) if node.named_children else (None, None)
    if value is not None and value.type.startswith("import"):
        return Found(IMPORTS)
    kind = "function" if value is not None and value.type == "anonymous_function" else "variable"
    return Found(kind, text_of(name, source), (value,) if value and value.type == "object" else ())


def _field(node: "Node", source: bytes) -> Found:
    function = node.child_by_field_name("function")
    if function is not None:
        return Found("function", text_of(function, source).strip("'\""))
    name = text_of(child_of_type(node, "fieldname"), source).strip("'\"")
    value = node.named_children[-1]
    kind = "function" if value.type == "anonymous_function" else "property"
    return Found(kind, name, (value,) if value.type in ("object", "binary", "parenthesis") else ())


JSONNET = Language(
    name="jsonnet",
    grammar=(BUNDLE, "jsonnet"),
    suffixes=(".jsonnet", ".libsonnet"),
    rules={
        "bind": _bind,
        "field": _field,
        **dict.fromkeys(
            ("local_bind", "member", "objlocal", "anonymous_function"),
            lambda node, _source: Found(SPLICED, "", (node,)),
        ),
        **role(COMMENT, "comment"),
        **role("", "local", "params"),
        **groups("object", "binary", "parenthesis", "ERROR"),
    },
    # Its scanner of strings begins with the state left by the text before: an open string, or none.
    remembers=True,
    by_lines=LinePatterns(
        (
            ("function", r"\s*(?:local\s+)?(?P<name>\w+)\s*\([^()]*\)\s*(?:=(?!=)|\+?:)"),
            ("variable", r"\s*local\s+(?P<name>\w+)\s*=(?!=)"),
            ("property", r"\s*(?P<quote>['\"]?)(?P<name>[\w.-]+)(?P=quote)\s*\+?:"),
        ),
        comment=r"\s*(?://|/\*|\*(?!\w)|#)",
    ),
)

ROWS = (NIX, JSONNET)
