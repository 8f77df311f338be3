"""Put the pieces of one part of a file at their places in the whole file."""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple

from cqm.chunkers.detect import TEXT, language_of
from cqm.chunkers.model import ChunkOptions, Cut, Definition, Piece
from cqm.chunkers.splitting import Span, even_spans, line_strength, line_units
from cqm.chunkers.tokens import QUARTERS, quarters

Cutter = Callable[[str, str, ChunkOptions], Cut]
"""Cuts a text by its language, at lines where nothing better is known; leaves out nothing but blank text."""

# A tag or comment between two pieces goes with its neighbour, unless it is longer than this share of the limit.
_SHARE_OF_LIMIT = 4

# Types of scripts and styles, where they are no suffix of a file.
_LANGUAGES = {
    **dict.fromkeys(("", "module", "babel", "ecmascript", "javascript", "x-javascript", "es6"), "javascript"),
    **dict.fromkeys(("typescript", "ts"), "typescript"),
    **dict.fromkeys(("ld+json", "importmap", "speculationrules", "json"), "json"),
    **dict.fromkeys(("postcss", "pcss"), "css"),
    "markdown": "markdown",
    "python": "python",
    "x-template": "html",
}


class Part(NamedTuple):
    """A part of a file in one language.

    Attributes:
        start, end: characters of the file, with the tags around the part.
        inner: characters of its content.
        kind: "script", "style", "template" or the name of another tag.
        around: text put before and after the content for its grammar, such as a class around members: the name before
            the first dot of their names is left out.
    """

    start: int
    end: int
    inner: Span
    language: str
    kind: str
    around: tuple[str, str] = ("", "")


class Name(NamedTuple):
    """A symbol unknown to the file's grammars.

    Attributes:
        name: qualified.
        kind: as in `Piece.kind`.
        start, end: characters of the file, from the first of its declaration to its end.
        at: the first character of the name, if not on the first line.
    """

    name: str
    kind: str
    start: int
    end: int
    at: int = -1


def language_named(name: str, default: str) -> str:
    """Return the language of an attribute such as `lang="ts"` or `type="text/typescript"`.

    Parameters:
        name: as written; empty for none.
        default: the language without a name.
    """
    if not name:
        return default
    word = name.strip().lower().partition(";")[0].rpartition("/")[2]
    if word in _LANGUAGES:
        return _LANGUAGES[word]
    found = language_of(f"a.{word.removeprefix('x-').removesuffix('-template')}")
    return found if found != TEXT else word or default


def pieces_of_part(text: str, part: Part, options: ChunkOptions, cut: Cutter) -> Cut:
    """Cut a part by its language; its first and last piece hold its tags."""
    before, after = part.around
    pieces, warnings = cut(before + text[slice(*part.inner)] + after, part.language, options)
    moved = placed(text, pieces, part.inner[0], len(before))
    told = {"content_type": part.language}
    moved = [
        piece._replace(
            start=max(piece.start, part.start), end=min(piece.end, part.inner[1]), facts={**piece.facts, **told}
        )
        for piece in (map(_without_outer, moved) if before else moved)
        if piece.end > part.start and piece.start < part.inner[1]
    ]
    return spread(text, moved, (part.start, part.end), options), warnings


def _without_outer(piece: Piece) -> Piece:
    return piece._replace(
        symbol=_inner(piece.symbol),
        kind=piece.kind if "." in piece.symbol else "code",
        context="",
        defines=tuple(_inner(name) for name in piece.defines if "." in name),
        definitions=tuple(replace(it, name=_inner(it.name)) for it in piece.definitions if "." in it.name),
        symbols=tuple(replace(it, name=_inner(it.name)) for it in piece.symbols if "." in it.name),
    )


def _inner(name: str) -> str:
    return name.partition(".")[2]


def placed(text: str, pieces: Iterable[Piece], at: int, before: int = 0) -> list[Piece]:
    """Move the pieces of a part to its place.

    Parameters:
        at: the part's first character.
        before: characters put before the part for its grammar, without a line end.
    """
    rows = text.count("\n", 0, at)
    at -= before
    return [
        piece._replace(
            start=piece.start + at,
            end=piece.end + at,
            definitions=tuple(
                replace(it, first_line=it.first_line + rows, line=it.line + rows, end_line=it.end_line + rows)
                for it in piece.definitions
            ),
            symbols=tuple(
                replace(it, start_line=it.start_line + rows, end_line=it.end_line + rows) for it in piece.symbols
            ),
        )
        for piece in pieces
    ]


