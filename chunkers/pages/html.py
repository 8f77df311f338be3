"""Cut HTML at its headings, reading tags in their order: nesting, wrappers and broken markup do not matter."""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import accumulate, pairwise
from operator import attrgetter
from typing import NamedTuple

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
from cqm.chunkers.documents.markup import OPEN, Token
from cqm.chunkers.documents.sectioning import WHOLE_BLOCK_LIMITS
from cqm.chunkers.model import ChunkOptions, Cut, Fact, Piece
from cqm.chunkers.pages.html_blocks import (
    CODE,
    LIST,
    NAVIGATION,
    PROSE,
    SCRIPT,
    STYLE,
    TABLE,
    WHOLE_KINDS,
    Block,
    Page,
    page_of,
)
from cqm.chunkers.pages.html_sizes import MARKUP, Sizes, sizes_of
from cqm.chunkers.pages.html_text import read
from cqm.chunkers.pages.html_tools import made_by
from cqm.chunkers.pages.segments import segments_of_html
from cqm.chunkers.source_types import REFERENCE
from cqm.chunkers.splitting import (
    Span,
    Unit,
    even_spans,
    line_strength,
    line_units,
    overlap_before,
    sentence_ends,
)
from cqm.chunkers.tokens import QUARTERS

_Path = tuple[Heading, ...]

# Characters; a shorter one would often end inside a section.
_LEAST_SEGMENT = 10_000

# Always cut at these headings; at deeper ones if the text between two of these is over the limit.
_ALWAYS_CUT = 2

_BLOCK_STRENGTH = 3

# In tokens; the head of a page made by a tool weighs 30 to 60.
_TINY = 64

# Places for cutting blocks far over the limit, by kind of block.
_ROWS = {TABLE: ("tr",), LIST: ("li", "dt", "option")}


def pieces_of_html(text: str, _language: str, options: ChunkOptions) -> Cut:
    """Cut a page at first- and second-level headings, and at deeper ones if a section is over the limit.

    A section over the limit is divided between its blocks, and its parts repeat the end of the previous part. Code,
    tables and lists are cut only beyond `WHOLE_BLOCK_LIMITS`. A piece's content is its text as people read it, and the
    limits hold for this; see `html_sizes`. A piece without any is cut at lines by its source.

    Parameters:
        text: the page, or a part of one.
    """
    pieces: list[Piece] = []
    warnings: dict[str, None] = {}
    path: _Path = ()
    title, tool = "", made_by(text)
    for segment in segments_of_html(text, max(options.max_parse_bytes, _LEAST_SEGMENT)):
        own = text[segment.start : segment.end]
        page = page_of(own)
        title = title or page.title or next((block.heading[1] for block in page.blocks if block.heading), "")
        ground = _ground(own, replace(page, title=page.title or title), options, tool)
        found, path = _cut(ground, options, path)
        pieces.extend(it._replace(start=segment.start + it.start, end=segment.start + it.end) for it in found)
        warnings |= dict.fromkeys(_warnings(ground))
    return pieces, list(warnings)


