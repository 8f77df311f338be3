"""Define the rows of Perl and GDScript."""

import functools
import re
from bisect import bisect_left
from typing import TYPE_CHECKING

from cqm.chunkers.grammars import BUNDLE
from cqm.chunkers.languages.further.unread_perl import (
    without_arrows,
    without_classes,
    without_dashes,
    without_heredocs,
    without_patterns,
    without_references,
    without_signatures,
)
from cqm.chunkers.languages.further.unread_perl_words import OPERATORS, with_plain_words
from cqm.chunkers.languages.hazards import nests_expressions
from cqm.chunkers.languages.model import (
    COMMENT,
    IMPORTS,
    LEADING,
    Found,
    Language,
    NodeTypes,
    Part,
    Rule,
    Unread,
    by_field,
    child_of_type,
    containers,
    groups,
    role,
    symbols,
    text_of,
)
from cqm.chunkers.languages.parts import inside
from cqm.chunkers.languages.scripting import variable_kind
from cqm.chunkers.languages.unread import PERL_LINES, PERL_SIGNS
from cqm.chunkers.languages.usage_nodes import UsageNodes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree_sitter import Node

_PERL_PACKAGE = re.compile(rb"^(?P<indent>[ \t]*)(?:package|class)[ \t]+(?P<name>[\w:]+)[^;{\n]*;", re.MULTILINE)
_PERL_BRACE = re.compile(rb"[{}]")
_LONGEST_BLOCK = 100_000
# Declared by Moose, Moo and their like: "has name => (...)"; "before pay => sub {...}".
_PERL_MODIFIERS = frozenset({"before", "after", "around", "override", "augment"})
_PERL_TESTS = frozenset({"subtest", "describe", "it"})


@functools.lru_cache(maxsize=4)
def _perl_packages(source: bytes) -> tuple[list[int], list[str]]:
    """Return the start of each package, in order, and the packages' names; each lasts to the next start or the end."""
    starts, names = [0], ["main"]
    around: list[tuple[int, str]] = []

    def go_on(place: int, name: str) -> None:
        starts.append(place)
        names.append(name)

    for it in _PERL_PACKAGE.finditer(source):
        while around and around[-1][0] <= it.start():
            go_on(*around.pop())
        # "{ package Inner; ... }" lasts as long as its block.
        closing = _perl_end_of_block(source, it)
        if closing > it.end():
            around.append((min(closing, around[-1][0]) if around else closing, names[-1]))
        go_on(it.end(), it["name"].decode("utf-8", "replace").replace("::", "."))
    while around:
        go_on(*around.pop())
    return starts, names


def _perl_end_of_block(source: bytes, package: re.Match[bytes]) -> int:
    """Return the end of the block beginning with a package; -1 for none."""
    if not source[max(package.start() - _LONGEST_NAME, 0) : package.start()].rstrip().endswith(b"{"):
        return -1
    indent, stop = len(package["indent"]), package.end() + _LONGEST_BLOCK
    if indent:
        found = re.compile(rb"^[ \t]{0,%d}\}" % (indent - 1), re.MULTILINE).search(source, package.end(), stop)
        return found.start() if found else -1
    depth = 1
    for brace in _PERL_BRACE.finditer(source, package.end(), stop):
        depth += 1 if brace[0] == b"{" else -1
        if depth == 0:
            return brace.start()
    return -1


_LONGEST_NAME = 200


_PERL_PACKAGED = frozenset({"function", "method", "constant", "variable", "property"})


def _perl_qualified(rule: Rule) -> Rule:
    """Have a rule name symbols with the package above them; those in the braces of a package get it from there."""

    def qualified(node: "Node", source: bytes) -> Found | None:
        found = rule(node, source)
        if found is None or found.kind not in _PERL_PACKAGED or not found.name or "." in found.name:
            return found
        starts, packages = _perl_packages(source)
        package = packages[max(0, bisect_left(starts, node.start_byte) - 1)]
        return found if package == "main" else found._replace(name=f"{package}.{found.name}")

    return qualified


def _perl_name(node: "Node | None", source: bytes) -> str:
    return text_of(node, source).strip("'\"+").replace("::", ".").replace("'", ".")


