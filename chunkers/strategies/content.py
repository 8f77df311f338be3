"""The chunker of a content's own type, and what it tells of a text's sections."""

from collections.abc import Iterator
from typing import NamedTuple

from cqm.chunkers.chunk_builder import Outline, byte_count, gapless, trimmed
from cqm.chunkers.documents.prose import pieces_of_lines
from cqm.chunkers.model import ChunkOptions, Cut, Piece
from cqm.chunkers.quality import without_small
from cqm.chunkers.registry import LINES, chunker_of
from cqm.chunkers.strategies.numbering import numbered_headings
from cqm.chunkers.tokens import estimate


class Reading(NamedTuple):
    """A text as its type's chunker cuts it.

    Attributes:
        chunker: the name of the chunker.
        pieces: as it gave them.
        warnings: a sentence each.
    """

    chunker: str
    pieces: list[Piece]
    warnings: list[str]


class Section(NamedTuple):
    """What stands between a heading and the next one of any level.

    Attributes:
        start, end: characters; sections are gapless.
        path: titles of the headings that it is under, its own last; none before the first heading.
    """

    start: int
    end: int
    path: tuple[str, ...]


# With them, every section is a piece of its own, or more than one.
_BY_SECTION = ChunkOptions(max_tokens=8192, min_tokens=0)


def read(text: str, language: str, options: ChunkOptions) -> Reading:
    """Cut a text by the chunker of its language; by lines, with a warning, when that one cannot read it."""
    chunker = chunker_of(language, text)
    if chunker.parses and byte_count(text) > options.max_parse_bytes:
        cut: Cut | None = [], [f"not parsed: larger than max_parse_bytes={options.max_parse_bytes}"]
    else:
        cut = chunker.cut(text, language, options)
    pieces, warnings = cut or ([], [f"not parsed: no grammar for {language}"])
    if not pieces and text and not text.isspace():
        return Reading(LINES.name, pieces_of_lines(text, options), [*warnings, "cut at lines instead"])
    return Reading(chunker.name, pieces, warnings)


def outline_by_content(text: str, language: str, options: ChunkOptions) -> Outline:
    """What the chunker of a text's type cuts it into, gapless; see `read`."""
    chunker, pieces, warnings = read(text, language, options)
    pieces = without_small(text, trimmed(text, gapless(text, pieces)), options)
    return Outline(language, chunker, pieces, warnings, estimate)


def sections_of(text: str, language: str, depth: int) -> list[Section]:
    """The sections of a text; numbered headings such as of laws count where its type knows no headings.

    Parameters:
        text, language: of the document.
        depth: headings that are deeper in others begin no section.
    """
    starts = list(_starts(text, language)) or numbered_headings(text)
    sections = [Section(0, len(text), ())]
    for start, path in starts:
        if len(path) <= depth:
            before = sections.pop()
            sections += [before._replace(end=start), Section(start, len(text), path)]
    return [section for section in sections if section.start < section.end]


def _starts(text: str, language: str) -> Iterator[tuple[int, tuple[str, ...]]]:
    done = 0
    for piece in gapless(text, read(text, language, _BY_SECTION).pieces):
        if piece.headings and piece.defines and piece.start >= done:
            yield piece.start, piece.headings
            done = piece.start + 1
