"""Define the row of PHP."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from cqm.chunkers.facts.rows.model import Symbol, Syntax, child, modifier, operators
from cqm.chunkers.facts.rows.uses import callee
from cqm.chunkers.languages.model import by_field, child_of_type, text_of
from cqm.chunkers.model import Parameter

if TYPE_CHECKING:
    from tree_sitter import Node


def _called(node: "Node", source: bytes) -> str:
    last = node.child_by_field_name("function") or node.child_by_field_name("name")
    if last is None:
        last = child_of_type(node, "name", "qualified_name", "variable_name")
        return callee(last.start_byte, last.end_byte, source) if last else ""
    return callee(node.start_byte, last.end_byte, source)


def _parameters(node: "Node", source: bytes) -> Iterator[Parameter]:
    group = node.child_by_field_name("parameters")
    for part in group.named_children if group else ():
        name = by_field("name")(part, source)
        if name:
            dots = "..." if part.type == "variadic_parameter" else ""
            yield Parameter(dots + name, *(by_field(field)(part, source) for field in ("type", "default_value")))


def _imports(node: "Node", source: bytes) -> Iterator[str]:
    alias = by_field("alias")(node, source)
    yield alias or text_of(child_of_type(node, "qualified_name", "name"), source).rpartition("\\")[2]


def _properties(node: "Node", source: bytes) -> Iterator[str]:
    for part in node.named_children:
        if part.type == "property_element":
            yield by_field("name")(part, source).lstrip("$")


def _promoted(node: "Node", source: bytes) -> Iterator[str]:
    yield by_field("name")(node, source).lstrip("$")


def _visibility(symbol: Symbol, source: bytes) -> str:
    return modifier(symbol.mark.node, source, "visibility_modifier") or "public"


PHP = Syntax(
    branches=frozenset(
        {
            "if_statement",
            "else_if_clause",
            "for_statement",
            "foreach_statement",
            "while_statement",
            "do_statement",
            "case_statement",
            "catch_clause",
            "conditional_expression",
            "match_conditional_expression",
        }
    ),
    weighed={"binary_expression": operators("&&", "||", "and", "or", "??")},
    bodies=frozenset({"compound_statement", "arrow_function"}),
    calls=dict.fromkeys(
        (
            "function_call_expression",
            "member_call_expression",
            "nullsafe_member_call_expression",
            "scoped_call_expression",
            "object_creation_expression",
        ),
        _called,
    ),
    names=frozenset({"name"}),
    unused={
        "member_call_expression": child("name"),
        "nullsafe_member_call_expression": child("name"),
        "scoped_call_expression": child("name"),
        "member_access_expression": child("name"),
        "method_declaration": child("name"),
    },
    imports={"namespace_use_clause": _imports},
    fields={"property_declaration": _properties, "property_promotion_parameter": _promoted},
    heads=frozenset({"function_definition", "method_declaration", "anonymous_function", "arrow_function"}),
    parameters=_parameters,
    returns=by_field("return_type"),
    decorators=frozenset({"attribute_list"}),
    visibility=_visibility,
)
