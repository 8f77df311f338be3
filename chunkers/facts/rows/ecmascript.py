"""Define the rows of JavaScript, TypeScript and TSX.

Branches are those of eslint's `complexity`, without default values and "?.".
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from cqm.chunkers.facts.rows.model import Symbol, Syntax, Told, modifier, operators, own_name
from cqm.chunkers.facts.rows.uses import callee
from cqm.chunkers.languages.model import Naming, by_field, child_of_type, text_of
from cqm.chunkers.model import Parameter

if TYPE_CHECKING:
    from tree_sitter import Node

_BINDERS = frozenset({"shorthand_property_identifier_pattern", "identifier"})
_EXPORTS = frozenset({"module.exports", "exports"})


def _called(field: str) -> Naming:
    def name(node: "Node", source: bytes) -> str:
        function = node.child_by_field_name(field)
        return callee(function.start_byte, function.end_byte, source) if function else ""

    return name


def _annotated(node: "Node", field: str, source: bytes) -> str:
    return by_field(field)(node, source).removeprefix(":").strip()


def _parameters(node: "Node", source: bytes) -> Iterator[Parameter]:
    only = node.child_by_field_name("parameter")
    group = node.child_by_field_name("parameters")
    for part in [only] if only else group.named_children if group else ():
        if part.type == "comment":
            continue
        pattern = part.child_by_field_name("pattern") or part.child_by_field_name("left") or part
        name = " ".join(text_of(pattern, source).split())
        if name != "this":
            optional = "?" if part.type == "optional_parameter" else ""
            default = part.child_by_field_name("value") or part.child_by_field_name("right")
            yield Parameter(name + optional, _annotated(part, "type", source), text_of(default, source))


def _returns(node: "Node", source: bytes) -> str:
    return _annotated(node, "return_type", source)


def _imports(node: "Node", source: bytes) -> Iterator[str]:
    waiting = list(node.named_children)
    for part in waiting:
        if part.type == "identifier":
            yield text_of(part, source)
        elif part.type == "import_specifier":
            yield text_of(part.child_by_field_name("alias") or part.child_by_field_name("name"), source)
        elif part.type != "string":
            waiting.extend(part.named_children)


def _required(node: "Node", source: bytes) -> Iterator[str]:
    # "const { a, b: c } = require('x')", "const d = require('x').y".
    value, target = node.child_by_field_name("value"), node.child_by_field_name("name")
    if value is None or target is None or not source.startswith(b"require(", value.start_byte):
        return
    parts = [target] if target.type == "identifier" else target.named_children
    for part in parts:
        bound = part.child_by_field_name("value") or part
        if bound.type in _BINDERS:
            yield text_of(bound, source)


def _assigned(node: "Node", source: bytes) -> Iterator[str]:
    left = node.child_by_field_name("left")
    if left is not None and left.type == "member_expression" and by_field("object")(left, source) == "this":
        yield by_field("property")(left, source)


def _promoted(node: "Node", source: bytes) -> Iterator[str]:
    # "constructor(private name: string)" declares a field.
    if child_of_type(node, "accessibility_modifier") or any(part.type == "readonly" for part in node.children):
        yield by_field("pattern")(node, source)


def _enumerated(node: "Node", source: bytes) -> Iterator[str]:
    for part in node.named_children:
        if part.type in ("property_identifier", "enum_assignment", "string"):
            yield text_of(part.child_by_field_name("name") or part, source).strip("'\"")


def _told_exports(node: "Node", source: bytes) -> Iterator[tuple[str, str]]:
    value = node.child_by_field_name("value")
    if value is not None and value.type == "identifier":
        yield text_of(value, source), "exported"
    clause = child_of_type(node, "export_clause")
    if clause is not None and node.child_by_field_name("source") is None:
        for part in clause.named_children:
            yield by_field("name")(part, source), "exported"


def _told_assignment(node: "Node", source: bytes) -> Iterator[tuple[str, str]]:
    # "exports = module.exports = make", "module.exports = { a, b: c }", "exports.d = function () {...}".
    inner = node.named_children[0] if node.named_children else None
    is_export = False
    while inner is not None and inner.type == "assignment_expression":
        left = by_field("left")(inner, source)
        if left.startswith(("exports.", "module.exports.")):
            yield left.removeprefix("module.").removeprefix("exports."), "exported"
        is_export = is_export or left.startswith(tuple(_EXPORTS))
        inner = inner.child_by_field_name("right")
    if is_export and inner is not None:
        yield from ((name, "exported") for name in _exported_names(inner, source))


def _exported_names(value: "Node", source: bytes) -> Iterator[str]:
    if value.type == "identifier":
        yield text_of(value, source)
    yield by_field("name")(value, source)
    for part in value.named_children if value.type == "object" else ():
        yield text_of(part.child_by_field_name("key") or part.child_by_field_name("name") or part, source).strip("'\"")
        own = part.child_by_field_name("value")
        if own is not None and own.type == "identifier":
            yield text_of(own, source)


def _visibility(symbol: Symbol, source: bytes) -> str:
    if own_name(symbol).startswith("#"):
        return "private"
    return modifier(symbol.mark.node, source, "accessibility_modifier") or "public"


def _exported(symbol: Symbol, visibility: str, told: Told, parent: bool | None) -> bool:  # noqa: FBT001 - see Syntax
    if symbol.mark.kind == "test":
        return False
    if symbol.parent is not None or "." in symbol.mark.name:
        return visibility != "private" and parent is True
    return symbol.mark.name in told or any(group.type == "export_statement" for group in symbol.groups)


_FUNCTIONS = frozenset(
    {
        "function_declaration",
        "generator_function_declaration",
        "function_expression",
        "generator_function",
        "arrow_function",
        "method_definition",
    }
)

JAVASCRIPT = Syntax(
    branches=frozenset(
        {
            "if_statement",
            "for_statement",
            "for_in_statement",
            "while_statement",
            "do_statement",
            "switch_case",
            "catch_clause",
            "ternary_expression",
        }
    ),
    weighed={
        "binary_expression": operators("&&", "||", "??"),
        "augmented_assignment_expression": operators("&&=", "||=", "??="),
    },
    bodies=frozenset({"statement_block", "arrow_function"}),
    calls={"call_expression": _called("function"), "new_expression": _called("constructor")},
    names=frozenset({"identifier", "type_identifier", "shorthand_property_identifier"}),
    imports={
        "import_statement": _imports,
        "variable_declarator": _required,
    },
    fields={"assignment_expression": _assigned},
    heads=_FUNCTIONS,
    parameters=_parameters,
    decorators=frozenset({"decorator"}),
    told={"export_statement": _told_exports, "expression_statement": _told_assignment},
    visibility=_visibility,
    exported=_exported,
)

TYPESCRIPT = replace(
    JAVASCRIPT,
    fields={
        "assignment_expression": _assigned,
        "required_parameter": _promoted,
        "optional_parameter": _promoted,
        "enum_body": _enumerated,
    },
    heads=_FUNCTIONS | {"function_signature", "method_signature", "abstract_method_signature"},
    returns=_returns,
)
