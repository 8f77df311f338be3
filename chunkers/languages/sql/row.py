"""Define the row of SQL."""

import re
from typing import TYPE_CHECKING

from cqm.chunkers.grammars import BUNDLE
from cqm.chunkers.languages.model import (
    COMMENT,
    Found,
    Language,
    NodeTypes,
    Part,
    Unread,
    child_of_type,
    groups,
    role,
    text_of,
)
from cqm.chunkers.languages.sql.routines import HEAD, MEMBER, without_routines
from cqm.chunkers.languages.sql.statements import OBJECT, restated
from cqm.chunkers.languages.sql.templates import MACRO, without_commands, without_templates
from cqm.chunkers.languages.unread import SQL_SIGNS
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
    if query := _sql_query(node, source):
        return query
    if inner is None or not inner.type.startswith("create_"):
        return None
    if macro := MACRO.match(source, node.start_byte):
        return Found("function", _name_in(macro))
    if routine := HEAD.match(source, node.start_byte):
        return _sql_routine(inner, routine)
    if inner.type == "create_table":
        it = OBJECT.match(source, node.start_byte)
        return Found(_SQL_KINDS.get(_kind(it), "statement"), _name_in(it)) if it else None
    if inner.type == "create_index":
        name = inner.child_by_field_name("column")
    else:
        name = child_of_type(inner, "object_reference", "identifier")
    return Found(_SQL_KINDS.get(inner.type, "statement"), _sql_name(name, source))


_QUERY = re.compile(rb"(?:--|/\*|\#)[ \t]*:?name:?[ \t]+(?P<name>[A-Za-z_][\w-]*)")
"""The comment above a query which gives it a name for programs, as for sqlc: `-- name: GetUser :one`."""
_MOST_NOTES = 20


def _sql_query(node: "Node", source: bytes) -> Found | None:
    above = node.prev_sibling
    for _ in range(_MOST_NOTES):
        if above is None or above.type not in ("comment", "marginalia"):
            return None
        if query := _QUERY.match(source, above.start_byte, above.end_byte):
            return Found("function", _name_in(query))
        above = above.prev_sibling
    return None


def _name_in(head: re.Match[bytes]) -> str:
    return _unquoted(head["name"].decode("utf-8", "replace"))


def _kind(head: re.Match[bytes]) -> str:
    return "create_" + "_".join(head["kind"].decode().lower().split())


def _sql_routine(table: "Node", head: re.Match[bytes]) -> Found | None:
    """Read the head of a routine, a table to the grammar, and the routines of a package, which are its columns."""
    kind = " ".join(head["kind"].decode().lower().split())
    body = child_of_type(table, "column_definitions") if kind in ("package", "package body", "type body") else None
    within = {"column_definition": _sql_member}
    if kind == "cast":
        return None
    name = _name_in(head)
    return Found(_SQL_ROUTINES.get(kind, "function"), name, (body,) if body else (), within=within)


_SQL_ROUTINES = {
    **dict.fromkeys(("package", "package body"), "module"),
    **dict.fromkeys(("domain", "type body"), "type"),
    **dict.fromkeys(("policy", "rule", "synonym", "publication", "subscription", "server", "user"), "statement"),
    **dict.fromkeys(("tablespace", "collation"), "statement"),
}


def _sql_member(node: "Node", source: bytes) -> Found | None:
    member = MEMBER.match(source, source.rfind(b"\n", 0, node.start_byte) + 1)
    return Found("function", _name_in(member)) if member else None


def _sql_parts(node: "Node", source: bytes) -> "Iterator[Part]":
    """Yield the columns of a table, and names of things too small for a symbol, such as an index."""
    inner = node.named_children[0] if node.named_children else None
    if inner is None:
        return
    if routine := HEAD.match(source, node.start_byte):
        kind = routine["kind"].decode().lower()
        if _SQL_ROUTINES.get(kind) == "statement":
            yield Part(kind, _name_in(routine), inner, inner)
    elif inner.type == "create_table":
        yield from _sql_parts_of_table(inner, source)
    elif inner.type in _SQL_SMALL:
        name = inner.child_by_field_name("column") or child_of_type(inner, "object_reference", "identifier")
        if name is not None:
            yield Part(_SQL_SMALL[inner.type], _sql_name(name, source), inner, name)


def _sql_parts_of_table(table: "Node", source: bytes) -> "Iterator[Part]":
    head = OBJECT.match(source, table.start_byte)
    kind = _kind(head) if head else ""
    if head is not None and kind in _SQL_SMALL:
        yield Part(_SQL_SMALL[kind], _name_in(head), table, table)
    columns = child_of_type(table, "column_definitions") if kind == "create_table" else None
    for it in columns.named_children if columns else ():
        name = it.child_by_field_name("name") if it.type == "column_definition" else None
        # A table with unreadable columns has one that stands anywhere.
        if name is not None and head is not None and b"(" in source[head.end() : name.start_byte]:
            yield Part("column", _sql_name(name, source), it, name)


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
    removed=(without_templates, without_commands, without_routines),
    unread=Unread(SQL_SIGNS, mends=False, restated=restated),
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
