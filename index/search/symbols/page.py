"""Lines of a file for a reader: a page of them, the declarations around them, and the imports they use."""

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from operator import itemgetter
from typing import NamedTuple

from cqm.chunkers.model import Definition, Extent
from cqm.chunkers.tokens import QUARTERS, estimate, quarters
from cqm.index.model.errors import QueryError
from cqm.index.model.symbols import FileLine, ReadQuery, cursor_at
from cqm.index.search.symbols.fresh import FreshFile
from cqm.index.text.declarations import signature_of
from cqm.index.text.stored_definitions import StoredDefinition
from cqm.index.text.terms import COMMENT

_BESIDE = 15
"""Lines above and below a single line outside of symbols, or in one larger than half of the page."""
_GAP = 2
"""Blank lines between overloads read together."""
_FEW_IMPORTS, _MOST_IMPORTS = 12, 30
"""Lines of imports told in any case, and at most."""
_COMMENT_SHARE = 0.25
"""Largest share of a page for the comment above a symbol larger than the page."""
_MOST_HEADS = 8
_LONGEST_HEAD = 300
_CURSOR = re.compile(r"(?P<line>[0-9]{1,8})(?:\+(?P<column>[0-9]{1,8}))?@(?P<hash>[0-9a-f]{8})")
_WORD = re.compile(r"\w+")


class Asked(NamedTuple):
    """Lines asked for, and the symbol they are or are in."""

    first: int
    last: int
    symbol: Definition | None = None


class Page(NamedTuple):
    """A page of the lines asked for.

    Attributes:
        start, end: its first and last line.
        column: characters of the first line shown on the page before.
        next_cursor: of the page after; empty at the end.
        note: a sentence about a change of the file since the page before; empty for none.
    """

    start: int
    end: int
    column: int
    text: str
    next_cursor: str
    note: str


def count_lines(text: str) -> int:
    """Count the lines of a file; a last one needs no line end."""
    return text.count("\n") + (not text.endswith("\n")) if text else 0


def ranges_of(fresh: FreshFile, name: str, kinds: Collection[str], *, are_apart: bool = False) -> list[Asked]:
    """Return the lines of the definitions of a name, each with its comments; overloads side by side are one range.

    Parameters:
        name: qualified.
        kinds: of the definitions, unless none has one of them.
        are_apart: each overload is a range of its own.
    """
    named = [it for it in fresh.definitions if it.name == name]
    own = sorted([it for it in named if it.kind in kinds] or named, key=lambda it: (it.first_line, -it.end_line))
    found: list[Asked] = []
    for first, it in zip(_begins(fresh, own), own, strict=True):
        before = found[-1] if found else None
        if before is not None and not are_apart and first <= before.last + 1 + _GAP:
            found[-1] = before._replace(last=max(before.last, it.end_line))
        else:
            found.append(Asked(first, it.end_line, it))
    return found


def _begins(fresh: FreshFile, definitions: Iterable[Definition]) -> Iterator[int]:
    """Yield the first lines of the comments, decorators and attributes of definitions."""
    extents: defaultdict[tuple[str, int], list[Extent]] = defaultdict(list)
    for extent in fresh.layout.extents:
        extents[extent.name, extent.last].append(extent)
    lines = fresh.text.split("\n")
    for it in definitions:
        own = (extent.begins for extent in extents[it.name, it.end_line] if extent.first <= it.line)
        begins = min(own, default=it.first_line)
        # Fields have no extent, and some grammars take the first comment in a body for a part of its parent.
        while 1 < begins <= len(lines) and COMMENT.match(lines[begins - 2]):
            begins -= 1
        yield begins


def below_comment(fresh: FreshFile, asked: Asked, tokens: int) -> tuple[Asked, str]:
    """Return a symbol from its declaration on, where its long comment and itself have no room on one page.

    Parameters:
        asked: the lines of a symbol, from its comment on.
        tokens: estimated tokens of a page.

    Returns:
        The lines, and a sentence about those left out; empty for none.
    """
    lines = fresh.text.split("\n")
    own = asked.symbol.line if asked.symbol else asked.first
    last = max((it for it in range(asked.first, own) if COMMENT.match(lines[it - 1])), default=0)
    comment = estimate("\n".join(lines[asked.first - 1 : last]))
    is_long = comment > tokens * _COMMENT_SHARE and estimate("\n".join(lines[asked.first - 1 : asked.last])) > tokens
    if not is_long:
        return asked, ""
    return asked._replace(first=last + 1), f"Its comment is left out: read lines {asked.first}-{last}."


