"""Cut Markdown at its headings by block structure: lines like a heading in a fence or list don't count."""

import functools
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING

from cqm.chunkers.documents.front_matter import front_matter_of
from cqm.chunkers.documents.headed import Heading, Section, context_of, symbol_of, titles_of
from cqm.chunkers.documents.sectioning import Block, sections_of, title_of
from cqm.chunkers.model import ChunkOptions, Fact, Piece

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

# The parser's own definition of a line end (CommonMark 2.1), used for its line numbers.
_LINE_END = re.compile(r"\r\n?|\n")
_HTML_HEADING = re.compile(r"<h([1-6])\b[^>]{0,500}>(.{1,1000}?)</h\1>", re.IGNORECASE | re.DOTALL)
_IMAGE = re.compile(r"!\[[^\[\]]{0,500}\](?:\([^()]{0,500}\)|\[[^\[\]]{0,100}\])")
_LINK = re.compile(r"\[([^\[\]]{0,500})\](?:\([^()]{0,500}\)|\[[^\[\]]{0,100}\])")
# Code keeps its angles: `<template>` and `Vec<T>` are names. A backslash goes, the escaped character stays.
_OTHER_MARKUP = re.compile(
    r"(?P<marks>`{1,5})(?P<code>[^`]{1,300})(?P=marks)|<[^<>]{1,500}>|\{#[^{}]{0,100}\}\s*$|`|\\(?P<sign>[!-/:-@\[-`{-~])"
)
_LONGEST_TITLE = 200

_MOST_LINKS = 20
_TARGET = re.compile(
    r"""\]\(\s*<?([^\s<>()]{1,500}(?:\([^\s<>()]{0,200}\)[^\s<>()]{0,200})?)>?(?:\s+["'(][^\n]{0,300})?\s*\)"""
    r"""|^ {0,3}\[[^\[\]\n]{1,200}\]:\s*<?([^\s<>]{1,500})|<(https?://[^\s<>]{1,500})>""",
    re.MULTILINE,
)

# Characters of the parts for parsing a long text; a shorter part would often end inside a block.
_LEAST_SEGMENT = 10_000
_NO_HEADING = 7

# Short lines take the parser 30 microseconds each, however many: over a second for 40,000.
_MOST_SHORT_LINES = 20_000
_SHORT_LINE = 16
_FENCE = re.compile(r" {0,3}(`{3,}(?!.*`)|~{3,})")
_ATX_HEADING = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(.{0,1000}?))?(?:[ \t]+#+)?[ \t]*\r?$")


def pieces_of_markdown(text: str, options: ChunkOptions) -> list[Piece]:
    """Cut Markdown as `sectioning.sections_of` does, gapless; a symbol is the path of headings."""
    blocks = list(_blocks(text, max(options.max_parse_bytes, _LEAST_SEGMENT)))
    shared = _document_facts(text, blocks)
    return [_piece(text, section, shared) for section in sections_of(text, blocks, options)]


@functools.cache
def _parser() -> "MarkdownIt":
    from markdown_it import MarkdownIt  # only where Markdown is chunked
    from mdit_py_plugins.front_matter import front_matter_plugin

    parser = MarkdownIt("commonmark").enable("table").use(front_matter_plugin)
    parser.core.ruler.enableOnly(["normalize", "block"])
    return parser


def _blocks(text: str, most: int) -> Iterator[Block]:
    """Yield the blocks of a text, parsed in parts of about `most` characters."""
    lines = text.count("\n")
    if lines > _MOST_SHORT_LINES and len(text) < lines * _SHORT_LINE:
        yield from _blocks_of_lines(text)
        return
    for start, end in pairwise(_segments(text, most)):
        yield from (replace(block, start=start + block.start) for block in _parsed(text[start:end]))


def _segments(text: str, most: int) -> Iterator[int]:
    """Yield the beginnings of a long text's parts, at headings or else at paragraphs, and the end of the text."""
    yield 0
    start = at = 0
    best = _NO_HEADING + 1
    for block in _blocks_of_lines(text) if len(text) > most else ():
        level = block.heading[0] if block.heading else _NO_HEADING
        if block.start - start > most and at > start:
            yield at
            start, best = at, _NO_HEADING + 1
        if block.start - start >= most // 2 and level <= best:
            at, best = block.start, level
    yield len(text)


def _parsed(text: str) -> Iterator[Block]:
    line_starts = [0, *(match.end() for match in _LINE_END.finditer(text))]
    tokens = _parser().parse(text)
    for number, token in enumerate(tokens):
        if token.level == 0 and token.map is not None and token.nesting >= 0:
            start = line_starts[token.map[0]]
            yield Block(start, token.type == "paragraph_open", _heading(tokens, number), _code(token))


def _blocks_of_lines(text: str) -> Iterator[Block]:
    """Yield the blocks of a text too slow for the parser: headings, code between fences, and paragraphs."""
    position, fence, is_new = 0, "", True
    for line in text.splitlines(keepends=True):
        opening = _FENCE.match(line)
        if fence:
            fence = "" if opening and opening[1].startswith(fence) and not line[opening.end() :].strip() else fence
            is_new = not fence
        elif opening:
            fence = opening[1]
            yield Block(position, is_prose=False, code=line[opening.end() :].strip())
        elif heading := _ATX_HEADING.match(line):
            yield Block(position, is_prose=False, heading=(len(heading[1]), _title(heading[2] or "")))
            is_new = True
        elif not line.strip():
            is_new = True
        elif is_new:
            yield Block(position, is_prose=True)
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
    text = _LINK.sub(r"\1", _IMAGE.sub("", markup))
    words = _OTHER_MARKUP.sub(lambda found: found["code"] or found["sign"] or "", text).split()
    return " ".join(words)[:_LONGEST_TITLE]


def _piece(text: str, section: Section[Block], shared: Mapping[str, Fact]) -> Piece:
    kind = "section" if section.path else "text"
    symbol, context, headings = symbol_of(section.path), context_of(section), titles_of(section.path)
    facts = {**shared, **dict(_facts(text, section))}
    return Piece(section.start, section.end, kind, symbol, section.defines, context, headings=headings, facts=facts)


def _facts(text: str, section: Section[Block]) -> Iterator[tuple[str, Fact]]:
    """Yield the facts of one part of a document."""
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


def _document_facts(text: str, blocks: list[Block]) -> dict[str, Fact]:
    """Return the facts of the whole document: its title, and its front matter."""
    facts = front_matter_of(text) if text.startswith("---") else {}
    title = title_of(blocks)
    return {"title": title, **facts} if title else facts
