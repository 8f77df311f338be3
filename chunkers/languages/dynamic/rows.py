"""Define the rows of Python and Ruby."""

import re
from typing import TYPE_CHECKING

from cqm.chunkers.grammars import BUNDLE
from cqm.chunkers.languages.dynamic.python import (
    attributes_of_self,
    is_inherited_in_python,
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
    by_field,
    child_of_type,
    containers,
    groups,
    role,
    symbols,
    text_of,
    words,
)
from cqm.chunkers.languages.scripting import variable_kind
from cqm.chunkers.languages.testing import TESTS, title_of
from cqm.chunkers.languages.unread import PYTHON_CONTINUES, PYTHON_LINES, PYTHON_SIGNS, RUBY_LINES
from cqm.chunkers.languages.usage_nodes import UsageNodes

if TYPE_CHECKING:
    from tree_sitter import Node

_TEST_CALLS = TESTS | {"shared_examples"}


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


_LAZY = re.compile(rb"^[ \t]*lazy(?=[ \t]+(?:import|from)\b)", re.MULTILINE)


def _without_lazy(source: bytes) -> bytes:
    # Python 3.15; the row's blanks are indentation.
    return _LAZY.sub(lambda it: it[0].replace(b"lazy", b"0;  "), source)


PYTHON = Language(
    name="python",
    grammar=("tree_sitter_python", "language"),
    suffixes=(".py", ".pyi", ".pyw", ".pyx", ".pxd", ".pxi"),
    unread=Unread(PYTHON_SIGNS, ends_at_rows=True, continues=PYTHON_CONTINUES, mends=False, masks=(_without_lazy,)),
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
    usage=UsageNodes(
        imports=frozenset({"future_import_statement"}), has_docstrings=True, is_inherited=is_inherited_in_python
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
"""Calls of Rake and RSpec defining the name in their first argument."""


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
    if node.type == "operator_assignment" and text_of(node.child_by_field_name("operator"), source) != "||=":
        # "LIST += [1]" declares nothing.
        return None
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
    usage=UsageNodes(
        members=frozenset({"scope_resolution"}),
        declarations=frozenset({"singleton_method"}),
        assignments=frozenset({"operator_assignment"}),
        targets=frozenset(
            {"exception_variable", "left_assignment_list", "rest_assignment", "destructured_left_assignment"}
        ),
        importing=frozenset({"require_relative"}),
        mixing=frozenset({"include", "extend", "prepend"}),
        has_bare_calls=True,
    ),
)


ROWS = (PYTHON, RUBY)
