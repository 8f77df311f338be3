"""Define the row of Java."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from cqm.chunkers.facts.rows.model import Symbol, Syntax, child, modifier, operators, unless_default
from cqm.chunkers.facts.rows.uses import callee
from cqm.chunkers.languages.model import by_field, child_of_type, text_of
from cqm.chunkers.model import Parameter

if TYPE_CHECKING:
    from tree_sitter import Node


def _invoked(node: "Node", source: bytes) -> str:
    name = node.child_by_field_name("name")
    return callee(node.start_byte, name.end_byte, source) if name else ""


def _created(node: "Node", source: bytes) -> str:
    made = node.child_by_field_name("type")
    if made is not None and made.type == "generic_type" and made.named_children:
        made = made.named_children[0]
    return callee(made.start_byte, made.end_byte, source) if made else ""


def _parameters(node: "Node", source: bytes) -> Iterator[Parameter]:
    group = node.child_by_field_name("parameters")
    for part in group.named_children if group else ():
        if part.type == "formal_parameter":
            yield Parameter(by_field("name")(part, source), by_field("type")(part, source))
        elif part.type == "spread_parameter":
            types = [own for own in part.named_children if own.type not in ("modifiers", "variable_declarator")]
            name = text_of(child_of_type(part, "variable_declarator"), source)
            yield Parameter(name, text_of(types[0] if types else None, source) + "...")


def _imports(node: "Node", source: bytes) -> Iterator[str]:
    if child_of_type(node, "asterisk") is None:
        yield text_of(child_of_type(node, "scoped_identifier"), source).rpartition(".")[2]


def _declared(node: "Node", source: bytes) -> Iterator[str]:
    return (by_field("name")(part, source) for part in node.children_by_field_name("declarator"))


def _components(node: "Node", source: bytes) -> Iterator[str]:
    return (parameter.name for parameter in _parameters(node, source))


def _visibility(symbol: Symbol, source: bytes) -> str:
    word = modifier(symbol.mark.node, source, "modifiers")
    parent = symbol.parent.mark.kind if symbol.parent else ""
    if word or parent == "interface" or symbol.mark.node.type == "enum_constant":
        return word or "public"
    return "private" if parent == "enum" and symbol.mark.kind == "constructor" else "package"


JAVA = Syntax(
    branches=frozenset(
        {
            "if_statement",
            "for_statement",
            "enhanced_for_statement",
            "while_statement",
            "do_statement",
            "catch_clause",
            "ternary_expression",
        }
    ),
    weighed={"binary_expression": operators("&&", "||"), "switch_label": unless_default("default")},
    bodies=frozenset({"block", "constructor_body", "lambda_expression"}),
    calls={"method_invocation": _invoked, "object_creation_expression": _created},
    names=frozenset({"identifier", "type_identifier"}),
    unused={"field_access": child("field")},
    imports={"import_declaration": _imports},
    fields={"field_declaration": _declared, "constant_declaration": _declared, "record_declaration": _components},
    heads=frozenset(
        {
            "method_declaration",
            "constructor_declaration",
            "record_declaration",
            "annotation_type_element_declaration",
        }
    ),
    parameters=_parameters,
    returns=by_field("type"),
    decorators=frozenset({"annotation", "marker_annotation"}),
    visibility=_visibility,
)
