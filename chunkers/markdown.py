"""Markdown cut at its headings, by block structure: what looks like a heading inside a fence or a list is none."""

import functools
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from cqm.chunkers.cutting import Unit, even_spans, line_units
from cqm.chunkers.front_matter import front_matter_of
from cqm.chunkers.headed import (
    Heading,
    Section,
    context_of,
    is_related,
    joined,
    parts_of,
    path_below,
    symbol_of,
    titles_of,
)
from cqm.chunkers.model import ChunkOptions, Fact, Piece
from cqm.chunkers.prose import line_strength, prose_strength
from cqm.chunkers.tokens import QUARTERS, quarters

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

WHOLE_BLOCK_LIMITS = 4
"""A fence, list, table or quote stays whole up to this many times `ChunkOptions.max_tokens`."""

_BLOCK_STRENGTH = 3

# The parser's own idea of a line end (CommonMark 2.1), which its line numbers count.
_LINE_END = re.compile(r"\r\n?|\n")
_HTML_HEADING = re.compile(r"<h([1-6])\b[^>]{0,500}>(.{1,1000}?)</h\1>", re.IGNORECASE | re.DOTALL)
_IMAGE = re.compile(r"!\[[^\[\]]{0,500}\](?:\([^()]{0,500}\)|\[[^\[\]]{0,100}\])")
_LINK = re.compile(r"\[([^\[\]]{0,500})\](?:\([^()]{0,500}\)|\[[^\[\]]{0,100}\])")
_OTHER_MARKUP = re.compile(r"<[^<>]{1,500}>|\{#[^{}]{0,100}\}\s*$|`")
_LONGEST_TITLE = 200

_MOST_LINKS = 20
_TARGET = re.compile(
    r"""\]\(\s*<?([^\s<>()]{1,500}(?:\([^\s<>()]{0,200}\)[^\s<>()]{0,200})?)>?(?:\s+["'(][^\n]{0,300})?\s*\)"""
    r"""|^ {0,3}\[[^\[\]\n]{1,200}\]:\s*<?([^\s<>]{1,500})|<(https?://[^\s<>]{1,500})>""",
    re.MULTILINE,
)

