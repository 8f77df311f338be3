"""Define the row of C#."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from cqm.chunkers.facts.rows.comments import xml
from cqm.chunkers.facts.rows.model import Symbol, Syntax, child, modifier, operators
from cqm.chunkers.facts.rows.uses import callee
from cqm.chunkers.languages.model import by_field, child_of_type, text_of
from cqm.chunkers.model import Parameter

if TYPE_CHECKING:
    from tree_sitter import Node

_NO_DEFAULTS = frozenset({"modifier", "attribute_list", "comment"})


def _without_arguments(node: "Node | None") -> "tuple[int, int]":
    # "a.B<int>" ends in type arguments, not part of its name.
    if node is None:
        return 0, 0
    name = node.child_by_field_name("name") or node
    arguments = child_of_type(name if name.type == "generic_name" else node, "type_argument_list")
    return node.start_byte, arguments.start_byte if arguments else node.end_byte


def _invoked(node: "Node", source: bytes) -> str:
    return callee(*_without_arguments(node.child_by_field_name("function")), source)


def _created(node: "Node", source: bytes) -> str:
    return callee(*_without_arguments(node.child_by_field_name("type")), source)


def _arm(node: "Node", _source: bytes) -> int:
    return int(bool(node.named_children) and node.named_children[0].type != "discard")


def _section(node: "Node", _source: bytes) -> int:
    return int(bool(node.children) and node.children[0].type != "default")


def _parameters(node: "Node", source: bytes) -> Iterator[Parameter]:
    group = node.child_by_field_name("parameters") or child_of_type(node, "parameter_list")
    for part in group.named_children if group else ():
        if part.type == "parameter" and not _is_receiver(part, source):
            yield Parameter(*_declared(part, source))
    spread = group.child_by_field_name("name") if group else None
    if group and spread:
        yield Parameter(text_of(spread, source), "params " + by_field("type")(group, source))


def _is_receiver(part: "Node", source: bytes) -> bool:
    return any(text_of(own, source) == "this" for own in part.named_children if own.type == "modifier")


def _declared(part: "Node", source: bytes) -> tuple[str, str, str]:
    name, kind = part.child_by_field_name("name"), part.child_by_field_name("type")
    default = next(
        (
            text_of(own, source)
            for own in part.named_children
            if name and own.start_byte >= name.end_byte and own.type not in _NO_DEFAULTS
        ),
        "",
    )
    return text_of(name, source), text_of(kind, source), default


def _returns(node: "Node", source: bytes) -> str:
    return text_of(node.child_by_field_name("returns") or node.child_by_field_name("type"), source)


def _imports(node: "Node", source: bytes) -> Iterator[str]:
    alias = by_field("name")(node, source)
    if alias:
        yield alias


def _fields(node: "Node", source: bytes) -> Iterator[str]:
    for part in (child_of_type(node, "variable_declaration") or node).named_children:
        if part.type == "variable_declarator":
            yield by_field("name")(part, source)


def _components(node: "Node", source: bytes) -> Iterator[str]:
    return (parameter.name for parameter in _parameters(node, source))


def _visibility(symbol: Symbol, source: bytes) -> str:
    if symbol.mark.kind == "namespace":
        return ""
    parent = symbol.parent.mark.kind if symbol.parent else "namespace"
    default = {"namespace": "internal", "interface": "public", "enum": "public"}.get(parent, "private")
    return modifier(symbol.mark.node, source, "modifier") or default


CSHARP = Syntax(
    branches=frozenset(
        {
            "if_statement",
            "for_statement",
            "foreach_statement",
            "while_statement",
            "do_statement",
            "catch_clause",
            "conditional_expression",
        }
    ),
    weighed={
        "binary_expression": operators("&&", "||", "??"),
        "switch_section": _section,
        "switch_expression_arm": _arm,
    },
    bodies=frozenset({"block", "arrow_expression_clause", "lambda_expression"}),
    calls={"invocation_expression": _invoked, "object_creation_expression": _created},
    names=frozenset({"identifier"}),
    unused={"member_access_expression": child("name"), "member_binding_expression": child("name")},
    imports={"using_directive": _imports},
    fields={"field_declaration": _fields, "event_field_declaration": _fields, "record_declaration": _components},
    heads=frozenset(
        {
            "method_declaration",
            "constructor_declaration",
            "local_function_statement",
            "record_declaration",
            "delegate_declaration",
            "operator_declaration",
            "conversion_operator_declaration",
            "indexer_declaration",
        }
    ),
    parameters=_parameters,
    returns=_returns,
    decorators=frozenset({"attribute_list"}),
    comments=xml,
    visibility=_visibility,
)
