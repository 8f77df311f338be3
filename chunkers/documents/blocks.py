"""Find the blocks of a text by its lines: fences, headings, list items, table rows, paragraphs."""

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from cqm.chunkers.splitting import Span

# CommonMark 0.31.2 4.5, but with any indentation, as lists need.
_FENCE = re.compile(r"^[ \t]*(`{3,}+(?=[^`\n]*$)|~{3,}+)([^\n]*+)\n?", re.MULTILINE)
_NEAR = 4
_BLANK_ABOVE = re.compile(r"(?:\A|\n\r?)\n\Z|\A\Z")
# Longer fences count as fences of this length, so there are only few lengths to distinguish.
_LONGEST_FENCE = 8

_HEADING = r"[ ]{0,3}\#{1,6}(?:[ \t]|\r?$)"
_ITEM = r"[ \t]*(?:[-*+•・]|\d{1,9}[.)])[ \t]"
_ROW = r"[ \t]*\|"
# In a conversation, and in questions and answers.
_SPEAKER = r"[^\s:：][^:：\n]{0,30}[:：](?:[ \t]|(?<=：))"  # noqa: RUF001 - full-width
_BLANK = r"[^\S\n]*(?:\n|\Z)"

_NUMBERED = re.compile(r"\s*\d{1,9}[.)][ \t]+")
# In Markdown (setext) and reStructuredText.
_UNDERLINED = re.compile(r"\s*\S[^\n]*\n([=\-~^\"'`#*+_.:])\1{2,}\s*")
_LONGEST_TITLE = 300
_BLANK_LINE = re.compile(_BLANK)
_LINE = re.compile(
    rf"(?P<blank>{_BLANK})|(?P<heading>{_HEADING})|(?P<row>{_ROW})|(?P<start>{_ITEM}|{_SPEAKER})",
    re.MULTILINE | re.VERBOSE,
)


@dataclass(frozen=True, slots=True)
class Block:
    """A block with the blank lines after it; blocks are gapless.

    Attributes:
        start, end: characters of the text.
        kind: "heading", "fence", "row", "start" for an item or a speaker's turn, or "plain".
        is_closed: whether a blank line or the end of the text follows.
    """

    start: int
    end: int
    kind: str
    is_closed: bool


def blocks_of(text: str, span: Span) -> Iterator[Block]:
    """Yield the blocks of a part of a text; time is linear in its length, plus a binary search for each fence.

    A line in the form of a Markdown heading is a heading in any language: sentences end there too.

    Parameters:
        span: characters of the text, from the start of a line.
    """
    position = span[0]
    for start, end in _fences(text, span):
        yield from _blocks_between(text, (position, start))
        position = _after_blank_lines(text, (end, span[1]))
        yield Block(start, position, "fence", is_closed=True)
    yield from _blocks_between(text, (position, span[1]))


def after_number(text: str, block: Block) -> int:
    """Return the start of a block's text: after an item's number, as its full stop ends no sentence."""
    numbered = _NUMBERED.match(text, block.start, block.end)
    return numbered.end() if numbered and block.kind == "start" else block.start


def _fences(text: str, span: Span) -> Iterator[Span]:
    marks = list(_FENCE.finditer(text, *span))
    closers: dict[tuple[str, int], list[int]] = {}
    for number, mark in enumerate(marks):
        if not mark[2].strip():
            for length in range(3, _length(mark) + 1):
                closers.setdefault((mark[1][0], length), []).append(number)
    number = 0
    while number < len(marks):
        opener = marks[number]
        if opener[1][0] == "~" and not _BLANK_ABOVE.search(text, max(opener.start() - _NEAR, 0), opener.start()):
            # The underline of a title.
            number += 1
            continue
        after = closers.get((opener[1][0], _length(opener)), [])
        found = bisect_right(after, number)
        closer = after[found] if found < len(after) else None
        # An unclosed fence continues to the end.
        yield opener.start(), span[1] if closer is None else marks[closer].end()
        number = len(marks) if closer is None else closer + 1


def _length(fence: re.Match[str]) -> int:
    return min(len(fence[1]), _LONGEST_FENCE)


def _blocks_between(text: str, span: Span) -> Iterator[Block]:
    starts: list[tuple[int, str]] = []
    position, end = span
    before = "blank"
    while position < end:
        kind = _kind(text, position)
        if kind == "blank":
            before = kind
        elif kind != "plain" or before in ("blank", "heading"):
            starts.append((position, kind))
            before = kind
        position = (text.find("\n", position, end) + 1) or end
    yield from _between(text, span, starts)


def _kind(text: str, position: int) -> str:
    match = _LINE.match(text, position)
    return (match and match.lastgroup) or "plain"


def _between(text: str, span: Span, starts: list[tuple[int, str]]) -> Iterator[Block]:
    # Blank lines before the first block belong to it.
    if span[0] == span[1]:
        return
    kinds = [kind for _, kind in starts] or ["plain"]
    edges = [span[0], *(start for start, _ in starts[1:]), span[1]]
    for kind, (start, end) in zip(kinds, pairwise(edges), strict=True):
        own = text[start:end]
        is_closed = end == len(text) or own[len(own.rstrip()) :].count("\n") > 1
        is_title = kind == "plain" and end - start < _LONGEST_TITLE and _UNDERLINED.fullmatch(own)
        yield Block(start, end, "heading" if is_title else kind, is_closed)


def _after_blank_lines(text: str, span: Span) -> int:
    position, end = span
    while position < end and (blank := _BLANK_LINE.match(text, position)) and blank.end() > position:
        position = blank.end()
    return min(position, end)
