"""Define the rows of Make, CMake, Starlark (Bazel) and Just."""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from cqm.chunkers.grammars import BUNDLE
from cqm.chunkers.languages.building.unread_lines import readable_make
from cqm.chunkers.languages.model import (
    COMMENT,
    IMPORTS,
    Found,
    Language,
    NodeTypes,
    Part,
    child_of_type,
    groups,
    role,
    symbols,
    text_of,
)
from cqm.chunkers.languages.scripting import variable_kind
from cqm.chunkers.languages.usage_nodes import UsageNodes

if TYPE_CHECKING:
    from tree_sitter import Node

# Special targets (".PHONY") make nothing; a suffix rule (".c.o") and a file (".env") do.
_SPECIAL_TARGET = re.compile(r"\.[A-Z_]+$")


def _make_rule(node: "Node", source: bytes) -> Found | None:
    targets = child_of_type(node, "targets")
    names = [text_of(it, source) for it in targets.named_children] if targets else []
    # Names of other letters than those of ASCII may reach back over the rows above.
    first = next((it for it in names if not _SPECIAL_TARGET.match(it)), "").rpartition("\n")[2]
    return Found("target", first) if first else None


def _further_targets(node: "Node", source: bytes) -> Iterator[Part]:
    targets = child_of_type(node, "targets")
    names = [it for it in targets.named_children if text_of(it, source)] if targets else []
    for name in (it for it in names[1:] if it.start_point[0] == it.end_point[0]):
        yield Part("", text_of(name, source), node, name, is_beside=True)


def _make_variable(node: "Node", source: bytes) -> Found | None:
    name = text_of(node.child_by_field_name("name"), source)
    return Found("variable", name) if name and name != "_" else None


def _exported(node: "Node", source: bytes) -> Found | None:
    inner = child_of_type(node, "variable_assignment")
    return _make_variable(inner, source) if inner else None


MAKE = Language(
    name="make",
    grammar=(BUNDLE, "make"),
    suffixes=(".mk", ".mak", ".make"),
    filenames=("makefile", "gnumakefile", "bsdmakefile"),
    rules={
        "rule": _make_rule,
        "variable_assignment": _make_variable,
        "shell_assignment": _make_variable,
        **dict.fromkeys(("export_directive", "override_directive", "private_directive"), _exported),
        **symbols("macro", "define_directive"),
        **role(COMMENT, "comment"),
        **role(IMPORTS, "include_directive"),
        **groups("ERROR"),
    },
    removed=(readable_make,),
    nodes=NodeTypes(
        bodies=frozenset({"recipe"}),
        clauses=frozenset({"variable_assignment"}),
        parts={"rule": _further_targets},
    ),
    usage=UsageNodes(texts=frozenset({"raw_text"})),
)


_TARGETS = frozenset({"add_library", "add_executable", "add_custom_target", "add_test"})


def _arguments(node: "Node", source: bytes) -> list[str]:
    found = child_of_type(node, "argument_list")
    return [text_of(it, source).strip('"') for it in found.named_children if it.type == "argument"] if found else []


def _cmake_definition(node: "Node", source: bytes) -> Found:
    names = _arguments(node.named_children[0], source)
    kind = "macro" if node.type == "macro_def" else "function"
    return Found(kind, names[0] if names else "")


def _cmake_command(node: "Node", source: bytes) -> Found | None:
    command = text_of(child_of_type(node, "identifier"), source).lower()
    if command in ("include", "find_package", "add_subdirectory"):
        return Found(IMPORTS)
    arguments = _arguments(node, source) if command in _COMMANDS else []
    if not arguments or "$" in arguments[0]:
        return None
    if command in _TARGETS:
        name = arguments[1] if arguments[0] == "NAME" and len(arguments) > 1 else arguments[0]
        if "$" in name:
            return None
        return Found("test" if command == "add_test" else "target", name)
    if command in ("project", "option"):
        return Found("variable" if command == "option" else "project", arguments[0])
    return Found("variable", arguments[0])


