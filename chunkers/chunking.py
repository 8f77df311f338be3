"""A document to its chunks: the one entry to all chunkers."""

import hashlib
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, replace
from time import perf_counter

from cqm.chunkers.code import pieces_of_code
from cqm.chunkers.detect import MARKDOWN, PROSE_FORMATS, language_of
from cqm.chunkers.errors import ChunkOptionError
from cqm.chunkers.languages import BY_NAME, dialect_of
from cqm.chunkers.markdown import pieces_of_markdown
from cqm.chunkers.model import Chunk, ChunkOptions, ChunkReport, ChunkStatistics, Document, Piece
from cqm.chunkers.prose import pieces_of_lines, pieces_of_prose
from cqm.chunkers.tokens import estimate

CHUNKER_VERSION = 1
"""Grows with every change that cuts some text otherwise, so that an index knows which files to chunk again."""

Cut = tuple[list[Piece], list[str]]
"""Pieces in order that leave out nothing but blank text, and warnings."""

_OVERSIZE_PERCENT = 150
_ID_DIGITS = 32


@dataclass(frozen=True, slots=True)
class Strategy:
    """A chunker as `chunk` sees it.

    Attributes:
        name: what `Chunk.strategy` says.
        cut: from text, language and options to pieces; none, or None, for a text that it cannot read.
        parses: whether `ChunkOptions.max_parse_bytes` holds for it.
    """

    name: str
    cut: Callable[[str, str, ChunkOptions], Cut | None]
    parses: bool


def _cut_markdown(text: str, _language: str, options: ChunkOptions) -> Cut:
    return pieces_of_markdown(text, options), []


def _cut_prose(text: str, _language: str, options: ChunkOptions) -> Cut:
    return pieces_of_prose(text, options), []


def _cut_lines(text: str, _language: str, options: ChunkOptions) -> Cut:
    return pieces_of_lines(text, options), []


LINES = Strategy("lines", _cut_lines, parses=False)
"""For a language without a row, and for a text that its own strategy cannot read."""

STRATEGIES = (
    (frozenset(BY_NAME), Strategy("code", pieces_of_code, parses=True)),
    (frozenset({MARKDOWN}), Strategy("markdown", _cut_markdown, parses=True)),
    (frozenset(row.name for row in PROSE_FORMATS), Strategy("prose", _cut_prose, parses=False)),
)
"""The languages of each chunker."""


def chunk(document: Document, options: ChunkOptions = ChunkOptions()) -> ChunkReport:  # noqa: B008 - frozen
    """Cut a document into chunks, with statistics and warnings.

    Every character that is not blank is in exactly one chunk. A text that its language's chunker cannot read is cut at
    lines instead, with a warning.

    Parameters:
        document: the text; its language is detected when it names none.
        options: sizes in estimated tokens.

    Raises:
        ChunkOptionError: an option is outside its range.
    """
    began = perf_counter()
    outline = _outline(document, options)
    chunks = tuple(_completed(document, outline))
    warnings = (*outline.warnings, *_size_warnings(chunks, options))
    return ChunkReport(chunks, _statistics(chunks, perf_counter() - began), warnings)


def chunks_of(document: Document, options: ChunkOptions = ChunkOptions()) -> Iterator[Chunk]:  # noqa: B008 - frozen
    """The chunks of `chunk` one at a time, for a large document: their texts are never all in memory at once.

    Raises:
        ChunkOptionError: an option is outside its range; raised before the first chunk is asked for.
    """
    return _completed(document, _outline(document, options))


@dataclass(frozen=True, slots=True)
class _Outline:
    language: str
    strategy: str
    pieces: list[Piece]
    warnings: list[str]


