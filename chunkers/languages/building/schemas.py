"""Define the rows of Protocol Buffers and GraphQL."""

import functools
import re
from typing import TYPE_CHECKING

from cqm.chunkers.grammars import BUNDLE
from cqm.chunkers.languages.model import (
    COMMENT,
    IMPORTS,
    Found,
    Language,
    NodeTypes,
    Rule,
    blank,
    blanked,
    by_child,
    child_of_type,
    containers,
    groups,
    inlined,
    role,
    symbols,
    text_of,
)
from cqm.chunkers.languages.parts import inside
from cqm.chunkers.model import later

if TYPE_CHECKING:
    from tree_sitter import Node

# Its grammar knows proto3 only, and needs a line saying so.
_SYNTAX = b'syntax="proto3";'
_SAYS_SYNTAX = later(rb"^[ \t]*(?:syntax|edition)\s*=[^;\n]*;", re.MULTILINE)
_FIRST = later(rb"\s*(?:/\*(?:[^*]|\*(?!/))*\*/|//[^\n]*|(?:package|import|option)\b[^;{}]*;)")
_GROUP_NUMBER = later(
    rb"\b(?:optional|required|repeated)[ \t]+group[ \t]+(\w+)\s*=\s*\d+(?:\s*\[[^\[\]{};]*\])?\s*(?=\{)"
)
_REQUIRED = later(rb"\brequired(?=[ \t]+[\w.])")
_EXTENSIONS = later(rb"^[ \t]*extensions\b[^;{}]{0,500}(?=;)", re.MULTILINE)
_EXTENSIONS_BLOCK = later(rb"^[ \t]*extensions\b[^;{}\[]{0,500}\[[^\[\]]{0,4000}\](?=;)", re.MULTILINE)
_RESERVED = later(rb"(?P<word>(?:^|[{;])[ \t]*reserved[ \t]+)(?P<names>[\"'\w][^;{}]{0,600})(?=;)", re.MULTILINE)
_NOTE_OR_TEXT = rb"//[^\n]*+|/\*(?:[^*]|\*(?!/)){0,4000}+\*/|\"(?:[^\"\\\n]|\\.)*+\"|'(?:[^'\\\n]|\\.)*+'|/(?![/*])"
_FLAT = rb"(?:[^\[\]{}\"'/]|" + _NOTE_OR_TEXT + rb")"
_NESTED = functools.reduce(lambda inner, _: rb"(?:" + _FLAT + rb"|[\[{]" + inner + rb"*+[\]}])", range(4), _FLAT)
_OPTIONS = later(rb"=\s*\w+\s*(?P<options>\[" + _NESTED + rb"*+\])(?=\s*;)")
_OPTION = later(rb"\boption\b[^;={}]{1,300}=\s*(?P<value>\{" + _NESTED + rb"*+\})(?=\s*;)")
_UNREAD_OPTION = later(rb"[\"'](?:\s|//[^\n]*\n)+[\"']|\.\(|\[\s*\]")
"""Texts side by side, extensions in a path, empty lists."""
_EXTEND = later(rb"\bextend(?P<space>[ \t]+)(?P<package>[\w.]*\.)?(?P<name>\w+)\s*\{(?P<body>" + _FLAT + rb"*+)\}")
_EXTENDED_FIELD = later(rb"(?P<type>(?:\b(?:optional|required|repeated)[ \t]+)?[\w.]+[ \t]+)(?=\w+\s*=\s*\d)")


def _readable_proto(source: bytes) -> bytes:
    """Return a schema of the same length as the grammar reads: proto3 at the beginning, extensions as enumerations."""
    found = _SAYS_SYNTAX.search(source) or _FIRST.match(source)
    if found and len(found[0].lstrip()) >= len(_SYNTAX) and b"proto3" not in found[0]:
        text = found[0].lstrip()
        first = found.end() - len(text)
        if b"\n" not in text[: len(_SYNTAX)]:
            source = source[:first] + _SYNTAX + blank(text[len(_SYNTAX) :]) + source[found.end() :]
    source = _GROUP_NUMBER.sub(_grouped, source)
    source = _REQUIRED.sub(b"optional", source)
    source = _OPTIONS.sub(_without_options, source)
    source = _OPTION.sub(_without_value, source)
    source = _EXTENSIONS_BLOCK.sub(_reserving, source)
    source = _EXTENSIONS.sub(_reserving, source)
    source = _RESERVED.sub(lambda it: it["word"] + b"1" + blank(it["names"][1:]), source)
    return _EXTEND.sub(_enumerated, source)


def _grouped(found: re.Match[bytes]) -> bytes:
    first, end = found.start(1) - found.start(), found.end(1) - found.start()
    return b"message" + blank(found[0][len(b"message") : first]) + found[1] + blank(found[0][end:])


def _without_options(found: re.Match[bytes]) -> bytes:
    """Blank the options of a field, if they have braces in an extension or are unreadable to the grammar."""
    is_read = b"{" not in found["options"] and not _UNREAD_OPTION.search(found["options"])
    return found[0] if is_read else blanked(found)


