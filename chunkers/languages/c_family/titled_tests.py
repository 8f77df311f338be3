"""Read tests by macros with a title: `TEST_CASE("adds", "[math]") {...}` of Catch2 and doctest."""

import re
from typing import TYPE_CHECKING

from cqm.chunkers.languages.model import GROUP, LEADING, Found, blank, child_of_type, text_of

if TYPE_CHECKING:
    from tree_sitter import Node

_TEXT = rb"\"(?:[^\"\\\n]|\\.)*+\""
_TITLE = re.compile(_TEXT)
_TITLED = re.compile(
    rb"(?P<macro>[A-Z](?<![\w.\"].)[A-Z0-9_]{2,})[A-Z0-9](?P<title>\s*+\(\s*+" + _TEXT + rb")"
    rb"(?P<rest>(?:[^()\"{};#]|" + _TEXT + rb"|\((?:[^()\"{};#]|" + _TEXT + rb")*+\))*+\))"
    rb"(?=(?:\s|//[^\n]*+\n)*+\{)"
)


def with_titles(source: bytes) -> bytes:
    """Make statements of such macros, which the grammar reads: `TEST_CAS("adds"         );{...}`."""
    return _TITLED.sub(lambda it: it["macro"] + it["title"] + blank(it["rest"][:-1]) + b");", source)


def title_of(node: "Node | None", source: bytes) -> str:
    """Return the title in such a statement; empty for any other."""
    call = child_of_type(node, "call_expression") if node is not None and node.type == "expression_statement" else None
    arguments = call.child_by_field_name("arguments") if call is not None else None
    values = arguments.named_children if arguments is not None else []
    if call is None or len(values) != 1 or values[0].type != "string_literal":
        return ""
    # In the text itself, the title stands one further.
    found = _TITLE.search(source, values[0].start_byte, values[0].end_byte + 1)
    is_macro = text_of(call.child_by_field_name("function"), source).isupper()
    return found[0][1:-1].decode("utf-8", "replace") if found and is_macro else ""


def head(node: "Node", source: bytes) -> Found | None:
    """Classify a statement: one with a title leads the block behind it."""
    if not title_of(node, source):
        return None
    block = node.next_named_sibling
    return Found(LEADING) if block is not None and block.type == "compound_statement" else None


def body(node: "Node", source: bytes) -> Found | None:
    """Classify a block: the one behind a title is a test."""
    before = node.prev_named_sibling
    title = title_of(before, source)
    if not title:
        return Found(GROUP, "", (node,))
    return Found("test", title, (node,), local=True, opening=before)
