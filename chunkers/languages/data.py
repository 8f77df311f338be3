"""Define the rows of SQL and CSS."""

import re
from typing import TYPE_CHECKING

from cqm.chunkers.grammars import BUNDLE
from cqm.chunkers.languages.model import (
    COMMENT,
    IMPORTS,
    Found,
    Language,
    NodeTypes,
    Part,
    Unread,
    blanked,
    child_of_type,
    groups,
    role,
    text_of,
)
from cqm.chunkers.languages.routines import HEAD, MEMBER, without_routines
from cqm.chunkers.languages.unread import CSS_SIGNS
from cqm.chunkers.languages.usage_nodes import UsageNodes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree_sitter import Node

_SQL_KINDS = {
    "create_table": "table",
    "create_view": "view",
    "create_materialized_view": "view",
    "create_function": "function",
    "create_procedure": "function",
    "create_trigger": "function",
    "create_type": "type",
    "create_schema": "namespace",
    "create_database": "namespace",
}


def _sql_statement(node: "Node", source: bytes) -> Found | None:
    inner = node.named_children[0] if node.named_children else None
    if inner is None or not inner.type.startswith("create_"):
        return None
    if routine := HEAD.match(source, node.start_byte):
        return _sql_routine(inner, routine)
    if not _is_table(inner, source):
        return None
    if inner.type == "create_index":
        name = inner.child_by_field_name("column")
    else:
        name = child_of_type(inner, "object_reference", "identifier")
    return Found(_SQL_KINDS.get(inner.type, "statement"), _sql_name(name, source))


def _is_table(node: "Node", source: bytes) -> bool:
    """Tell a table from what an error has the grammar read as one: its word is only in the tree."""
    keyword = child_of_type(node, "keyword_table")
    return node.type != "create_table" or text_of(keyword, source).lower() == "table"


def _sql_routine(table: "Node", head: re.Match[bytes]) -> Found | None:
    """Read the head of a routine, a table to the grammar, and the routines of a package, which are its columns."""
    kind = " ".join(head["kind"].decode().lower().split())
    body = child_of_type(table, "column_definitions") if kind in ("package", "package body", "type body") else None
    within = {"column_definition": _sql_member}
    if kind == "cast":
        return None
    name = _unquoted(head["name"].decode("utf-8", "replace"))
    return Found(_SQL_ROUTINES.get(kind, "function"), name, (body,) if body else (), within=within)


_SQL_ROUTINES = {
    **dict.fromkeys(("package", "package body"), "module"),
    **dict.fromkeys(("domain", "type body"), "type"),
    **dict.fromkeys(("policy", "rule", "synonym", "publication", "subscription", "server", "user"), "statement"),
    **dict.fromkeys(("tablespace", "collation"), "statement"),
}


def _sql_member(node: "Node", source: bytes) -> Found | None:
    member = MEMBER.match(source, source.rfind(b"\n", 0, node.start_byte) + 1)
    return Found("function", _unquoted(member["name"].decode("utf-8", "replace"))) if member else None


def _sql_parts(node: "Node", source: bytes) -> "Iterator[Part]":
    """Yield the columns of a table, and the name of what is too small for a symbol of its own, such as an index."""
    inner = node.named_children[0] if node.named_children else None
    if inner is None:
        return
    if routine := HEAD.match(source, node.start_byte):
        kind = routine["kind"].decode().lower()
        if _SQL_ROUTINES.get(kind) == "statement":
            yield Part(kind, _unquoted(routine["name"].decode("utf-8", "replace")), inner, inner)
    elif inner.type == "create_table" and _is_table(inner, source):
        columns = child_of_type(inner, "column_definitions")
        for it in columns.named_children if columns else ():
            name = it.child_by_field_name("name") if it.type == "column_definition" else None
            if name is not None:
                yield Part("column", _sql_name(name, source), it, name)
    elif inner.type in _SQL_SMALL:
        name = inner.child_by_field_name("column") or child_of_type(inner, "object_reference", "identifier")
        if name is not None:
            yield Part(_SQL_SMALL[inner.type], _sql_name(name, source), inner, name)


