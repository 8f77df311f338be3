"""Define the rows of PHP and Lua."""

import re
from typing import TYPE_CHECKING

from cqm.chunkers.grammars import BUNDLE
from cqm.chunkers.languages.model import (
    COMMENT,
    GROUP,
    IMPORTS,
    Found,
    Language,
    NodeTypes,
    blanked,
    by_field,
    child_of_type,
    containers,
    groups,
    role,
    symbols,
    text_of,
    words,
)
from cqm.chunkers.languages.parts import further_names, names_of_lua, promoted
from cqm.chunkers.languages.testing import TESTS, title_of
from cqm.chunkers.languages.unread import GENERAL_LINES, LUA_LINES
from cqm.chunkers.languages.usage_nodes import UsageNodes

if TYPE_CHECKING:
    from tree_sitter import Node


def variable_kind(name: str) -> str:
    """Return "constant" for names in capitals, the custom of most languages; else "variable"."""
    return "constant" if name.isupper() else "variable"


def _php_statement(node: "Node", source: bytes) -> Found | None:
    inner = node.named_children[0] if node.named_children else None
    if inner is None:
        return None
    if inner.type == "assignment_expression":
        value = inner.child_by_field_name("right")
        if value and value.type in ("anonymous_function", "arrow_function"):
            return Found("function", text_of(inner.child_by_field_name("left"), source))
    if inner.type == "binary_expression":
        # "defined('X') || define('X', 1);".
        inner = inner.child_by_field_name("right") or inner
    return _php_call(inner, source) if inner.type == "function_call_expression" else None


def _php_call(node: "Node", source: bytes) -> Found | None:
    callee = text_of(node.child_by_field_name("function"), source)
    arguments = node.child_by_field_name("arguments")
    parts = arguments.named_children if arguments else []
    if callee == "define" and parts:
        return Found("constant", text_of(parts[0], source).strip("'\""))
    closure = child_of_type(parts[-1], "anonymous_function", "arrow_function") if parts else None
    body = closure.child_by_field_name("body") if closure else None
    if callee in TESTS and body is not None:
        return Found("test", title_of(parts[0], source), (body,), local=True)
    return None


def _php_namespace(node: "Node", _source: bytes) -> Found:
    body = node.child_by_field_name("body")
    return Found(GROUP, "", (body,)) if body else Found(IMPORTS)


def _php_constant(node: "Node", source: bytes) -> str:
    return text_of(child_of_type(child_of_type(node, "const_element"), "name"), source)


def _php_property(node: "Node", source: bytes) -> str:
    return text_of(child_of_type(child_of_type(node, "property_element"), "variable_name"), source).lstrip("$")


_PHP_END = re.compile(
    rb"(?P<rest>^[ \t]*+__halt_compiler\s*+\(\s*+\)\s*+(?:;|\?>).*)", re.MULTILINE | re.DOTALL | re.IGNORECASE
)


def _without_data(source: bytes) -> bytes:
    """Blank data behind the end of a PHP program."""
    return _PHP_END.sub(blanked, source) if b"__halt" in source.lower() else source


def _is_used_trait(node: "Node", around: "Node") -> bool | None:
    """Whether a class takes a trait in: "use Countable;"."""
    if node.type not in ("name", "qualified_name") or around.type != "use_declaration":
        return None
    return around.parent is not None and around.parent.type == "declaration_list"


PHP = Language(
    name="php",
    grammar=("tree_sitter_php", "language_php"),
    removed=(_without_data,),
    suffixes=(".php", ".phtml", ".php5", ".php7", ".php8", ".phps"),
    by_lines=GENERAL_LINES,
    rules={
        **symbols("function", "function_definition"),
        **symbols("method", "method_declaration"),
        **containers("class", "class_declaration"),
        **containers("interface", "interface_declaration"),
        **containers("trait", "trait_declaration"),
        **containers("enum", "enum_declaration"),
        **symbols("constant", "const_declaration", name=_php_constant),
        **symbols("constant", "enum_case"),
        **symbols("property", "property_declaration", name=_php_property),
        "expression_statement": _php_statement,
        **role(COMMENT, "comment"),
        **role(IMPORTS, "namespace_use_declaration", "use_declaration"),
        "namespace_definition": _php_namespace,
        **groups("compound_statement", "if_statement", "else_clause", "colon_block", "ERROR"),
    },
    constructors=frozenset({"__construct"}),
    nodes=NodeTypes(
        packages=frozenset({"namespace_definition"}),
        bodiless=frozenset({"method_declaration"}),
        enum_values=frozenset({"enum_case"}),
        parts={
            "const_declaration": further_names("", "const_element"),
            "property_declaration": further_names("", "property_element"),
            "method_declaration": promoted("property_promotion_parameter"),
        },
        local=(rb"function +&?\w", *words("class interface trait enum", rb" +\w")),
    ),
    usage=UsageNodes(
        imports=frozenset({"namespace_use_clause", "namespace_use_declaration", "namespace_use_group"}),
        heritage=frozenset({"base_clause", "class_interface_clause"}),
        members=frozenset({"class_constant_access_expression"}),
        declarations=frozenset({"const_element", "property_element"}),
        is_inherited=_is_used_trait,
    ),
)