_COMMANDS = _TARGETS | {"project", "option", "set"}


_CONFIGURED_ROW = re.compile(rb"^([ \t]*)@(?=\w+@[ \t]*\r?$)", re.MULTILINE)
_CONFIGURED = re.compile(rb"@(?P<name>\w+)@")


def _without_configured(source: bytes) -> bytes:
    """Turn rows of a template standing for commands into comments, and its other variables into words."""
    return _CONFIGURED.sub(rb"_\g<name>_", _CONFIGURED_ROW.sub(rb"\1#", source)) if b"@" in source else source


CMAKE = Language(
    name="cmake",
    grammar=(BUNDLE, "cmake"),
    suffixes=(".cmake", ".cmake.in"),
    filenames=("cmakelists.txt",),
    removed=(_without_configured,),
    names_from_text=True,
    rules={
        **dict.fromkeys(("function_def", "macro_def"), _cmake_definition),
        "normal_command": _cmake_command,
        **role(COMMENT, "line_comment", "bracket_comment"),
        # Rows opening and closing a group of commands.
        **role("", *(f"{it}_command" for it in ("if", "elseif", "else", "endif", "foreach", "endforeach", "while"))),
        **role("", "endwhile_command", "block_command", "endblock_command"),
        **groups("if_condition", "foreach_loop", "while_loop", "block_def", "body", "ERROR"),
    },
    nodes=NodeTypes(bodies=frozenset({"body"})),
    usage=UsageNodes(calls=frozenset({"normal_command"})),
)


def _starlark_statement(node: "Node", source: bytes) -> Found | None:
    inner = node.named_children[0] if node.named_children else None
    if inner is None:
        return None
    if inner.type == "call":
        return _starlark_call(inner, source)
    if inner.type == "list_comprehension":
        call = inner.child_by_field_name("body")
        return _starlark_call(call, source) if call and call.type == "call" else None
    left = inner.child_by_field_name("left") if inner.type == "assignment" else None
    if left is None or left.type != "identifier":
        return None
    value = inner.child_by_field_name("right")
    is_function = value is not None and (value.type == "lambda" or _called(value, source) in _DEFINING_CALLS)
    name = text_of(left, source)
    return Found("function" if is_function else variable_kind(name), name)


# Their results are called as functions are.
_DEFINING_CALLS = frozenset({"rule", "repository_rule", "macro", "aspect", "module_extension", "tag_class"})


_OTHER_KINDS = {"module": "module", "bazel_dep": "dependency", "workspace": "module"}


def _called(node: "Node", source: bytes) -> str:
    return text_of(node.child_by_field_name("function"), source) if node.type == "call" else ""


def _starlark_call(call: "Node", source: bytes) -> Found | None:
    if _called(call, source) in ("load", "use_repo", "use_extension"):
        return Found(IMPORTS)
    arguments = call.child_by_field_name("arguments")
    for it in arguments.named_children if arguments else ():
        value = it.child_by_field_name("value") if it.type == "keyword_argument" else None
        if value is not None and text_of(it.child_by_field_name("name"), source) == "name" and value.type == "string":
            kind = _OTHER_KINDS.get(_called(call, source), "target")
            return Found(kind, text_of(value, source).strip("\"'"))
    return None


STARLARK = Language(
    name="starlark",
    grammar=(BUNDLE, "starlark"),
    suffixes=(".bzl", ".bazel", ".star", ".sky"),
    rules={
        **symbols("function", "function_definition"),
        "expression_statement": _starlark_statement,
        **role(COMMENT, "comment"),
        **groups("block", "if_statement", "elif_clause", "else_clause", "for_statement", "ERROR"),
    },
    line_comment="#",
    nodes=NodeTypes(bodies=frozenset({"block"})),
    usage=UsageNodes(has_docstrings=True),
)


ROWS = (MAKE, CMAKE, STARLARK)
