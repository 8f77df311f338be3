"""Parse with tree-sitter, limiting the work of a parse."""

import re
import threading
from time import monotonic, thread_time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

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
_BLOCK_BYTES = 1 << 10

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
        before: a text of the same length with mostly the same rows: the parser reuses its tree where it can.
        only_whole: whether to give up at the first error; going on behind one takes most of the time.
    """
    from tree_sitter import Parser

    source = _well_formed(source)
    is_late = _limit(_SECONDS + _SECONDS_PER_MEGABYTE * len(source) / 1_000_000)

    def is_over(offset: int, has_error: object) -> bool:
        return bool(has_error) or is_late(offset, has_error)

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
        parser, progress = Parser(language), is_over if only_whole else is_late
        if known is None:
            tree = parser.parse(read, progress_callback=progress)
        else:
            tree = parser.parse(read, known, progress_callback=progress)
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
    """Return a copy of a tree with the changed rows of its text noted; None for far too many."""
    # Numbers and first bytes of the first rows, and all of the last ones.
    runs: list[tuple[int, int, Row]] = []
    near = -1
    for row in changed_rows(_well_formed(before.data), source):
        number, start, _ = row
        if number <= near:
            runs[-1] = *runs[-1][:2], row
        else:
            runs.append((number, start, row))
        near = number + _CLOSE_ROWS
    if len(runs) > _MOST_EDITS:
        return None
    tree = before.tree.copy()
    for first, begin, (last, start, end) in runs:
        point = last, end - start
        tree.edit(begin, end, end, (first, 0), point, point)
    return tree


Row = tuple[int, int, int]
"""A row's number, and its first byte and its end without the line feed."""


def changed_rows(before: bytes, source: bytes) -> "Iterator[Row]":
    """Yield the differing rows of texts with equal numbers of rows; most blocks are equal, and need no look inside."""
    place = number = 0
    while place < len(source):
        end = source.find(b"\n", place + _BLOCK_BYTES) + 1 or len(source)
        old, new = before[place:end], source[place:end]
        if old != new:
            start = place
            for row, (there, here) in enumerate(zip(old.split(b"\n"), new.split(b"\n"), strict=False), number):
                if there != here:
                    yield row, start, start + len(here)
                start += len(here) + 1
        number += new.count(b"\n")
        place = end


def _well_formed(source: bytes) -> bytes:
    """Replace bytes outside UTF-8, such as those of a lone surrogate, by "?".

    If a part read ends within a character or with such a byte, tree-sitter 0.26 reads again from there. If that read is
    late and gives nothing, tree-sitter decodes from a null pointer and crashes. So no part may end like this.
    """
    if source.isascii():
        return source
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
