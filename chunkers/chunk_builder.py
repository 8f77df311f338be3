"""Complete pieces to chunks: ids, byte and line numbers, tokens and metadata, the same for every chunker."""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from cqm.chunkers.contents.links import may_refer
from cqm.chunkers.metadata import metadata_of
from cqm.chunkers.model import Chunk, Document, Piece, maker

_ID_DIGITS = 16
_LONGEST_NAME = 400
"""Characters kept of a qualified name, its last ones. A file may enclose all of its chunks in one name of any length:
names would then grow with the square of the file. The longest of 20,784 chunks of 19 repositories has 224."""
_LONGEST_CONTEXT = 8_000
"""Characters kept of a context, for the same reason."""

_chunk = maker(Chunk)


@dataclass(frozen=True, slots=True)
class Outline:
    """A document cut into pieces.

    Attributes:
        strategy: value of `Chunk.strategy`.
        pieces: ordered by start.
        warnings: a sentence each.
        count: counts the tokens of a text.
    """

    language: str
    strategy: str
    pieces: Sequence[Piece]
    warnings: Sequence[str]
    count: Callable[[str], int]


def gapless(text: str, pieces: Iterable[Piece]) -> Iterator[Piece]:
    """Yield the pieces without overlap, and the text between them as pieces.

    No text but blanks is lost, however damaged code spoils a syntax tree.
    """
    done = 0
    for piece in pieces:
        if piece.start > done and not text[done : piece.start].isspace():
            yield Piece(done, piece.start, "code")
        if piece.end > done:
            yield piece._replace(start=max(piece.start, done)) if piece.start < done else piece
            done = piece.end
    yield Piece(done, len(text), "code")


def trimmed(text: str, pieces: Iterable[Piece]) -> list[Piece]:
    """Trim blank lines from the edges of pieces; pieces still begin and end at whole lines."""
    kept: list[Piece] = []
    for piece in pieces:
        own = text[piece.start : piece.end]
        start, end = _own_rows(own)
        if start == end:
            continue
        if start or end < len(own):
            # A piece with a blank repeated part repeats nothing.
            repeats = piece.overlap and kept and kept[-1].end > piece.start - piece.overlap
            overlap = piece.overlap + start if repeats else 0
            piece = piece._replace(start=piece.start + start, end=piece.start + end, overlap=overlap)  # noqa: PLW2901
        if piece.overlap and kept and piece.start - piece.overlap <= kept[-1].start - kept[-1].overlap:
            # The previous piece was mostly blank lines: the whole rest of it would be repeated.
            piece = piece._replace(overlap=0)  # noqa: PLW2901
        kept.append(piece)
    return kept


def _own_rows(text: str) -> tuple[int, int]:
    """Return the characters of a text without the blank lines at its edges; they are none for a blank text."""
    if not text[:1].isspace() and text[-1:] == "\n" and not text[-2:-1].isspace():
        # As nearly all pieces are: neither edge has more than its line end.
        return 0, len(text)
    body = text.lstrip()
    if not body:
        return 0, 0
    return text.rfind("\n", 0, len(text) - len(body)) + 1, text.find("\n", len(text.rstrip())) + 1 or len(text)


def completed(document: Document, outline: Outline) -> Iterator[Chunk]:
    """Yield the chunks of an outline's pieces; time is linear in the length of all their texts."""
    text, pieces = document.text, outline.pieces
    ids = _ids(document, pieces)
    parents = _parents(pieces)
    shared = [*_shared(pieces), 0]
    children = _children(parents, ids)
    refers = may_refer(text)
    for index, (cut, span) in enumerate(zip(pieces, _spans(text, pieces), strict=True)):
        piece = _bounded(cut)
        yield _chunk(
            ids[index],
            document.path,
            outline.language,
            outline.strategy,
            *span,
            outline.count(span[0]),
            piece.kind,
            piece.symbol,
            piece.defines,
            piece.context,
            index,
            len(pieces),
            shared[index],
            shared[index + 1],
            ids[parents[index]] if parents[index] >= 0 else "",
            tuple(children.get(index, ())),
            piece.level,
            piece.content,
            metadata_of(document, outline.language, piece, may_refer=refers),
            piece.symbols,
            piece.definitions,
        )


