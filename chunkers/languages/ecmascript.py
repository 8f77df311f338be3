"""Define the rows of JavaScript with JSX, TypeScript and TSX."""

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from cqm.chunkers.languages.model import (
    COMMENT,
    COMPONENT,
    GROUP,
    IMPORTS,
    LEADING,
    Found,
    Language,
    NodeTypes,
    Part,
    Rule,
    Unread,
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
from cqm.chunkers.languages.react import LOADERS, kind_of_class, kind_of_function
from cqm.chunkers.languages.scripting import variable_kind
from cqm.chunkers.languages.testing import test_name
from cqm.chunkers.languages.unread import GENERAL_LINES, SCRIPT_SIGNS

if TYPE_CHECKING:
    from tree_sitter import Node

_FUNCTIONS = frozenset({"arrow_function", "function_expression", "generator_function"})
_CALLS = frozenset({"call_expression", "new_expression"})
_WRAPPED = _FUNCTIONS | _CALLS
_MEMBERS = _WRAPPED | {"object", "class"}
_TYPED = frozenset({"as_expression", "satisfies_expression", "parenthesized_expression", "non_null_expression"})
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

# Functions which return one of their arguments, a function, not always the last one.
_WRAPPERS = LOADERS | {"cache", "debounce", "forwardRef", "memo", "observer", "once", "throttle", "useCallback"}
_MAX_WRAPPERS = 4
_MAX_CHAINED = 16

# Methods which call the function given to them and return its result.
_CONSUMERS = frozenset(
    {
        *("catch", "every", "filter", "finally", "find", "findIndex", "findLast", "flatMap", "forEach", "from", "map"),
        *("reduce", "reduceRight", "replace", "replaceAll", "some", "sort", "then", "toSorted"),
    }
)


def _value(kind: str, name: str, value: "Node | None", source: bytes) -> Found:
    # The value bound to a name decides its kind: "const f = () => ..." is a function.
    form = ""
    while value is not None and (form := value.type) in _TYPED:
        value = value.named_children[0] if value.named_children else None
    if value is None:
        return Found(kind, name)
    if form in _FUNCTIONS:
        return Found(kind_of_function(name, value), name)
    if form == "class":
        return _class_of(name, value, source)
    if form == "object":
        return Found(kind, name, (value,) if _has_members(value) else ())
    return _called(kind, name, value, source) if form in _CALLS else Found(kind, name)


def _has_members(value: "Node") -> bool:
    # An object with nothing but data is one value.
    for member in value.named_children:
        bound = member.child_by_field_name("value") if member.type == "pair" else None
        if member.type == "method_definition" or (bound is not None and bound.type in _MEMBERS):
            return True
    return False


def _called(kind: str, name: str, call: "Node", source: bytes) -> Found:
    found = _called_with_function(kind, name, call, source) if _holds_function(call, source) else None
    if found is not None or not _holds(b"{", call, source):
        return found or Found(kind, name)
    arguments = _arguments(call)
    return Found(kind, name, (arguments[-1],) if arguments and arguments[-1].type == "object" else ())


def _called_with_function(kind: str, name: str, call: "Node", source: bytes) -> Found | None:
    modules = tuple(filter(None, map(_body, _functions(call.child_by_field_name("function")))))
    if modules:
        # The module pattern: "const shop = (function () {...})()" has members.
        return Found(kind, name, modules, local=True)
    wrapped = _wrapped(call, _arguments(call), source)
    if wrapped is None:
        return None
    loads = _callee(call, source) in LOADERS and name[:1].isupper()
    return Found(COMPONENT if loads else kind_of_function(name, wrapped), name)


def _wrapped(call: "Node", arguments: "list[Node]", source: bytes) -> "Node | None":
    """Find the function wrapped by a call: "memo(forwardRef(() => ...))", "guarded(async () => {...})"."""
    for _ in range(_MAX_WRAPPERS):
        if not arguments or (arguments[0].type not in _WRAPPED and arguments[-1].type not in _FUNCTIONS):
            return None
        last, callee = arguments[-1], _callee(call, source)
        if last.type in _FUNCTIONS and last.start_point[0] < last.end_point[0] and callee not in _CONSUMERS:
            return last
        if callee not in _WRAPPERS:
            return None
        if arguments[0].type in _FUNCTIONS:
            return arguments[0]
        call = arguments[0]
        arguments = _arguments(call)
    return None


def _callee(call: "Node", source: bytes) -> str:
    """Return the callee's last word: "memo" for "React.memo(...)"."""
    callee = call.child_by_field_name("function")
    member = callee.child_by_field_name("property") if callee is not None else None
    name = member or callee
    return text_of(name, source) if name is not None and name.type in ("identifier", "property_identifier") else ""


def _arguments(call: "Node") -> "list[Node]":
    arguments = call.child_by_field_name("arguments")
    return [part for part in arguments.named_children if part.type != "comment"] if arguments is not None else []


def _function(node: "Node", source: bytes) -> Found:
    name = text_of(node.child_by_field_name("name"), source)
    return Found(kind_of_function(name, node), name or "default")


def _class(node: "Node", source: bytes) -> Found:
    return _class_of(text_of(node.child_by_field_name("name"), source) or "default", node, source)


def _class_of(name: str, node: "Node", source: bytes) -> Found:
    body = node.child_by_field_name("body")
    return Found(kind_of_class(name, body, source), name, (body,) if body else ())


def _declaration(node: "Node", source: bytes) -> Found | None:
    declarators = [child for child in node.named_children if child.type == "variable_declarator"]
    if not declarators:
        return None
    value = declarators[0].child_by_field_name("value")
    if _loads(value, source):
        return Found(IMPORTS)
    return _bound(declarators[0], value, source) if len(declarators) == 1 else Found(GROUP, "", (node,))


def _loads(value: "Node | None", source: bytes) -> bool:
    return value is not None and source.startswith(_LOADING, value.start_byte) and value.type in _LOADS


def _declarator(node: "Node", source: bytes) -> Found | None:
    return _bound(node, node.child_by_field_name("value"), source)


def _bound(declarator: "Node", value: "Node | None", source: bytes) -> Found | None:
    target = declarator.child_by_field_name("name")
    if target is not None and target.type == "object_pattern":
        return Found(GROUP, "", (target,))
    if target is None or target.type != "identifier":
        return None
    name = text_of(target, source)
    return _value(variable_kind(name), name, value, source)


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
    if value.type not in (*_FUNCTIONS, "object", "class") and not is_export:
        return None
    found = _value("variable", _target_name(target), value, source)
    if ".prototype" in target and (found.kind == "function" or target.endswith(".prototype")):
        # "Shape.prototype = {...}" gives members to what is defined elsewhere.
        return found._replace(kind="method" if found.kind == "function" else "extension")
    if found.kind != "variable" or found.bodies or value.type == "object":
        return found
    # "exports.send = deliver" only names what is defined elsewhere; see `_exported_names`.
    is_made = is_export and value.type == "call_expression" and not _is_require(value, source)
    return Found(variable_kind(found.name), found.name) if is_made or value.type in _LITERALS else None


_QUOTED = re.compile(r"\[([\"'])(.*?)\1\]")


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
    """Yield the name that `exports.reply = response` gives to a definition of elsewhere, unless it is the same name."""
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
    own = text_of(value.child_by_field_name("name"), source) if value.type in (*_FUNCTIONS, "class") else ""
    found = _value("variable", own or target, value, source)
    if found.kind != "variable":
        return found
    return Found(GROUP, "", found.bodies, found.local) if found.bodies else None


def _call(node: "Node", source: bytes) -> Found | None:
    if _is_require(node, source):
        return Found(IMPORTS)
    if source.startswith((b"Object.", b"Reflect."), node.start_byte) and (found := _given(node, source)):
        return found
    has_block = _holds(b"{", node, source) and _holds_function(node, source)
    callee = node.child_by_field_name("function") if has_block else None
    if callee is None:
        return None
    arguments = _arguments(node)
    bodies = tuple(filter(None, map(_body, (*_functions(callee), *arguments))))
    if not bodies:
        return None
    title = test_name(callee, arguments, source)
    if title:
        return Found("test", title, bodies, local=True)
    # A handler may have a name: "app.get('/', function home(request, response) {...})".
    own = text_of(arguments[-1].child_by_field_name("name"), source) if arguments and _body(arguments[-1]) else ""
    return Found("function" if own else GROUP, own, bodies, local=True)


def _given(call: "Node", source: bytes) -> Found | None:
    """Classify `Object.defineProperty(exports, "a", {...})` and `Object.assign(Shape.prototype, {...})`."""
    callee, arguments = _callee(call, source), _arguments(call)
    if callee not in _GIVING or len(arguments) < _GIVING[callee]:
        return None
    target = text_of(arguments[0], source)
    name = "" if target in _EXPORTS else _target_name(target)
    if callee == "defineProperty":
        own = text_of(arguments[1], source).strip("'\"`")
        is_named = arguments[1].type == "string" and own != "__esModule"
        return Found("property" if name else "variable", f"{name}.{own}" if name else own) if is_named else None
    body = arguments[-1]
    if body.type != "object" or arguments[0].type == "object" or not _has_members(body):
        return None
    return Found("extension" if name else GROUP, name, (body,))


_GIVING = {"defineProperty": 3, "defineProperties": 2, "assign": 2}
"""Functions that give members to an object, and the least number of their arguments."""


def _is_require(call: "Node", source: bytes) -> bool:
    begins = source.startswith(b"require", call.start_byte)
    return begins and text_of(call.child_by_field_name("function"), source) == "require" and not _arguments(call)[1:]


def _holds(sign: bytes, node: "Node", source: bytes) -> bool:
    # Far cheaper than a look at the inner nodes.
    return source.find(sign, node.start_byte, node.end_byte) >= 0


def _holds_function(node: "Node", source: bytes) -> bool:
    return _holds(b"=>", node, source) or _holds(b"function", node, source)


def _functions(callee: "Node | None") -> list["Node"]:
    # An immediately invoked function: "(function () { ... })()" or "(() => { ... }).call(this)".
    if callee is not None and callee.type == "member_expression":
        callee = first_named(callee)
    return callee.named_children if callee is not None and callee.type == "parenthesized_expression" else []


def _body(node: "Node") -> "Node | None":
    if node.type not in _FUNCTIONS:
        return None
    body = node.child_by_field_name("body")
    return body if body is not None and body.type == "statement_block" else None


def _pair(node: "Node", source: bytes) -> Found | None:
    name = text_of(node.child_by_field_name("key"), source).strip("'\"")
    found = _value("property", name, node.child_by_field_name("value"), source)
    return found if found.kind != "property" or found.bodies else None


def _field(node: "Node", source: bytes) -> Found:
    name = _unquoted(node.child_by_field_name("name") or node.child_by_field_name("property"), source)
    return _value("property", name, node.child_by_field_name("value"), source)


def _unquoted(node: "Node | None", source: bytes) -> str:
    return text_of(node, source).strip("'\"")


def _member_name(node: "Node", source: bytes) -> str:
    return _unquoted(node.child_by_field_name("name"), source)


def _export(node: "Node", source: bytes) -> Found:
    # "export default () => ...", "export default {...}", "export default function () {...}" have no names.
    value = node.child_by_field_name("value")
    if value is not None and value.type in (*_FUNCTIONS, *_CALLS):
        return _value("variable", text_of(value.child_by_field_name("name"), source) or "default", value, source)
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

JAVASCRIPT = Language(
    name="javascript",
    grammar=("tree_sitter_javascript", "language"),
    suffixes=(".js", ".jsx", ".mjs", ".cjs", ".es6", ".jsm"),
    unread=Unread(SCRIPT_SIGNS, ends_at_rows=True, interpolates=True),
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
    unread=Unread(SCRIPT_SIGNS, ends_at_rows=True, interpolates=True),
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
)

TSX = replace(TYPESCRIPT, name="tsx", grammar=("tree_sitter_typescript", "language_tsx"), suffixes=(".tsx",))

ROWS = (JAVASCRIPT, TYPESCRIPT, TSX)
