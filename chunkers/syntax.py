"""Parsing with tree-sitter: grammars loaded when first used, and a bound on the work that a parse may take."""

import functools
import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Language as Grammar
    from tree_sitter import Node, Tree

# Measured on 22 repositories: a parse makes 6 steps a kilobyte, 21 in the worst file. A step is 100 operations of the
# parser, 10 to 100 microseconds. Counting steps, not seconds, gives the same chunks on a busy machine.
_STEPS_PER_KILOBYTE = 60
_FREE_STEPS = 1000

# Also what a node copies to give its text.
_READ_BYTES = 1 << 11


@functools.cache
def grammar(module: str, function: str) -> "Grammar":
    """The tree-sitter language of a grammar's wheel.

    Parameters:
        module: the wheel's module, such as "tree_sitter_python".
        function: its function that gives the language.
    """
    from tree_sitter import Language  # noqa: PLC0415 - loaded only where code is chunked

    return Language(getattr(importlib.import_module(module), function)())


def parse(source: bytes, language: "Grammar") -> "Tree | None":
    """The syntax tree of UTF-8 text; None when parsing takes more steps than any real file of the size needs."""
    from tree_sitter import Parser  # noqa: PLC0415

    steps = 0
    limit = _FREE_STEPS + len(source) // 1000 * _STEPS_PER_KILOBYTE

    def stop(_offset: int, _has_error: bool) -> bool:  # noqa: FBT001 - the parser's signature
        nonlocal steps
        steps += 1
        return steps > limit

    # Only the form that reads through a function honours `progress_callback`.
    try:
        return Parser(language).parse(lambda offset, _: source[offset : offset + _READ_BYTES], progress_callback=stop)
    except ValueError:
        return None


def lost_rows(root: "Node") -> list[tuple[int, int]]:
    """The first and last rows of the outermost regions that the grammar could not make sense of."""
    if not root.has_error:
        return []
    lost: list[tuple[int, int]] = []
    waiting = [root]
    while waiting:
        node = waiting.pop()
        if node.type == "ERROR":
            lost.append((node.start_point[0], node.end_point[0]))
        elif node.has_error:
            waiting.extend(node.children)
    return lost