_LUA_NAME = re.compile(r"\w+(?:[.:]\w+|\[(?:\"[^\"\n]+\"|'[^'\n]+')\])*")
_LUA_WORD = re.compile(r"^([\"'])([\w-]+)\1$")
_LUA_KEY = re.compile(r"\[([\"'])(.+?)\1\]")


def _lua_name(target: "Node | None", source: bytes) -> str:
    """Return the name in `M.y["z"]`; empty for an index other than a constant."""
    text = text_of(target, source)
    return _LUA_KEY.sub(r".\2", text).replace(":", ".") if _LUA_NAME.fullmatch(text) else ""


def _lua_assignment(node: "Node", source: bytes) -> Found | None:
    targets = child_of_type(node, "variable_list")
    values = child_of_type(node, "expression_list")
    target = targets.named_children[0] if targets and targets.named_children else None
    name = _lua_name(target, source)
    if not name:
        return None
    value = values.named_children[0] if values and values.named_children else None
    if value is not None and value.type == "function_call" and source.startswith(b"require", value.start_byte):
        return Found(IMPORTS)
    if value is not None and value.type == "function_definition":
        return Found("function", name)
    if value is not None and value.type == "table_constructor":
        return Found(variable_kind(name), name, (value,))
    return Found(variable_kind(name), name)


def _lua_local(node: "Node", source: bytes) -> Found | None:
    return _lua_assignment(child_of_type(node, "assignment_statement") or node, source)


def _lua_field(node: "Node", source: bytes) -> Found | None:
    value = node.child_by_field_name("value")
    named = node.child_by_field_name("name")
    if value is None or named is None:
        return None
    is_computed = source.startswith(b"[", node.start_byte) and named.type not in ("string", "number")
    name = "" if is_computed else _LUA_WORD.sub(r"\2", text_of(named, source))
    if value.type == "function_definition" and name:
        return Found("function", name)
    return Found("property", name, (value,)) if value.type == "table_constructor" else None


def _lua_call(node: "Node", source: bytes) -> Found | None:
    arguments = node.child_by_field_name("arguments")
    parts = arguments.named_children if arguments else []
    body = parts[-1].child_by_field_name("body") if parts and parts[-1].type == "function_definition" else None
    if body is None or text_of(node.child_by_field_name("name"), source) not in TESTS:
        return None
    return Found("test", title_of(parts[0], source), (body,), local=True)


LUA = Language(
    name="lua",
    by_lines=LUA_LINES,
    grammar=(BUNDLE, "lua"),
    suffixes=(".lua", ".rockspec"),
    rules={
        **symbols(
            "function",
            "function_declaration",
            name=lambda node, source: by_field("name")(node, source).replace(":", "."),
        ),
        "assignment_statement": _lua_assignment,
        "variable_declaration": _lua_local,
        "field": _lua_field,
        "function_call": _lua_call,
        **role(COMMENT, "comment"),
        **groups("if_statement", "else_statement", "elseif_statement", "do_statement", "block", "ERROR"),
    },
    nodes=NodeTypes(
        bodies=frozenset({"block"}),
        clauses=frozenset({"function_declaration"}),
        local=(rb"function[ \t]+\w", rb"=[ \t]*function\b"),
        parts=dict.fromkeys(("assignment_statement", "variable_declaration"), names_of_lua),
    ),
    usage=UsageNodes(members=frozenset({"dot_index_expression", "method_index_expression"})),
)


ROWS = (PHP, LUA)
