"""Parsing with tree-sitter: grammars loaded when first used, and a bound on the work that a parse may take."""

import functools
import importlib
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Language as Grammar
    from tree_sitter import Node, Tree

# Counting work, not seconds, gives the same chunks on a busy machine. On 22 repositories a parse took 6 steps of 100
# operations a kilobyte, 21 in the worst file, and read a byte up to 20 times. Bad input takes thousands of either.
_STEPS_PER_KILOBYTE = 60
_FREE_STEPS = 1000
_READS_PER_BYTE = 100

# Also what a node copies to give its text.
_READ_BYTES = 1 << 11


@functools.cache
def grammar(module: str, function: str) -> "Grammar":
    """The tree-sitter language of a grammar's wheel.

    Parameters:
        module: the wheel's module, such as "tree_sitter_python".
        function: its function that gives the language.
    """
    from tree_sitter import Language

    return Language(getattr(importlib.import_module(module), function)())


def parse(source: bytes, language: "Grammar") -> "Tree | None":
    """The syntax tree of UTF-8 text; None when parsing takes far more work than real files of the size do."""
    from tree_sitter import Parser

    steps = _FREE_STEPS + len(source) // 1000 * _STEPS_PER_KILOBYTE
    reads = _FREE_STEPS + len(source) // _READ_BYTES * _READS_PER_BYTE

    def read(offset: int, _point: object) -> bytes:
        nonlocal reads
        reads -= 1
        # A scanner that looks ahead to the end again and again must find an end, since only `stop` can end a parse.
        return source[offset : offset + _READ_BYTES] if reads > 0 else b""

    def stop(_offset: int, _has_error: bool) -> bool:  # noqa: FBT001 - the parser's signature
        nonlocal steps
        steps -= 1
        return steps < 0 or reads <= 0

    # Only the form that reads through a function honours `progress_callback`.
    try:
        tree = Parser(language).parse(read, progress_callback=stop)
    except ValueError:
        return None
    # A tree reads its text again for every name: from here on without end.
    within, reads = reads > 0, sys.maxsize
    return tree if within else None


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
