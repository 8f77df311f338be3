"""Find the row of a half-typed program without which its grammar reads it, as editors save one."""

import re
from itertools import chain, islice, pairwise
from typing import TYPE_CHECKING, NamedTuple

from cqm.chunkers.recovery.branches import without
from cqm.chunkers.recovery.errors import errors_of
from cqm.chunkers.recovery.mending import Mended

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tree_sitter import Node, Tree

    from cqm.chunkers.languages.model import Language

_MOST_BYTES = 200_000
"""Largest program to try: each tried row costs a parse."""
_MOST_ERRORS = 3
"""One row has seldom more; a file in a language much like this one has many."""
_MOST_TRIED = 4
_MOST_BYTES_TRIED = 40_000
"""Parsed in vain; nine in ten rows are found by the second try."""
_MOST_OPENING, _MOST_BESIDE, _MOST_QUOTES, _MOST_WORDS = 4, 4, 3, 6
_SIGNS = re.compile(rb"[^(){}\[\]]+")
_UNQUOTED = re.compile(rb"(?:^|.*[=(\[{,:\s+])[\"'`][^\"'`]*$", re.DOTALL)
"""A string reaching beyond its row."""
_CLOSES = (b")", b"]", b"}", b"end", b"fi", b"done", b"esac", b"else", b"elif")
_OPENS = re.compile(
    rb"\s*(?:(?:pub|public|private|protected|internal|static|export|async|local|override|implicit|case)\s+)*"
    rb"(?:(?:def|defp|defmodule|class|module|function|fn|fun|func|if|unless|for|foreach|while|case|switch|match|trait"
    rb"|interface|instance|enum|struct|test|until|begin|try)\b|(?:import|val|var|let|const|data|type|return)\s*$)"
    rb"|.*(?:\b(?:do|then|in|of)|[-=]>|[=.,:])\s*$",
    re.DOTALL,
)
_WHOLE = re.compile(rb".*(?:\b(?:end|fi|done|esac)|[;)}\]\"'`])\s*$", re.DOTALL)
_PARTNERS = dict(zip(b"([{", b")]}", strict=True))
"""The closing bracket of each opening one."""


class _Row(NamedTuple):
    """A row with text: its number, first byte, indentation and text."""

    number: int
    start: int
    indentation: int
    text: bytes


def without_torn_row(
    source: bytes, tree: "Tree", language: "Language", parse: "Callable[[bytes], Tree | None]"
) -> Mended | None:
    """Blank the one row with an error spoiling a program's outline; None if it isn't one row, or isn't found."""
    errors = [*islice(errors_of(tree.root_node, language, source), _MOST_ERRORS + 1)]
    if not source or len(source) > _MOST_BYTES or len(errors) > _MOST_ERRORS:
        return None
    most = min(max(_MOST_BYTES_TRIED // len(source), 1), _MOST_TRIED)
    for row in _candidates(source, errors)[:most]:
        span = row.start, row.start + len(row.text)
        data = without(source, [span])
        found = parse(data)
        if found is not None and not found.root_node.has_error:
            return Mended(data, found, [span], [])
    return None


def _candidates(source: bytes, errors: "list[Node]") -> list[_Row]:
    """Return possibly half-typed rows, the most likely ones first, each once."""
    rows = [*_rows(source)]
    numbers = {row.number: place for place, row in enumerate(rows)}
    # The row below a half-typed one is no deeper and closes nothing.
    above = [row for row, below in pairwise(rows) if _is_over(row, below)] + rows[-1:]
    likely = {row.number for row in above}
    beside = sorted({number for it in errors for number in (it.start_point[0], it.end_point[0])})
    places = [numbers[number] for number in beside[:_MOST_BESIDE] if number in numbers]
    # An error may begin with the row, or below it.
    near = {it.number for place in places for it in rows[max(place - 1, 0) : place + 1]}
    found = {
        row.number: row
        for row in chain(
            islice(filter(_is_open, above), _MOST_OPENING),
            (rows[place] for place in places),
            islice((row for row in rows if _UNQUOTED.match(row.text)), _MOST_QUOTES),
            islice((row for row in above if _OPENS.match(row.text)), _MOST_WORDS),
        )
        if row.number in likely and not _is_whole(row)
    }
    return sorted(found.values(), key=lambda row: row.number not in near or not _is_open(row))


def _is_whole(row: _Row) -> bool:
    """Tell if a row looks complete; without "<?php" all is text."""
    is_ended = _WHOLE.match(row.text) and not _is_open(row) and not _UNQUOTED.match(row.text)
    return bool(is_ended) or row.text.startswith(b"<?")


def _rows(source: bytes) -> "Iterator[_Row]":
    place = 0
    for number, text in enumerate(source.split(b"\n")):
        bare = text.strip()
        if bare:
            yield _Row(number, place, len(text) - len(text.lstrip()), text)
        place += len(text) + 1


def _is_over(row: _Row, below: _Row) -> bool:
    is_closed = below.indentation == row.indentation and below.text.lstrip().startswith(_CLOSES)
    return below.indentation <= row.indentation and not is_closed


def _is_open(row: _Row) -> bool:
    """Tell if a row opens a bracket without closing it."""
    opened: list[int] = []
    for sign in _SIGNS.sub(b"", row.text):
        if opened and _PARTNERS.get(opened[-1]) == sign:
            opened.pop()
        else:
            opened.append(sign)
    return any(sign in _PARTNERS for sign in opened)
