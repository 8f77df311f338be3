"""Recognise tests written as calls: "describe('cart', () => {...})"."""

from typing import TYPE_CHECKING

from cqm.chunkers.languages.model import text_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tree_sitter import Node

TESTS = frozenset({"describe", "context", "suite", "it", "test", "specify", "bench", "feature", "scenario"})
HOOKS = frozenset({"before", "beforeEach", "beforeAll", "after", "afterEach", "afterAll"})

_TITLES = frozenset({"string", "template_string"})
_QUOTES = frozenset({"'", '"', "`"})
_MAX_CALLEE = 200


def test_name(callee: "Node", arguments: "Sequence[Node]", source: bytes) -> str:
    """Return the title of a JavaScript test or test group, or the name of a hook; empty for any other call.

    Parameters:
        callee: the called expression: "it", "describe.each(...)", "test.skip", "Deno.test", "beforeEach".
    """
    spelled = source[callee.start_byte : min(callee.end_byte, callee.start_byte + _MAX_CALLEE)].decode(errors="replace")
    words = spelled.split("(")[0].split("`")[0].split(".")
    first = arguments[0] if arguments else None
    if words[0] in TESTS and first is not None:
        return title_of(first, source) or words[0]
    if words[0] in HOOKS:
        return words[0]
    # "/x/.test(...)" has no literal title together with a function; the callers look for the function.
    is_member = words[-1] in TESTS and first is not None and first.type in _TITLES
    return title_of(first, source) if is_member and first is not None else ""


def title_of(node: "Node", source: bytes) -> str:
    """Return the first line of a title without its quotes."""
    text = text_of(node, source)
    is_quoted = text[:1] in _QUOTES and text[-1:] == text[:1]
    return (text[1:-1] if is_quoted else text).split("\n")[0].strip()
