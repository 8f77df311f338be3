"""Define the rows of JavaScript with JSX, TypeScript and TSX."""

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from cqm.chunkers.languages.ecmascript.react import kind_of_function
from cqm.chunkers.languages.ecmascript.values import (
    CALLS,
    FUNCTIONS,
    arguments_of,
    block_of,
    called_functions,
    callee_of,
    class_of,
    has_members,
    holds,
    holds_function,
    value_of,
)
from cqm.chunkers.languages.model import (
    COMMENT,
    GROUP,
    IMPORTS,
    LEADING,
    Found,
    Language,
    NodeTypes,
    Part,
    Rule,
    Unread,
    blank,
    child_of_type,
    containers,
    first_named,
    groups,
    role,
    symbols,
    text_of,
    words,
)
from cqm.chunkers.languages.parts import inside, names_in_patterns, promoted
from cqm.chunkers.languages.scripting import variable_kind
from cqm.chunkers.languages.testing import test_name
from cqm.chunkers.languages.unread import GENERAL_LINES, SCRIPT_SIGNS
from cqm.chunkers.languages.usage_nodes import UsageNodes
from cqm.chunkers.model import later

if TYPE_CHECKING:
    from tree_sitter import Node

_LITERALS = frozenset({"string", "template_string", "number", "regex", "array", "true", "false", "new_expression"})
_LOADS = frozenset({"call_expression", "member_expression", "await_expression"})
_LOADING = (b"require(", b"import(", b"await import(")
_MODULES = frozenset({"internal_module", "module"})
_OPERATORS = frozenset({"await_expression", "parenthesized_expression", "unary_expression"})
_EXPORTS = frozenset({"module.exports", "exports", "exports.default"})
_VALUE = (
    rb"[ \t]+[\w$]+[ \t]*(?::[^=;\n]{0,99})?=\s*(?:async\b\s*)?"
    rb"(?:function\b|class\b|[\w$]+[ \t]*=>|\([^;\n]{0,200}=>|\((?:\{|[^()\n]{0,99})\r?\n|<|use[A-Z])"
)
_LOCAL = (
    rb"function\b[\s*]+[\w$]",
    *words("class interface type enum", rb"[ \t]+[\w$]"),
    *words("const let var", _VALUE),
)

_MAX_CHAINED = 16


def _function(node: "Node", source: bytes) -> Found:
    name = text_of(node.child_by_field_name("name"), source)
    return Found(kind_of_function(name, node), name or "default")


def _class(node: "Node", source: bytes) -> Found:
    return class_of(text_of(node.child_by_field_name("name"), source) or "default", node, source)


def _declaration(node: "Node", source: bytes) -> Found | None:
    declarators = [child for child in node.named_children if child.type == "variable_declarator"]
    if not declarators:
        return None
    value = declarators[0].child_by_field_name("value")
    if value is not None and source.startswith(_LOADING, value.start_byte) and value.type in _LOADS:
        return Found(IMPORTS)
    return _bound(declarators[0], value, source) if len(declarators) == 1 else Found(GROUP, "", (node,))


def _declarator(node: "Node", source: bytes) -> Found | None:
    return _bound(node, node.child_by_field_name("value"), source)


def _bound(declarator: "Node", value: "Node | None", source: bytes) -> Found | None:
    target = declarator.child_by_field_name("name")
    if target is not None and target.type == "object_pattern":
        return Found(GROUP, "", (target,))
    if target is None or target.type != "identifier":
        return None
    name = text_of(target, source)
    return value_of(variable_kind(name), name, value, source)


def _statement(node: "Node", source: bytes) -> Found | None:
    inner = first_named(node)
    while inner is not None:
        form = inner.type
        if form not in _OPERATORS:
            rule = _EXPRESSIONS.get(form)
            return rule(inner, source) if rule else None
        inner = first_named(inner)
    return None