# Short lines take the parser 30 microseconds each, however many; 40,000 of them are over a second.
_MOST_SHORT_LINES = 20_000
_SHORT_LINE = 16
_FENCE = re.compile(r" {0,3}(`{3,}(?!.*`)|~{3,})")
_ATX_HEADING = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(.{0,1000}?))?(?:[ \t]+#+)?[ \t]*\r?$")


@dataclass(frozen=True, slots=True)
class _Block:
    start: int
    is_prose: bool
    heading: Heading | None = None
    code: str | None = None  # the language of a code block, empty when it names none


def pieces_of_markdown(text: str, options: ChunkOptions) -> list[Piece]:
    """Cut Markdown into sections; a symbol is the path of headings.

    Fences, lists, tables, quotes and front matter are cut only beyond `WHOLE_BLOCK_LIMITS`. A section over the limit is
    divided between its blocks, a paragraph over the limit at sentences. Sections under the minimum are packed with
    their neighbours under the same parent; tiny ones with any neighbour. The pieces are gapless.
    """
    limit, least = options.max_tokens * QUARTERS, options.min_tokens * QUARTERS
    blocks = _blocks(text) or [_Block(0, is_prose=True)]
    sections = joined(_sections(text, blocks), limit, least, is_related)
    parts = [part for section in sections for part in _divided(text, section, limit)]
    shared = _document_facts(text, blocks)
    return [_piece(text, part, shared) for part in joined(parts, limit, least // 2, lambda _before, _part: True)]


@functools.cache
def _parser() -> "MarkdownIt":
    from markdown_it import MarkdownIt  # only where Markdown is chunked
    from mdit_py_plugins.front_matter import front_matter_plugin

    parser = MarkdownIt("commonmark").enable("table").use(front_matter_plugin)
    parser.core.ruler.enableOnly(["normalize", "block"])
    return parser


def _blocks(text: str) -> list[_Block]:
    lines = text.count("\n")
    if lines > _MOST_SHORT_LINES and len(text) < lines * _SHORT_LINE:
        return list(_blocks_of_lines(text))
    line_starts = [0, *(match.end() for match in _LINE_END.finditer(text))]
    tokens = _parser().parse(text)
    return [
        _Block(line_starts[token.map[0]], token.type == "paragraph_open", _heading(tokens, number), _code(token))
        for number, token in enumerate(tokens)
        if token.level == 0 and token.map is not None and token.nesting >= 0
    ]


def _blocks_of_lines(text: str) -> Iterator[_Block]:
    """The blocks of a text that would keep the parser busy for long: headings, code between fences, and paragraphs."""
    position, fence, is_new = 0, "", True
    for line in text.splitlines(keepends=True):
        opening = _FENCE.match(line)
        if fence:
            fence = "" if opening and opening[1].startswith(fence) and not line[opening.end() :].strip() else fence
            is_new = not fence
        elif opening:
            fence = opening[1]
            yield _Block(position, is_prose=False, code=line[opening.end() :].strip())
        elif heading := _ATX_HEADING.match(line):
            yield _Block(position, is_prose=False, heading=(len(heading[1]), _title(heading[2] or "")))
            is_new = True
        elif not line.strip():
            is_new = True
        elif is_new:
            yield _Block(position, is_prose=True)
            is_new = False
        position += len(line)


def _code(token: "Token") -> str | None:
    if token.type not in ("fence", "code_block"):
        return None
    return (token.info.split() or [""])[0].strip("{}.")


def _heading(tokens: "list[Token]", number: int) -> Heading | None:
    token = tokens[number]
    if token.type == "heading_open":
        return int(token.tag[1:]), _title(tokens[number + 1].content)
    if token.type == "html_block" and (match := _HTML_HEADING.search(token.content)):
        return int(match[1]), _title(match[2])
    return None


def _title(markup: str) -> str:
    words = _OTHER_MARKUP.sub("", _LINK.sub(r"\1", _IMAGE.sub("", markup))).split()
    return " ".join(words)[:_LONGEST_TITLE]


def _sections(text: str, blocks: list[_Block]) -> Iterator[Section[_Block]]:
    # What stands before the first block, blank lines and link definitions, belongs to it.
    starts = [0, *(number for number, block in enumerate(blocks) if block.heading and number)]
    path: tuple[Heading, ...] = ()
    for first, last in pairwise([*starts, len(blocks)]):
        own = tuple(blocks[first:last])
        if own and own[0].heading:
            path = path_below(path, own[0].heading)
        start = own[0].start if first else 0
        end = blocks[last].start if last < len(blocks) else len(text)
        yield Section(start, end, quarters(text[start:end]), path, own, (symbol_of(path),) if path else ())


def _divided(text: str, section: Section[_Block], limit: int) -> Iterator[Section[_Block]]:
    if section.size <= limit:
        yield section
        return
    yield from parts_of(text, section, even_spans(section.start, list(_units(text, section, limit)), limit))


def _units(text: str, section: Section[_Block], limit: int) -> Iterator[Unit]:
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


def _piece(text: str, section: Section[_Block], shared: Mapping[str, Fact]) -> Piece:
    kind = "section" if section.path else "text"
    symbol, context, headings = symbol_of(section.path), context_of(section), titles_of(section.path)
    facts = {**shared, **dict(_facts(text, section))}
    return Piece(section.start, section.end, kind, symbol, section.defines, context, headings=headings, facts=facts)


def _facts(text: str, section: Section[_Block]) -> Iterator[tuple[str, Fact]]:
    """What is known of a part of a document alone."""
    ends = [*(block.start for block in section.blocks[1:]), section.end]
    blocks = zip(section.blocks, ends, strict=True)
    codes = [
        block.code
        for block, end in blocks
        if block.code is not None and end > section.start and block.start < section.end
    ]
    yield "has_code", bool(codes)
    if languages := tuple(dict.fromkeys(code for code in codes if code)):
        yield "code_languages", languages
    targets = (match[1] or match[2] or match[3] for match in _TARGET.finditer(text, section.start, section.end))
    if links := tuple(dict.fromkeys(targets))[:_MOST_LINKS]:
        yield "links", links


def _document_facts(text: str, blocks: list[_Block]) -> dict[str, Fact]:
    """What is known of the whole document: its title, and what its front matter says of it."""
    facts = front_matter_of(text) if text.startswith("---") else {}
    headings = [block.heading for block in blocks if block.heading]
    title = min(headings, key=lambda heading: heading[0], default=(0, ""))[1]
    return {"title": title, **facts} if title else facts
