"""Rewrite statements unreadable to the grammar of SQL, so that no statement costs more than itself.

A grammar of one dialect meets many: types of ClickHouse, options of Snowflake, batches of T-SQL, blocks of PL/SQL. A
statement unreadable alone becomes one of the same rows and bytes: a table with its columns; any other object, a table
without; and the rest, `select` with its words. Rules read kind and name in the text.
"""

import re
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from cqm.chunkers.languages.model import blank
from cqm.chunkers.languages.sql.routines import HEAD, NAME, NOTE, put, table_over
from cqm.chunkers.model import later

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from cqm.chunkers.recovery.reading import Span

OBJECT = later(
    rb"create\s+(?:(?:or\s+(?:replace|alter)|global|local|temp|temporary|unlogged|external|foreign"
    rb"|transient|hybrid|dynamic|iceberg|volatile|multiset|private|virtual|streaming|force|noforce|secure|recursive|live"
    rb"|editionable|unique|clustered|nonclustered|columnstore|bitmap|fulltext|spatial|public|shared|sql\s+security\s+\w+"
    rb"|algorithm\s*=\s*\w+|definer\s*=\s*\S{1,200})\s+)*+"
    rb"(?P<kind>materialized\s+view|table\s+function|table|view|index|type|schema|database|sequence|role|extension"
    rb"|dictionary|stage|stream|task|pipe|warehouse|macro|model|login)\s+"
    rb"(?:concurrently\s+)?(?:if\s+not\s+exists\s+)?"
    + NOTE
    + rb"(?P<name>"
    + NAME
    + rb"(?:[ \t]*\.{1,2}[ \t]*"
    + NAME
    + rb"){0,3})",
    re.IGNORECASE,
)
"""The head of an object other than a routine."""
_TOKEN = later(
    rb"(?P<skip>--[^\n]*+|/\*.*?(?:\*/|\Z)|'(?:[^'\\]|''|\\(?:'(?=\w))?)*+'?|\"[^\"]*+\"?|`[^`]*+`?|\[[^\]\n]{0,200}+\]"
    rb"|\$(?P<tag>\w{0,60})\$.*?(?:\$(?P=tag)\$|\Z))|(?P<open>\()|(?P<close>\))|(?P<comma>,)|(?P<end>;)"
    rb"|(?m:^)(?P<begin>[ \t]*+(?:create(?![ \t]+(?:any[ \t]+)?\w+\s*(?:,|\bto\b))"
    rb"|alter|drop|exec|execute|use|print|declare|grant|revoke|truncate"
    rb"|insert[ \t]+into|comment[ \t]+on|raiserror|begin|if(?!\()|spool|whenever|define"
    rb"|undefine|column|accept|show|connect|host|exit|quit|set(?=[ \t][^=\n]*$))\b)",
    re.IGNORECASE | re.DOTALL,
)
_SPACE = later(rb"(?:\s|--[^\n]*+|/\*.*?(?:\*/|\Z))*+", re.DOTALL)
_WORD = later(
    rb"(?P<skip>--[^\n]*+|/\*.*?(?:\*/|\Z)|'(?:[^'\\]|''|\\(?:'(?=\w))?)*+'?|\$(?P<tag>\w{0,60})\$.*?(?:\$(?P=tag)\$|\Z))"
    rb"|(?<![\w@#$])(?P<word>[A-Za-z_]\w*+(?:\.[A-Za-z_]\w*+){0,2})(?![@#$])",
    re.DOTALL,
)
_RESERVED = frozenset(
    b"all and any array as asc begin between by case cast create cross delete desc distinct drop else end except"
    b" execute exists from full group having if in inner insert intersect interval into is join lateral left like limit"
    b" merge not null object_id offset on or order outer over partition qualify returning right select set some table"
    b" then to union unnest update using values view when where window with true false key primary check constraint"
    b" default".split()
)
_PLAIN = later(rb"[A-Za-z_]\w*+")
_COLUMN = later(rb"(?P<name>[A-Za-z_\x80-\xff][\w$#\x80-\xff]*+|\"[^\"\n]+\"|`[^`\n]+`|\[[^\]\n]+\])(?=\s)")
_OPENS = later(rb"[^(;]{0,200}?\(")
_NO_COLUMNS = later(rb"\b(?:as|select|like|of)\b", re.IGNORECASE)
_RULE = later(
    rb"(?:constraint|primary\s+key|foreign\s+key|unique|exclude|check\s*\(|(?:fulltext|spatial)\b|like\s|period\s+for"
    rb"|(?:projection|index)\s+[\w`\"\[]+\s*[(\w`]|(?:key|index)\s[^(),]*\((?!\s*\d)|clustered|partition\s|watermark)",
    re.IGNORECASE,
)
_MOST_ALONE = 4_000
"""Most statements of a text to read alone; a larger dump has all statements touched by errors rewritten."""


def restated(source: bytes, errors: "Sequence[Span]", is_read: "Callable[[bytes], bool]") -> bytes:
    """Rewrite the statements touched by errors and unreadable alone.

    Parameters:
        errors: bytes of errors in order, half-open.
        is_read: tells if the grammar reads a text without an error.
    """
    result = bytearray(source)
    touched = list(_touched(_statements(source), errors))
    for span in touched:
        text = source[span.first : span.end]
        is_over = span.is_last or text.endswith(b";")
        if len(touched) <= _MOST_ALONE and is_over and is_read(text):
            continue
        result[span.first : span.end] = _restated(text, is_read)
    return bytes(result)


