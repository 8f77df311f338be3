"""Define the rows of Python, Ruby, PHP and Lua."""

import re
from typing import TYPE_CHECKING

from cqm.chunkers.grammars import BUNDLE
from cqm.chunkers.languages.dynamic.python import (
    attributes_of_self,
    kind_of_value,
    names_of_python,
    targets_of,
    walrus_of,
)
from cqm.chunkers.languages.dynamic.ruby import declared_at_first, declared_by_calls, declared_in_body, names_of_ruby
from cqm.chunkers.languages.model import (
    COMMENT,
    GROUP,
    IMPORTS,
    LEADING,
    Found,
    Language,
    NodeTypes,
    Unread,
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
from cqm.chunkers.languages.unread import (
    GENERAL_LINES,
    LUA_LINES,
    PYTHON_CONTINUES,
    PYTHON_LINES,
    PYTHON_SIGNS,
    RUBY_LINES,
)

if TYPE_CHECKING:
    from tree_sitter import Node

_TEST_CALLS = TESTS | {"shared_examples"}


def variable_kind(name: str) -> str:
    """Return "constant" for names in capitals, the custom of most languages; else "variable"."""
    return "constant" if name.isupper() else "variable"


def _python_statement(node: "Node", source: bytes) -> Found | None:
    assignment = child_of_type(node, "assignment")
    left = assignment.child_by_field_name("left") if assignment else None
    if assignment is None or left is None:
        return walrus_of(node, source) if source.startswith(b"(", node.start_byte) else None
    first = left
    if left.type != "identifier":
        # "Server.family = 4" declares nothing.
        names = [it for it in targets_of(left) if it.type == "identifier"]
        if not names:
            return None
        first = names[0]
    name = text_of(first, source)
    value = assignment.child_by_field_name("right")
    if value is not None and value.type == "lambda":
        return Found("function", name)
    kind = kind_of_value(value, assignment.child_by_field_name("type"), source)
    return Found(kind or variable_kind(name), name)


def _python_alias(node: "Node", source: bytes) -> str:
    return by_field("left")(node, source).partition("[")[0].strip()


PYTHON = Language(
    name="python",
    grammar=("tree_sitter_python", "language"),
    suffixes=(".py", ".pyi", ".pyw", ".pyx", ".pxd", ".pxi"),
    unread=Unread(PYTHON_SIGNS, ends_at_rows=True, continues=PYTHON_CONTINUES, mends=False),
    by_lines=PYTHON_LINES,
    filenames=("sconstruct", "sconscript", "wscript"),
    rules={
        **symbols("function", "function_definition"),
        **containers("class", "class_definition"),
        **symbols("type", "type_alias_statement", name=_python_alias),
        "expression_statement": _python_statement,
        **role(COMMENT, "comment"),
        **role(LEADING, "decorator"),
        **role(IMPORTS, "import_statement", "import_from_statement", "future_import_statement"),
        **groups("decorated_definition", "block", "if_statement", "elif_clause", "else_clause", "try_statement"),
        **groups("except_clause", "except_group_clause", "finally_clause", "with_statement", "for_statement", "ERROR"),
        **groups("while_statement"),
    },
    line_comment="#",
    constructors=frozenset({"__init__", "__new__"}),
    nodes=NodeTypes(
        bodies=frozenset({"block"}),
        clauses=frozenset({"call"}),
        parts={"function_definition": attributes_of_self, "expression_statement": names_of_python},
        local=words("def class", rb"[ \t]+\w"),
    ),
)


def _ruby_name(node: "Node", source: bytes) -> str:
    return text_of(node.child_by_field_name("name"), source).replace("::", ".")


def _ruby_call(node: "Node", source: bytes) -> Found | None:
    method = text_of(node.child_by_field_name("method"), source)
    arguments = node.child_by_field_name("arguments")
    if method in ("require", "require_relative", "load", "autoload"):
        return Found(IMPORTS)
    block = node.child_by_field_name("block")
    body = (block.child_by_field_name("body") or block) if block else None
    first = arguments.named_children[0] if arguments and arguments.named_children else None
    if body is not None and method in _TEST_CALLS:
        return Found("test", title_of(first, source) if first else "", (body,), local=True)
    if body is not None and method in ("class_eval", "module_eval", "included", "class_methods"):
        return Found(GROUP, "", (body,))
    if (kind := _RUBY_CALLS.get(method)) and (block is not None or kind == "task"):
        name = _ruby_literal(first, source)
        return Found(kind, name, (body,) if body and kind == "namespace" else ()) if name else None
    if method in ("define_method", "define_singleton_method") and first is not None:
        name = text_of(first, source).strip(":'\"")
        return None if "#{" in name else Found("method", name)
    # "private def weed" and "memoize def weed".
    return Found(GROUP, "", (arguments,)) if first is not None and first.type == "method" and arguments else None


_RUBY_CALLS = {
    "namespace": "namespace",
    **dict.fromkeys(("task", "multitask", "file", "directory"), "task"),
    **dict.fromkeys(("let", "let!", "let_it_be", "subject", "subject!"), "method"),
}
"""Calls of Rake and RSpec that define what their first argument names."""


def _ruby_literal(node: "Node | None", source: bytes) -> str:
    """Return the name in `:build`, `"build"` and `build: :environment`."""
    named = node.child_by_field_name("key") if node is not None and node.type == "pair" else node
    if named is None or named.type not in ("simple_symbol", "string", "hash_key_symbol"):
        return ""
    return text_of(named, source).strip(":'\"")


_RUBY_CLASSES = (b"Class.new", b"Struct.new", b"Data.define", b"Module.new")


def _ruby_assignment(node: "Node", source: bytes) -> Found | None:
    left = node.child_by_field_name("left")
    if left is not None and left.type == "left_assignment_list":
        left = child_of_type(left, "constant")
    if left is None or left.type not in ("constant", "scope_resolution"):
        return None
    right = node.child_by_field_name("right")
    block = right.child_by_field_name("block") if right and right.type == "call" else None
    body = block.child_by_field_name("body") if block else None
    if body is None:
        # "Failed = Class.new(StandardError)" and "Point = Struct.new(:x, :y)" are types.
        is_type = right is not None and source.startswith(_RUBY_CLASSES, right.start_byte)
        return Found("class" if is_type else "constant", text_of(left, source).replace("::", "."))
    is_module = right is not None and source.startswith(b"Module.new", right.start_byte)
    return Found("module" if is_module else "class", text_of(left, source).replace("::", "."), (body,))


RUBY = Language(
    name="ruby",
    by_lines=RUBY_LINES,
    grammar=(BUNDLE, "ruby"),
    suffixes=(".rb", ".rake", ".gemspec", ".ru", ".rbi", ".podspec"),
    filenames=("rakefile", "gemfile", "guardfile", "vagrantfile", "podfile", "fastfile", "brewfile", "capfile"),
    rules={
        **symbols("method", "method", "singleton_method"),
        **containers("class", "class", name=_ruby_name),
        **containers("module", "module", name=_ruby_name),
        "call": _ruby_call,
        **dict.fromkeys(("assignment", "operator_assignment"), _ruby_assignment),
        **role(COMMENT, "comment"),
        **role(LEADING, "identifier"),
        **groups("singleton_class", "body_statement", "if", "unless", "begin", "rescue", "ensure", "else", "then"),
        **groups("ERROR", "if_modifier", "unless_modifier"),
    },
    line_comment="#",
    constructors=frozenset({"initialize"}),
    nodes=NodeTypes(
        bodies=frozenset({"block", "do_block"}),
        clauses=frozenset({"call"}),
        parts={
            **dict.fromkeys(("alias", "call"), declared_by_calls),
            **dict.fromkeys(("class", "module", "singleton_class"), declared_at_first),
            **dict.fromkeys(("if_modifier", "unless_modifier"), declared_in_body),
            "assignment": names_of_ruby,
        },
        local=words("def class module", rb" +\w"),
    ),
)


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
    if callee in _TEST_CALLS and body is not None:
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
    """Blank what PHP doesn't read."""
    return _PHP_END.sub(blanked, source)


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
)


_LUA_NAME = re.compile(r"\w+(?:[.:]\w+|\[(?:\"[^\"\n]+\"|'[^'\n]+')\])*")
_LUA_WORD = re.compile(r"^([\"'])([\w-]+)\1$")
_LUA_KEY = re.compile(r"\[([\"'])(.+?)\1\]")


def _lua_name(target: "Node | None", source: bytes) -> str:
    """Return the name in `M.y["z"]`; empty for an index that is no constant."""
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
    if body is None or text_of(node.child_by_field_name("name"), source) not in _TEST_CALLS:
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
)


ROWS = (PYTHON, RUBY, PHP, LUA)
