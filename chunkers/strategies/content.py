"""Use the chunker of a content's own type, and find a text's sections with it."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple

from cqm.chunkers.chunk_builder import Outline, byte_count, gapless, trimmed
from cqm.chunkers.documents.blocks import blocks_of
from cqm.chunkers.documents.prose import pieces_of_lines
from cqm.chunkers.errors import ChunkOptionError
from cqm.chunkers.model import ChunkOptions, Cut, Piece
from cqm.chunkers.quality import without_small
from cqm.chunkers.recovery.conflicts import with_plain_marks
from cqm.chunkers.registry import LINES, Chunker, chunker_of
from cqm.chunkers.splitting import overlap_before, sentence_ends
from cqm.chunkers.tokens import QUARTERS, estimate

_LONGEST_TITLE = 100
_NUMBER = r"(?:\d{1,4}|[IVXLC]{1,7}|[A-Z])"
_DIGITS = r"[\d一二三四五六七八九十百千〇0-9]{1,6}"  # noqa: RUF001 - full-width

# By levels, the outermost first; a heading stands alone between blank lines, or begins a paragraph with its number.
_LEVELS = (
    rf"(?:PART|Part|BOOK|Book|TITLE|Title)[ ]{_NUMBER}\b|第{_DIGITS}[編部]",
    rf"(?:CHAPTER|Chapter)[ ]{_NUMBER}\b|第{_DIGITS}章",
    rf"(?:SECTION|Section|ARTICLE|Article)[ ]{_NUMBER}\b|第{_DIGITS}[節条]|§[ ]?\d",
)
_NAMED = re.compile("|".join(f"({level})" for level in _LEVELS))
_DECIMAL = re.compile(r"(\d{1,3}(?:\.\d{1,3}){0,5})\.?[ \t]+\S")
_LINE = re.compile(rf"^(?=\S)([^\n]{{1,{_LONGEST_TITLE}}})$", re.MULTILINE)
# Characters of two line ends.
_NEAR = 4
_ENDS_SENTENCE = (".", "。", ";", ",", "、")


def numbered_headings(text: str) -> list[tuple[int, tuple[str, ...]]]:
    """Find the numbered headings of a text: their starts, and the titles above each, with its own last.

    A heading begins with "Chapter", "Article", "第1条" or the like, or is a line alone with a decimal number first.
    """
    found: list[tuple[int, tuple[str, ...]]] = []
    path: list[tuple[int, str]] = []
    for match in _LINE.finditer(text):
        if level := _level(text, match):
            path = [above for above in path if above[0] < level]
            path.append((level, match[1].strip()))
            found.append((match.start(), tuple(title for _, title in path)))
    return found


def _level(text: str, line: re.Match[str]) -> int:
    """Return the level of a line which is a heading, from 1; 0 for other lines."""
    above = text[max(line.start() - _NEAR, 0) : line.start()].replace("\r", "")
    if above and not above.endswith("\n\n") and above != "\n":
        return 0
    if named := _NAMED.match(line[1]):
        return named.lastindex or 0
    decimal = _DECIMAL.match(line[1])
    is_alone = text[line.end() : line.end() + _NEAR].replace("\r", "")[:2] in ("", "\n", "\n\n")
    if decimal is None or not is_alone or line[1].rstrip().endswith(_ENDS_SENTENCE):
        return 0
    return len(_LEVELS) + 1 + decimal[1].count(".")


class Reading(NamedTuple):
    """A text as cut by its type's chunker.

    Attributes:
        chunker: the name of the chunker.
        pieces: the chunker's pieces.
        warnings: a sentence each.
    """

    chunker: str
    pieces: list[Piece]
    warnings: list[str]


class Section(NamedTuple):
    """The text between a heading and the next one of any level.

    Attributes:
        start, end: characters; sections are gapless.
        path: titles of the headings above it, its own last; none before the first heading.
    """

    start: int
    end: int
    path: tuple[str, ...]


# With these options, every section is a piece of its own, or more than one.
_BY_SECTION = ChunkOptions(max_tokens=8192, min_tokens=0)


def read(text: str, language: str, options: ChunkOptions, path: str = "") -> Reading:
    """Cut a text by the chunker of its language; by lines, with a warning, if this chunker cannot read it."""
    return _read(chunker_of(language, text), text, language, options, path)


def _read(chunker: Chunker, text: str, language: str, options: ChunkOptions, path: str) -> Reading:
    text = with_plain_marks(text, language)
    if chunker.parses and byte_count(text) > chunker.reach * options.max_parse_bytes:
        cut: Cut | None = [], [f"not parsed: larger than max_parse_bytes={options.max_parse_bytes}"]
    elif chunker.cut_file:
        cut = chunker.cut_file(text, language, path, options)
    else:
        cut = chunker.cut(text, language, options)
    pieces, warnings = cut or ([], [f"not parsed: no grammar for {language}"])
    if not pieces and text and not text.isspace():
        return Reading(LINES.name, pieces_of_lines(text, options), [*warnings, "cut at lines instead"])
    return Reading(chunker.name, pieces, warnings)


def outline_by_content(text: str, language: str, options: ChunkOptions, path: str = "") -> Outline:
    """Outline a text by the chunker of its type, gapless but for the overlap asked for; see `read`."""
    found = chunker_of(language, text)
    overlap = options.overlap_tokens if found.name in _OVERLAPPING else 0
    if overlap:
        # Both together keep to the limit.
        least, most = min(options.min_tokens, options.max_tokens - overlap), options.max_tokens - overlap
        options = replace(options, max_tokens=most, min_tokens=least, overlap_percent=0)
    chunker, pieces, warnings = _read(found, text, language, options, path)
    pieces = without_small(text, trimmed(text, gapless(text, pieces)), options)
    pieces = _overlapping(text, pieces, overlap * QUARTERS) if overlap else pieces
    return Outline(language, chunker, pieces, warnings, estimate)


_OVERLAPPING = frozenset({"markdown", "rst", "asciidoc", "outlined", "prose"})
"""Chunkers with the overlap of `ChunkOptions.overlap_tokens` from here; HTML's has its own."""