_Span = tuple[str, int, int, int, int, int, int]
"""The text of a chunk; its start and end in characters, then in bytes; its first and its last line."""


def _spans(text: str, pieces: Iterable[Piece]) -> Iterator[_Span]:
    """Yield the span of each piece, with its repeated text."""
    position, byte, line = 0, 0, 1
    for piece in pieces:
        start = piece.start - piece.overlap
        if start != position:
            byte += _bytes_between(text, position, start)
            line += _lines_between(text, position, start)
        own = text[start : piece.end]
        size, breaks = byte_count(own), own.count("\n")
        yield own, start, piece.end, byte, byte + size, line, line + breaks - own.endswith("\n")
        # The next chunk may begin further above, but not before this one and its repeated part.
        position, byte, line = piece.end, byte + size, line + breaks


def _bounded(piece: Piece) -> Piece:
    """Shorten names to their last characters and a context to its first ones, where they are far too long."""
    names = (piece.symbol, *piece.defines, *[it.name for it in piece.definitions])
    if max(map(len, names)) <= _LONGEST_NAME and len(piece.context) <= _LONGEST_CONTEXT:
        return piece
    return piece._replace(
        context=piece.context[:_LONGEST_CONTEXT],
        symbol=piece.symbol[-_LONGEST_NAME:],
        defines=tuple(name[-_LONGEST_NAME:] for name in piece.defines),
        definitions=tuple(replace(it, name=it.name[-_LONGEST_NAME:]) for it in piece.definitions),
    )


def utf8(text: str) -> bytes:
    """Encode as UTF-8; lone surrogates (JSON can carry them) become three bytes each."""
    return text.encode("utf-8", "surrogatepass")


def byte_count(text: str) -> int:
    """Return the length of the text's UTF-8 form."""
    return len(text) if text.isascii() else len(utf8(text))


def _ids(document: Document, pieces: Sequence[Piece]) -> list[str]:
    seen: dict[bytes, int] = {}
    ids = []
    path = utf8(document.path)
    for piece in pieces:
        digest = hashlib.sha256(utf8(document.text[piece.start - piece.overlap : piece.end])).digest()
        earlier = seen.get(digest, 0)
        # No path contains NUL, so different triples never give the same bytes.
        ids.append(hashlib.sha256(b"%b\0%d\0%b" % (path, earlier, digest)).hexdigest()[:_ID_DIGITS])
        seen[digest] = earlier + 1
    return ids


def _children(parents: Sequence[int], ids: Sequence[str]) -> dict[int, list[str]]:
    """Return the ids of each piece's children."""
    children: dict[int, list[str]] = {}
    for index, parent in enumerate(parents):
        if parent >= 0:
            children.setdefault(parent, []).append(ids[index])
    return children


def _parents(pieces: Sequence[Piece]) -> list[int]:
    """Find each piece's parent: the nearest piece before it with a lower level; -1 for none."""
    parents: list[int] = []
    around: list[int] = []
    for index, piece in enumerate(pieces):
        while around and pieces[around[-1]].level >= piece.level:
            around.pop()
        parents.append(around[-1] if around else -1)
        around.append(index)
    return parents


def _shared(pieces: Sequence[Piece]) -> Iterator[int]:
    """Yield for each piece the characters shared with the previous one, which may end before this one's own text."""
    end = 0
    for piece in pieces:
        yield max(end - (piece.start - piece.overlap), 0) if piece.overlap else 0
        end = piece.end


def _bytes_between(text: str, start: int, end: int) -> int:
    if text.isascii():
        return end - start
    return byte_count(text[start:end]) if start <= end else -byte_count(text[end:start])


def _lines_between(text: str, start: int, end: int) -> int:
    return text.count("\n", start, end) if start <= end else -text.count("\n", end, start)
