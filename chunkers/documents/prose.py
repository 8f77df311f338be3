"""Cut text without a grammar: prose at paragraphs, then sentences; anything else at blank lines, then lines."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from cqm.chunkers.model import ChunkOptions, Piece
from cqm.chunkers.splitting import Span, Unit, even_spans, line_strength, line_units, overlap_before, sentence_ends
from cqm.chunkers.tokens import QUARTERS, quarters

_PARAGRAPH_STRENGTH = 3

_BLANK_LINES = re.compile(r"\n(?:[ \t\r\f\v]*+\n)++")

_SENTENCE_MARKS = (".", "!", "?", ":", "。", "！", "？", '."', ".)", "。」")  # noqa: RUF001 - full-width marks


def pieces_of_prose(text: str, options: ChunkOptions) -> list[Piece]:
    """Cut prose between paragraphs; a paragraph over the limit at the ends of sentences.

    The pieces are gapless and of similar length, so no small rest remains at the end. A part of a divided paragraph
    repeats the last sentences of the previous part, see `ChunkOptions.overlap_percent`.
    """
    limit, least = options.max_tokens * QUARTERS, options.min_tokens * QUARTERS
    core = limit - limit * options.overlap_percent // 100
    pieces: list[Piece] = []
    for region in _regions(text, limit, least):
        spans = even_spans(region.start, _units(text, region, core), core if region.is_divided else limit)
        for start, end in spans:
            size = quarters(text[start:end])
            before = pieces[-1].start if pieces else 0
            budget = min(limit - core, limit - size) if region.first < start < region.last else 0
            overlap = _overlap(text, (max(before, region.first), start), budget) if budget > 0 else 0
            pieces.append(Piece(start, end, "text", overlap=overlap))
    return pieces


class _Region(NamedTuple):
    """Paragraphs cut together: all within the limit, or one over it with small ones beside it.

    Attributes:
        start, end: characters, half-open.
        paragraphs: their ends, including the following blank lines.
        first, last: characters of the paragraph over the limit; equal without one.
    """

    start: int
    end: int
    paragraphs: list[int]
    first: int
    last: int

    @property
    def is_divided(self) -> bool:
        return self.first < self.last


def _regions(text: str, limit: int, least: int) -> Iterator[_Region]:
    start = position = 0
    ends: list[int] = []
    for end in (*(match.end() for match in _BLANK_LINES.finditer(text)), len(text)):
        if end > position and quarters(text[position:end]) > limit:
            # A small paragraph before it goes with it, such as its title.
            if ends and quarters(text[start:position]) >= least:
                kept = ends[:-1] if len(ends) > 1 and _is_small(text, ends[-2], position, least) else ends
                yield _Region(start, kept[-1], kept, start, start)
                start, ends = kept[-1], ends[len(kept) :]
            yield _Region(start, end, [*ends, end], position, end)
            start, ends = end, []
        elif end > position:
            ends.append(end)
        position = end
    if ends:
        yield _Region(start, len(text), ends, start, start)


def _is_small(text: str, start: int, end: int, least: int) -> bool:
    return quarters(text[start:end]) < least


def _units(text: str, region: _Region, core: int) -> list[Unit]:
    units: list[Unit] = []
    position = region.start
    for end in region.paragraphs:
        if position == region.first and region.is_divided:
            units.extend(line_units(text, (position, end), core, prose_strength))
        else:
            units.append(Unit(end, quarters(text[position:end]), _PARAGRAPH_STRENGTH))
        position = end
    return units


def _overlap(text: str, span: Span, budget: int) -> int:
    start, end = span
    begins = list(sentence_ends(text, (max(start, end - budget), end)))
    return overlap_before(text, end, begins, budget)


def pieces_of_lines(text: str, options: ChunkOptions) -> list[Piece]:
    """Cut any text at lines, best after a blank line and before an unindented one; gapless and even."""
    spans = spans_of_lines(text, (0, len(text)), options.max_tokens)
    return [Piece(start, end, "code") for start, end in spans]


def spans_of_prose(text: str, span: Span, max_tokens: int) -> list[Span]:
    """Cut a part of a text as `pieces_of_prose` does."""
    limit = max_tokens * QUARTERS
    return even_spans(span[0], line_units(text, span, limit, prose_strength), limit)


def spans_of_lines(text: str, span: Span, max_tokens: int) -> list[Span]:
    """Cut a part of a text as `pieces_of_lines` does."""
    limit = max_tokens * QUARTERS
    return even_spans(span[0], line_units(text, span, limit, line_strength), limit)


def prose_strength(line: str, following: str) -> int:
    """Rate cuts after a blank line best, then cuts after a sentence; see `splitting.LineStrength`."""
    if not line.strip():
        return 2 if following.strip() else 0
    return 1 if line.rstrip().endswith(_SENTENCE_MARKS) else 0