def _without_value(found: re.Match[bytes]) -> bytes:
    value = found["value"]
    if not _UNREAD_OPTION.search(value):
        return found[0]
    return found[0][: -len(value)] + b"1" + blank(value[1:])


def _reserving(found: re.Match[bytes]) -> bytes:
    text = found[0]
    first = text.index(b"extensions")
    return text[:first] + b"reserved 1" + blank(text[first + len(b"extensions") :])


def _enumerated(found: re.Match[bytes]) -> bytes:
    text = found[0]
    name, body = found.start("name") - found.start(), found.start("body") - found.start()
    fields = _EXTENDED_FIELD.sub(lambda it: blank(it[0]), found["body"])
    return b"enum" + blank(text[len(b"enum") : name]) + text[name:body] + fields + b"}"


def _proto_enum(node: "Node", source: bytes) -> Found:
    name = text_of(child_of_type(node, "enum_name"), source)
    # Extensions are rewritten as enumerations.
    is_extension = source.startswith(b"extend", node.start_byte)
    return Found("extension" if is_extension else "enum", name)


def _field_name(node: "Node", source: bytes) -> str:
    return text_of(child_of_type(node, "identifier"), source)


PROTOBUF = Language(
    name="protobuf",
    grammar=(BUNDLE, "proto"),
    suffixes=(".proto",),
    rules={
        **containers("message", "message", name=by_child("message_name"), bodies=("message_body",)),
        "enum": _proto_enum,
        **inlined("service", "service", name=by_child("service_name")),
        **symbols("method", "rpc", name=by_child("rpc_name")),
        **symbols("property", "field", "map_field", name=_field_name),
        "oneof": lambda node, source: Found("property", _field_name(node, source), (node,)),
        **symbols("property", "oneof_field", name=_field_name),
        **role(COMMENT, "comment"),
        **role(IMPORTS, "syntax", "import", "package", "option"),
        **role("", "empty_statement"),
        **groups("ERROR"),
    },
    removed=(_readable_proto,),
    names_from_text=True,
    nodes=NodeTypes(
        packages=frozenset({"package"}),
        bodies=frozenset({"message_body", "enum_body"}),
        bodiless=frozenset({"rpc", "field", "map_field", "oneof_field"}),
        loose=frozenset({"field", "map_field", "oneof", "oneof_field"}),
        enum_values=frozenset({"enum_field"}),
        parts={"enum": inside({"enum_field": "constant"}, "enum_body")},
    ),
)


_GRAPHQL_PARTS = inside(
    {
        "field_definition": "property",
        "input_value_definition": "property",
        "enum_value_definition": "constant",
    },
    "fields_definition",
    "input_fields_definition",
    "enum_values_definition",
)
_GRAPHQL_KINDS = {
    "object_type": "type",
    "input_object_type": "type",
    "interface_type": "interface",
    "enum_type": "enum",
    "union_type": "type",
    "scalar_type": "type",
}
_GRAPHQL_TYPES = {
    **{f"{name}_definition": kind for name, kind in _GRAPHQL_KINDS.items()},
    **{f"{name}_extension": kind for name, kind in _GRAPHQL_KINDS.items()},
}


def _operation(node: "Node", source: bytes) -> Found | None:
    name = text_of(child_of_type(node, "name"), source)
    return Found(text_of(child_of_type(node, "operation_type"), source), name) if name else None


def _graphql_types() -> dict[str, Rule]:
    rules: dict[str, Rule] = {}
    for node_type, kind in _GRAPHQL_TYPES.items():
        rules |= symbols(kind, node_type, name=by_child("name"))
    return rules


GRAPHQL = Language(
    name="graphql",
    grammar=(BUNDLE, "graphql"),
    suffixes=(".graphql", ".gql", ".graphqls"),
    rules={
        **_graphql_types(),
        **symbols("directive", "directive_definition", name=by_child("name")),
        **symbols("fragment", "fragment_definition", name=by_child("fragment_name")),
        **symbols("schema", "schema_definition", name=lambda _node, _source: "schema"),
        "operation_definition": _operation,
        **role(COMMENT, "comment"),
        **groups("document", "definition", "type_system_definition", "type_system_extension", "type_definition"),
        **groups("type_extension", "executable_definition", "ERROR"),
    },
    nodes=NodeTypes(
        bodies=frozenset({"fields_definition", "input_fields_definition", "enum_values_definition", "selection_set"}),
        bodiless=frozenset({"union_type_definition", "directive_definition"}),
        enum_values=frozenset({"enum_value_definition"}),
        additions=frozenset(it for it in _GRAPHQL_TYPES if it.endswith("_extension")),
        above=frozenset({"comment", "description"}),
        parts=dict.fromkeys(_GRAPHQL_TYPES, _GRAPHQL_PARTS),
    ),
)

ROWS = (PROTOBUF, GRAPHQL)