def range_of(fresh: FreshFile, first: int, last: int, tokens: int = 0) -> Asked:
    """Return lines with the innermost symbol around them.

    Parameters:
        tokens: estimated tokens of a page; half of them may show the surroundings of a single line. 0 to show it alone.
    """
    candidates = [it for it in fresh.definitions if last <= it.end_line]
    starts = zip(_begins(fresh, candidates), candidates, strict=True)
    around = [(it.end_line - it.first_line, -it.first_line, begins, it) for begins, it in starts if begins <= first]
    *_, begins, symbol = min(around, key=itemgetter(0, 1), default=(0, 0, first, None))
    if not tokens:
        return Asked(first, last, symbol)
    total, lines = count_lines(fresh.text), fresh.text.split("\n")
    if symbol and estimate("\n".join(lines[begins - 1 : symbol.end_line])) <= tokens // 2:
        return Asked(begins, symbol.end_line, symbol)
    begins, end = first, first
    left = tokens // 2 * QUARTERS - quarters(lines[first - 1])
    for number in range(1, _BESIDE + 1):
        above, below = max(1, first - number), min(total, first + number)
        left -= quarters(lines[above - 1]) + quarters(lines[below - 1]) + 2
        if left < 0:
            break
        begins, end = above, below
    return Asked(begins, end, symbol)


def page_of(fresh: FreshFile, asked: Asked, query: ReadQuery) -> Page:
    """Return the page of the query's cursor, or the first one; as many lines as its tokens allow.

    Raises:
        QueryError: the cursor is malformed.
    """
    start, column, note = asked.first, 0, ""
    if query.cursor:
        found = _CURSOR.fullmatch(query.cursor)
        if not found:
            raise QueryError(f"`cursor {query.cursor}`: expected the cursor of the page before.")
        start, column = int(found["line"]), int(found["column"] or 0)
        if found["hash"] != fresh.hash[:8]:
            note = "The file changed after the page before: lines may be missing or repeated."
        if not asked.first <= start <= asked.last:
            start, column = asked.first, 0
    lines = fresh.text.split("\n")
    left, shown = query.tokens * QUARTERS, list[str]()
    for number in range(start, asked.last + 1):
        line = lines[number - 1][column if number == start else 0 :]
        left -= quarters(line) + 1
        if left < 0:
            if not shown:
                return _part_of_line(fresh, (start, column), asked.last, query.tokens, note)
            return Page(start, number - 1, column, "\n".join(shown), cursor_at(number, 0, fresh.hash), note)
        shown.append(line)
    return Page(start, asked.last, column, "\n".join(shown), "", note)


def _part_of_line(fresh: FreshFile, at: tuple[int, int], last: int, tokens: int, note: str) -> Page:
    """Return as much of a line as fits on a page: it may be all of a file."""
    number, column = at
    line = fresh.text.split("\n")[number - 1][column:]
    # Characters take at most two quarters, so all of these fit.
    size = tokens * QUARTERS if line[: tokens * QUARTERS].isascii() else tokens * QUARTERS // 2
    is_all = size >= len(line)
    following = (number + 1, 0) if is_all else (number, column + size)
    cursor = cursor_at(*following, fresh.hash) if following[0] <= last else ""
    return Page(number, number, column, line[:size], cursor, note)


def heads_of(fresh: FreshFile, asked: Asked) -> tuple[FileLine, ...]:
    """Return the declarations around the lines asked for, outermost first, each as its first line tells it."""
    lines = fresh.text.split("\n")
    around = [it for it in fresh.layout.extents if it.first < asked.first and asked.last <= it.last]
    heads = {it.first: _head(lines, it) for it in around}
    return tuple(FileLine(line, text) for line, text in sorted(heads.items())[-_MOST_HEADS:])


def _head(lines: Sequence[str], it: Extent) -> str:
    first = it.first - 1
    declared = StoredDefinition(it.name, "", first, first, it.last - 1)
    return " ".join(signature_of(lines[first:], declared).split())[:_LONGEST_HEAD]


def imports_of(fresh: FreshFile, asked: Asked) -> tuple[FileLine, ...]:
    """Return the import lines above the lines asked for: all if they are few, else those of names used there."""
    lines = fresh.text.split("\n")
    found = list(_import_lines(fresh, lines, asked.first))
    if len(found) <= _FEW_IMPORTS:
        return tuple(found)
    words = set(_WORD.findall("\n".join(lines[asked.first - 1 : asked.last])))
    used = [it for it in found if not words.isdisjoint(_WORD.findall(it.text))]
    return tuple(used[:_MOST_IMPORTS])


def _import_lines(fresh: FreshFile, lines: Sequence[str], before: int) -> Iterator[FileLine]:
    for first, last in fresh.layout.imports:
        for number in range(first, min(last, before - 1, len(lines)) + 1):
            if lines[number - 1].strip():
                yield FileLine(number, lines[number - 1][:_LONGEST_HEAD])