def _perl_sub(node: "Node", source: bytes) -> Found:
    attribute = child_of_type(node, "function_attribute")
    if attribute is not None and source[attribute.start_byte : attribute.end_byte] == b":c":
        # A class, see `unread_perl`.
        body, name = node.child_by_field_name("body"), _perl_name(node.child_by_field_name("name"), source)
        return Found("class", name.replace("__", "."), (body,) if body else (), within=_PERL_MEMBERS)
    name = _perl_name(node.child_by_field_name("name"), source)
    return Found("function", OPERATORS.get(name, name))


def _perl_package(node: "Node", source: bytes) -> Found:
    name = text_of(child_of_type(node, "package_name"), source).replace("::", ".")
    body = node.child_by_field_name("body")
    return Found("module", name, (body,) if body else (), within=_PERL_NAMED)


def _perl_assignment(node: "Node", source: bytes) -> Found | None:
    declared = child_of_type(node, "variable_declaration")
    left = declared.child_by_field_name("variable_name") if declared else None
    if left is None or node.named_children[0] != declared:
        return None
    name = _perl_name(left, source).lstrip("$@%")
    value = node.named_children[-1]
    kind = "function" if value.type == "anonymous_function" else variable_kind(name)
    return Found(kind, name)


def _perl_declaration(node: "Node", source: bytes) -> Found | None:
    """Classify a declaration without a value: "our $AUTOLOAD;"."""
    name = _perl_name(node.child_by_field_name("variable_name"), source).lstrip("$@%")
    return Found(variable_kind(name), name) if name else None


def _perl_constant(node: "Node", source: bytes) -> Found:
    named = node.child_by_field_name("constant") or next(_perl_keys(node.child_by_field_name("value")), None)
    name = _perl_name(named, source)
    return Found("constant", name) if name else Found("statement")


def _perl_keys(node: "Node | None") -> "Iterator[Node]":
    is_key = True
    for child in node.named_children if node else ():
        if child.type in ("fat_comma", "normal_comma"):
            is_key = child.type == "normal_comma"
        elif child.type not in ("comments", "comment") and is_key:
            yield child
            is_key = False


def _perl_constants(node: "Node", source: bytes) -> "Iterator[Part]":
    if node.child_by_field_name("constant") is None:
        for key in [*_perl_keys(node.child_by_field_name("value"))][1:]:
            yield Part("constant", text_of(key, source), key, key, is_beside=True)


def _perl_call(node: "Node", source: bytes) -> Found | None:
    arguments = node.child_by_field_name("args") or child_of_type(node, "arguments", "parenthesized_argument", "array")
    called = child_of_type(node, "call_expression_with_bareword", "identifier") or node.child_by_field_name(
        "function_name"
    )
    function = text_of(called, source)
    first = arguments.named_children[0] if arguments and arguments.named_children else None
    if function == "class":
        return _perl_class(node, source)
    if function == "has" and first is not None:
        if first.type in ("array_ref", "word_list_qw", "array"):
            first = first.named_children[0] if first.named_children else first
        return Found("property", _perl_name(first, source))
    if first is None or arguments is None or arguments.named_children[-1].type != "anonymous_function":
        return None
    body = arguments.named_children[-1].child_by_field_name("body")
    if function in _PERL_TESTS:
        return Found(
            "test", text_of(first, source).strip("'\""), (body,) if body else (), local=True, within=_PERL_NAMED
        )
    if function in _PERL_MODIFIERS:
        return Found("method", _perl_name(first, source))
    return None


def _perl_fields(node: "Node", source: bytes) -> Found | None:
    # "has [qw(first last)] => (...)" is read as an element of an array.
    name = next(iter(_perl_field_names(node, source)), None)
    return Found("property", _perl_name(name, source)) if name else None


def _perl_field_names(node: "Node", source: bytes) -> "list[Node]":
    function = node.child_by_field_name("array_variable")
    index = node.child_by_field_name("index")
    if index is None or text_of(function, source) != "has":
        return []
    return [it for it in index.named_children if it.type in ("list_item", "string_single_quoted")] or [index]


def _perl_further_fields(node: "Node", source: bytes) -> "Iterator[Part]":
    for name in _perl_field_names(node, source)[1:]:
        yield Part("property", text_of(name, source).strip("'\""), name, name, is_beside=True)


