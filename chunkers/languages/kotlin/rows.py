"""Define the row of Kotlin."""

import re
from typing import TYPE_CHECKING

from cqm.chunkers.grammars import BUNDLE
from cqm.chunkers.languages.hazards import nests_expressions
from cqm.chunkers.languages.kotlin.masks import (
    with_ends,
    with_one_annotation,
    without_delegation,
    without_last_annotations,
    without_soft_words,
    without_unknown,
)
from cqm.chunkers.languages.model import (
    COMMENT,
    IMPORTS,
    LEADING,
    Found,
    Language,
    NodeTypes,
    Unread,
    by_child,
    by_field,
    child_of_type,
    groups,
    role,
    symbols,
    text_of,
    words,
)
from cqm.chunkers.languages.parts import inside
from cqm.chunkers.languages.scripting import variable_kind
from cqm.chunkers.languages.unread import KOTLIN_CONTINUES, KOTLIN_LINES, KOTLIN_SIGNS
from cqm.chunkers.languages.usage_nodes import UsageNodes

if TYPE_CHECKING:
    from tree_sitter import Node

_TASK = re.compile(
    rb"tasks\s*\.\s*(?:register|create|named)\s*(?:<[\w.<>*, ]{1,200}>)?\s*\(\s*\"(?P<name>[^\"$\\\n]{1,200})\""
)


def _kotlin_class(node: "Node", source: bytes) -> Found:
    modifiers = text_of(child_of_type(node, "modifiers"), source)
    keywords = {child.type for child in node.children if not child.is_named}
    kind = "enum" if "enum" in modifiers.split() else "interface" if "interface" in keywords else "class"
    body = child_of_type(node, "class_body", "enum_class_body")
    return Found(kind, text_of(node.child_by_field_name("name"), source), (body,) if body else ())


def _kotlin_object(node: "Node", source: bytes) -> Found:
    body = child_of_type(node, "class_body")
    return Found("class", text_of(node.child_by_field_name("name"), source) or "Companion", (body,) if body else ())


def _kotlin_function(node: "Node", source: bytes) -> Found:
    # An extension function is named with its receiver: "Router.handle".
    receiver, last = "", None
    for child in node.named_children:
        if child.type == "identifier":
            break
        if child.type in ("user_type", "nullable_type"):
            receiver = text_of(child, source).split("<")[0].rstrip("?") + "."
            # In "Flow<T>.associate(crossinline f: ...)" the grammar takes the name for a part of the receiver.
            last = child.named_children[-1] if child.named_children else None
    name = text_of(node.child_by_field_name("name"), source) or text_of(last, source)
    return Found("function", receiver + name)


def _kotlin_property(node: "Node", source: bytes) -> Found:
    declaration = child_of_type(node, "variable_declaration")
    name = text_of(child_of_type(declaration, "identifier"), source)
    receiver = child_of_type(node, "user_type", "nullable_type")
    around = text_of(receiver, source).split("<")[0].rstrip("?") + "." if receiver and name else ""
    return Found(variable_kind(name), around + name)


def _kotlin_task(node: "Node", source: bytes) -> Found | None:
    # In a build file: "tasks.register<Copy>("docs") {...}"; without a lambda the grammar takes "<" for an operator.
    found = _TASK.match(source, node.start_byte, node.end_byte)
    return Found("task", found["name"].decode(errors="replace")) if found else None


KOTLIN = Language(
    name="kotlin",
    grammar=(BUNDLE, "kotlin"),
    unsafe=nests_expressions,
    removed=(without_last_annotations, without_soft_words, with_one_annotation, without_delegation),
    names_from_text=True,
    suffixes=(".kt", ".kts", ".ktm"),
    unread=Unread(
        KOTLIN_SIGNS,
        ends_at_rows=True,
        interpolates=True,
        continues=KOTLIN_CONTINUES,
        masks=(without_unknown, with_ends),
    ),
    by_lines=KOTLIN_LINES,
    rules={
        "class_declaration": _kotlin_class,
        "object_declaration": _kotlin_object,
        "companion_object": _kotlin_object,
        "function_declaration": _kotlin_function,
        "property_declaration": _kotlin_property,
        **dict.fromkeys(("call_expression", "binary_expression"), _kotlin_task),
        **symbols("type", "type_alias", name=by_field("type")),
        **symbols("constructor", "secondary_constructor", name=lambda _node, _source: "constructor"),
        **symbols("constant", "enum_entry", name=by_child("identifier")),
        **role("block", "anonymous_initializer"),
        **role(COMMENT, "line_comment", "block_comment"),
        # The grammar's node for "@OptIn(X::class)" above a function.
        **role(LEADING, "annotated_expression"),
        **role(IMPORTS, "import", "package_header", "file_annotation", "import_list"),
        **groups("ERROR"),
    },
    nodes=NodeTypes(
        packages=frozenset({"package_header"}),
        bodies=frozenset({"block", "class_body", "enum_class_body", "function_body", "lambda_literal"}),
        clauses=frozenset({"function_declaration"}),
        enum_values=frozenset({"enum_entry"}),
        parts={
            "class_declaration": inside(
                {"class_parameter": "property"},
                *("primary_constructor", "class_parameters"),
                marked_by=frozenset({"val", "var"}),
            )
        },
        local=words("fun class interface object", rb"\b[ \t]*[\w<`]"),
    ),
    usage=UsageNodes(heritage=frozenset({"delegation_specifier", "delegation_specifiers"})),
)

ROWS = (KOTLIN,)
