"""Turn the blocks of a document in any markup into sections at its headings."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from cqm.chunkers.documents.headed import (
    Heading,
    Section,
    context_of,
    is_related,
    joined,
    merged,
    parts_of,
    path_below,
    symbol_of,
    titles_of,
)
from cqm.chunkers.documents.prose import prose_strength
from cqm.chunkers.model import ChunkOptions, Fact, Piece
from cqm.chunkers.splitting import Unit, even_spans, line_strength, line_units
from cqm.chunkers.tokens import QUARTERS, quarters

WHOLE_BLOCK_LIMITS = 4
"""A fence, literal block, list, table or quote stays whole up to this many times `ChunkOptions.max_tokens`."""

_BLOCK_STRENGTH = 3


@dataclass(frozen=True, slots=True)
class Block:
    """A paragraph, list, table, literal block or heading of a document; it extends to the next block.

    Attributes:
        start: in characters.
        is_prose: whether it may be cut at sentences; other blocks stay whole up to `WHOLE_BLOCK_LIMITS`.
        heading: level and title, for a heading.
        code: the written language of a block of code, empty if it names none; None for other blocks.
    """

    start: int
    is_prose: bool = False
    heading: Heading | None = None
    code: str | None = None


def pieces_of_sections(text: str, blocks: Sequence[Block], options: ChunkOptions) -> list[Piece]:
    """Cut a document as `sections_of` does; a symbol is the path of headings.

    The pieces have the facts "title" (of the document), "has_code" and "code_languages".
    """
    title = title_of(blocks)
    return [_piece(section, title) for section in sections_of(text, blocks, options)]


def sections_of(text: str, blocks: Sequence[Block], options: ChunkOptions) -> list[Section[Block]]:
    """Divide a document into sections within the limit, without gaps.

    Blocks other than prose are cut only beyond `WHOLE_BLOCK_LIMITS`. A section over the limit is divided between its
    blocks, a paragraph over the limit at sentences. Sections under the minimum are packed with neighbours under the
    same parent; tiny ones with any neighbour.

    Parameters:
        blocks: in order of their starts; text before the first belongs to it.
    """
    limit, least = options.max_tokens * QUARTERS, options.min_tokens * QUARTERS
    every = _sections(text, blocks or [Block(0, is_prose=True)])
    # Without packing, bare headings are wanted too.
    sections = joined(_led(every) if least else every, limit, least, is_related, merged)
    parts = [part for section in sections for part in _divided(text, section, limit)]
    return joined(parts, limit, least // 2, lambda _before, _part: True, merged)


def title_of(blocks: Sequence[Block]) -> str:
    """Return the title of a document: its first heading of the highest level; empty without headings."""
    headings = [block.heading for block in blocks if block.heading]
    return min(headings, key=lambda heading: heading[0], default=(0, ""))[1]


def _sections(text: str, blocks: Sequence[Block]) -> Iterator[Section[Block]]:
    starts = [0, *(number for number, block in enumerate(blocks) if block.heading and number)]
    path: tuple[Heading, ...] = ()
    for first, last in pairwise([*starts, len(blocks)]):
        own = tuple(blocks[first:last])
        if own[0].heading:
            path = path_below(path, own[0].heading)
        start = own[0].start if first else 0
        end = blocks[last].start if last < len(blocks) else len(text)
        yield Section(start, end, quarters(text[start:end]), path, own, (symbol_of(path),) if path else ())


def _led(sections: Iterator[Section[Block]]) -> Iterator[Section[Block]]:
    """Yield the sections, joining a bare heading with the first section below it."""
    leading: Section[Block] | None = None
    above: tuple[Heading, ...] = ()
    for section in sections:
        own = section
        if leading:
            # Deeper each time, so no run of bare headings is joined one by one.
            if len(section.path) > len(above) and section.path[: len(above)] == above:
                own = merged(leading, section)
            else:
                yield leading
        above = section.path
        leading = own if len(section.blocks) == 1 and section.blocks[0].heading else None
        if leading is None:
            yield own
    if leading:
        yield leading


def _divided(text: str, section: Section[Block], limit: int) -> Iterator[Section[Block]]:
    if section.size <= limit:
        yield section
        return
    yield from parts_of(text, section, even_spans(section.start, list(_units(text, section, limit)), limit))


def _units(text: str, section: Section[Block], limit: int) -> Iterator[Unit]:
    # A heading stays with the block after it.
    blocks = section.blocks
    if len(blocks) > 1 and blocks[0].heading:
        blocks = blocks[1:]
    starts = [section.start, *(block.start for block in blocks[1:])]
    for block, (start, end) in zip(blocks, pairwise([*starts, section.end]), strict=True):
        size = quarters(text[start:end])
        if size <= (limit if block.is_prose else limit * WHOLE_BLOCK_LIMITS):
            yield Unit(end, size, _BLOCK_STRENGTH)
        else:
            strength = prose_strength if block.is_prose else line_strength
            yield from line_units(text, (start, end), limit, strength)


def _piece(section: Section[Block], title: str) -> Piece:
    kind = "section" if section.path else "text"
    codes = [block.code for block in section.blocks if block.code is not None]
    languages = tuple(dict.fromkeys(filter(None, codes)))
    facts: dict[str, Fact] = {"has_code": bool(codes)}
    facts |= {"title": title} if title else {}
    facts |= {"code_languages": languages} if languages else {}
    return Piece(
        section.start,
        section.end,
        kind,
        symbol_of(section.path),
        section.defines,
        context_of(section),
        headings=titles_of(section.path),
        facts=facts,
    )
