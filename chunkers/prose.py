"""Text without a grammar: cut at paragraphs, then sentences; anything else at blank lines, then lines."""

from cqm.chunkers.cutting import Span, even_spans, line_units
from cqm.chunkers.model import ChunkOptions, Piece
from cqm.chunkers.tokens import QUARTERS

_SENTENCE_MARKS = (".", "!", "?", ":", "。", "！", "？", '."', ".)", "。」")  # noqa: RUF001 - full-width marks


def pieces_of_prose(text: str, options: ChunkOptions) -> list[Piece]:
    """Cut prose at the ends of paragraphs; a paragraph over the limit at the ends of sentences.

    The pieces are gapless and about equally long, so that no small rest remains at the end.
    """
    spans = spans_of_prose(text, (0, len(text)), options.max_tokens)
    return [Piece(start, end, "text") for start, end in spans]


def pieces_of_lines(text: str, options: ChunkOptions, kind: str = "code") -> list[Piece]:
    """Cut any text at lines, best after a blank line and before one that is not indented; gapless and even."""
    spans = spans_of_lines(text, (0, len(text)), options.max_tokens)
    return [Piece(start, end, kind) for start, end in spans]


def spans_of_prose(text: str, span: Span, max_tokens: int) -> list[Span]:
    """A part of a text cut as `pieces_of_prose` does."""
    limit = max_tokens * QUARTERS
    return even_spans(span[0], line_units(text, span, limit, prose_strength), limit)


def spans_of_lines(text: str, span: Span, max_tokens: int) -> list[Span]:
    """A part of a text cut as `pieces_of_lines` does."""
    limit = max_tokens * QUARTERS
    return even_spans(span[0], line_units(text, span, limit, line_strength), limit)


def prose_strength(line: str, following: str) -> int:
    """Best after a blank line, then after a line that ends a sentence; see `cutting.LineStrength`."""
    if not line.strip():
        return 2 if following.strip() else 0
    return 1 if line.rstrip().endswith(_SENTENCE_MARKS) else 0


def line_strength(line: str, following: str) -> int:
    """Best after a blank line, and before a line that is not indented; see `cutting.LineStrength`."""
    if following.isspace():
        return 0
    indented = following[:1].isspace()
    return (0 if indented else 1) + (0 if line.strip() else 2)
