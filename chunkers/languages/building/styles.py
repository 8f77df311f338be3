"""Define the rows of SCSS and Less."""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from cqm.chunkers.grammars import BUNDLE
from cqm.chunkers.languages.building.unread_styles import readable_less, readable_scss
from cqm.chunkers.languages.model import (
    COMMENT,
    GROUP,
    IMPORTS,
    Found,
    Language,
    NodeTypes,
    Part,
    by_child,
    child_of_type,
    groups,
    role,
    symbols,
    text_of,
)
from cqm.chunkers.languages.usage_nodes import UsageNodes

if TYPE_CHECKING:
    from tree_sitter import Node


_NOTE = re.compile(rb"/\*(?:[^*]|\*(?!/))*+\*/|(?<![:\"'])//[^\n]*")


def _head(node: "Node", source: bytes) -> tuple[str, "Node | None"]:
    body = child_of_type(node, "block", "keyframe_block_list")
    end = body.start_byte if body else node.end_byte
    return " ".join(_NOTE.sub(b" ", source[node.start_byte : end]).decode("utf-8", "replace").split()), body


_RELATIVE = re.compile(rb"(?:^|[{};\n])[ \t]*(?P<sign>[>+~])[ \t]*$")
_MOST_BLANKS = 80


def _rule(node: "Node", source: bytes) -> Found:
    head, body = _head(node, source)
    if relative := _RELATIVE.search(source, max(node.start_byte - _MOST_BLANKS, 0), node.start_byte):
        head = f"{relative['sign'].decode()} {head}"
    # Variables in a rule are the rule's own.
    return Found("rule", head, (body,) if body and body.type == "block" else (), local=True)


def _at_rule(node: "Node", source: bytes) -> Found | None:
    head, body = _head(node, source)
    if body is None:
        return None
    if head.endswith(":"):
        return Found("variable", head.rstrip(": "))
    return Found("rule", head, (body,) if body.type == "block" else ())


def _with_block(node: "Node", _source: bytes) -> Found | None:
    body = child_of_type(node, "block")
    return Found(GROUP, "", (body,)) if body else None


def _declaration(node: "Node", source: bytes) -> Found | None:
    name = text_of(node.named_children[0], source) if node.named_children else ""
    return Found("variable", name) if name.startswith(("$", "@")) and len(name) > 1 else None


def _custom_properties(rule: "Node", source: bytes) -> Iterator[Part]:
    """Yield the custom properties declared in a rule."""
    body = child_of_type(rule, "block")
    for it in body.named_children if body else ():
        name = it.named_children[0] if it.type == "declaration" and it.named_children else None
        if name is not None and source.startswith(b"--", name.start_byte):
            yield Part("variable", text_of(name, source), it, name, is_beside=True)


_NODES = NodeTypes(
    bodies=frozenset({"block"}),
    bodiless=frozenset({"declaration"}),
    loose=frozenset({"declaration"}),
    parts={"rule_set": _custom_properties},
)

SCSS = Language(
    name="scss",
    grammar=(BUNDLE, "scss"),
    suffixes=(".scss",),
    rules={
        **symbols("mixin", "mixin_statement", name=by_child("name")),
        **symbols("function", "function_statement", name=by_child("name")),
        "placeholder": _rule,
        "rule_set": _rule,
        "declaration": _declaration,
        "include_statement": _with_block,
        **dict.fromkeys(("media_statement", "supports_statement", "keyframes_statement", "at_rule"), _at_rule),
        **role(COMMENT, "comment", "single_line_comment", "js_comment"),
        **role(IMPORTS, "use_statement", "import_statement", "forward_statement", "charset_statement"),
        **groups("if_statement", "if_clause", "else_clause", "else_if_clause", "block", "ERROR"),
    },
    removed=(readable_scss,),
    names_from_text=True,
    nodes=_NODES,
    usage=UsageNodes(calls=frozenset({"include_statement"})),
)


_MIXIN = re.compile(r"((?:[.#](?:[\w-]|@\{[^{}]*\})+\s*)+)\(")


def _less_rule(node: "Node", source: bytes) -> Found:
    found = _rule(node, source)
    mixin = _MIXIN.match(found.name)
    return found._replace(kind="mixin", name=mixin[1].rstrip()) if mixin else found


LESS = Language(
    name="less",
    grammar=("tree_sitter_less", "language"),
    extra="languages",
    suffixes=(".less",),
    rules={
        **dict.fromkeys(("rule_set", "mixin_definition"), _less_rule),
        "declaration": _declaration,
        **dict.fromkeys(("media_statement", "supports_statement", "keyframes_statement", "at_rule"), _at_rule),
        **role(COMMENT, "comment", "single_line_comment", "js_comment"),
        **role(IMPORTS, "import_statement", "plugin_statement", "charset_statement"),
        **groups("ERROR"),
    },
    removed=(readable_less,),
    names_from_text=True,
    nodes=_NODES,
)

ROWS = (SCSS, LESS)
