"""Lines of a file as a table: numbers, coloured words, and marks on the words asked for."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from cqm.server.page import safe
from cqm.server.preview.words import Words, words_of

LONGEST_LINE = 600
"""Characters shown of a line."""
MOST_COLOURED = 60_000
"""Most characters coloured at once: Pygments may need the square of their number for a stranger's text."""

_LONGEST_KEPT = 4_000
"""Longest excerpt, in characters, to keep the colours of: at most 3 MB in all."""

Spans = Mapping[int, Sequence[tuple[int, int]]]
"""Marked characters by line: first, and the one after the last, from 0."""


class Row(NamedTuple):
    """Additions to a line.

    Attributes:
        before: rows above it, as HTML.
        shade: its class.
        link: where its number leads; empty for nowhere.
    """

    before: str = ""
    shade: str = ""
    link: str = ""


def code_table(
    path: str, lines: Sequence[str], first: int, marks: Spans, row: Callable[[int], Row] = lambda _: Row()
) -> str:
    """Write lines of a file as a table.

    Parameters:
        path: its last part decides the colours.
        lines: without ends.
        first: number of the first; 0 for lines without numbers.
        marks: by line number.
        row: additions to a line, by its number.
    """
    shown = [line if len(line) <= LONGEST_LINE else f"{line[:LONGEST_LINE]} …" for line in lines]
    text = "\n".join(shown)
    words = _coloured_words(path.rpartition("/")[2], text)
    return f"<table class='code'>{''.join(_rows(shown, text, first, words, marks, row))}</table>"


def _coloured_words(name: str, text: str) -> Words:
    """Find the coloured words of lines; those of an excerpt are kept, as most results stay while one types."""
    if len(text) <= _LONGEST_KEPT:
        return _kept_words(name, text)
    return words_of(name, text) if len(text) <= MOST_COLOURED else Words([], [])


@lru_cache(maxsize=256)
def _kept_words(name: str, text: str) -> Words:
    return words_of(name, text)


def _rows(
    lines: Sequence[str], text: str, first: int, words: Words, marks: Spans, row: Callable[[int], Row]
) -> Iterator[str]:
    start = 0
    for at, line in enumerate(lines):
        number = first + at if first else 0
        more = row(number)
        code = _coloured(text, start, start + len(line), words, marks.get(first + at, ()))
        label = f"<a href='{more.link}'>{number}</a>" if more.link else number or ""
        place = f" id='L{number}'" if more.link else ""
        shade = f" class='{more.shade}'" if more.shade else ""
        yield f"{more.before}<tr{place}{shade}><td class='n'>{label}</td><td><code>{code}</code></td></tr>"
        start += len(line) + 1


def _coloured(text: str, start: int, end: int, words: Words, marks: Sequence[tuple[int, int]]) -> str:
    """Write a line of a text: colours and marks may overlap, so both are cut at each other's ends."""
    colours = list(words.between(start, end))
    marked = [(start + a, min(start + b, end)) for a, b in marks if start + a < end]
    edges = sorted({start, end, *(it for a, b, _ in colours for it in (a, b)), *(it for pair in marked for it in pair)})
    parts: list[str] = []
    colour = mark = 0
    for a, b in pairwise(edges):
        while colour < len(colours) and colours[colour][1] <= a:
            colour += 1
        while mark < len(marked) and marked[mark][1] <= a:
            mark += 1
        shown = safe(text[a:b])
        if colour < len(colours) and colours[colour][0] <= a:
            shown = f"<i class='{colours[colour][2]}'>{shown}</i>"
        if mark < len(marked) and marked[mark][0] <= a:
            shown = f"<mark>{shown}</mark>"
        parts.append(shown)
    return "".join(parts)
