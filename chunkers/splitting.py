"""Where to cut a text that is longer than the limit: into even spans, at the best boundary near each ideal one."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import accumulate, pairwise
from typing import NamedTuple

from cqm.chunkers.tokens import quarters

Span = tuple[int, int]

LineStrength = Callable[[str, str], int]
"""How good a cut is between a line and the line after it, which is empty at the end of the text."""


class Unit(NamedTuple):
    """A stretch of text that is never cut inside.

    Attributes:
        end: where it ends; it begins where the unit before it ends.
        size: in quarters of a token.
        strength: how good a cut after it is; the largest within reach wins.
    """

    end: int
    size: int
    strength: int


Columns = tuple[list[int], list[int], list[int]]
"""The ends, sizes and strengths of units."""


_LINE = re.compile(r"[^\n]*\n|[^\n]+")
# The look-behind keeps a run of marks from being tried again from each of its characters, which would be quadratic.
_WESTERN_MARKS = r"""(?<![.!?])[.!?]++["')\]]*+"""
# After a Japanese quotation a particle goes on with the sentence.
_JAPANESE_MARKS = r"[。！？]++(?:[」』）]++(?![、とがはをのにもで]))?+(?![」』）])"  # noqa: RUF001 - full-width marks
_SENTENCE_END = re.compile(rf"(?:{_WESTERN_MARKS}(?=[ \t])|{_JAPANESE_MARKS})[ \t]*+")
_SENTENCE_END_OR_LINE = re.compile(rf"(?:{_WESTERN_MARKS}(?=\s)|{_JAPANESE_MARKS})[ \t]*+\r?\n?")

# Where a line may be cut, best first: after a space, then after what separates in minified code and data.
_SEPARATORS = (" ", "\t", "\u3000", ";", "}", ",")


def line_start(text: str, position: int) -> int:
    """Where the line of a position begins when only blanks are between, so that cuts are at whole lines.

    Otherwise it is the position. Time is linear in the blanks, however long the line is.
    """
    start = position
    while start and text[start - 1] in " \t":
        start -= 1
    return start if not start or text[start - 1] == "\n" else position


def even_spans(start: int, units: list[Unit], limit: int) -> list[Span]:
    """Group units into spans within the limit, few and of about the same size; a larger unit is a span of its own.

    A cut may come as early as half the ideal size, or as late as the limit, for the sake of a stronger boundary.
    Time is linear in the number of units, but for a binary search a span.

    Parameters:
        start: where the first unit begins.
        units: in order, without gaps between them.
        limit: of a span, in quarters of a token.
    """
    return even_spans_of(
        start, ([it.end for it in units], [it.size for it in units], [it.strength for it in units]), limit
    )


def even_spans_of(start: int, columns: Columns, limit: int) -> list[Span]:
    """`even_spans` of units by column, which spares making so many of them where they are rows of a text."""
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
    """The lines of a span as units; a line over the limit is divided at sentences, then words, then anywhere.

    Parameters:
        text: the whole text; a line ends at a line feed only, as for git and grep.
        span: characters of the text; may begin and end inside a line.
        limit: in quarters of a token.
        strength: judges the boundary after a line.
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
    # A character has at most 2 quarters: so many always fit.
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


def units_at(text: str, cuts: Iterable[tuple[int, int]], span: Span, limit: int) -> list[Unit]:
    """The stretches of a span between places where it may be cut, as units; one over the limit is divided further.

    Parameters:
        text: the whole text.
        cuts: where one may cut, in order, each with the strength of a cut there; those outside of the span count not.
        span: characters of the text.
        limit: in quarters of a token.
    """
    position, end = span
    units: list[Unit] = []
    inside = ((place, strength) for place, strength in cuts if place < end)
    for place, strength in (*inside, (end, 0)):
        if place <= position:
            continue
        size = quarters(text[position:place])
        if size <= limit:
            units.append(Unit(place, size, strength))
        else:
            units.extend(line_units(text, (position, place), limit, lambda _line, _following: 0))
            units[-1] = units[-1]._replace(strength=strength)
        position = place
    return units


def sentence_ends(text: str, span: Span) -> Iterator[int]:
    """Where sentences of a span end, in order: after their marks and the blanks or the line's end that follows."""
    return (match.end() for match in _SENTENCE_END_OR_LINE.finditer(text, *span) if match.end() < span[1])


def overlap_before(text: str, start: int, begins: Sequence[int], budget: int) -> int:
    """How many characters before a place to repeat after it: as many as the budget holds, from a good beginning on.

    Parameters:
        text: the whole text.
        start: where what repeats begins.
        begins: where the repeated part may begin, in order.
        budget: in quarters of a token.
    """
    first, end = bisect_left(begins, start - budget), bisect_left(begins, start)
    fitting = (begin for begin in begins[first:end] if quarters(text[begin:start]) <= budget)
    return start - next(fitting, start)


def line_strength(line: str, following: str) -> int:
    """Best after a blank line, and before a line that is not indented; see `cutting.LineStrength`."""
    if following.isspace():
        return 0
    indented = following[:1].isspace()
    return (0 if indented else 1) + (0 if line.strip() else 2)