class _Statement(NamedTuple):
    """The bytes of a statement, without the comments and space around it."""

    first: int
    end: int
    is_last: bool = False


def _statements(source: bytes) -> "Iterator[_Statement]":
    """Yield the statements: each ends with ";", or above a row beginning one outside of parentheses."""
    borders = [*_borders(source)]
    for first, end in pairwise([0, *borders, len(source)]):
        begin = _SPACE.match(source, first, end)
        start = begin.end() if begin else first
        stop = start + len(source[start:end].rstrip())
        if stop > start:
            yield _Statement(start, stop, end == len(source))


def _borders(source: bytes) -> "Iterator[int]":
    depth = 0
    for it in _TOKEN.finditer(source):
        kind = it.lastgroup
        if kind == "open":
            depth += 1
        elif kind == "close":
            depth = max(depth - 1, 0)
        elif kind == "end":
            depth = 0
            yield it.end()
        elif kind == "begin" and (depth == 0 or it["begin"][:6].lower() == b"create"):
            depth = 0
            yield it.start()


def _touched(statements: "Iterator[_Statement]", errors: "Sequence[Span]") -> "Iterator[_Statement]":
    """Yield the statements with an error within, or directly before or after."""
    number = 0
    for it in statements:
        while number < len(errors) and errors[number][1] < it.first:
            number += 1
        if number == len(errors):
            return
        if errors[number][0] <= it.end:
            yield it


def _restated(text: bytes, is_read: "Callable[[bytes], bool]") -> bytes:
    head = OBJECT.match(text)
    if head is None:
        is_routine = HEAD.match(text) is not None and text[:1].lower() == b"c"
        return table_over(text, closes=True) if is_routine else _words(text)
    if head["kind"].lower() == b"table":
        table = _with_columns(text, head)
        if table is not None and is_read(table):
            return table
    return table_over(text, closes=True)


def _words(text: bytes) -> bytes:
    """Return the words of a statement as a selection."""
    result = bytearray(blank(text))
    first = place = put(result, 0, b"select ")
    last = len(text) - 1
    if place >= last:
        return bytes(result)
    is_first = True
    for it in _WORD.finditer(text, 0, last):
        word = it["word"]
        if word is None or it.start() < place or it.end() > last or word.lower() in _RESERVED:
            continue
        if not is_first:
            comma = result.find(b" ", place, it.start())
            if comma < 0:
                continue
            result[comma : comma + 1] = b","
        result[it.start() : it.end()] = word
        place, is_first = it.end(), False
    if is_first:
        put(result, first, b"y")
    result[last:] = b";"
    return bytes(result)


def _with_columns(text: bytes, head: re.Match[bytes]) -> bytes | None:
    """Return the table of a statement with the names of its columns; None if it has none, or no room for them."""
    opens = _OPENS.match(text, head.end("name"))
    if opens is None or _NO_COLUMNS.search(opens[0]):
        return None
    items, closes = _items(text, opens.end())
    columns = [(name, end) for first, end in items if (name := _column(text, first, end)) is not None]
    if not columns or closes is None:
        return None
    table = bytearray(blank(text))
    put(table, put(table, 0, b"create"), b"table")
    table[head.start("name") : head.start("name") + 1] = b"x"
    table[opens.end() - 1 : opens.end()] = b"("
    for number, (name, end) in enumerate(columns):
        written = name["name"] if name["name"].lower() not in _RESERVED else b"x" * len(name["name"])
        table[name.start() : name.end()] = written if written[:1] != b"[" else _inside(written)
        table[end - 1 : end] = b"y"
        if number < len(columns) - 1:
            comma = text.find(b",", end)
            table[comma : comma + 1] = b","
    return _closed(table, closes)


def _inside(name: bytes) -> bytes:
    inner = name[1:-1]
    return b" %b " % (inner if _PLAIN.fullmatch(inner) and inner.lower() not in _RESERVED else b"x" * len(inner))


def _closed(table: bytearray, closes: int) -> bytes | None:
    """Close a table's parenthesis, and end it with the last of its bytes; return None if there is no room."""
    if closes < len(table) - 1:
        table[closes : closes + 1] = b")"
    else:
        # The end replaces the parenthesis, and the parenthesis the last type.
        last = len(bytes(table[:closes]).rstrip()) - 1
        if table[last - 1 : last] != b" ":
            return None
        table[last - 1 : last + 1] = b"y)"
    table[-1:] = b";"
    return bytes(table)


def _items(text: bytes, first: int) -> tuple[list[tuple[int, int]], int | None]:
    """Return the start and end of each item of a list, and the list's end."""
    items: list[tuple[int, int]] = []
    depth, begin = 0, first
    for it in _TOKEN.finditer(text, first):
        kind = it.lastgroup
        if kind == "open":
            depth += 1
        elif kind == "close" and depth:
            depth -= 1
        elif kind == "close" or (kind == "comma" and not depth):
            items.append((begin, begin + len(text[begin : it.start()].rstrip())))
            begin = it.end()
            if kind == "close":
                return items, it.start()
    return items, None


def _column(text: bytes, first: int, end: int) -> re.Match[bytes] | None:
    """Return the name of a column, unless an item is a constraint or has no type."""
    space = _SPACE.match(text, first, end)
    start = space.end() if space else first
    column = _COLUMN.match(text, start, end)
    return column if column and not _RULE.match(text, start, end) and end - 1 > column.end() else None
