"""Cut the scripts and styles of a page by their languages, and name the exports of a page of MDX."""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence

from cqm.chunkers.documents.markup import OPEN, attributes_of_html, tokens_of_html
from cqm.chunkers.embedded.parts import (
    Cutter,
    Part,
    joined,
    language_named,
    pieces_of_part,
    spread,
    with_definitions_of,
)
from cqm.chunkers.embedded.tags import blank
from cqm.chunkers.model import ChunkOptions, Cut, Piece

_DEFAULTS = {"script": "javascript", "style": "css"}
_PROGRAMS = frozenset({"javascript", "typescript", "tsx", "css", "scss", "less", "python"})

_TAG = re.compile(r"<(/?)(script|style)\b", re.IGNORECASE)

# In characters: a shorter one, such as a call of an analytics service, says nothing of its own.
_LEAST = 80


def scripts_of(text: str) -> Iterator[Part]:
    """Yield the scripts and styles of a page which hold a program."""
    opening = None
    for token in tokens_of_html(text) if _may_have_scripts(text) else ():
        if opening is not None and token.name == opening.name and token.kind != OPEN:
            language = _language_of(attributes_of_html(text, opening), opening.name)
            if token.start - opening.end >= _LEAST and language in _PROGRAMS:
                yield Part(opening.start, token.end, (opening.end, token.start), language, opening.name)
            opening = None
        elif token.kind == OPEN and token.name in _DEFAULTS:
            opening = token


def _may_have_scripts(text: str) -> bool:
    """Tell if some script or style may be long enough, in far less time than reading all tags takes; time is linear."""
    opened: dict[str, int] = {}
    for match in _TAG.finditer(text):
        name = match[2].lower()
        if not match[1]:
            # Of several before one end, the first has the longest content.
            opened.setdefault(name, match.end())
        elif (begin := opened.pop(name, None)) is not None:
            head = text.find(">", begin, match.start())
            if head >= 0 and match.start() - head > _LEAST:
                return True
    return False


def _language_of(attributes: dict[str, str], name: str) -> str:
    return language_named(attributes.get("lang") or attributes.get("type") or "", _DEFAULTS[name])


def with_scripts(text: str, page: Cut, options: ChunkOptions, cut: Cutter) -> Cut:
    """Cut the scripts and styles of a page at their symbols; those within a section of the page add their symbols.

    Parameters:
        page: its pieces by its headings, with warnings.
        cut: cuts a part by its language.
    """
    pieces, warnings = page
    parts = [*scripts_of(text)]
    if not parts or not pieces:
        return page
    ends = [piece.end for piece in pieces]
    apart: list[Part] = []
    inside: list[Piece] = []
    within: list[Piece] = []
    for part in parts:
        own, told = pieces_of_part(text, part, options, cut)
        if not any(piece.definitions for piece in own):
            continue
        number = min(bisect_right(ends, part.start), len(pieces) - 1)
        # One small enough to be in a piece of the page stays there.
        if pieces[number].end >= part.end and pieces[number].kind not in _DEFAULTS:
            within += own if part.kind == "script" else []
        else:
            apart.append(part)
            inside += own
            warnings = [*warnings, *told]
    if apart:
        pieces = sorted([*_outside(text, pieces, apart), *inside], key=lambda it: it.start)
        pieces = joined(text, spread(text, pieces, (0, len(text)), options), options)
    return with_definitions_of(text, pieces, within), list(dict.fromkeys(warnings))


# Statements of a module stand at the beginning of a line, outside of fences, up to a blank line or the end of their
# brackets.
_MODULE = re.compile(
    r"^(?P<fence> {0,3}(?:`{3,}|~{3,}))[^\n]*\n(?:.*\n)*?(?:(?P=fence)[^\n]*|\Z)"
    r"|^export[ \t][^\n]*(?:\n(?![ \t]*\r?\n)[^\n]*|\n(?:[ \t]*\r?\n)+(?=[ \t]+\S|[})\]])[^\n]*)*",
    re.MULTILINE,
)


def with_exports(text: str, pieces: Sequence[Piece], options: ChunkOptions, cut: Cutter) -> list[Piece]:
    """Add the components and values exported by a page of MDX to its pieces.

    Parameters:
        pieces: by its headings.
        cut: cuts a part by its language.
    """
    exports = [it.span() for it in _MODULE.finditer(text) if it["fence"] is None] if "export" in text else []
    if not exports:
        return [*pieces]
    # Read at once, at their places: each by itself would take the square of many.
    shown, done = [], 0
    for start, end in exports:
        shown += [blank(text[done:start]), text[start:end]]
        done = end
    return with_definitions_of(text, pieces, cut("".join(shown), "javascript", options)[0])


def _outside(text: str, pieces: Iterable[Piece], parts: Sequence[Part]) -> Iterator[Piece]:
    """Yield the rest of the pieces of a page outside of some parts."""
    number = 0
    for piece in pieces:
        start = piece.start
        while number and parts[number - 1].end > start:
            number -= 1
        while number < len(parts) and parts[number].start < piece.end:
            part = parts[number]
            if part.start > start and text[start : part.start].strip():
                yield piece._replace(start=start, end=part.start, overlap=piece.overlap if start == piece.start else 0)
            start = max(start, part.end)
            number += 1
        if start < piece.end and text[start : piece.end].strip():
            yield piece if start == piece.start else piece._replace(start=start, overlap=0, defines=())
