"""Parsing with tree-sitter: grammars loaded when first used, and a bound on the work that a parse may take."""

import functools
import importlib
import re
import threading
from time import monotonic, thread_time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Language as Grammar
    from tree_sitter import Node, Tree

# Real code takes 0.1 to 0.2 seconds a megabyte; some input that is no code takes hours. It is the time of this thread's
# own work, so that a busy machine gives the same chunks.
_SECONDS = 1.0
_SECONDS_PER_MEGABYTE = 2.0

_READ_BYTES = 1 << 13
_FIRST_BITS, _CONTINUES = 0xC0, 0x80
"""A byte whose first two bits are 10 goes on with a character of UTF-8."""
_STRAY = re.compile("[\udc80-\udcff]")
"""Bytes that are no UTF-8, as "surrogateescape" decodes them."""


class _Lent(threading.local):
    """What the parser reads from: a buffer, and views of its beginning by their length.

    Each thread has its own, since a parse holds no lock while it asks for the next part.
    """

    def __init__(self) -> None:
        self.buffer = bytearray(_READ_BYTES)
        self.views: dict[int, memoryview] = {}


_lent = _Lent()


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

    source = _well_formed(source)
    allowed = _SECONDS + _SECONDS_PER_MEGABYTE * len(source) / 1_000_000
    # A thread works no longer than the time that goes by, and asking for that takes a tenth of the time.
    earliest, deadline = monotonic() + allowed, thread_time() + allowed

    def is_late(_offset: int, _has_error: object) -> bool:
        return monotonic() > earliest and thread_time() > deadline

    def read(offset: int, point: object) -> bytes | memoryview:
        # A scanner that looks ahead to the end again and again must find an end, since only `is_late` can end a parse.
        if is_late(offset, point):
            return b""
        end = offset + _READ_BYTES
        while end < len(source) and source[end] & _FIRST_BITS == _CONTINUES:
            end -= 1
        return _view(source[offset:end])

    # Only the form that reads through a function honours `progress_callback`. Never ask such a tree for `Node.text`.
    try:
        tree = Parser(language).parse(read, progress_callback=is_late)
    except ValueError:
        return None
    # What was read when it was late is not the whole source.
    return None if is_late(0, None) else tree


def _well_formed(source: bytes) -> bytes:
    """The source with a "?" for each byte that is no UTF-8, such as those of a lone surrogate.

    Where a part that was read ends within a character, or with such a byte, tree-sitter 0.26 reads again from there.
    When that read gives nothing, because it is late, it decodes from a null pointer and crashes. So no part may end so.
    """
    try:
        source.decode()
    except UnicodeDecodeError:
        return _STRAY.sub("?", source.decode("utf-8", "surrogateescape")).encode()
    return source


def _view(part: bytes) -> memoryview:
    """A part of the source as a view that this thread lends, good until the next call.

    The parser of tree-sitter 0.26.1 never releases what a read function returns: it would keep every source for good.
    """
    length = len(part)
    _lent.buffer[:length] = part
    view = _lent.views.get(length)
    if view is None:
        view = _lent.views[length] = memoryview(_lent.buffer)[:length]
    return view


def lost_rows(root: "Node") -> list[tuple[int, int]]:
    """The first and last rows of the outermost regions that the grammar could not make sense of."""
    if not root.has_error:
        return []
    lost: list[tuple[int, int]] = []
    waiting = [root]
    while waiting:
        node = waiting.pop()
        if node.is_error:
            lost.append((node.start_point[0], node.end_point[0]))
        elif node.has_error:
            waiting.extend(node.children)
    return lost