_PERL_NAMED: dict[str, Rule] = {
    **dict.fromkeys(("function_definition", "function_definition_without_sub"), _perl_sub),
    "binary_expression": _perl_assignment,
    "variable_declaration": _perl_declaration,
    "use_constant_statement": _perl_constant,
    "array_access_variable": _perl_fields,
    **dict.fromkeys(
        (
            *("call_expression_with_spaced_args", "call_expression_with_args_with_brackets"),
            *("call_expression_with_bareword", "call_expression_recursive"),
        ),
        _perl_call,
    ),
}


def _perl_class(node: "Node", source: bytes) -> Found | None:
    """Read the statement `class Point;`."""
    name = text_of(node.child_by_field_name("args"), source).replace("::", ".")
    return Found("class", name) if source.startswith(b"class", node.start_byte) and name else None


def _perl_field(node: "Node", source: bytes) -> Found:
    return Found("property", _perl_name(node.child_by_field_name("variable_name"), source).lstrip("$@%"))


_PERL_MEMBERS: dict[str, Rule] = {**_PERL_NAMED, "variable_declaration": _perl_field}


PERL = Language(
    name="perl",
    by_lines=PERL_LINES,
    unread=Unread(PERL_SIGNS, masks=(with_plain_words,)),
    grammar=(BUNDLE, "perl"),
    removed=(
        without_heredocs,
        without_classes,
        without_dashes,
        without_signatures,
        without_arrows,
        without_references,
        without_patterns,
    ),
    unsafe=nests_expressions,
    suffixes=(".pl", ".pm", ".t", ".psgi", ".plx"),
    filenames=("cpanfile", "makefile.pl"),
    rules={
        **{name: _perl_qualified(rule) for name, rule in _PERL_NAMED.items()},
        "package_statement": _perl_package,
        **role(COMMENT, "comments", "comment", "pod_statement"),
        **role(IMPORTS, "use_no_statement", "use_parent_statement", "use_no_version", "use_no_feature_statement"),
        **role(IMPORTS, "use_no_if_statement", "use_no_subs_statement", "require_expression", "bareword_import"),
        **groups("special_block", "standalone_block", "block", "ERROR"),
    },
    line_comment="#",
    constructors=frozenset({"new", "BUILD"}),
    nodes=NodeTypes(
        bodies=frozenset({"block"}),
        parts={"use_constant_statement": _perl_constants, "array_access_variable": _perl_further_fields},
    ),
    usage=UsageNodes(
        calls=frozenset(
            {
                "call_expression_with_args_with_brackets",
                "call_expression_with_bareword",
                "call_expression_with_spaced_args",
                "call_expression_with_sub",
                "call_expression_with_variable",
            }
        )
    ),
)


def _gdscript_enum(node: "Node", source: bytes) -> Found:
    return Found("enum", text_of(node.child_by_field_name("name"), source) or "enum")


GDSCRIPT = Language(
    name="gdscript",
    grammar=("tree_sitter_gdscript", "language"),
    extra="languages",
    suffixes=(".gd",),
    rules={
        **symbols("class", "class_name_statement"),
        **containers("class", "class_definition"),
        **symbols("function", "function_definition"),
        **symbols("constructor", "constructor_definition", name=lambda _node, _source: "_init"),
        **symbols("constant", "const_statement"),
        **symbols("property", "variable_statement", "export_variable_statement", "onready_variable_statement"),
        **symbols("event", "signal_statement", name=by_field("name")),
        "enum_definition": _gdscript_enum,
        **role(COMMENT, "comment"),
        **role(LEADING, "annotation", "annotations"),
        **role(IMPORTS, "extends_statement", "tool_statement"),
        **groups("region_start", "ERROR"),
    },
    line_comment="#",
    constructors=frozenset({"_init"}),
    nodes=NodeTypes(
        bodies=frozenset({"body", "class_body"}),
        loose=frozenset({"class_name_statement", "signal_statement"}),
        above=frozenset({"annotations", "annotation", "comment"}),
        parts={"enum_definition": inside({"enumerator": "constant"}, "enumerator_list")},
    ),
    usage=UsageNodes(has_docstrings=True),
)

ROWS = (PERL, GDSCRIPT)