_SQL_SMALL = {
    "create_index": "index",
    "create_sequence": "sequence",
    "create_role": "role",
    "create_extension": "extension",
    "create_policy": "policy",
}


def _sql_name(node: "Node | None", source: bytes) -> str:
    return _unquoted(text_of(node, source))


def _unquoted(name: str) -> str:
    return re.sub(r'["`\[\]]|\s+(?=\.)|(?<=\.)\s+', "", name)


SQL = Language(
    name="sql",
    grammar=(BUNDLE, "sql"),
    removed=(without_routines,),
    names_from_text=True,
    suffixes=(".sql", ".ddl", ".dml", ".psql", ".pgsql", ".mysql"),
    rules={
        "statement": _sql_statement,
        **role(COMMENT, "comment", "marginalia"),
        **groups("transaction", "block", "ERROR"),
    },
    nodes=NodeTypes(
        bodies=frozenset({"block", "function_body"}),
        clauses=frozenset({"function_declaration"}),
        parts={"statement": _sql_parts},
    ),
    usage=UsageNodes(members=frozenset({"object_reference"})),
)


def _css_at_rule(node: "Node", source: bytes) -> Found:
    body = child_of_type(node, "block", "keyframe_block_list")
    head = text_of(node, source)[: body.start_byte - node.start_byte] if body else text_of(node, source)
    return Found("rule", " ".join(head.split()), (body,) if body and body.type == "block" else ())


def _css_rule(node: "Node", source: bytes) -> Found:
    body = child_of_type(node, "block")
    selectors = " ".join(text_of(child_of_type(node, "selectors"), source).split())
    return Found("rule", selectors, (body,) if body else ())


def _css_variables(node: "Node", source: bytes) -> "Iterator[Part]":
    """Yield the custom properties that a rule declares: `--color: red`."""
    body = child_of_type(node, "block") if source.find(b"--", node.start_byte, node.end_byte) >= 0 else None
    for it in body.named_children if body else ():
        name = child_of_type(it, "property_name") if it.type == "declaration" else None
        if name is not None and source.startswith(b"--", name.start_byte):
            yield Part("variable", text_of(name, source), it, name, is_beside=True)


_EMPTY_ONE = re.compile(rb"(?<=;)(?P<more>(?:[ \t]*;)++)")
_FILTER = re.compile(rb"\bprogid(?P<filter>:[^;{}]*)", re.IGNORECASE)
_STAR = re.compile(rb"(?<=[;{\s])(?P<star>\*)(?=[a-z-]+[ \t]*:)")
_PAGE = re.compile(rb"@page[ \t]+[\w-]*(?P<sign>:)(?=\w)")
_HACK = re.compile(rb"(?P<hack>\\[09])(?=[ \t]*[;}!])")
_LAYERED = re.compile(rb"@import\s+(?:url\([^()]*\)|\"[^\"\n]*\"|'[^'\n]*')(?P<rest>[^;{}]*)")
_LAYER = re.compile(rb"@layer[ \t]+[\w.-]+(?:[ \t]*,[ \t]*[\w.-]+)*")


def _readable_css(source: bytes) -> bytes:
    """Return CSS of the same length that the grammar reads, for a text with errors."""
    for pattern in (_EMPTY_ONE, _FILTER, _STAR, _HACK, _PAGE, _LAYERED):
        source = pattern.sub(blanked, source)
    return _LAYER.sub(lambda it: it[0].replace(b".", b"_"), source)


CSS = Language(
    name="css",
    grammar=(BUNDLE, "css"),
    suffixes=(".css",),
    unread=Unread(CSS_SIGNS, mends=False, masks=(_readable_css,)),
    names_from_text=True,
    rules={
        "rule_set": _css_rule,
        **dict.fromkeys(("media_statement", "supports_statement", "keyframes_statement", "at_rule"), _css_at_rule),
        **role(COMMENT, "comment", "js_comment"),
        **role(IMPORTS, "import_statement", "charset_statement"),
        **groups("ERROR"),
    },
    nodes=NodeTypes(
        bodies=frozenset({"block"}),
        bodiless=frozenset({"declaration"}),
        loose=frozenset({"declaration"}),
        parts={"rule_set": _css_variables},
    ),
)

ROWS = (SQL, CSS)
