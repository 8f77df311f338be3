"""Patterns of routes, with placeholders in the notation of any framework, and how well a path fits one."""

import re
from collections.abc import Sequence
from enum import Enum, auto
from functools import lru_cache
from typing import NamedTuple

_ONE, _OPTIONAL, _REST = "\1", "\2", "\3"
"""Marks of placeholders while reading a pattern: of a segment, of an optional one, of all further ones."""
_MARKS = re.compile("[\1\2\3]")
_ENDS = re.compile(r"^\^|\\A|/?\??\$$|\\[Zz]$")
_OPTIONAL_PART = re.compile(r"\(([/.]?:?[\w/:.*-]*)\)\??(?![*+])")
"""In Rails: "(/page/:page)", "(.:format)", "(:title)"."""
_PLACEHOLDER = re.compile(
    r"\(\?P?<\w+>(?:[^()]|\([^()]*\))*\)[?*+]?"  # (?P<id>\d+)
    r"|%?\$?\{+[^{}]*(?:\{[^{}]*\}[^{}]*)*\}+"  # {id}, {id:int}, {*rest}, ${id}
    r"|<[^<>]*>|\[\[?[^\[\]]*\]\]?[*+]?|\((?:[^()]|\([^()]*\))*\)[?*+]?"  # <uuid:id>, [id], [...slug], (\d+)
    r"|:\w+(?:\([^()]*\))?[?*+]?|(?<=/)\*+\w*|^\*+\w*|(?<=/)\$\w*|\.\*|\\[dw][+*]?"
)
_MANY = re.compile(r"^\*|^\$$|\.\.\.|^[{<]\*|path:|\.[*+]|[*+]\}?$")
_MOST_VARIANTS = 2
_MOST_SEGMENTS, _MOST_OPEN, _MOST_IN_SEGMENT = 24, 4, 3
"""Most segments of a pattern, most of these taking none or several of a path, and most placeholders of a segment:
nobody writes more, and they take long to match."""


class _Kind(Enum):
    LITERAL = auto()
    PARTLY = auto()
    ANY = auto()
    OPTIONAL = auto()
    REST = auto()


class Segment(NamedTuple):
    """A segment of a pattern.

    Attributes:
        kind: whether it is written out, has a placeholder in it, or is one.
        text: in lower case, if it is written out.
        form: of one with a placeholder in it.
    """

    kind: _Kind
    text: str = ""
    form: re.Pattern[str] | None = None


class Fit(NamedTuple):
    """The agreement of a path with a pattern.

    Attributes:
        missing: segments in front of the path and not in the pattern: it may be mounted there.
        literals: number of segments with equal spelling.
        extra: segments in front of the pattern and not in the path.
        is_short: whether the declaration has prefixes missing in the path.
    """

    missing: tuple[str, ...]
    literals: float
    extra: int = 0
    is_short: bool = False


@lru_cache(maxsize=1 << 12)
def patterns_of(path: str) -> tuple[tuple[Segment, ...], ...]:
    """Return the patterns of a declared path; Rails' optional parts give two, with and without them."""
    path = _ENDS.sub("", path.strip()).replace("\\.", ".").replace("\\/", "/")
    variants = [path]
    if _OPTIONAL_PART.search(path):
        variants = [_OPTIONAL_PART.sub("", path), _OPTIONAL_PART.sub(r"\1", path)]
    return tuple(dict.fromkeys(map(_pattern, variants[:_MOST_VARIANTS])))


def fit(pattern: Sequence[Segment], asked: Sequence[str]) -> Fit | None:
    """Tell how the segments of a path fit a pattern with at least one literal segment; None if they don't.

    Either may lack segments in front, added by a mount, a proxy or a version.
    """
    for start in range(len(asked)):
        literals = _aligned(pattern, asked[start:])
        if literals:
            return Fit(tuple(asked[:start]), literals)
    for start in range(1, len(pattern)):
        literals = _aligned(pattern[start:], asked)
        if literals and literals >= 1:
            return Fit((), literals, start)
    return None


def _pattern(path: str) -> tuple[Segment, ...]:
    marked = _PLACEHOLDER.sub(lambda match: _mark(match[0]), path)
    parts = [part for part in marked.split("/") if part]
    if len(parts) > _MOST_SEGMENTS or any(len(_MARKS.findall(part)) > _MOST_IN_SEGMENT for part in parts):
        return ()
    segments = tuple(map(_segment, parts))
    is_open = sum(it.kind in {_Kind.OPTIONAL, _Kind.REST} for it in segments)
    return segments if is_open <= _MOST_OPEN else ()


def _mark(placeholder: str) -> str:
    if _MANY.search(placeholder):
        return _REST
    is_optional = placeholder.endswith(("?", "?}")) or placeholder.startswith("[[")
    return _OPTIONAL if is_optional else _ONE


def _segment(part: str) -> Segment:
    kinds = {_ONE: _Kind.ANY, _OPTIONAL: _Kind.OPTIONAL, _REST: _Kind.REST}
    if kind := kinds.get(part):
        return Segment(kind)
    if not _MARKS.search(part):
        return Segment(_Kind.LITERAL, part.lower())
    form = ".*?".join(re.escape(it) for it in _MARKS.split(part))
    return Segment(_Kind.PARTLY, "", re.compile(form, re.IGNORECASE))


def _aligned(pattern: Sequence[Segment], asked: Sequence[str]) -> float | None:
    """Return the number of equally spelled segments, if all fit; one with a placeholder counts half."""
    if not pattern:
        return None if asked else 0.0
    head, rest = pattern[0], pattern[1:]
    if head.kind is _Kind.OPTIONAL and (without := _aligned(rest, asked)) is not None:
        return without
    if not asked:
        return None
    if head.kind is _Kind.REST:
        found = (_aligned(rest, asked[taken:]) for taken in range(1, len(asked) + 1))
        return next((it for it in found if it is not None), None)
    if (own := _own(head, asked[0])) is None:
        return None
    behind = _aligned(rest, asked[1:])
    return None if behind is None else own + behind


def _own(segment: Segment, asked: str) -> float | None:
    if segment.kind is _Kind.LITERAL:
        return 1.0 if segment.text == asked.lower() else None
    if segment.form is not None:
        return 0.5 if segment.form.fullmatch(asked) else None
    return 0.0
