"""Tell signature and documentation of definitions, and the symbols called by them."""

import re
from collections.abc import Sequence
from itertools import takewhile
from typing import NamedTuple

from cqm.chunkers.model import ChunkOptions, Document, SymbolFacts
from cqm.chunkers.source_types import CODE, source_type_of
from cqm.index.generations.generation import Generation
from cqm.index.manifest.rows import ChunkRow
from cqm.index.model.uses import Definition
from cqm.index.search.usages.lines import MOST_NAMESAKES, Part, Symbol, parts_of
from cqm.index.text.names.parts import dotted, last_part
from cqm.index.text.terms import COMMENT
from cqm.index.workers import Job, Workers

_MOST = 30
"""Definitions told with signature and documentation; the others are named with their line."""
_MOST_SIGNATURE = 300
_MOST_RELATED = 10
_COMPONENTS = frozenset({"vue", "svelte", "astro"})
"""Languages of components with a file each, which templates may name with hyphens."""
_COMMENT_SIGNS = re.compile(r"^\s*(?://+!?|/?\*+/?|#+|--+)\s?|\s*\*/\s*$")
# A callee possibly in the index: no method of a value of unknown type.
_OWN = re.compile(r"(?:(?:self|this|cls|super\(\)|[A-Z]\w*)(?:\.|::|->))*\w+$")


class Defined(NamedTuple):
    """A definition with the chunk of its beginning."""

    part: Part
    symbol: Symbol


def definitions_of(workers: Workers, found: Sequence[Defined]) -> tuple[list[Definition], list[str]]:
    """Return definitions, the first ones with signature and documentation, and the names called by them."""
    tasks = [Document(it.part.path, it.part.text, it.part.language) for it in found[:_MOST]]
    facts = [each for batch in workers.run(_PARSING, tasks) for each in batch]
    called: dict[str, None] = {}
    definitions = []
    for number, it in enumerate(found):
        fact = _fact_of(it, facts[number]) if number < len(facts) else None
        definitions.append(_definition(it, fact))
        called.update((last_part(callee), None) for callee in (fact.calls if fact else ()) if _OWN.match(callee))
    return definitions, list(called)


def _facts(document: Document) -> tuple[SymbolFacts, ...]:
    """Collect the facts of the symbols beginning in a chunk, with lines counted from the chunk's first."""
    # Loaded by the process forking the workers only: its clients don't parse.
    from cqm.chunkers.chunking import chunk

    report = chunk(document, ChunkOptions(details=True))
    return tuple(fact for part in report.chunks for fact in part.symbols)


_PARSING = Job(_facts, tuple[SymbolFacts, ...], lambda document: len(document.text), lambda _document, _reason: ())


def _fact_of(it: Defined, facts: Sequence[SymbolFacts]) -> SymbolFacts | None:
    """Return the fact about a definition: of its name, on its line."""
    row, name = it.symbol.line - it.part.start + 1, last_part(it.symbol.name)
    fitting = [fact for fact in facts if last_part(fact.name) == name and fact.start_line <= row <= fact.end_line]
    return min(fitting, key=lambda fact: fact.end_line - fact.start_line, default=None)


def _definition(it: Defined, fact: SymbolFacts | None) -> Definition:
    first = it.part.start - 1 + fact.start_line if fact else it.symbol.first
    lines = it.part.text.split("\n")
    own = lines[it.symbol.line - it.part.start] if 0 <= it.symbol.line - it.part.start < len(lines) else ""
    signature = fact.signature if fact else own.strip()[:_MOST_SIGNATURE]
    doc = _without_banners(fact.doc if fact else _comment_above(lines[: max(0, first - it.part.start)]))
    return Definition(
        it.part.path, first, it.symbol.last, it.symbol.name, it.symbol.kind, signature, doc, it.symbol.line
    )


def _comment_above(lines: Sequence[str]) -> str:
    """Return the comment at the end of some lines as text."""
    found = takewhile(COMMENT.match, reversed(lines))
    return "\n".join(reversed([_COMMENT_SIGNS.sub("", line) for line in found])).strip()


def _without_banners(doc: str) -> str:
    """Leave out paragraphs such as "*** FLOW CONTROL ***": they stand above several symbols."""
    return "\n\n".join(part for part in doc.split("\n\n") if part != part.upper() or part == part.lower())


def elsewhere(generation: Generation, plain: str) -> list[Definition]:
    """Return the definitions of programs with a name, even one that is no word, such as an operator's.

    A word with hyphens is also the tag of a component: `heartbeat-bar` is the tag of `HeartbeatBar`.
    """
    as_tag = "".join(part[:1].upper() + part[1:] for part in plain.split("-")) if "-" in plain else ""
    found = [
        (row, symbol)
        for row in (*generation.manifest.defining(plain), *(generation.manifest.defining(as_tag) if as_tag else ()))
        for symbol in (each.removeprefix(".") for each in row.defines)
        if source_type_of(row.language) == CODE
        and (last_part(symbol) == plain or (last_part(symbol) == as_tag and row.language in _COMPONENTS))
    ]
    parts = {row.id: part for row, part in _parts(generation, [row for row, _ in found])}
    return [_located(row, symbol, parts.get(row.id)) for row, symbol in found]


def _parts(generation: Generation, rows: Sequence[ChunkRow]) -> list[tuple[ChunkRow, Part]]:
    """Return chunks with their stored texts and symbols."""
    known = {(it.path, it.start, it.symbol, it.kind): it for it in parts_of(generation, [row.id for row in rows])}
    return [(row, known[at]) for row in rows if (at := (row.path, row.start_line, row.symbol, row.kind)) in known]


def _located(row: ChunkRow, symbol: str, part: Part | None) -> Definition:
    """Return a definition with its lines, or its chunk's where no more is known."""
    kind = row.kind if row.symbol == symbol else "symbol"
    whole = f".{dotted(symbol)}"
    own = next((it for it in (part.symbols if part else ()) if f".{dotted(it.name)}".endswith(whole)), None)
    if own is None:
        return Definition(row.path, row.start_line, row.end_line, symbol, kind)
    return Definition(row.path, own.first, own.last, own.name, own.kind, line=own.line)


def related(generation: Generation, callees: Sequence[str]) -> tuple[Definition, ...]:
    """Find the definitions of callees in the index, if their names are rare."""
    found: list[Definition] = []
    for callee in callees:
        if len(found) >= _MOST_RELATED:
            break
        rows = [row for row in generation.manifest.defining(callee) if source_type_of(row.language) == CODE]
        if 0 < len(rows) <= MOST_NAMESAKES:
            parts = {row.id: part for row, part in _parts(generation, rows)}
            found.extend(_related(row, callee, parts.get(row.id)) for row in rows)
    return tuple(found[:_MOST_RELATED])


def _related(row: ChunkRow, callee: str, part: Part | None) -> Definition:
    # A method's chunk has its own name alone; the enclosing names are in other chunks.
    symbol = next((each for each in row.defines if each == callee or each.endswith(f".{callee}")), callee)
    own = next((it for it in (part.symbols if part else ()) if last_part(it.name) == callee), None)
    line = own.line if own else None
    return Definition(row.path, row.start_line, row.end_line, symbol.removeprefix("."), row.kind, line=line)
