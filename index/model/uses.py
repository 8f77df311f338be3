"""Uses of a symbol: questions for them and their answers."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum


@dataclass(frozen=True, slots=True)
class Definition:
    """A definition: its lines, qualified name, kind, signature and doc comment (empty when unknown).

    Attributes:
        line: with the declared name, from 1; None if it is not known.
        overrides: the type with the overridden member, if a question for that member found it; empty for others.
    """

    path: str
    start_line: int
    end_line: int
    symbol: str
    kind: str
    signature: str = ""
    doc: str = ""
    line: int | None = None
    overrides: str = ""


@dataclass(frozen=True, slots=True)
class CallSite:
    """A line calling a symbol: `symbol` is the one around the line, `text` the line itself."""

    path: str
    line: int
    symbol: str
    text: str


class ReferenceGroup(StrEnum):
    """Groups of the lines containing a name, in the order of an answer.

    Tests are all lines of test files, and of tests beside the program; documentation is documents and comments; uses
    are all other lines.
    """

    CALLS = "calls"
    USES = "uses"
    TESTS = "tests"
    DOCUMENTATION = "documentation"


@dataclass(frozen=True, slots=True)
class Reference:
    """A line containing a symbol's name, other than its definition.

    Attributes:
        path, line, text: of the file; the line is shown without its indentation.
        symbol: around the line; empty at top level.
        group: of the answer.
        kind: "call", "subclass", "import", "decorator", "type", "declaration" (of a variable or parameter of this
            name), "value", "string", "comment", "document" or "definition" (a
            further clause or overload).
        by: the source of the kind: "syntax" or "word".
        is_sure: False if it may mean another symbol than the one asked for.
        of: the symbol of this name it means, with its owner; empty if nothing tells.
    """

    path: str
    line: int
    symbol: str
    text: str
    group: ReferenceGroup
    kind: str
    by: str
    is_sure: bool = True
    of: str = ""


@dataclass(frozen=True, slots=True)
class Caller:
    """A symbol calling another one, directly or through others.

    Attributes:
        level: 1 for a direct caller.
        symbol, path, line: of the caller's definition; line None if unknown.
        calls: the symbol called, of the level before.
    """

    level: int
    symbol: str
    path: str
    line: int | None
    calls: str


@dataclass(frozen=True, slots=True)
class UsesQuery:
    """A question for the uses of a symbol.

    Attributes:
        name: plain or qualified, in any notation of a search; or a place such as `src/app.py:40`, for the symbol
            defined or used in its line, and `src/app.py:40:12` for the one at its column.
        limit: references a page, 1 to 1000.
        cursor: `SymbolUses.next_cursor` of the page before; empty for the first page.
        groups: references to list; empty for all. Totals count all in any case.
        depth: levels of callers to follow, 1 to 5; 1 follows none.
    """

    name: str
    limit: int = 50
    cursor: str = ""
    groups: tuple[ReferenceGroup, ...] = ()
    depth: int = 1


@dataclass(frozen=True, slots=True)
class SymbolUses:
    """Definitions and references of a symbol.

    Attributes:
        name: as asked for; for a place, the symbol there with the place in brackets.
        definitions: of symbols with the name; never headings of documents.
        calls: the first calls of anything with the last part of the name, source before tests.
        related: definitions called by the symbol itself, if their names are rare enough to tell.
        total_calls: number of lines with calls.
        is_complete: whether all lines with the name were counted. They are not for a name in more than 20,000 chunks,
            or for an operator, which is no word.
        references: the page of lines with the name, by group; definitions aside.
        totals: number of lines with the name by group, with "definitions" and "namesakes". Their sum is the number of
            lines found by a search for the word.
        kinds: number of lines by `Reference.kind`.
        by_word: number of lines outside of documents with a kind told by word, as no grammar could tell it.
        next_cursor: pass it in `UsesQuery.cursor` for the next page; empty when there is none.
        namesakes: other definitions with the last part of a qualified name. A reference may be of one of these.
        callers: of the symbol, and their callers if asked for, by level.
        callers_cut: whether more callers may exist than `callers` has.
        near: similar names, if nothing has this one.
    """

    name: str
    definitions: tuple[Definition, ...]
    calls: tuple[CallSite, ...]
    related: tuple[Definition, ...]
    total_calls: int
    is_complete: bool
    references: tuple[Reference, ...] = ()
    totals: Mapping[str, int] = field(default_factory=dict)
    kinds: Mapping[str, int] = field(default_factory=dict)
    by_word: int = 0
    next_cursor: str = ""
    namesakes: tuple[Definition, ...] = ()
    callers: tuple[Caller, ...] = ()
    callers_cut: bool = False
    near: tuple[str, ...] = ()
