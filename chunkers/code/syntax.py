"""Parse with tree-sitter, limiting the work of a parse."""

import re
import threading
from itertools import accumulate
from operator import ne
from time import monotonic, thread_time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from tree_sitter import Language as Grammar
    from tree_sitter import Node, Tree

    from cqm.chunkers.recovery.reading import Read

# Real code takes 0.1 to 0.2 seconds a megabyte; some non-code takes hours. Only this thread's own work counts, so a
# busy machine gives the same chunks.
_SECONDS = 1.0
_SECONDS_PER_MEGABYTE = 2.0

_UNNOTED_SECONDS = 0.05
"""After these a parse's work begins to count."""

_MOST_EDITS = 1_000
_CLOSE_ROWS = 2
"""Changed rows this close to each other are one edit: "#if" and "#endif" around a row."""

_READ_BYTES = 1 << 13
_FIRST_BITS, _CONTINUES = 0xC0, 0x80
"""A byte with the first two bits 10 continues a character of UTF-8."""
_STRAY = re.compile("[\udc80-\udcff]")
"""Bytes outside UTF-8, as decoded by "surrogateescape"."""


class _Lent(threading.local):
    """A parser's input: a buffer, and views of its beginning by their length.

    Each thread has its own, since a parse holds no lock while it asks for the next part.
    """

    def __init__(self) -> None:
        self.buffer = bytearray(_READ_BYTES)
        self.views: dict[int, memoryview] = {}


_lent = _Lent()


def parse(
    source: bytes, language: "Grammar", before: "Read | None" = None, *, only_whole: bool = False
) -> "Tree | None":
    """Parse UTF-8 text; return None if it takes far more work than real files of its size.

    Parameters:
        source: the text.
        language: its grammar.
        before: a text of the same length with mostly the same rows: the parser takes over what it can of its tree.
        only_whole: whether to give up at the first error; going on behind one takes most of the time.
    """
    from tree_sitter import Parser

    source = _well_formed(source)
    is_late = _limit(_SECONDS + _SECONDS_PER_MEGABYTE * len(source) / 1_000_000)

    def is_over(offset: int, has_error: object) -> bool:
        return (only_whole and bool(has_error)) or is_late(offset, has_error)

    def read(offset: int, point: object) -> bytes | memoryview:
        # A scanner looking ahead to the end again and again must find an end, since only `is_late` can stop a parse.
        if is_late(offset, point):
            return b""
        end = offset + _READ_BYTES
        while end < len(source) and source[end] & _FIRST_BITS == _CONTINUES:
            end -= 1
        return _view(source[offset:end])

    # Only parsing through a read function honours `progress_callback`. Never use `Node.text` with such a tree.
    try:
        known = _edited(before, source) if before else None
        parser = Parser(language)
        if known is None:
            tree = parser.parse(read, progress_callback=is_over)
        else:
            tree = parser.parse(read, known, progress_callback=is_over)
    except ValueError:
        return None
    # A late parse has not read the whole source.
    return None if is_late(0, None) else tree


def _limit(allowed: float) -> "Callable[[int, object], bool]":
    """Return a function telling if this thread has worked for so many seconds from now on.

    A thread's work never exceeds elapsed time, and reading elapsed time takes a tenth as long: most parses end before
    they ask for the thread's.
    """
    noted = monotonic() + _UNNOTED_SECONDS
    earliest, deadline = noted + allowed, 0.0

    def is_late(_offset: int, _has_error: object) -> bool:
        nonlocal deadline
        now = monotonic()
        if now <= noted:
            return False
        deadline = deadline or thread_time() + allowed
        return now > earliest and thread_time() > deadline

    return is_late


def _edited(before: "Read", source: bytes) -> "Tree | None":
    """Return a copy of a tree that knows which rows of its text have changed; None for far too many."""
    rows, new_rows = _well_formed(before.data).split(b"\n"), source.split(b"\n")
    changed = [row for row, has_changed in enumerate(map(ne, rows, new_rows)) if has_changed]
    runs: list[tuple[int, int]] = []
    for row in changed:
        first = runs.pop()[0] if runs and runs[-1][1] >= row - _CLOSE_ROWS else row
        runs.append((first, row))
    if len(runs) > _MOST_EDITS:
        return None
    tree = before.tree.copy()
    offsets = list(accumulate(map(len, new_rows), initial=0))
    for first, last in runs:
        # The offsets lack the line feeds before.
        end = offsets[last + 1] + last
        tree.edit(offsets[first] + first, end, end, (first, 0), (last, len(rows[last])), (last, len(rows[last])))
    return tree


def _well_formed(source: bytes) -> bytes:
    """Replace bytes outside UTF-8, such as those of a lone surrogate, by "?".

    If a part read ends within a character or with such a byte, tree-sitter 0.26 reads again from there. If that read is
    late and gives nothing, tree-sitter decodes from a null pointer and crashes. So no part may end like this.
    """
    try:
        source.decode()
    except UnicodeDecodeError:
        return _STRAY.sub("?", source.decode("utf-8", "surrogateescape")).encode()
    return source


def _view(part: bytes) -> memoryview:
    """Return a part of the source as a view lent by this thread, valid until the next call.

    The parser of tree-sitter 0.26.1 never releases results of a read function: it would keep every source forever.
    """
    length = len(part)
    _lent.buffer[:length] = part
    view = _lent.views.get(length)
    if view is None:
        view = _lent.views[length] = memoryview(_lent.buffer)[:length]
    return view


def lost_rows(root: "Node") -> list[tuple[int, int]]:
    """Return the rows, half-open, of the outermost regions with syntax errors."""
    if not root.has_error:
        return []
    lost: list[tuple[int, int]] = []
    waiting = [root]
    while waiting:
        node = waiting.pop()
        if node.is_error:
            row, column = node.end_point
            lost.append((node.start_point[0], row + 1 if column else max(row, node.start_point[0] + 1)))
        elif node.has_error:
            waiting.extend(node.children)
    return sorted(lost)
