"""Read both sides of Git's conflicts in a file, each as a program of its own."""

import re
from typing import TYPE_CHECKING, NamedTuple

from cqm.chunkers.recovery.branches import without

if TYPE_CHECKING:
    from collections.abc import Iterator

_MARK = re.compile(rb"^(<{7}|\|{7}|={7}|>{7})(?:[ \t][^\n]*)?\r?(?:\n|\Z)", re.MULTILINE)
_OPENS, _BASE, _DIVIDES, _CLOSES = b"<" * 7, b"|" * 7, b"=" * 7, b">" * 7

Span = tuple[int, int]
"""Bytes, half-open."""


class Side(NamedTuple):
    """One side of all conflicts of a program.

    Attributes:
        data: the program without the marks, the other sides and the texts changed on both sides.
        own: bytes of this side alone, half-open and in order.
    """

    data: bytes
    own: list[Span]


class _Conflict(NamedTuple):
    """A conflict, by the bytes of its texts."""

    first: Span
    base: Span
    second: Span


def has_conflicts(source: bytes) -> bool:
    """Tell if a text may have marks of conflicts."""
    return _OPENS in source or _CLOSES in source


def sides_of(source: bytes) -> list[Side]:
    """Return the first and the second side of a program; one for marks without a conflict, none without marks.

    A side without any text in a conflict gets the other's there: a declaration added or deleted by one side stands in
    its place in both.
    """
    marks = [*_MARK.finditer(source)]
    conflicts = [*_conflicts(marks)]
    if not any(it[1] in (_OPENS, _CLOSES) for it in marks):
        return []
    outer = [*(it.span() for it in marks), *(it.base for it in conflicts)]
    both = [it for it in conflicts if source[slice(*it.first)].strip() and source[slice(*it.second)].strip()]
    firsts, seconds = [it.first for it in both], [it.second for it in both]
    first = Side(without(source, [*outer, *seconds]), firsts)
    return [first, Side(without(source, [*outer, *firsts]), seconds)] if both else [first]


def _conflicts(marks: "list[re.Match[bytes]]") -> "Iterator[_Conflict]":
    opens = base = divides = None
    for mark in marks:
        sign = mark[1]
        if sign == _OPENS:
            opens, base, divides = mark, None, None
        elif sign == _BASE and opens is not None and divides is None:
            base = mark
        elif sign == _DIVIDES and opens is not None and divides is None:
            divides = mark
        elif sign == _CLOSES and opens is not None and divides is not None:
            first = opens.end(), (base or divides).start()
            before = (base.end(), divides.start()) if base is not None else (first[1], first[1])
            yield _Conflict(first, before, (divides.end(), mark.start()))
            opens = None


_RULERS = frozenset({"markdown", "restructuredtext", "asciidoc", "mediawiki", "rdoc"})
"""Languages where a row of equals signs makes a title of the row above it, or encloses the text below."""
_COMMENTED = frozenset({"yaml", "toml"})
_TEXT_MARK = re.compile(_MARK.pattern.decode(), re.MULTILINE)


def with_plain_marks(text: str, language: str) -> str:
    """Make marks of conflicts mean nothing in a text without a program; it keeps its length and its rows."""
    if language not in _RULERS | _COMMENTED or ">>>>>>>" not in text or "<<<<<<<" not in text:
        return text
    is_open = False

    def plain(mark: re.Match[str]) -> str:
        nonlocal is_open
        was_open, is_open = is_open, not mark[1].startswith(">") and (is_open or mark[1].startswith("<"))
        if not (was_open or is_open):
            return mark[0]
        return f"#{mark[0][1:]}" if language in _COMMENTED else mark[0].replace("=======", "======>")

    return _TEXT_MARK.sub(plain, text)
