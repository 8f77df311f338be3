"""Rows: JavaScript with JSX, TypeScript, TSX."""

from typing import TYPE_CHECKING

from cqm.chunkers.languages.model import (
    COMMENT,
    GROUP,
    IMPORTS,
    LEADING,
    Found,
    Language,
    by_field,
    child_of_type,
    containers,
    groups,
    role,
    symbols,
    text_of,
)
from cqm.chunkers.languages.scripting import variable_kind

if TYPE_CHECKING:
    from tree_sitter import Node

_FUNCTIONS = frozenset({"arrow_function", "function_expression", "generator_function"})
_TESTS = frozenset({"describe", "context", "suite", "it", "test", "specify", "bench"})
_ACCESSES = frozenset({"call_expression", "member_expression"})
_EXPORTS = frozenset({"module.exports", "exports", "exports.default"})


def _value(kind: str, name: str, value: "Node | None") -> Found:
    # What a name is bound to decides what it is: "const f = () => ..." is a function.
    while value is not None and value.type in ("as_expression", "satisfies_expression", "parenthesized_expression"):
        value = value.named_children[0] if value.named_children else None
    if value is None:
        return Found(kind, name)
    if value.type in _FUNCTIONS:
        return Found("function", name)
    if value.type == "class":
        body = value.child_by_field_name("body")
        return Found("class", name, (body,) if body else ())
    if value.type == "object":
        return Found(kind, name, (value,))
    if value.type == "call_expression":
        return _wrapped(kind, name, value)
    return Found(kind, name)


def _wrapped(kind: str, name: str, call: "Node") -> Found:
    # "memo(() => ...)", "defineComponent({...})".
    arguments = call.child_by_field_name("arguments")
    last = arguments.named_children[-1] if arguments and arguments.named_children else None
    if last is not None and last.type in _FUNCTIONS and last.start_point[0] < last.end_point[0]:
        return Found("function", name)
    return Found(kind, name, (last,) if last is not None and last.type == "object" else ())


def _declaration(node: "Node", source: bytes) -> Found | None:
    declarator = child_of_type(node, "variable_declarator")
    if declarator is None:
        return None
    target, value = declarator.child_by_field_name("name"), declarator.child_by_field_name("value")
    if value is not None and value.type in _ACCESSES and text_of(value, source).startswith("require("):
        return Found(IMPORTS)
    if target is None or target.type != "identifier":
        return None
    name = text_of(target, source)
    return _value(variable_kind(name), name, value)


def _statement(node: "Node", source: bytes) -> Found | None:
    inner = node.named_children[0] if node.named_children else None
    while inner is not None and inner.type in ("unary_expression", "parenthesized_expression", "await_expression"):
        inner = inner.named_children[0] if inner.named_children else None
    if inner is None:
        return None
    if inner.type == "assignment_expression":
        return _assignment(inner, source)
    return _call(inner, source) if inner.type == "call_expression" else None


def _assignment(node: "Node", source: bytes) -> Found | None:
    name = text_of(node.child_by_field_name("left"), source)
    value = node.child_by_field_name("right")
    while value is not None and value.type == "assignment_expression":
        value = value.child_by_field_name("right")
    if value is None or value.type not in (*_FUNCTIONS, "object", "class"):
        return None
    if name in _EXPORTS:
        own = text_of(value.child_by_field_name("name"), source)
        found = _value("variable", own or name, value)
        return found if own or found.kind != "variable" else Found(GROUP, "", (value,))
    name = name.removeprefix("module.").removeprefix("exports.").replace(".prototype", "")
    if name.startswith("this."):
        name = name.removeprefix("this.")
    found = _value("variable", name, value)
    return found if found.kind != "variable" or "." not in name or found.bodies else None


def _call(node: "Node", source: bytes) -> Found | None:
    callee = node.child_by_field_name("function")
    arguments = node.child_by_field_name("arguments")
    parts = arguments.named_children if arguments else []
    bodies = tuple(body for part in (*_functions(callee), *parts) if (body := _body(part)))
    if callee is None or not bodies:
        return None
    if parts and text_of(callee, source).split("(")[0].split(".")[0] in _TESTS:
        return Found("test", _title(parts[0], source), bodies, local=True)
    return Found(GROUP, "", bodies, local=True)


