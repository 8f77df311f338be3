"""Find the definitions of a symbol and every line with its name, told apart by use.

Nothing of this is stored. Lines are found by the index's words, as many as by a word search. Then the syntax of their
files tells the use of each.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import compress
from threading import Lock
from typing import NamedTuple

from cqm.chunkers.facts.names import CALL, COMMENT, DEFINITION, DOCUMENT, STRING, SUBCLASS
from cqm.index.generations.generation import Generation
from cqm.index.model.errors import QueryError
from cqm.index.model.query import page_start
from cqm.index.model.uses import CallSite, Definition, Reference, ReferenceGroup, SymbolUses, UsesQuery
from cqm.index.ranking.question import read_question
from cqm.index.search.named.almost import names_almost
from cqm.index.search.named.defining import NameLookup, meant_name
from cqm.index.search.usages.at_line import LinePlace, line_place, symbol_at
from cqm.index.search.usages.callers import callers_of
from cqm.index.search.usages.kinds import Line, lines_of
from cqm.index.search.usages.lines import Part, Symbol, files_with, parts_of
from cqm.index.search.usages.resolve import (
    Meanings,
    Name,
    asked_name,
    chosen,
    is_namesake,
    meaning_of,
    meanings_of,
    name_of,
    owner_of,
)
from cqm.index.search.usages.signatures import Defined, definitions_of, elsewhere, related
from cqm.index.text.names.parts import dotted, last_part
from cqm.index.workers import Workers

_MOST_REFERENCES = 1_000
_LONGEST_NAME = 2_000
_MOST_DEPTH = 5
_LONGEST_LINE = 200
_MOST_BASES = 12
"""Most types to find subclasses of; each costs as much as a question."""
_MOST_RECENT = 4
_MOST_NEAR = 3
_DEFINITIONS, _NAMESAKES = "definitions", "namesakes"
_UNPLACED = frozenset({COMMENT, DOCUMENT, STRING})


Placed = tuple[Reference, Symbol | None]
"""A line with the name, and the symbol around it."""


class Found(NamedTuple):
    """All lines with a name.

    Attributes:
        defined: definitions of the symbol asked for.
        namesakes: other definitions with the last part of the name.
        references: all other lines, in the order of an answer.
        at_definitions: number of lines with definitions of both kinds.
        is_complete: whether these are all lines.
    """

    defined: list[Defined]
    namesakes: list[Defined]
    references: list[Placed]
    at_definitions: tuple[int, int]
    is_complete: bool


class RecentNames:
    """Lines found for the last names asked for: the next page of an answer does not parse its files again.

    They are valid until the index changes.
    """

    def __init__(self) -> None:
        self._found: dict[tuple[str, Name], Found] = {}
        self._lock = Lock()

    def found(self, lookup: NameLookup, workers: Workers, name: Name) -> Found:
        """Return the lines with a name."""
        key = (lookup.generation.manifest.state(), name)
        with self._lock:
            known = self._found.get(key)
        found = known or _found(lookup, workers, name)
        with self._lock:
            self._found.pop(key, None)
            self._found[key] = found
            while len(self._found) > _MOST_RECENT:
                del self._found[next(iter(self._found))]
        return found


def find_usages(
    generation: Generation, workers: Workers, query: UsesQuery, recent: RecentNames, root: str = ""
) -> SymbolUses:
    """Find a symbol's definitions, every line with its name, and the indexed symbols it calls itself.

    Parameters:
        query: the symbol, and the page. Lines match the last part of a qualified name, definitions all of it.
        recent: lines found before.
        root: of the index, absolute; the path of a place may begin with it.

    Raises:
        QueryError: the name is no symbol's, its place has none, or the limit, the cursor or the depth is out of range.
    """
    start, lookup = _start(query), NameLookup(generation)
    question = read_question(query.name)
    place = line_place(generation, question, root)
    meant = meant_name(lookup, question) if place is None else ""
    name = _name_at(lookup, workers, place, recent) if place else asked_name(question, meant)
    found = recent.found(lookup, workers, name)
    definitions, others, callees = _definitions(generation, workers, name, found)
    direct = [it for it in _possible_calls(found.references) if it[0].group is ReferenceGroup.CALLS]
    callers, are_cut = callers_of(lambda symbol: _calls(lookup, workers, symbol), name.qualified, direct, query.depth)
    references = [it for it, _ in found.references]
    calls = sorted((it for it in references if it.kind == CALL), key=lambda it: bool(generation.role_of(it.path)))
    listed = [it for it in references if not query.groups or it.group in query.groups]
    end = start + query.limit
    at_own, at_others = found.at_definitions
    is_unknown = not (definitions or others or references)
    return SymbolUses(
        name=f"{name.qualified} ({place})" if place else query.name,
        definitions=tuple(definitions),
        namesakes=tuple(others),
        calls=tuple(CallSite(it.path, it.line, it.symbol, it.text) for it in calls[start:end]),
        total_calls=len(calls),
        related=related(generation, [callee for callee in callees if callee != name.plain]),
        is_complete=found.is_complete,
        references=tuple(listed[start:end]),
        next_cursor=str(end) if end < len(listed) else "",
        totals={_DEFINITIONS: at_own, _NAMESAKES: at_others} | _counted(it.group.value for it in references),
        kinds=_counted(it.kind for it in references),
        by_word=sum(it.by == "word" and it.kind != DOCUMENT for it in references),
        callers=callers,
        callers_cut=are_cut,
        near=tuple(names_almost(generation.manifest.names, name.qualified)[:_MOST_NEAR]) if is_unknown else (),
    )


def _definitions(
    generation: Generation, workers: Workers, name: Name, found: Found
) -> tuple[list[Definition], list[Definition], list[str]]:
    """Return the definitions of a symbol, those of its namesakes, and the names called by the symbol."""
    definitions, callees = definitions_of(workers, found.defined)
    others, _ = definitions_of(workers, found.namesakes)
    others = _with_overrides(generation, workers, name, others)
    known = {(it.path, it.symbol) for it in (*definitions, *others)}
    if name.word:
        definitions += [it for it in elsewhere(generation, name.plain) if (it.path, it.symbol) not in known]
    return definitions, others, callees


def _name_at(lookup: NameLookup, workers: Workers, place: LinePlace, recent: RecentNames) -> Name:
    """Return the name of the symbol at a place; for a used one, the qualified name where something tells it."""
    symbol = symbol_at(lookup, place)
    name = name_of(symbol, dotted(symbol))
    at = (it for it, _ in recent.found(lookup, workers, name).references if (it.path, it.line) == place[:2])
    of = next((it.of for it in at if it.of), "")
    return name_of(of, dotted(of)) if of else name


def _start(query: UsesQuery) -> int:
    if len(query.name) > _LONGEST_NAME:
        raise QueryError(f"`name` has {len(query.name):,} characters: expected at most {_LONGEST_NAME:,}.")
    if not 1 <= query.limit <= _MOST_REFERENCES:
        raise QueryError(f"`limit {query.limit}`: expected 1 to {_MOST_REFERENCES}.")
    if not 1 <= query.depth <= _MOST_DEPTH:
        raise QueryError(f"`depth {query.depth}`: expected 1 to {_MOST_DEPTH}.")
    return page_start(query.cursor)


def _counted(names: Iterable[str]) -> dict[str, int]:
    return dict(sorted(Counter(names).items()))


def _found(lookup: NameLookup, workers: Workers, name: Name) -> Found:
    """Find all lines with a name; of an operator, which is no word, only its definitions."""
    if not name.word:
        defined, namesakes = _apart(lookup.generation, _operators(lookup, name), name)
        return Found(defined, namesakes, [], (len(defined), len(namesakes)), is_complete=False)
    generation = lookup.generation
    files, is_complete = files_with(generation, name.word)
    lines: list[Line] = []
    symbols: list[Defined] = []
    for parts, of_file in lines_of(generation, workers, files, name.word):
        lines += of_file
        symbols += _defined(parts, of_file, name)
    defined, namesakes = _apart(generation, symbols, name)
    at_own = {(it.part.path, it.symbol.line) for it in defined}
    at_others = {(it.part.path, it.symbol.line) for it in namesakes} - at_own
    at = {(line.path, line.number) for line in lines}
    known = meanings_of(name, [it.symbol for it in defined], [it.symbol for it in namesakes])
    references = [
        (_reference(line, known), line.around) for line in lines if (line.path, line.number) not in at_own | at_others
    ]
    references.sort(key=lambda it: _order(generation, it[0]))
    return Found(defined, namesakes, references, (len(at & at_own), len(at & at_others)), is_complete)


def _apart(generation: Generation, symbols: Sequence[Defined], name: Name) -> tuple[list[Defined], list[Defined]]:
    """Return the symbols a name may mean, then those only sharing its last part; files with a role last."""
    ordered = sorted(symbols, key=lambda it: (bool(generation.role_of(it.part.path)), it.part.path, it.symbol.line))
    own = chosen([(it.part.path, it.symbol.name) for it in ordered], name)
    of_name = [n in own for n in range(len(ordered))]
    return [*compress(ordered, of_name)], [it for it, is_own in zip(ordered, of_name, strict=True) if not is_own]


def _operators(lookup: NameLookup, name: Name) -> list[Defined]:
    parts = parts_of(lookup.generation, [it.id for it in lookup.of(name.plain)])
    return [Defined(part, it) for part in parts for it in part.symbols if is_namesake(it.name, name)]


def _defined(parts: Sequence[Part], lines: Sequence[Line], name: Name) -> Iterator[Defined]:
    """Yield the definitions with a name in a file: known ones, and members known only from their line's syntax."""
    known = set[int]()
    for part in parts:
        for symbol in part.symbols:
            if is_namesake(symbol.name, name):
                known.add(symbol.line)
                yield Defined(part, symbol)
    for line in lines:
        is_further = line.around is not None and is_namesake(line.around.name, name)
        if line.kind == DEFINITION and line.number not in known and not is_further:
            part = next(it for it in reversed(parts) if it.start <= line.number)
            outer = f"{line.around.name}." if line.around else ""
            symbol = Symbol(f"{outer}{name.plain}", line.declares, line.number, line.number, line.number)
            yield Defined(part, symbol)


