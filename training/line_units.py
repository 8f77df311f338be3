"""Functions and comments of languages whose doc comments lie apart from functions in the syntax tree: by lines.

In Haskell a type signature stands between comment and function; Elixir's docs are strings in an attribute.
"""

import re
from collections.abc import Iterator
from itertools import pairwise

from question_units import Comment, Function

LINE_LANGUAGES = frozenset({"elixir", "haskell"})
_COMMENT = {"elixir": re.compile(r"\s*#+"), "haskell": re.compile(r"\s*--+(\s*[|^])?(?=\s|$)")}
_ELIXIR_DOC = re.compile(r'(\s*)@doc\s+(?:~S)?(""")?"?(.*)$')
_ELIXIR_DEF = re.compile(r"(\s*)(?:defp?|defmacrop?|defguard)\s+([a-z_]\w*[?!]?)")
_ELIXIR_MODULE = re.compile(r"\s*(?:defmodule|defprotocol)\s+([\w.]+)")
_HASKELL_SIGNATURE = re.compile(r"([a-z_][\w']*)\s*::|(?:data|newtype|class|type)\s+(?:[^=]*=>\s*)?([A-Z][\w']*)")


def line_units(text: str, language: str) -> tuple[list[str], list[Function], list[Comment]]:
    """Return the lines of a file, its functions (Haskell: types too) and the comments with rows of their own."""
    lines = text.split("\n")
    comments = list(_comments(lines, _COMMENT[language]))
    found = _elixir(lines) if language == "elixir" else _haskell(lines, comments)
    return lines, list(found), comments


def _comments(lines: list[str], mark: re.Pattern[str]) -> Iterator[Comment]:
    first = None
    for row, line in enumerate([*lines, ""]):
        if mark.match(line) and first is None:
            first = row
        elif first is not None and not mark.match(line):
            yield Comment(first, row - 1, "\n".join(mark.sub("", each, count=1).strip() for each in lines[first:row]))
            first = None


def _elixir(lines: list[str]) -> Iterator[Function]:
    doc: Comment | None = None
    module, row = "", 0
    while row < len(lines):
        named, defined = _ELIXIR_MODULE.match(lines[row]), _ELIXIR_DEF.match(lines[row])
        module = named[1] if named else module
        if started := _ELIXIR_DOC.match(lines[row]):
            doc = _elixir_doc(lines, row, started)
            row = doc.last
        elif defined:
            last = _closed(lines, row, defined[1])
            yield Function(f"{module}.{defined[2]}", row, last, doc, is_inner=False)
            doc, row = None, last
        row += 1


def _elixir_doc(lines: list[str], row: int, started: re.Match[str]) -> Comment:
    if not started[2]:
        return Comment(row, row, started[3].strip('" '))
    last = next((end for end in range(row + 1, len(lines)) if lines[end].strip() == '"""'), row)
    return Comment(row, last, "\n".join(line.strip() for line in lines[row + 1 : last]))


def _closed(lines: list[str], row: int, indentation: str) -> int:
    """Return the row of a definition's closing "end"; its last row without one."""
    if not lines[row].rstrip().endswith(" do"):
        for end in range(row, len(lines) - 1):
            if lines[end].rstrip().endswith(" do"):
                row = end
                break
            if not lines[end + 1].startswith(indentation + " "):
                return end
    return next((end for end in range(row + 1, len(lines)) if lines[end].rstrip() == f"{indentation}end"), row)


def _haskell(lines: list[str], comments: list[Comment]) -> Iterator[Function]:
    by_last = {each.last: each for each in comments}
    starts = [row for row, line in enumerate(lines) if _HASKELL_SIGNATURE.match(line)]
    for row, following in pairwise([*starts, len(lines)]):
        named = _HASKELL_SIGNATURE.match(lines[row])
        last = following - 1
        # Text above the next signature without indentation belongs to the signature.
        while last > row and (not lines[last].strip() or re.match(r"--|\{-|#", lines[last])):
            last -= 1
        if named:
            yield Function(named[1] or named[2], row, last, by_last.get(row - 1), is_inner=False)