def spread(text: str, pieces: Sequence[Piece], span: Span, options: ChunkOptions) -> list[Piece]:
    """Spread pieces over the text around and between them, such as tags; long text becomes pieces of its own.

    Parameters:
        pieces: in order, inside the span.
        span: to cover, except blank text at its ends and between pieces.
    """
    limit = options.max_tokens * QUARTERS
    result: list[Piece] = []
    done = span[0]
    for piece in [*pieces, None]:
        start = piece.start if piece else span[1]
        gap = text[done:start]
        if gap and not gap.isspace():
            if quarters(gap) * _SHARE_OF_LIMIT > limit or not pieces:
                result += lines_of(text, (done, start), options, "code")
            elif result:
                result[-1] = result[-1]._replace(end=start)
            elif piece:
                piece = piece._replace(start=done)  # noqa: PLW2901 - the tag before it
        if piece:
            result.append(piece)
            done = piece.end
    return result


def lines_of(text: str, span: Span, options: ChunkOptions, kind: str) -> list[Piece]:
    """Cut a part of a text at blank lines and lines."""
    limit = options.max_tokens * QUARTERS
    units = line_units(text, span, limit, line_strength)
    return [Piece(*part, kind) for part in even_spans(span[0], units, limit)]


def with_definitions_of(text: str, pieces: Sequence[Piece], others: Iterable[Piece]) -> list[Piece]:
    """Add the definitions of other pieces of the same file to the pieces where they begin."""
    begins = [0, *(match.end() for match in _LINE_END.finditer(text))]
    starts = [piece.start for piece in pieces]
    added: dict[int, list[Definition]] = {}
    for it in (it for other in others for it in other.definitions):
        number = max(bisect_right(starts, begins[it.first_line - 1]) - 1, 0)
        added.setdefault(number, []).append(it)
    result = [*pieces]
    for number, own in added.items() if pieces else ():
        piece = result[number]
        result[number] = piece._replace(
            defines=tuple(dict.fromkeys((*piece.defines, *(it.name for it in own)))),
            definitions=(*piece.definitions, *own),
        )
    return result


_LINE_END = re.compile("\n")


def with_names(text: str, pieces: Sequence[Piece], names: Iterable[Name]) -> list[Piece]:
    """Add symbols to the pieces where they begin; a piece without a symbol takes the name of its first.

    Parameters:
        pieces: in order.
        names: in any order.
    """
    result = [*pieces]
    added: dict[int, list[Definition]] = {}
    starts = [piece.start for piece in pieces]
    line, position = 1, 0
    for it in sorted(names, key=lambda it: it.start):
        line, position = line + text.count("\n", position, it.start), it.start
        last = line + text.count("\n", it.start, max(it.end - 1, it.start))
        added.setdefault(max(bisect_right(starts, it.start) - 1, 0), []).append(
            Definition(it.name, it.kind, line, line + text.count("\n", it.start, max(it.at, it.start)), last)
        )
    for number, own in added.items() if pieces else ():
        piece = result[number]
        result[number] = piece._replace(
            symbol=piece.symbol or own[0].name,
            kind=piece.kind if piece.symbol else own[0].kind,
            defines=tuple(dict.fromkeys((*piece.defines, *(it.name for it in own)))),
            definitions=tuple(sorted((*piece.definitions, *own), key=lambda it: it.first_line)),
        )
    return result


def joined(text: str, pieces: Iterable[Piece], options: ChunkOptions) -> list[Piece]:
    """Join pieces under half the least size with a neighbour, within the limit."""
    limit, least = options.max_tokens * QUARTERS, 0 if options.apart else options.min_tokens * QUARTERS // 2
    result: list[Piece] = []
    for piece in pieces:
        before = result[-1] if result else None
        if (
            before is not None
            and before.end - before.start < limit
            and min(_size(text, before), _size(text, piece)) < least
            and quarters(text[before.start : piece.end]) <= limit
        ):
            result[-1] = _merged(text, before, piece)
        else:
            result.append(piece)
    return result


def _size(text: str, piece: Piece) -> int:
    return quarters(text[piece.start : piece.end])


def _merged(text: str, before: Piece, after: Piece) -> Piece:
    larger = max(before, after, key=lambda it: (it.kind not in _NAMELESS, it.end - it.start))
    lists = {
        name: tuple(dict.fromkeys((*_listed(before, name), *_listed(after, name))))
        for name in (*before.facts, *after.facts)
        if _listed(before, name) or _listed(after, name)
    }
    return larger._replace(
        start=before.start,
        end=after.end,
        overlap=before.overlap,
        defines=tuple(dict.fromkeys((*before.defines, *after.defines))),
        context=before.context if before.context == after.context else "",
        content="\n".join(it.content or text[it.start : it.end] for it in (before, after))
        if before.content or after.content
        else "",
        headings=larger.headings or before.headings or after.headings,
        symbols=(*before.symbols, *after.symbols),
        definitions=(*before.definitions, *after.definitions),
        facts={**larger.facts, **lists},
    )


# Kinds without a name: a neighbour gives the name of both.
_NAMELESS = frozenset({"code", "statement", "imports"})


def _listed(piece: Piece, name: str) -> tuple[str, ...]:
    value = piece.facts.get(name)
    return value if isinstance(value, tuple) else ()