def _outline(document: Document, options: ChunkOptions) -> _Outline:
    _validate(options)
    text = document.text
    language = document.language or dialect_of(language_of(document.path, text), text)
    strategy = next((strategy for languages, strategy in STRATEGIES if language in languages), LINES)
    if strategy.parses and len(_utf8(text)) > options.max_parse_bytes:
        cut: Cut | None = [], [f"not parsed: larger than max_parse_bytes={options.max_parse_bytes}"]
    else:
        cut = strategy.cut(text, language, options)
    pieces, warnings = cut or ([], [f"not parsed: no grammar for {language}"])
    if not pieces and text and not text.isspace():
        strategy, pieces = LINES, pieces_of_lines(text, options)
        warnings = [*warnings, "cut at lines instead"]
    return _Outline(language, strategy.name, _trimmed(text, pieces), warnings)


def _validate(options: ChunkOptions) -> None:
    ranges = {
        "max_tokens": (64, 8192),
        "min_tokens": (0, options.max_tokens),
        "max_parse_bytes": (0, 1 << 30),
    }
    for option in fields(options):
        value = getattr(options, option.name)
        low, high = ranges[option.name]
        if not low <= value <= high:
            message = f"The chunking option {option.name} is {value}; it must be from {low} to {high}."
            raise ChunkOptionError(message, remedy=f"Set {option.name} within that range.")


def _gapless(text: str, pieces: list[Piece]) -> Iterator[Piece]:
    """The pieces without overlap, and what lies between them: promise 1 holds whatever damaged code does to a tree."""
    done = 0
    for piece in pieces:
        if piece.start > done:
            yield Piece(done, piece.start, "code")
        if piece.end > done:
            yield replace(piece, start=max(piece.start, done))
            done = piece.end
    yield Piece(done, len(text), "code")


def _trimmed(text: str, pieces: list[Piece]) -> list[Piece]:
    # Blank lines at a piece's edges belong to no chunk: it begins and ends where its content does, on whole lines.
    kept = []
    for piece in _gapless(text, pieces):
        own = text[piece.start : piece.end]
        body = own.strip()
        if not body:
            continue
        start = own.rfind("\n", 0, len(own) - len(own.lstrip())) + 1
        end = own.find("\n", len(own.rstrip())) + 1 or len(own)
        kept.append(replace(piece, start=piece.start + start, end=piece.start + end))
    return kept


def _completed(document: Document, outline: _Outline) -> Iterator[Chunk]:
    """Add to pieces in order what follows from the text; time is linear in its length."""
    text, total = document.text, len(outline.pieces)
    seen: Counter[bytes] = Counter()
    position, byte, line = 0, 0, 1
    for index, piece in enumerate(outline.pieces):
        own = text[piece.start : piece.end]
        content = _utf8(own)
        digest = hashlib.sha256(content).digest()
        byte += len(_utf8(text[position : piece.start]))
        line += text.count("\n", position, piece.start)
        newlines = own.count("\n")
        yield Chunk(
            id=_chunk_id(document.path, digest, seen[digest]),
            path=document.path,
            language=outline.language,
            strategy=outline.strategy,
            text=own,
            start=piece.start,
            end=piece.end,
            start_byte=byte,
            end_byte=byte + len(content),
            start_line=line,
            end_line=line + newlines - own.endswith("\n"),
            tokens=estimate(own),
            kind=piece.kind,
            symbol=piece.symbol,
            defines=piece.defines,
            context=piece.context,
            index=index,
            total=total,
        )
        seen[digest] += 1
        position, byte, line = piece.end, byte + len(content), line + newlines


def _chunk_id(path: str, digest: bytes, occurrence: int) -> str:
    # No path holds a NUL, so different triples never give the same bytes.
    identity = _utf8(f"{path}\0{occurrence}\0") + digest
    return hashlib.sha256(identity).hexdigest()[:_ID_DIGITS]


def _utf8(text: str) -> bytes:
    # A caller's text may hold lone surrogates (JSON can carry them); three bytes stand for each.
    return text.encode("utf-8", "surrogatepass")


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