def _functions(callee: "Node | None") -> list["Node"]:
    # An immediately invoked function: "(function () { ... })()" or "(() => { ... }).call(this)".
    if callee is not None and callee.type == "member_expression":
        callee = callee.child_by_field_name("object")
    return callee.named_children if callee is not None and callee.type == "parenthesized_expression" else []


def _body(node: "Node") -> "Node | None":
    body = node.child_by_field_name("body") if node.type in _FUNCTIONS else None
    return body if body is not None and body.type == "statement_block" else None


def _title(node: "Node", source: bytes) -> str:
    return text_of(node, source).strip("'\"`").split("\n")[0]


def _pair(node: "Node", source: bytes) -> Found | None:
    name = text_of(node.child_by_field_name("key"), source).strip("'\"")
    found = _value("property", name, node.child_by_field_name("value"))
    return found if found.kind != "property" or found.bodies else None


def _field(node: "Node", source: bytes) -> Found:
    name = text_of(node.child_by_field_name("name") or node.child_by_field_name("property"), source)
    return _value("property", name, node.child_by_field_name("value"))


def _export(node: "Node", _source: bytes) -> Found:
    # "export default () => ...", "export default {...}", "export default function () {...}" have no names.
    value = node.child_by_field_name("value")
    if value is not None and value.type in _FUNCTIONS:
        return Found("function", "default")
    if value is not None and value.type == "call_expression":
        return _wrapped("variable", "default", value)
    if value is None and node.child_by_field_name("declaration") is None:
        return Found(IMPORTS) if node.child_by_field_name("source") else Found("statement")
    return Found(GROUP, "", (node,))


def _module(node: "Node", source: bytes) -> Found:
    body = node.child_by_field_name("body")
    return Found("namespace", text_of(node.child_by_field_name("name"), source).strip("'\""), (body,) if body else ())


_JAVASCRIPT_RULES = {
    **symbols("function", "function_declaration", "generator_function_declaration"),
    **symbols("method", "method_definition"),
    **containers("class", "class_declaration", "abstract_class_declaration"),
    "class": lambda node, source: _value("class", by_field("name")(node, source), node),
    "lexical_declaration": _declaration,
    "variable_declaration": _declaration,
    "expression_statement": _statement,
    "pair": _pair,
    "field_definition": _field,
    "export_statement": _export,
    **role(COMMENT, "comment", "html_comment"),
    **role(LEADING, "decorator"),
    **role(IMPORTS, "import_statement"),
    **groups("object", "if_statement", "else_clause", "statement_block", "try_statement", "ERROR"),
}

_TYPESCRIPT_RULES = {
    **_JAVASCRIPT_RULES,
    **symbols("function", "function_signature"),
    **symbols("method", "abstract_method_signature", "method_signature"),
    **containers("interface", "interface_declaration"),
    **containers("enum", "enum_declaration"),
    **symbols("type", "type_alias_declaration"),
    **symbols("property", "property_signature"),
    "public_field_definition": _field,
    "module": _module,
    "internal_module": _module,
    **groups("ambient_declaration"),
}

JAVASCRIPT = Language(
    name="javascript",
    grammar=("tree_sitter_javascript", "language"),
    suffixes=(".js", ".jsx", ".mjs", ".cjs", ".es6", ".jsm"),
    filenames=("jakefile",),
    rules=_JAVASCRIPT_RULES,
    constructors=frozenset({"constructor"}),
)

TYPESCRIPT = Language(
    name="typescript",
    grammar=("tree_sitter_typescript", "language_typescript"),
    suffixes=(".ts", ".mts", ".cts"),
    rules=_TYPESCRIPT_RULES,
    constructors=frozenset({"constructor"}),
    joined=True,
)

TSX = Language(
    name="tsx",
    grammar=("tree_sitter_typescript", "language_tsx"),
    suffixes=(".tsx",),
    rules=_TYPESCRIPT_RULES,
    constructors=frozenset({"constructor"}),
    joined=True,
)

ROWS = (JAVASCRIPT, TYPESCRIPT, TSX)