def _assignment(node: "Node", source: bytes) -> Found | None:
    target = text_of(node.child_by_field_name("left"), source)
    value = node.child_by_field_name("right")
    while value is not None and value.type == "assignment_expression":
        value = value.child_by_field_name("right")
    if value is None:
        return None
    if target in _EXPORTS:
        return _exported(target, value, source)
    is_export = target.startswith(("exports.", "module.exports."))
    if value.type not in (*FUNCTIONS, "object", "class") and not is_export:
        return None
    found = value_of("variable", _target_name(target), value, source)
    if ".prototype" in target and (found.kind == "function" or target.endswith(".prototype")):
        # "Shape.prototype = {...}" gives members to a symbol defined elsewhere.
        return found._replace(kind="method" if found.kind == "function" else "extension")
    if found.kind != "variable" or found.bodies or value.type == "object":
        return found
    # "exports.send = deliver" only names a symbol defined elsewhere; see `_exported_names`.
    is_made = is_export and value.type == "call_expression" and not _is_require(value, source)
    return Found(variable_kind(found.name), found.name) if is_made or value.type in _LITERALS else None


_QUOTED = later(r"\[([\"'])(.*?)\1\]")


def _target_name(target: str) -> str:
    """Return the name in `module.exports.a`, `this.a`, `Shape.prototype.a` and `Shape["a"]`."""
    plain = _QUOTED.sub(r".\2", target) if "[" in target else target
    return plain.removeprefix("module.").removeprefix("exports.").removeprefix("this.").replace(".prototype", "")


def _assigned_names(statement: "Node", source: bytes) -> Iterator[Part]:
    """Yield the names after the first one in `exports.a = exports.b = 1`, and those of `_exported_names`."""
    yield from _exported_names(statement, source)
    assigned = child_of_type(statement, "assignment_expression")
    is_named = assigned is not None and _assignment(assigned, source) is not None
    for _ in range(_MAX_CHAINED):
        assigned = assigned.child_by_field_name("right") if assigned and is_named else None
        if assigned is None or assigned.type != "assignment_expression":
            return
        target = assigned.child_by_field_name("left")
        if target is not None and target.type == "member_expression" and text_of(target, source) not in _EXPORTS:
            name = target.child_by_field_name("property") or target
            yield Part("", _target_name(text_of(target, source)), statement, name, is_beside=True)


def _exported_names(statement: "Node", source: bytes) -> Iterator[Part]:
    """Yield the name given to a definition elsewhere by `exports.reply = response`, unless it is the same name."""
    assigned = child_of_type(statement, "assignment_expression")
    target = assigned.child_by_field_name("left") if assigned else None
    name = target.child_by_field_name("property") if target and target.type == "member_expression" else None
    value = assigned.child_by_field_name("right") if assigned else None
    if assigned is None or target is None or name is None or value is None:
        return
    own = text_of(name, source)
    is_export = text_of(target.child_by_field_name("object"), source) in _EXPORTS
    if is_export and _assignment(assigned, source) is None and text_of(value, source) != own:
        yield Part(variable_kind(own), own, statement, name, is_beside=True)


def _exported(target: str, value: "Node", source: bytes) -> Found | None:
    own = text_of(value.child_by_field_name("name"), source) if value.type in (*FUNCTIONS, "class") else ""
    found = value_of("variable", own or target, value, source)
    if found.kind != "variable":
        return found
    return Found(GROUP, "", found.bodies, found.local) if found.bodies else None


def _call(node: "Node", source: bytes) -> Found | None:
    if _is_require(node, source):
        return Found(IMPORTS)
    if source.startswith((b"Object.", b"Reflect."), node.start_byte) and (found := _given(node, source)):
        return found
    has_block = holds(b"{", node, source) and holds_function(node, source)
    callee = node.child_by_field_name("function") if has_block else None
    if callee is None:
        return None
    arguments = arguments_of(node)
    bodies = tuple(filter(None, map(block_of, (*called_functions(callee), *arguments))))
    if not bodies:
        return None
    title = test_name(callee, arguments, source)
    if title:
        return Found("test", title, bodies, local=True)
    # A handler may have a name: "app.get('/', function home(request, response) {...})".
    own = text_of(arguments[-1].child_by_field_name("name"), source) if arguments and block_of(arguments[-1]) else ""
    return Found("function" if own else GROUP, own, bodies, local=True)


