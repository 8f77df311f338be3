"""Split text longer than the limit into even spans, at the best boundary near each ideal cut."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate, pairwise
from typing import NamedTuple

from cqm.chunkers.tokens import quarters

Span = tuple[int, int]

LineStrength = Callable[[str, str], int]
"""Rate a cut between a line and the next one, "" at the end of the text; higher is better."""


class Unit(NamedTuple):
    """An indivisible stretch of text.

    Attributes:
        end: its last character + 1; it begins at the end of the previous unit.
        size: in quarters of a token.
        strength: rating of a cut after it; the strongest cut within reach wins.
    """

    end: int
    size: int
    strength: int


Columns = tuple[list[int], list[int], list[int]]
"""The ends, sizes and strengths of units."""


_LINE = re.compile(r"[^\n]*\n|[^\n]+")
# The look-behind stops a run of marks from being tried again from each of its characters, which would be quadratic.
_WESTERN_MARKS = r"""(?<![.!?])[.!?]++["')\]]*+"""
# After a Japanese quotation a particle continues the sentence.
_JAPANESE_MARKS = r"[。！？]++(?:[」』）]++(?![、とがはをのにもで]))?+(?![」』）])"  # noqa: RUF001 - full-width marks
_SENTENCE_END = re.compile(rf"(?:{_WESTERN_MARKS}(?=[ \t])|{_JAPANESE_MARKS})[ \t]*+")
_SENTENCE_END_OR_LINE = re.compile(rf"(?:{_WESTERN_MARKS}(?=\s)|{_JAPANESE_MARKS})[ \t]*+\r?\n?")

# Places to cut a line, best first: after a space, then after separators of minified code and data.
_SEPARATORS = (" ", "\t", "\u3000", ";", "}", ",")


def line_start(text: str, position: int) -> int:
    r"""Return the start of the line if only blanks precede the position; else the position.

    Cuts then fall on whole lines. Time is linear in the blanks, however long the line is.

        line_start("a\n    b", 6)  # 2
        line_start("a\n  x b", 6)  # 6
    """
    start = position
    while start and text[start - 1] in " \t":
        start -= 1
    return start if not start or text[start - 1] == "\n" else position


def even_spans(start: int, units: list[Unit], limit: int) -> list[Span]:
    """Group units into few spans of similar size within the limit; a larger unit becomes its own span.

    A cut may come as early as half the ideal size, or as late as the limit, to reach a stronger boundary. Time is
    linear in the number of units, plus a binary search for each span.

        units = [Unit(12, 12, 1), Unit(26, 14, 0), Unit(34, 8, 1), Unit(41, 7, 1)]
        even_spans(0, units, 30)  # [(0, 12), (12, 41)]

    Parameters:
        start: of the first unit.
        units: in order, without gaps between them.
        limit: of a span, in quarters of a token.
    """
    return even_spans_of(
        start, ([it.end for it in units], [it.size for it in units], [it.strength for it in units]), limit
    )


def even_spans_of(start: int, columns: Columns, limit: int) -> list[Span]:
    """Do the same as `even_spans` for columns instead of one `Unit` a row, to save objects."""
    ends, sizes, strengths = columns
    sums = list(accumulate(sizes))
    spans: list[Span] = []
    first = 0
    while first < len(ends):
        last = _last_of_span(first, strengths, sums, limit)
        spans.append((start, ends[last]))
        start = ends[last]
        first = last + 1
    return spans


def _last_of_span(first: int, strengths: list[int], sums: list[int], limit: int) -> int:
    before = sums[first - 1] if first else 0
    remaining = sums[-1] - before
    if remaining <= limit:
        return len(sums) - 1
    spans_left = -(-remaining // limit)
    ideal = before + remaining / spans_left
    beyond = max(bisect_right(sums, before + limit, lo=first), first + 1)
    earliest = min(bisect_left(sums, (before + ideal) / 2, lo=first), beyond - 1)
    strongest = max(strengths[earliest:beyond])
    return min((i for i in range(earliest, beyond) if strengths[i] == strongest), key=lambda i: abs(sums[i] - ideal))


def line_units(text: str, span: Span, limit: int, strength: LineStrength) -> list[Unit]:
    """Return the lines of a span as units; lines over the limit split at sentences, words, then anywhere.

    Parameters:
        text: the whole text; a line ends at a line feed only, as for git and grep.
        span: characters of the text; may begin and end inside a line.
        limit: in quarters of a token.
        strength: rates the boundary after a line.
    """
    position, end = span
    units: list[Unit] = []
    for line, following in pairwise([*_LINE.findall(text, position, end), ""]):
        size = quarters(line)
        if size <= limit:
            units.append(Unit(position + len(line), size, strength(line, following)))
        else:
            units.extend(_units_of_line(text, (position, position + len(line)), limit))
        position += len(line)
    return units


def _units_of_line(text: str, span: Span, limit: int) -> Iterator[Unit]:
    position, end = span
    ends = [match.end() for match in _SENTENCE_END.finditer(text, position, end)]
    for sentence_end in (*ends, end):
        for unit_end in _ends_within(text, (position, sentence_end), limit):
            strength = 1 if unit_end == sentence_end else 0
            yield Unit(unit_end, quarters(text[position:unit_end]), strength)
            position = unit_end


def _ends_within(text: str, span: Span, limit: int) -> Iterator[int]:
    # A character has at most 2 quarters, so this many always fit.
    position, end = span
    reach = limit if text.isascii() else limit // 2
    while end - position > reach:
        position = _last_separator(text, position + reach // 2, position + reach)
        yield position
    if position < end:
        yield end


def _last_separator(text: str, start: int, end: int) -> int:
    found = (text.rfind(separator, start, end) for separator in _SEPARATORS)
    return next((position + 1 for position in found if position >= 0), end)


def sentence_ends(text: str, span: Span) -> Iterator[int]:
    """Yield the ends of a span's sentences, after their marks and the following blanks or line end.

    `list(sentence_ends("One. Two! Three", (0, 15)))` is `[5, 10]`.
    """
    return (match.end() for match in _SENTENCE_END_OR_LINE.finditer(text, *span) if match.end() < span[1])


def overlap_before(text: str, start: int, begins: Sequence[int], budget: int) -> int:
    """Return the number of characters to repeat before a position.

    The repeated part starts at the earliest allowed beginning within the budget.

        overlap_before("One. Two. Three.", 10, [0, 5], budget=6)  # 5

    Parameters:
        begins: allowed beginnings of the repeated part, in order.
        budget: in quarters of a token.
    """
    first, end = bisect_left(begins, start - budget), bisect_left(begins, start)
    fitting = (begin for begin in begins[first:end] if quarters(text[begin:start]) <= budget)
    return start - next(fitting, start)


def line_strength(line: str, following: str) -> int:
    """Rate cuts after a blank line best, then cuts before an unindented line; see `LineStrength`."""
    if following.isspace():
        return 0
    indented = following[:1].isspace()
    return (0 if indented else 1) + (0 if line.strip() else 2)
