"""Read a place such as `context.go:757` as the symbol defined or used in its line."""

import re
from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

from cqm.chunkers.facts.names import COMMENT, KINDS, STRING
from cqm.index.generations.generation import Generation
from cqm.index.model.errors import QueryError, UnknownNameError
from cqm.index.ranking.question import Question
from cqm.index.search.named.defining import NameLookup
from cqm.index.search.named.named_paths import has_usual_ending
from cqm.index.search.named.tree_paths import tree_of
from cqm.index.search.usages.lines import Part, innermost, parts_of, text_of_file
from cqm.index.search.usages.words import kind_of_line
from cqm.index.text.names.parts import last_part

_COLUMN = re.compile(r":(?P<line>\d{1,7}):(?P<column>\d{1,5})\s*")
_WORD = re.compile(r"[^\W\d]\w*[?!]?")
_HYPHENATED = re.compile(r"[^\W\d]\w*(?:-+\w+)+[?!]?")
"""A name of a Lisp, of PowerShell or CSS, or a difference: the index tells which."""
_MOST_WORDS = 40
"""Words of a line to look up, each by a search: the lines of minified programs have thousands."""


class LinePlace(NamedTuple):
    """A line of a file of the index.

    Attributes:
        path: relative to the root.
        line: from 1.
        column: from 1; 0 for none.
    """

    path: str
    line: int
    column: int = 0

    def __str__(self) -> str:
        """Write it as a compiler does."""
        return f"{self.path}:{self.line}{f':{self.column}' if self.column else ''}"


def line_place(generation: Generation, question: Question, root: str) -> LinePlace | None:
    """Return the place a question names; None for a symbol.

    Parameters:
        question: a name or a place; its path may be only the end of one.
        root: of the index, absolute.

    Raises:
        QueryError: it is a place in no file of the index, or in any of several.
    """
    # A test by its name is a place without a line.
    places = [*([question.lines[:2]] if question.lines else []), *(it[:2] for it in question.places if it.first)]
    if not places:
        return None
    tree = tree_of(generation, root)
    for path, line in places:
        if found := tree.one(path):
            column = _COLUMN.search(question.text)
            return LinePlace(found, line, int(column["column"]) if column and int(column["line"]) == line else 0)
    path, _ = places[-1]
    if not has_usual_ending(path):
        return None
    near = ", ".join(tree.near(path))
    raise UnknownNameError(f"No file of the index is at `{path}`.", remedy=f"Did you mean {near}?" if near else "")


def symbol_at(lookup: NameLookup, place: LinePlace) -> str:
    """Return the qualified name defined in a line, else the plain one used: called ones come before only named ones.

    With a column the word there counts.

    Raises:
        QueryError: the file has no such line, or the line has no symbol defined in the index.
    """
    rows = lookup.generation.manifest.chunks_of(place.path)
    parts = sorted(parts_of(lookup.generation, [row.id for row in rows]), key=lambda it: it.start)
    lines = text_of_file(parts).split("\n")
    end = min(len(lines), max((row.end_line for row in rows), default=0))
    if not end:
        raise UnknownNameError(f"`{place}`: {place.path} is empty in the index.", remedy="Name another file.")
    if not 1 <= place.line <= end:
        raise UnknownNameError(f"`{place}`: expected lines 1 to {end}; {place.path} ends there in the index.")
    language = parts[0].language if parts else ""
    line = lines[place.line - 1]
    words = [it for it in _words(_HYPHENATED, line, place.column, language) if _is_defined(lookup, it)]
    words += _words(_WORD, line, place.column, language)
    defined = [it for part in parts for it in part.symbols if it.first <= place.line <= it.line]
    if place.column:
        defined = [it for it in defined if last_part(it.name).rstrip("?!=") in words]
    if defined:
        return min(defined, key=lambda it: (it.line - place.line, it.first - it.last)).name
    # A column tells a word of another's library too.
    used = words if place.column else [word for word in words if _is_defined(lookup, word)]
    if not used:
        raise _nothing(place, parts)
    return used[0]


def _words(pattern: re.Pattern[str], line: str, column: int, language: str) -> Iterator[str]:
    """Yield possible symbols of a line, most telling first; without words in comments and strings."""
    if column:
        yield from (it[0].rstrip("?!") for it in pattern.finditer(line) if it.start() < column <= it.end())
        return
    words = dict.fromkeys(it[0].rstrip("?!") for it in pattern.finditer(line))
    kinds = {word: kind_of_line(line, word, language) for word in islice(words, _MOST_WORDS)}
    told = [word for word, kind in kinds.items() if kind not in {COMMENT, STRING}]
    yield from sorted(told, key=lambda word: KINDS.index(kinds[word]))


def _is_defined(lookup: NameLookup, word: str) -> bool:
    return any(last_part(name).rstrip("?!=") == word for it in lookup.of(word) for name in it.defines)


def _nothing(place: LinePlace, parts: list[Part]) -> QueryError:
    around = innermost(parts, place.line)
    where = f"It is in {around.name}: ask for that, or name" if around else "Name"
    return QueryError(
        f"`{place}`: nothing that the index defines is defined or used there.", remedy=f"{where} another symbol."
    )
