"""Find secrets in tables by their headers, in SQL by their columns, and in lists and mappings by their names."""

import re
from collections.abc import Generator, Iterator, Sequence

from cqm.index.secrets.model import Match
from cqm.index.secrets.names import anchor_of, is_chosen, places_of
from cqm.index.secrets.notations import COLLECTION, ITEM, YAML_COLLECTION, YAML_ITEM
from cqm.index.secrets.values import is_strong, is_token

_RULER = re.compile(r"[ \t]{0,8}\|?[ \t]{0,8}:?-{2,}+[-| :\t]*+$", re.MULTILINE)
_INSERT = re.compile(
    r"(?i:into)\s{1,8}[^\s()]{1,120}\s{0,8}"
    r"\((?P<columns>[^()]{1,4000})\)\s{0,8}(?i:values)\s{0,8}(?=\()"
)
_SQL_VALUE = re.compile(r"\s*+[Ee]?'(?P<value>(?:[^'\\]|\\.|'')*+)'\s*+(?P<mark>[,)])|[^,()']*+(?P<other>[,)])")
_SQL_ROW = re.compile(r"\s{0,8},?\s{0,8}\(")
_CELL_MARKS = " \t\r\"'`"
_SEPARATORS = (",", ";", "\t", "|")
_TABLES = (".csv", ".tsv", ".psv", ".txt")
_MOST_TEXT = 4_000
_MOST_CELLS = 64
_MOST_HEADER = 4_000

Span = tuple[int, int]


def tables(text: str, low: str, named: Sequence[tuple[int, str]], path: str) -> Iterator[Match]:
    """Yield the cells below headers naming a secret, of CSV and Markdown tables."""
    first = text.find("\n", 0, _MOST_HEADER)
    if first > 0 and path.lower().endswith(_TABLES) and named[0][0] < first:
        yield from _rows(text, (0, first), first + 1)
    for place in places_of(low, "into ") if "values" in low else ():
        if found := _INSERT.match(text, place):
            yield from _inserted(text, found)
    done = 0
    for place, _anchor in named if "|" in text else ():
        end = text.find("\n", place, place + _MOST_HEADER) if place >= done else -1
        ruler = _RULER.match(text, end + 1) if end >= 0 else None
        if ruler and "|" in ruler[0]:
            head = text.rfind("\n", max(0, place - _MOST_HEADER), place) + 1
            done = yield from _rows(text, (head, end), ruler.end() + 1, "|")


def collections(text: str, named: Sequence[tuple[int, str]]) -> Iterator[Match]:
    """Yield the values of lists and mappings named after secrets."""
    done = 0
    for place, anchor in named:
        end = place + len(anchor)
        if place < done:
            continue
        if found := COLLECTION.match(text, end):
            close = _closing(text, found.end())
            done = close
            for item in ITEM.finditer(text, found.end(), close):
                yield from _judged(text, item.span("value"), anchor)
        elif block := YAML_COLLECTION.match(text, end):
            done = yield from _yaml_items(text, block, anchor)


def _closing(text: str, start: int) -> int:
    """Return the end of the innermost list or mapping open at a place."""
    ends = [text.find(mark, start, start + _MOST_TEXT) for mark in "]}"]
    return min([it for it in ends if it >= 0] or [min(len(text), start + _MOST_TEXT)])


def _yaml_items(text: str, block: re.Match[str], anchor: str) -> Generator[Match, None, int]:
    place, most = block.start("indent"), block.end() + _MOST_TEXT
    while place < min(len(text), most) and text.startswith(block["indent"], place):
        found = text.find("\n", place)
        end = len(text) if found < 0 else found
        if item := YAML_ITEM.match(text, place, end):
            yield from _judged(text, item.span("value"), anchor)
        place = end + 1
    return place


def _rows(text: str, head: Span, place: int, separator: str = "") -> Generator[Match, None, int]:
    """Yield the secrets of a table, and return its end."""
    line = text[slice(*head)]
    mark = separator or max(_SEPARATORS, key=line.count)
    names = [cell.strip(_CELL_MARKS) for cell in line.split(mark)[:_MOST_CELLS]]
    columns = {number: anchor for number, name in enumerate(names) if (anchor := anchor_of(name))}
    if not columns or mark not in line:
        return place
    while place < len(text):
        found = text.find("\n", place)
        end = len(text) if found < 0 else found
        row = text[place:end]
        if separator and separator not in row:
            return place
        yield from _cells(text, row.split(mark)[:_MOST_CELLS], place, columns)
        place = end + 1
    return place


def _inserted(text: str, found: re.Match[str]) -> Iterator[Match]:
    """Yield the secrets of the rows of a statement of SQL."""
    names = [it.strip(_CELL_MARKS + "[]") for it in found["columns"].split(",")]
    columns = {number: anchor for number, name in enumerate(names) if (anchor := anchor_of(name))}
    row = _SQL_ROW.match(text, found.end()) if columns else None
    while row:
        place, number, mark = row.end(), 0, ","
        while mark == "," and (value := _SQL_VALUE.match(text, place)):
            if number in columns and value["value"]:
                yield from _judged(text, value.span("value"), columns[number])
            place, number, mark = value.end(), number + 1, value["mark"] or value["other"]
        row = _SQL_ROW.match(text, place) if mark == ")" else None


def _cells(text: str, cells: Sequence[str], place: int, columns: dict[int, str]) -> Iterator[Match]:
    for number, cell in enumerate(cells):
        if number in columns and (value := cell.strip(_CELL_MARKS)):
            start = place + cell.index(value)
            yield from _judged(text, (start, start + len(value)), columns[number])
        place += len(cell) + 1


def _judged(text: str, span: Span, anchor: str) -> Iterator[Match]:
    value = text[slice(*span)]
    if is_strong(value) and (is_chosen(anchor) or is_token(value)):
        yield Match("password" if is_chosen(anchor) else "key or token", *span)
