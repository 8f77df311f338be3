"""Define the rows of Perl and GDScript."""

import functools
import re
from bisect import bisect_left
from typing import TYPE_CHECKING

from cqm.chunkers.grammars import BUNDLE
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
    blanked,
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

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree_sitter import Node

_PERL_PACKAGE = re.compile(rb"^package[ \t]+([\w:]+)[^;{\n]*;", re.MULTILINE)
# Declared by Moose, Moo and their like: "has name => (...)"; "before pay => sub {...}".
_PERL_MODIFIERS = frozenset({"before", "after", "around", "override", "augment"})
_PERL_TESTS = frozenset({"subtest", "describe", "it"})


@functools.lru_cache(maxsize=4)
def _perl_packages(source: bytes) -> tuple[list[int], list[str]]:
    """Return where the packages of a text begin which last to the next one or the end, and their names."""
    found = list(_PERL_PACKAGE.finditer(source))
    return [it.end() for it in found], [it[1].decode("utf-8", "replace").replace("::", ".") for it in found]


_PERL_PACKAGED = frozenset({"function", "method", "constant", "variable", "property"})


def _perl_qualified(rule: Rule) -> Rule:
    """Have a rule name symbols with the package above them; those in the braces of a package get it from there."""

    def qualified(node: "Node", source: bytes) -> Found | None:
        found = rule(node, source)
        if found is None or found.kind not in _PERL_PACKAGED or not found.name or "." in found.name:
            return found
        starts, packages = _perl_packages(source)
        at = bisect_left(starts, node.start_byte)
        package = packages[at - 1] if at else "main"
        return found if package == "main" else found._replace(name=f"{package}.{found.name}")

    return qualified


def _perl_name(node: "Node | None", source: bytes) -> str:
    return text_of(node, source).strip("'\"+").replace("::", ".").replace("'", ".")


def _perl_sub(node: "Node", source: bytes) -> Found:
    return Found("function", _perl_name(node.child_by_field_name("name"), source))


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


_PERL_DASH = re.compile(rb"^[ \t]*use[ \t]+(?!parent|base)[\w:]+[ \t]+(?P<words>-[a-z][^;\n]*)(?=;)", re.MULTILINE)


def _perl_without_dashes(source: bytes) -> bytes:
    # "use Mojo::Base -strict": the grammar knows such a word after "use parent" only.
    return _PERL_DASH.sub(blanked, source)


_PERL_REFERENCE = re.compile(rb"([*$%@])\{(?!\^?\w+\})(?:[^{}\n]|\{[^{}\n]{0,200}\}){1,200}\}")


def _perl_without_references(source: bytes) -> bytes:
    # The grammar reads neither "*{$class . '::new'} = sub {...}" nor "${shift()}", "%{shift->{in} // {}}", "@{[f()]}".
    return _PERL_REFERENCE.sub(lambda it: ((b"$" if it[1] == b"*" else it[1]) + b"_").ljust(len(it[0])), source)


_PERL_NAMED: dict[str, Rule] = {
    **dict.fromkeys(("function_definition", "function_definition_without_sub"), _perl_sub),
    "binary_expression": _perl_assignment,
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

_PERL_MATCH = re.compile(rb"([=!]~[ \t]*(?:m|qr)?)/((?:[^/\\\n]|\\.)++)/([a-z]*+)")
_PERL_LAST = re.compile(rb"\$#(?:\$?\w+|\{[^{}\n]{1,200}\})")


def _perl_without_patterns(source: bytes) -> bytes:
    # The grammar knows neither all flags of a match nor "$#$list", the last index of a list.
    matches = _PERL_MATCH.sub(lambda it: b"%s/%s/%s" % (it[1], b"a" * len(it[2]), b" " * len(it[3])), source)
    return _PERL_LAST.sub(lambda it: b"$" + b"a" * (len(it[0]) - 1), matches)


PERL = Language(
    name="perl",
    by_lines=PERL_LINES,
    unread=Unread(PERL_SIGNS),
    grammar=(BUNDLE, "perl"),
    removed=(_perl_without_dashes, _perl_without_references, _perl_without_patterns),
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
)

ROWS = (PERL, GDSCRIPT)
