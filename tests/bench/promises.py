"""The promises for the chunks of any text, with any strategy and options."""

import re
from collections.abc import Sequence
from itertools import pairwise

from cqm.chunkers.chunking import chunk
from cqm.chunkers.model import Chunk, ChunkOptions, ChunkReport, Document
from cqm.chunkers.strategies.javadoc import JavadocOptions
from cqm.chunkers.strategies.table import Options
from cqm.chunkers.tokens import estimate


class BrokenPromiseError(AssertionError):
    """All that does not hold, and where."""


def checked(document: Document, options: Options) -> ChunkReport:
    """Chunk a document and check the promises.

    Raises:
        BrokenPromiseError: the first that does not hold.
    """
    report = chunk(document, options)
    data = _utf8(document.text)
    lines = document.text.count("\n") + 1
    for before, piece in pairwise([None, *report.chunks]):
        if piece:
            _spans(document.text, data, piece, before)
            _tells(lines, piece, options)
    _order(report.chunks)
    # Documentation alone is what that strategy is to give.
    if not isinstance(options, JavadocOptions):
        _tiles(document.text, report.chunks)
    _overlaps(report.chunks)
    _tree(report.chunks)
    _sizes(report, options)
    _promise(not any("rule of" in it and "failed" in it for it in report.warnings), f"a rule failed: {report.warnings}")
    return report


def _promise(holds: bool, what: str, piece: Chunk | None = None) -> None:
    if not holds:
        where = f" at {piece.start}-{piece.end} of {piece.strategy}/{piece.language}, {piece.kind}" if piece else ""
        raise BrokenPromiseError(what + where)


def _utf8(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _bare(text: str) -> str:
    return "".join(text.split())


def _spans(text: str, data: bytes, piece: Chunk, before: Chunk | None) -> None:
    _promise(piece.text == text[piece.start : piece.end], "the text is not that of the span", piece)
    _promise(bool(piece.text.strip()), "a chunk is blank", piece)
    _promise(_utf8(piece.text) == data[piece.start_byte : piece.end_byte], "the bytes are wrong", piece)
    # From chunk to chunk, so that thousands of them are checked in linear time.
    start, byte, line = (before.start, before.start_byte, before.start_line) if before else (0, 0, 1)
    sign, skipped = (1, text[start : piece.start]) if start <= piece.start else (-1, text[piece.start : start])
    _promise(piece.start_byte == byte + sign * len(_utf8(skipped)), "the first byte is wrong", piece)
    _promise(piece.start_line == line + sign * skipped.count("\n"), "the first line is wrong", piece)
    last = piece.start_line + piece.text.count("\n", 0, len(piece.text) - 1)
    _promise(piece.end_line == last, "the last line is wrong", piece)


def _tells(lines: int, piece: Chunk, options: Options) -> None:
    """Check that all told of a chunk has its declared types, and is within the text."""
    if getattr(options, "tokenizer", None) is None:
        _promise(piece.tokens == estimate(piece.text), "the tokens are not the estimate", piece)
    told = (piece.kind, piece.symbol, piece.context, piece.content, *piece.defines, *piece.metadata.headings)
    _promise(all(isinstance(value, str) for value in told), "a string is none", piece)
    facts = piece.metadata.facts.values()
    _promise(all(isinstance(value, str | int | float | tuple) for value in facts), "a fact is of no type", piece)
    spans = ((symbol.start_line, symbol.end_line) for symbol in piece.symbols)
    _promise(all(1 <= start <= end <= lines for start, end in spans), "a symbol's lines are not of the text", piece)


def _order(chunks: Sequence[Chunk]) -> None:
    _promise(len({piece.id for piece in chunks}) == len(chunks), "ids are not unique")
    counted = [(piece.index, piece.total) for piece in chunks]
    _promise(counted == [(index, len(chunks)) for index in range(len(chunks))], "chunks are miscounted")
    cores = [piece.start + piece.overlap_before for piece in chunks]
    _promise(all(one <= other for one, other in pairwise(cores)), "chunks are not in order")


def _tiles(text: str, chunks: Sequence[Chunk]) -> None:
    tiles = [piece for piece in chunks if not piece.children]
    own = [(piece.start + piece.overlap_before, piece.end) for piece in tiles]
    _promise(all(start < end for start, end in own), "a chunk has nothing of its own")
    for (one, other), piece in zip(pairwise(own), tiles, strict=False):
        _promise(one[1] <= other[0], "chunks overlap that tell of no overlap", piece)
    _promise("".join(_bare(text[start:end]) for start, end in own) == _bare(text), "a character is lost")


def _overlaps(chunks: Sequence[Chunk]) -> None:
    for before, after in pairwise(chunks):
        _promise(before.overlap_after == after.overlap_before, "neighbours tell of different overlaps", after)
        overlap = after.overlap_before
        _promise(not overlap or overlap == before.end - after.start, "the overlap is none", after)
        _promise(not overlap or before.start < after.start, "all of a chunk is repeated", after)
    ends = (chunks[0].overlap_before, chunks[-1].overlap_after) if chunks else (0, 0)
    _promise(ends == (0, 0), "the first or last chunk overlaps with nothing")


def _tree(chunks: Sequence[Chunk]) -> None:
    by_id = {piece.id: piece for piece in chunks}
    for piece in chunks:
        _promise((piece.level > 0) == bool(piece.parent), "a level without a parent", piece)
        _promise(not piece.parent or piece.id in by_id[piece.parent].children, "a parent that knows it not", piece)
        for child in (by_id[name] for name in piece.children):
            is_inside = piece.start <= child.start and child.end <= piece.end
            _promise(child.parent == piece.id, "a child of two parents", child)
            _promise(is_inside or child.start >= piece.end, "a child that sticks out", child)


def _sizes(report: ChunkReport, options: Options) -> None:
    """A chunk over the limit is of what may not be cut, or told of in a warning."""
    if not isinstance(options, ChunkOptions):
        return
    over = [piece for piece in report.chunks if piece.tokens > options.max_tokens]
    for piece in over:
        _promise(piece.strategy != "code", "code is over the limit", piece)
        _promise(piece.strategy != "lines", "lines are over the limit", piece)
    told = any(re.search("whole|over", warning) for warning in report.warnings)
    # What is shown and searched in place of the text is what the limit holds for.
    far = any(estimate(piece.content or piece.text) * 2 > options.max_tokens * 3 for piece in over)
    _promise(told or not far, "a chunk is far over the limit, and nothing tells of it")