def _cut(ground: "_Ground", options: ChunkOptions, path: _Path) -> tuple[list[Piece], _Path]:
    """Cut a page, or a part of a long one below the headings of a path; return the path at its end too."""
    limit, least = ground.limit, options.min_tokens * QUARTERS
    headed = list(_sections(ground, path))
    ground.anchors.update(
        (section.path, section.blocks[0].anchor) for section in reversed(headed) if section.blocks[0].heading
    )
    sections = joined(_gathered(headed, limit), limit, least, is_related, merged)
    paths = {symbol_of(path): path for path in ground.anchors}
    divided = (part for section in sections for part in _divided(section, ground))
    parts = joined(divided, limit, least // 2, lambda _one, _other: True, merged)
    # A few words, such as "Back" in a page's head, go with a neighbour even if it is full or over the limit.
    tiny = min(least, _TINY * QUARTERS)
    parts = joined(parts, limit * WHOLE_BLOCK_LIMITS + tiny, tiny, lambda _one, _other: True, merged)
    # A page's head joined with the first section takes its name.
    parts = [replace(part, path=paths[part.defines[0]]) if part.defines and not part.path else part for part in parts]
    pairs = pairwise([None, *parts])
    return [piece for before, part in pairs if part for piece in _pieces(part, before, ground)], headed[-1].path


def _sections(ground: "_Ground", path: _Path) -> Iterator[Section[Block]]:
    text, blocks = ground.text, ground.page.blocks
    starts = [0, *(number for number, block in enumerate(blocks) if number and (block.heading or block.ends))]
    for first, last in pairwise([*starts, len(blocks)]):
        begin = blocks[first]
        if begin.heading:
            path = path_below(path, begin.heading)
        elif begin.ends:
            path = tuple(above for above in path if above[0] < begin.ends)
        start = begin.start if first else 0
        end = blocks[last].start if last < len(blocks) else len(text)
        defines = (symbol_of(path),) if begin.heading else ()
        yield Section(start, end, ground.sizes.between(start, end), path, tuple(blocks[first:last]), defines)


def _level(section: Section[Block]) -> int:
    begin = section.blocks[0]
    return begin.heading[0] if begin.heading else begin.ends


def _gathered(sections: Sequence[Section[Block]], limit: int) -> Iterator[Section[Block]]:
    """Join the sections of deeper levels while everything below one heading is within the limit."""
    sums = [0, *accumulate(section.size for section in sections)]
    top = min((level for section in sections if (level := _level(section))), default=0)
    waiting = [(0, len(sections), max(top, _ALWAYS_CUT))]
    while waiting:
        first, end, level = waiting.pop()
        is_below = level > max(top, _ALWAYS_CUT)
        if end - first == 1 or (is_below and sums[end] - sums[first] <= limit):
            own = sections[first:end]
            blocks = tuple(block for section in own for block in section.blocks)
            defines = tuple(name for section in own for name in section.defines)
            yield replace(own[0], end=own[-1].end, size=sums[end] - sums[first], blocks=blocks, defines=defines)
            continue
        starts = [first, *(number for number in range(first + 1, end) if _level(sections[number]) <= level)]
        waiting.extend((one, other, level + 1) for one, other in reversed([*pairwise([*starts, end])]))


class _Ground(NamedTuple):
    # Data for dividing a page: limits in quarters of a token, and the starts of its tags. Without an overlap of its
    # own, the parts of a section repeat as much as the core leaves of the limit.
    text: str
    page: Page
    sizes: Sizes
    limit: int
    core: int
    overlap: int
    tags: list[int]
    anchors: dict[tuple[Heading, ...], str]
    tool: str


def _ground(text: str, page: Page, options: ChunkOptions, tool: str) -> _Ground:
    overlap = options.overlap_tokens * QUARTERS
    limit = options.max_tokens * QUARTERS - overlap
    core = limit if overlap else limit - limit * options.overlap_percent // 100
    sizes = sizes_of(text, page.tokens, page.reading)
    return _Ground(text, page, sizes, limit, core, overlap, [token.start for token in page.tokens], {}, tool)


def _divided(section: Section[Block], ground: _Ground) -> Iterator[Section[Block]]:
    if section.size <= ground.limit:
        yield section
        return
    spans = even_spans(section.start, list(_units(section, ground)), ground.core)
    for part in parts_of(ground.text, section, spans, ground.limit - ground.core):
        yield replace(part, size=ground.sizes.between(part.start, part.end))


def _units(section: Section[Block], ground: _Ground) -> Iterator[Unit]:
    # A heading stays with the block after it.
    blocks = section.blocks[1:] if len(section.blocks) > 1 and section.blocks[0].heading else section.blocks
    ends = [*(block.start for block in blocks[1:]), section.end]
    start = section.start
    for block, end in zip(blocks, ends, strict=True):
        size = ground.sizes.between(start, end)
        if size <= (ground.limit * WHOLE_BLOCK_LIMITS if block.kind in WHOLE_KINDS else ground.core):
            yield Unit(end, size, _BLOCK_STRENGTH)
        elif block.kind in (CODE, SCRIPT, STYLE):
            lines = line_units(ground.text, (start, end), ground.core * MARKUP, line_strength)
            yield from _stretches(((line.end, line.strength) for line in lines), (start, end), ground)
        else:
            cuts = _rows(block.kind, (start, end), ground) if block.kind in _ROWS else _seams((start, end), ground)
            units = list(_stretches(cuts, (start, end), ground))
            yield from [*units[:-1], units[-1]._replace(strength=_BLOCK_STRENGTH)]
        start = end


def _stretches(cuts: Iterable[tuple[int, int]], span: Span, ground: _Ground) -> Iterator[Unit]:
    """Yield the stretches between cuts, each with its strength; those over the limit are divided at lines and words."""
    position, end = span
    for place, strength in (*(cut for cut in cuts if cut[0] < end), (end, 0)):
        if place <= position:
            continue
        size = ground.sizes.between(position, place)
        if size <= ground.core:
            yield Unit(place, size, strength)
        else:
            units = line_units(ground.text, (position, place), ground.core, lambda _line, _following: 0)
            ends = [position, *(unit.end for unit in units)]
            for one, other in pairwise(ends):
                yield Unit(other, ground.sizes.between(one, other), strength if other == place else 0)
        position = place


def _tokens(span: Span, ground: _Ground) -> Sequence[Token]:
    return ground.page.tokens[bisect_left(ground.tags, span[0]) : bisect_left(ground.tags, span[1])]


def _rows(kind: str, span: Span, ground: _Ground) -> Iterator[tuple[int, int]]:
    """Yield allowed cuts of a table or list: before its rows or items."""
    tokens = _tokens(span, ground)
    return ((token.start, 1) for token in tokens if token.name in _ROWS[kind] and token.kind == OPEN)


def _seams(span: Span, ground: _Ground) -> Iterator[tuple[int, int]]:
    """Yield allowed cuts of running text: after its sentences, else between its tags."""
    number = bisect_left(ground.tags, span[0])
    position = max(span[0], ground.page.tokens[number - 1].end if number else 0)
    for token in _tokens(span, ground):
        yield from ((end, 1) for end in sentence_ends(ground.text, (position, token.start)))
        yield token.start, 1 if token.name in ("p", "br", "div", "tr", "li") and token.kind == OPEN else 0
        position = token.end
    yield from ((end, 1) for end in sentence_ends(ground.text, (min(position, span[1]), span[1])))


def _overlap(part: Section[Block], before: Section[Block] | None, ground: _Ground) -> int:
    """Return the number of characters repeated from the previous part: whole blocks, or the last sentences.

    It is never all of the previous part, which would have nothing of its own left.
    """
    if before is None or not (part.is_rest or ground.overlap):
        return 0
    budget = ground.overlap or min(ground.limit - ground.core, ground.limit - part.size)
    repeated = ground.text[before.start : part.start]
    reach = max(part.start - len(repeated.lstrip()) + 1, part.start - budget)
    begins: list[int] = []
    blocks = sorted({*before.blocks, *part.blocks}, key=attrgetter("start")) if ground.overlap else part.blocks
    for block, end in zip(blocks, [*(block.start for block in blocks[1:]), part.end], strict=True):
        if end > reach and block.start < part.start:
            begins.append(block.start)
            if block.kind == PROSE:
                span = max(block.start, reach), min(end, part.start)
                begins.extend(place for place, strength in _seams(span, ground) if strength)
    own = [begin for begin in begins if begin >= reach]
    overlap = overlap_before(ground.text, part.start, own, budget)
    return overlap if read(ground.text, ground.page.reading, part.start - overlap, part.start) else 0


def _pieces(part: Section[Block], before: Section[Block] | None, ground: _Ground) -> Iterator[Piece]:
    piece = _piece(part, before, ground)
    if piece.content or part.size * MARKUP <= ground.limit:
        yield piece
        return
    # Nothing to read, as in drawings and scripts: the source is shown and searched.
    spans = even_spans(
        part.start, line_units(ground.text, (part.start, part.end), ground.limit, line_strength), ground.limit
    )
    for start, end in spans:
        yield piece._replace(start=start, end=end, overlap=0, defines=piece.defines if start == part.start else ())


def _piece(part: Section[Block], before: Section[Block] | None, ground: _Ground) -> Piece:
    overlap, kind = _overlap(part, before, ground), _kind(part)
    start, end = part.start - overlap, part.end
    content = read(ground.text, ground.page.reading, start, end)
    headings = titles_of(part.path)
    context = context_of(part)
    title = ground.page.title
    if title and title not in headings and not any(heading and heading in title for heading in headings[:1]):
        context = f"{title}\n{context}" if context else title
    return Piece(
        part.start,
        end,
        REFERENCE if ground.tool and kind in ("section", "text") else kind,
        symbol_of(part.path),
        part.defines,
        context,
        overlap,
        content=content if any(map(str.isalnum, content)) else "",
        headings=headings,
        facts=dict(_facts(part, ground)),
    )


def _kind(part: Section[Block]) -> str:
    ends = [*(block.start for block in part.blocks[1:]), part.end]
    kinds = {block.kind for block, end in zip(part.blocks, ends, strict=True) if end > part.start}
    if kinds and kinds <= {SCRIPT, STYLE}:
        return min(kinds)
    if kinds == {NAVIGATION}:
        return NAVIGATION
    return "section" if part.path else "text"


def _facts(part: Section[Block], ground: _Ground) -> Iterator[tuple[str, Fact]]:
    page = ground.page
    if page.title:
        yield "title", page.title
    if page.language:
        yield "lang", page.language
    if anchor := ground.anchors.get(part.path):
        yield "anchor", anchor
    tokens = _tokens((part.start, part.end), ground)
    if ground.tool:
        yield "generator", ground.tool
    yield "has_code", any(token.name == "pre" for token in tokens)


def _warnings(ground: _Ground) -> Iterator[str]:
    blocks, limit = ground.page.blocks, ground.limit
    ends = [*(block.start for block in blocks[1:]), len(ground.text)]
    sizes = [
        ground.sizes.between(block.start, end)
        for block, end in zip(blocks, ends, strict=True)
        if block.kind in WHOLE_KINDS
    ]
    far = sum(1 for size in sizes if size > limit * WHOLE_BLOCK_LIMITS)
    most = (limit + ground.overlap) // QUARTERS
    if whole := sum(1 for size in sizes if size > limit) - far:
        yield f"{whole} of the tables, lists and code blocks are over max_tokens={most} and stay whole"
    if far:
        yield f"{far} of the tables, lists and code blocks are over {WHOLE_BLOCK_LIMITS} times that and were divided"
