"""A document to its chunks: the one entry to all chunkers."""

from collections.abc import Iterator
from dataclasses import fields
from time import perf_counter

from cqm.chunkers.completing import Outline, completed, gapless, trimmed, utf8
from cqm.chunkers.detect import language_of
from cqm.chunkers.errors import ChunkOptionError
from cqm.chunkers.formats import LINES, chunker_of
from cqm.chunkers.languages import dialect_of
from cqm.chunkers.model import Chunk, ChunkOptions, ChunkReport, ChunkStatistics, Cut, Document
from cqm.chunkers.prose import pieces_of_lines
from cqm.chunkers.tokens import estimate

CHUNKER_VERSION = 2
"""Grows with every change that cuts some text otherwise, so that an index knows which files to chunk again."""

_OVERSIZE_PERCENT = 150


def chunk(document: Document, options: ChunkOptions = ChunkOptions()) -> ChunkReport:  # noqa: B008 - frozen
    """Cut a document into chunks, with statistics and warnings.

    Every character that is not blank is in a chunk, and in one only but for the overlap that chunks tell of. A text
    that its language's chunker cannot read is cut at lines instead, with a warning.

    Parameters:
        document: the text; its language is detected when it names none.
        options: sizes in estimated tokens.

    Raises:
        ChunkOptionError: an option is outside its range.
    """
    began = perf_counter()
    outline = _outline(document, options)
    chunks = tuple(completed(document, outline))
    warnings = (*outline.warnings, *_size_warnings(chunks, options))
    return ChunkReport(chunks, _statistics(chunks, perf_counter() - began), warnings)


def chunks_of(document: Document, options: ChunkOptions = ChunkOptions()) -> Iterator[Chunk]:  # noqa: B008 - frozen
    """The chunks of `chunk` one at a time, for a large document: their texts are never all in memory at once.

    Raises:
        ChunkOptionError: an option is outside its range; raised before the first chunk is asked for.
    """
    return completed(document, _outline(document, options))


def _outline(document: Document, options: ChunkOptions) -> Outline:
    _validate(options)
    text = document.text
    language = document.language or dialect_of(language_of(document.path, text), text)
    chunker = chunker_of(language, text)
    if chunker.parses and len(utf8(text)) > options.max_parse_bytes:
        cut: Cut | None = [], [f"not parsed: larger than max_parse_bytes={options.max_parse_bytes}"]
    else:
        cut = chunker.cut(text, language, options)
    pieces, warnings = cut or ([], [f"not parsed: no grammar for {language}"])
    if not pieces and text and not text.isspace():
        chunker, pieces = LINES, pieces_of_lines(text, options)
        warnings = [*warnings, "cut at lines instead"]
    return Outline(language, chunker.name, trimmed(text, gapless(text, pieces)), warnings, estimate)


def _validate(options: ChunkOptions) -> None:
    ranges = {
        "max_tokens": (64, 8192),
        "min_tokens": (0, options.max_tokens),
        "max_parse_bytes": (0, 1 << 30),
        "overlap_percent": (0, 50),
        "apart": (False, True),
        "details": (False, True),
    }
    for option in fields(options):
        value = getattr(options, option.name)
        low, high = ranges[option.name]
        if not low <= value <= high:
            message = f"The chunking option {option.name} is {value}; it must be from {low} to {high}."
            raise ChunkOptionError(message, remedy=f"Set {option.name} within that range.")


def _statistics(chunks: tuple[Chunk, ...], seconds: float) -> ChunkStatistics:
    sizes = [chunk.tokens for chunk in chunks] or [0]
    return ChunkStatistics(len(chunks), sum(sizes) / len(sizes), min(sizes), max(sizes), seconds)


def _size_warnings(chunks: tuple[Chunk, ...], options: ChunkOptions) -> list[str]:
    limit = options.max_tokens * _OVERSIZE_PERCENT // 100
    sizes = [chunk.tokens for chunk in chunks if chunk.tokens > limit]
    if not sizes:
        return []
    counts = f"{len(sizes)} of {len(chunks)} chunks are over {_OVERSIZE_PERCENT} % of max_tokens={options.max_tokens}"
    return [f"{counts}; the largest has {max(sizes)} tokens."]
