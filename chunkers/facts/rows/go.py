"""Define the row of Go; branches are those of gocyclo."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from cqm.chunkers.facts.rows.comments import written
from cqm.chunkers.facts.rows.model import Symbol, Syntax, Told, child, operators, own_name
from cqm.chunkers.facts.rows.uses import callee
from cqm.chunkers.languages.model import by_field, text_of
from cqm.chunkers.model import Parameter

if TYPE_CHECKING:
    from tree_sitter import Node


def _called(node: "Node", source: bytes) -> str:
    function = node.child_by_field_name("function")
    return callee(function.start_byte, function.end_byte, source) if function else ""


def _parameters(node: "Node", source: bytes) -> Iterator[Parameter]:
    group = node.child_by_field_name("parameters")
    for part in group.named_children if group else ():
        if part.type not in ("parameter_declaration", "variadic_parameter_declaration"):
            continue
        dots = "..." if part.type == "variadic_parameter_declaration" else ""
        names = [text_of(name, source) for name in part.children_by_field_name("name")] or [""]
        yield from (Parameter(name, dots + by_field("type")(part, source)) for name in names)


def _imports(node: "Node", source: bytes) -> Iterator[str]:
    alias = by_field("name")(node, source)
    parts = by_field("path")(node, source).strip('"`').split("/")
    if alias not in ("_", "."):
        # "example.com/chi/v5" is package chi, "gopkg.in/yaml.v3" is package yaml.
        is_version = len(parts) > 1 and parts[-1][:1] == "v" and parts[-1][1:].isdecimal()
        yield alias or parts[-1 - is_version].split(".v")[0]


def _fields(node: "Node", source: bytes) -> Iterator[str]:
    names = [text_of(name, source) for name in node.children_by_field_name("name")]
    # An embedded type is a field with the type's name.
    return iter(names or [by_field("type")(node, source).lstrip("*").split("[")[0].rpartition(".")[2]])


def _method(node: "Node", source: bytes) -> Iterator[str]:
    yield by_field("name")(node, source)


def _visibility(symbol: Symbol, _source: bytes) -> str:
    return "public" if own_name(symbol).rpartition(".")[2][:1].isupper() else "package"


def _exported(symbol: Symbol, visibility: str, _told: Told, parent: bool | None) -> bool:  # noqa: FBT001 - see Syntax
    outer = symbol.mark.name.rpartition(".")[0]
    can_be_reached = outer[:1].isupper() if parent is None and outer else parent is not False
    return visibility == "public" and can_be_reached


GO = Syntax(
    branches=frozenset({"if_statement", "for_statement", "expression_case", "type_case", "communication_case"}),
    weighed={"binary_expression": operators("&&", "||")},
    bodies=frozenset({"block"}),
    calls={"call_expression": _called},
    names=frozenset({"identifier", "package_identifier"}),
    unused={"selector_expression": child("field")},
    imports={"import_spec": _imports},
    fields={"field_declaration": _fields},
    methods={"method_elem": _method},
    heads=frozenset({"function_declaration", "method_declaration"}),
    parameters=_parameters,
    returns=by_field("result"),
    comments=written,
    visibility=_visibility,
    exported=_exported,
)