def _given(call: "Node", source: bytes) -> Found | None:
    """Classify `Object.defineProperty(exports, "a", {...})` and `Object.assign(Shape.prototype, {...})`."""
    callee, arguments = callee_of(call, source), arguments_of(call)
    if callee not in _GIVING or len(arguments) < _GIVING[callee]:
        return None
    target = text_of(arguments[0], source)
    name = "" if target in _EXPORTS else _target_name(target)
    if callee == "defineProperty":
        own = text_of(arguments[1], source).strip("'\"`")
        is_named = arguments[1].type == "string" and own != "__esModule"
        return Found("property" if name else "variable", f"{name}.{own}" if name else own) if is_named else None
    body = arguments[-1]
    if body.type != "object" or arguments[0].type == "object" or not has_members(body):
        return None
    return Found("extension" if name else GROUP, name, (body,))


_GIVING = {"defineProperty": 3, "defineProperties": 2, "assign": 2}
"""Functions giving members to an object, and the least number of their arguments."""


def _is_require(call: "Node", source: bytes) -> bool:
    begins = source.startswith(b"require", call.start_byte)
    return begins and text_of(call.child_by_field_name("function"), source) == "require" and not arguments_of(call)[1:]


def _pair(node: "Node", source: bytes) -> Found | None:
    name = text_of(node.child_by_field_name("key"), source).strip("'\"")
    found = value_of("property", name, node.child_by_field_name("value"), source)
    return found if found.kind != "property" or found.bodies else None


def _field(node: "Node", source: bytes) -> Found:
    name = _unquoted(node.child_by_field_name("name") or node.child_by_field_name("property"), source)
    return value_of("property", name, node.child_by_field_name("value"), source)


def _unquoted(node: "Node | None", source: bytes) -> str:
    return text_of(node, source).strip("'\"")


def _member_name(node: "Node", source: bytes) -> str:
    return _unquoted(node.child_by_field_name("name"), source)


def _export(node: "Node", source: bytes) -> Found:
    # "export default () => ...", "export default {...}", "export default function () {...}" have no names.
    value = node.child_by_field_name("value")
    if value is not None and value.type in (*FUNCTIONS, *CALLS):
        return value_of("variable", text_of(value.child_by_field_name("name"), source) or "default", value, source)
    if value is None and node.child_by_field_name("declaration") is None:
        return Found(IMPORTS) if node.child_by_field_name("source") else Found("statement")
    return Found(GROUP, "", (node,))


def _module(node: "Node", source: bytes) -> Found:
    body = node.child_by_field_name("body")
    return Found("namespace", text_of(node.child_by_field_name("name"), source).strip("'\""), (body,) if body else ())


_EXPRESSIONS: dict[str, Rule] = {
    "assignment_expression": _assignment,
    "call_expression": _call,
    **dict.fromkeys(_MODULES, _module),
}

_JAVASCRIPT_RULES = {
    **dict.fromkeys(("function_declaration", "generator_function_declaration"), _function),
    **symbols("method", "method_definition", name=_member_name),
    **dict.fromkeys(("class_declaration", "abstract_class_declaration", "class"), _class),
    "lexical_declaration": _declaration,
    "variable_declaration": _declaration,
    "variable_declarator": _declarator,
    **symbols("variable", "shorthand_property_identifier_pattern", name=text_of),
    "expression_statement": _statement,
    "pair": _pair,
    "field_definition": _field,
    "export_statement": _export,
    **role("block", "class_static_block"),
    **role(COMMENT, "comment", "html_comment"),
    **role(LEADING, "decorator"),
    **role(IMPORTS, "import_statement"),
    **groups("object", "if_statement", "else_clause", "statement_block", "try_statement", "ERROR"),
}

_TYPESCRIPT_RULES = {
    **_JAVASCRIPT_RULES,
    **symbols("function", "function_signature"),
    **symbols("method", "abstract_method_signature", "method_signature", name=_member_name),
    **containers("interface", "interface_declaration"),
    **containers("enum", "enum_declaration"),
    **symbols("constant", "enum_assignment", name=_member_name),
    # A member of an enum without a value.
    **symbols("constant", "property_identifier", name=text_of),
    **symbols("type", "type_alias_declaration"),
    **symbols("property", "property_signature", name=_member_name),
    "public_field_definition": _field,
    **dict.fromkeys(_MODULES, _module),
    **groups("ambient_declaration"),
}