def _reference(line: Line, known: Meanings) -> Reference:
    uses = () if line.kind in _UNPLACED else line.uses
    of, is_sure = meaning_of(uses, line.around, line.language, known)
    return Reference(
        line.path,
        line.number,
        line.around.name if line.around else "",
        line.text.strip()[:_LONGEST_LINE],
        line.group,
        line.kind,
        "syntax" if line.by_syntax else "word",
        is_sure,
        of,
    )


_GROUPS = list(ReferenceGroup)


def _order(generation: Generation, it: Reference) -> tuple[int, bool, bool, bool, str, int]:
    is_of_another = bool(it.of) and not it.is_sure
    return _GROUPS.index(it.group), not it.is_sure, is_of_another, bool(generation.role_of(it.path)), it.path, it.line


def _with_overrides(
    generation: Generation, workers: Workers, name: Name, others: Sequence[Definition]
) -> list[Definition]:
    """Mark the definitions in subclasses of the owner of the name, directly or through others."""
    owner = owner_of(name.qualified)
    if not owner or not others:
        return [*others]
    known, waiting = {owner}, [owner]
    for _ in range(_MOST_BASES):
        if not waiting:
            break
        base = waiting.pop(0)
        files, _ = files_with(generation, base)
        for _, lines in lines_of(generation, workers, files, base):
            for line in lines:
                if line.kind == SUBCLASS and line.around and (sub := last_part(line.around.name)) not in known:
                    known.add(sub)
                    waiting.append(sub)
    return [replace(it, overrides=owner if owner_of(it.symbol) in known else "") for it in others]


def _calls(lookup: NameLookup, workers: Workers, symbol: str) -> tuple[int, list[Placed]]:
    """Return the number of definitions with a symbol's last name, and the calls of it outside of tests."""
    found = _found(lookup, workers, asked_name(read_question(symbol)))
    calls = [it for it in _possible_calls(found.references) if it[0].group is not ReferenceGroup.TESTS]
    return len(found.defined) + len(found.namesakes), calls


def _possible_calls(references: Iterable[Placed]) -> Iterator[Placed]:
    """Yield possible calls of this symbol."""
    return (it for it in references if it[0].kind == CALL and (it[0].is_sure or not it[0].of))
