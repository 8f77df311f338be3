"""Define the row of CSS."""

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
from cqm.chunkers.languages.unread import CSS_SIGNS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree_sitter import Node


def _css_at_rule(node: "Node", source: bytes) -> Found:
    body = child_of_type(node, "block", "keyframe_block_list")
    head = text_of(node, source)[: body.start_byte - node.start_byte] if body else text_of(node, source)
    return Found("rule", " ".join(head.split()), (body,) if body and body.type == "block" else ())


def _css_rule(node: "Node", source: bytes) -> Found:
    body = child_of_type(node, "block")
    selectors = " ".join(text_of(child_of_type(node, "selectors"), source).split())
    return Found("rule", selectors, (body,) if body else ())


def _css_variables(node: "Node", source: bytes) -> "Iterator[Part]":
    """Yield the custom properties declared in a rule: `--color: red`."""
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
    """Return readable CSS of the same length, for a text with errors."""
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

ROWS = (CSS,)