_DECLARED = dict.fromkeys(("lexical_declaration", "variable_declaration"), names_in_patterns)

USAGE = UsageNodes(
    calls=frozenset({"jsx_opening_element", "jsx_self_closing_element"}),
    imports=frozenset({"export_clause", "export_specifier"}),
    heritage=frozenset({"class_heritage", "extends_type_clause", "implements_clause"}),
    members=frozenset({"instantiation_expression", "nested_identifier", "nested_type_identifier"}),
    declarations=frozenset({"enum_assignment"}),
    has_docstrings=True,
)

_NEWER = later(
    rb"(?P<kept>//[^\n]*+|\"(?:[^\"\\\n]|\\.)*+\"|'(?:[^'\\\n]|\\.)*+')"
    rb"|(?<![\w.$])accessor(?=[ \t]+[#\[$A-Za-z_][\w$.\]]*[ \t]*[!?]?[ \t]*[:=;\n])"
    rb"|(?<=import )(?:defer|source)(?= +[\w*{])"
    rb"|(?<![\w.$])(?P<using>(?:await[ \t]+)?using)(?=[ \t]+\w+[ \t]*=)"
)
_NEWER_WORDS = b"accessor", b"import defer", b"import source", b"using"


def readable_script(source: bytes) -> bytes:
    """Blank words newer than the grammars: `accessor`, `import defer`; `using` is read as `const`."""
    if not any(word in source for word in _NEWER_WORDS):
        return source
    return _NEWER.sub(lambda it: it["kept"] or (b"const".rjust(len(it[0])) if it["using"] else blank(it[0])), source)


JAVASCRIPT = Language(
    name="javascript",
    grammar=("tree_sitter_javascript", "language"),
    suffixes=(".js", ".jsx", ".mjs", ".cjs", ".es6", ".jsm"),
    unread=Unread(SCRIPT_SIGNS, ends_at_rows=True, interpolates=True, masks=(readable_script,)),
    by_lines=GENERAL_LINES,
    filenames=("jakefile",),
    rules=_JAVASCRIPT_RULES,
    constructors=frozenset({"constructor"}),
    nodes=NodeTypes(
        bodies=frozenset({"class_body"}),
        clauses=frozenset({"function_declaration"}),
        enum_values=frozenset({"property_identifier"}),
        parts={**_DECLARED, "expression_statement": _assigned_names},
        local=_LOCAL,
    ),
    usage=USAGE,
)

_PROPERTY_MARKS = frozenset({"accessibility_modifier", "override_modifier", "readonly"})
_TYPESCRIPT_PARTS = {
    **_DECLARED,
    "expression_statement": _assigned_names,
    "type_alias_declaration": inside(
        {"property_signature": "property", "method_signature": "method"}, "object_type", "intersection_type"
    ),
    "method_definition": promoted("required_parameter", "optional_parameter", marked_by=_PROPERTY_MARKS),
}

TYPESCRIPT = Language(
    name="typescript",
    grammar=("tree_sitter_typescript", "language_typescript"),
    suffixes=(".ts", ".mts", ".cts"),
    unread=Unread(SCRIPT_SIGNS, ends_at_rows=True, interpolates=True, masks=(readable_script,)),
    by_lines=GENERAL_LINES,
    rules=_TYPESCRIPT_RULES,
    constructors=frozenset({"constructor"}),
    nodes=NodeTypes(
        bodies=frozenset({"class_body"}),
        bodiless=frozenset({"abstract_method_signature", "function_signature", "method_signature"}),
        loose=frozenset({"method_signature"}),
        clauses=frozenset({"function_declaration", "function_signature"}),
        overloads=frozenset({"abstract_method_signature", "function_signature", "method_signature"}),
        enum_values=frozenset({"enum_assignment", "property_identifier"}),
        parts=_TYPESCRIPT_PARTS,
        local=_LOCAL,
    ),
    usage=USAGE,
)

TSX = replace(TYPESCRIPT, name="tsx", grammar=("tree_sitter_typescript", "language_tsx"), suffixes=(".tsx",))

ROWS = (JAVASCRIPT, TYPESCRIPT, TSX)
