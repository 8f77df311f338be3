"""Markdown cut at its headings, by block structure: what looks like a heading inside a fence or a list is none."""

import functools
import re
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING

from cqm.chunkers.cutting import Unit, even_spans, line_units
from cqm.chunkers.model import ChunkOptions, Piece
from cqm.chunkers.prose import line_strength, prose_strength
from cqm.chunkers.tokens import QUARTERS, quarters

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

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

Heading = tuple[int, str]
"""Level 1 to 6, and title."""


@dataclass(frozen=True, slots=True)
class _Block:
    start: int
    is_prose: bool
    heading: Heading | None = None


@dataclass(frozen=True, slots=True)
class _Section:
    # From one heading to the next of any level, or neighbours joined, or a part of one that was divided.
    start: int
    end: int
    size: int
    path: tuple[Heading, ...]
    blocks: tuple[_Block, ...]
    defines: tuple[str, ...]
    is_rest: bool = False


def pieces_of_markdown(text: str, options: ChunkOptions) -> list[Piece]:
    """Cut Markdown into sections; a symbol is the path of headings.

    Fences, lists, tables, quotes and front matter are cut only beyond `WHOLE_BLOCK_LIMITS`. A section over the limit is
    divided between its blocks, a paragraph over the limit at sentences. Sections under the minimum are packed with
    their neighbours under the same parent; tiny ones with any neighbour. The pieces are gapless.
    """
    limit, least = options.max_tokens * QUARTERS, options.min_tokens * QUARTERS
    sections = _joined(_sections(text, _blocks(text) or [_Block(0, is_prose=True)]), limit, least, _is_related)
    parts = [part for section in sections for part in _divided(text, section, limit)]
    return [_piece(part) for part in _joined(parts, limit, least // 2, lambda _before, _section: True)]


@functools.cache
def _parser() -> "MarkdownIt":
    from markdown_it import MarkdownIt  # only where Markdown is chunked
    from mdit_py_plugins.front_matter import front_matter_plugin

    parser = MarkdownIt("commonmark").enable("table").use(front_matter_plugin)
    parser.core.ruler.enableOnly(["normalize", "block"])
    return parser


def _blocks(text: str) -> list[_Block]:
    line_starts = [0, *(match.end() for match in _LINE_END.finditer(text))]
    tokens = _parser().parse(text)
    return [
        _Block(line_starts[token.map[0]], token.type == "paragraph_open", _heading(tokens, number))
        for number, token in enumerate(tokens)
        if token.level == 0 and token.map is not None and token.nesting >= 0
    ]


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


def _sections(text: str, blocks: list[_Block]) -> "Iterator[_Section]":
    # What stands before the first block, blank lines and link definitions, belongs to it.
    starts = [0, *(number for number, block in enumerate(blocks) if block.heading and number)]
    path: tuple[Heading, ...] = ()
    for first, last in pairwise([*starts, len(blocks)]):
        own = tuple(blocks[first:last])
        if own and own[0].heading:
            level = own[0].heading[0]
            path = (*(above for above in path if above[0] < level), own[0].heading)
        start = own[0].start if first else 0
        end = blocks[last].start if last < len(blocks) else len(text)
        yield _Section(start, end, quarters(text[start:end]), path, own, (_symbol(path),) if path else ())


def _joined(
    sections: "Iterable[_Section]", limit: int, least: int, may_join: "Callable[[_Section, _Section], bool]"
) -> list[_Section]:
    joined: list[_Section] = []
    for section in sections:
        before = joined[-1] if joined else None
        if (
            before is not None
            and min(before.size, section.size) < least
            and before.size + section.size <= limit
            and may_join(before, section)
        ):
            size, defines = before.size + section.size, before.defines + section.defines
            joined[-1] = replace(before, end=section.end, size=size, defines=defines)
        else:
            joined.append(section)
    return joined


def _is_related(before: _Section, section: _Section) -> bool:
    is_below = section.path[: len(before.path)] == before.path
    return is_below or section.path[:-1] == before.path[:-1]


def _divided(text: str, section: _Section, limit: int) -> "Iterator[_Section]":
    if section.size <= limit:
        yield section
        return
    units = list(_units(text, section, limit))
    for start, end in even_spans(section.start, units, limit):
        part = replace(section, start=start, end=end, size=quarters(text[start:end]))
        yield part if start == section.start else replace(part, defines=(), is_rest=True)


def _units(text: str, section: _Section, limit: int) -> "Iterator[Unit]":
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


def _piece(section: _Section) -> Piece:
    above = section.path if section.is_rest else section.path[:-1]
    context = "\n".join(f"{'#' * level} {title}" for level, title in above)
    kind = "section" if section.path else "text"
    return Piece(section.start, section.end, kind, _symbol(section.path), section.defines, context)


def _symbol(path: tuple[Heading, ...]) -> str:
    return " > ".join(title for _, title in path)
