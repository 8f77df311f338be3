"""Divide very long pages and XML at places where their parts can be read alone, so memory is bounded."""

from collections.abc import Iterator
from typing import NamedTuple

from cqm.chunkers.documents.markup import CLOSE, EMPTY, OPEN, Token, tokens_of_html, tokens_of_xml
from cqm.chunkers.splitting import line_start

_DEEPEST = 24
"""Deeper elements are opened by no prefix; none is distinguished so deep."""
_LONGEST_TAG = 2_000

_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_NO_LEVEL = 9
_BLOCKS = dict.fromkeys(("article", "div", "dl", "dt", "li", "p", "section", "table", "tr", "ul"), 7)


class Segment(NamedTuple):
    """A part of a text.

    Attributes:
        start, end: its characters; segments are gapless.
        prefix: written before it, so it is read as within the whole: the opening tags around it.
    """

    start: int
    end: int
    prefix: str = ""


def segments_of_html(text: str, most: int) -> Iterator[Segment]:
    """Yield the parts of a page, cut at headings of the highest level near the end of each, or else at blocks.

    Parameters:
        most: characters of a part; more only where it has neither headings nor blocks.
    """
    start, best, at = 0, _NO_LEVEL, 0
    for token in tokens_of_html(text) if len(text) > most else ():
        level = _HEADINGS.get(token.name) or _BLOCKS.get(token.name, _NO_LEVEL)
        if level == _NO_LEVEL or token.kind != OPEN or token.start - start < most // 2:
            continue
        if token.start - start > most and at > start:
            yield Segment(start, at)
            start, best = at, _NO_LEVEL
        elif level <= best:
            best, at = level, line_start(text, token.start)
    yield Segment(start, len(text))


def segments_of_xml(text: str, most: int) -> Iterator[Segment]:
    """Yield the parts of XML, cut before the least deep elements near the end of each.

    Parameters:
        most: characters of a part; more only where an element without elements is longer.
    """
    start, prefix = 0, ""
    at, best = 0, _DEEPEST + 1
    opened: list[Token] = []
    around: tuple[Token, ...] = ()
    counts: dict[str, int] = {}
    for token in tokens_of_xml(text) if len(text) > most else ():
        if token.kind == CLOSE:
            while counts.get(token.name):
                closed = opened.pop()
                counts[closed.name] -= 1
                if closed.name == token.name:
                    break
        if token.kind not in (OPEN, EMPTY):
            continue
        if token.start - start > most and at > start:
            yield Segment(start, at, prefix)
            start, prefix, best = at, "".join(_tag(text, it) for it in around), _DEEPEST + 1
        if token.start - start >= most // 2 and len(opened) <= best and opened:
            at, best, around = line_start(text, token.start), len(opened), tuple(opened)
        if token.kind == OPEN:
            opened.append(token)
            counts[token.name] = counts.get(token.name, 0) + 1
    yield Segment(start, len(text), prefix)


def _tag(text: str, token: Token) -> str:
    return text[token.start : token.end] if token.end - token.start <= _LONGEST_TAG else f"<{token.name}>"