def _overlapping(text: str, pieces: Sequence[Piece], budget: int) -> list[Piece]:
    """Repeat the last sentences of each piece of prose in the next one: never all of it, and no part of a fence."""
    result = list(pieces[:1])
    for before, piece in pairwise(pieces):
        fences, begins = [], set(sentence_ends(text, (max(before.start, before.end - budget), before.end)))
        for block in blocks_of(text, (before.start, before.end)):
            begins.add(block.start)
            fences += [block] if block.kind == "fence" else []
        inside = {at for at in begins if any(fence.start < at < fence.end for fence in fences)}
        own = sorted(at for at in begins - inside if before.start < at < before.end)
        is_prose = {before.kind, piece.kind} <= {"section", "text"}
        overlap = overlap_before(text, piece.start, own, budget) if is_prose else 0
        result.append(piece._replace(overlap=overlap))
    return result


def sections_of(text: str, language: str, depth: int, patterns: Sequence[str] = ()) -> list[Section]:
    """Return the sections of a text; without headings of its type, by numbered headings, such as in laws.

    Parameters:
        depth: deeper headings begin no section.
        patterns: of heading lines, instead of the type's own, the outermost level first; regular expressions of RE2, in
            time linear in the text.
    """
    starts = _matching(text, patterns) if patterns else list(_starts(text, language)) or numbered_headings(text)
    sections = [Section(0, len(text), ())]
    for start, path in starts:
        if len(path) <= depth:
            before = sections.pop()
            sections += [before._replace(end=start), Section(start, len(text), path)]
    return [section for section in sections if section.start < section.end]


def _matching(text: str, patterns: Sequence[str]) -> list[tuple[int, tuple[str, ...]]]:
    import re2  # only if there are patterns; a stranger may have written them

    try:
        levels = [re2.compile(pattern) for pattern in patterns]
    except re2.error as error:
        message = f"The chunking option heading_patterns has a pattern that cannot be read: {error}."
        raise ChunkOptionError(message, remedy="Write it for RE2: without look-around and back-references.") from error
    found: list[tuple[int, tuple[str, ...]]] = []
    path: list[tuple[int, str]] = []
    position = 0
    for line in text.splitlines(keepends=True):
        title = line.strip()[:_LONGEST_TITLE]
        level = next((level for level, one in enumerate(levels, 1) if title and one.fullmatch(title)), 0)
        if level:
            path = [above for above in path if above[0] < level]
            path.append((level, title))
            found.append((position, tuple(name for _, name in path)))
        position += len(line)
    return found


def _starts(text: str, language: str) -> Iterator[tuple[int, tuple[str, ...]]]:
    done = 0
    for piece in gapless(text, read(text, language, _BY_SECTION).pieces):
        if piece.headings and piece.defines and piece.start >= done:
            yield piece.start, piece.headings
            done = piece.start + 1
