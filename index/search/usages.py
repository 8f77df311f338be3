"""Find the definitions of a symbol, the calls of it and the symbols it calls.

Nothing of this is stored. Chunks containing the name are found by their terms and parsed one by one in a worker. Their
syntax gives the calls of each symbol; its lines containing the name, except comments, are the call sites.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet

from cqm.chunkers.model import ChunkOptions, Document, SymbolFacts
from cqm.index.generations.generation import Generation
from cqm.index.manifest.rows import ChunkRow
from cqm.index.model.errors import QueryError
from cqm.index.model.query import CallSite, Definition, SymbolUses
from cqm.index.ranking.file_roles import role_of
from cqm.index.ranking.question import last_part
from cqm.index.store.base import TERMS, Nearest
from cqm.index.text.headers import COMMENT
from cqm.index.text.terms import name_term
from cqm.index.workers import Job, Workers

# Most chunks containing the name to look at; each costs about a millisecond.
_DEPTH = 400
_MOST_CALLS = 100
# Names of more symbols, such as "get" and "run", are not shown as related.
_MOST_NAMESAKES = 3
_MOST_RELATED = 10
_LONGEST_LINE = 200

_SEPARATOR = re.compile(r"::|#|->")
# A callee that may be in the index: no method of a value, whose type is unknown.
_OWN = re.compile(r"(?:(?:self|this|cls|super\(\)|[A-Z]\w*)(?:\.|::|->))*\w+$")
# After the name of a callee: generic arguments, a macro's mark, an opening bracket.
_ARGUMENTS = r"\s*(?:<[^<>()]{0,80}>\s*)?!?\s*[(\[{`]"


def find_usages(generation: Generation, workers: Workers, name: str, limit: int) -> SymbolUses:
    """Find a symbol's definitions, the calls of it, and the indexed symbols it calls itself.

    Parameters:
        generation: to search.
        workers: parse the chunks.
        name: plain or qualified. Calls match the last part of a qualified name, definitions all of it.
        limit: most calls to return, 1 to 100.

    Raises:
        QueryError: the name is no symbol's, or the limit is out of range.
        StoreError, ManifestError: the index cannot be read.
        WorkerError: no worker can be started.
    """
    plain = _checked(name, limit)
    calls: list[CallSite] = []
    definitions: list[Definition] = []
    called: dict[str, None] = {}
    said = list(_chunks_containing(generation, plain))
    parsed = workers.run(_PARSING, [Document(row.path, text, row.language) for row, text in said])
    facts_of_all = [facts for batch in parsed for facts in batch]
    for (row, text), facts in zip(said, facts_of_all, strict=True):
        own = [fact for fact in facts if _is_named(_qualified(row, fact.name), name)]
        definitions.extend(_definition(generation, row, fact) for fact in own)
        called.update((last_part(callee), None) for fact in own for callee in fact.calls if _OWN.match(callee))
        calls.extend(_calls(row, text, facts, plain))
    definitions.extend(_divided(generation, name, plain, {(it.path, it.symbol) for it in definitions}))
    calls.sort(key=lambda site: bool(role_of(site.path)))
    related = _related(generation, [callee for callee in called if callee != plain])
    return SymbolUses(name, tuple(definitions), tuple(calls[:limit]), related, len(calls), len(said) < _DEPTH)


def _checked(name: str, limit: int) -> str:
    plain = last_part(name.strip())
    # Ruby's "route!" and "<<" are names too.
    if not re.fullmatch(r"[^\W\d][\w$?!=]*|[^\w\s()]{1,3}", plain):
        raise QueryError(f"`name {name}`: expected a symbol such as get_url or Client.get_url.")
    if not 1 <= limit <= _MOST_CALLS:
        raise QueryError(f"`limit {limit}`: expected 1 to {_MOST_CALLS}.")
    return plain


def _chunks_containing(generation: Generation, plain: str) -> Iterator[tuple[ChunkRow, str]]:
    """Yield the chunks containing a name with their texts, best first; none for an operator, which is no term."""
    if not re.search(r"\w", plain):
        return
    (found,) = generation.store.search([Nearest(TERMS, name_term(plain), _DEPTH)])
    rows = generation.manifest.chunks(found)
    payloads = generation.store.payloads([*rows], ["text"])
    for name in found:
        if name in rows and name in payloads:
            yield rows[name], str(payloads[name].get("text", ""))


def _facts(document: Document) -> tuple[SymbolFacts, ...]:
    """Collect the facts of the symbols beginning in a chunk, with lines counted from the chunk's first."""
    # Loaded by the process that forks workers, and by nobody who has others parse.
    from cqm.chunkers.chunking import chunk

    report = chunk(document, ChunkOptions(details=True))
    return tuple(fact for part in report.chunks for fact in part.symbols)


_PARSING = Job(_facts, tuple[SymbolFacts, ...], lambda document: len(document.text), lambda _document, _reason: ())


def _is_named(qualified: str, name: str) -> bool:
    dotted = _SEPARATOR.sub(".", name.strip())
    return qualified == dotted or qualified.endswith(f".{dotted}")


def _definition(generation: Generation, row: ChunkRow, fact: SymbolFacts) -> Definition:
    qualified = _qualified(row, fact.name)
    first, last = row.start_line - 1 + fact.start_line, row.start_line - 1 + fact.end_line
    kind = row.kind if qualified == row.symbol else fact.kind
    if last >= row.end_line:
        last = _last_line(generation, row, qualified)
    return Definition(row.path, first, last, qualified, kind, fact.signature, fact.doc)


def _divided(
    generation: Generation, name: str, plain: str, known: AbstractSet[tuple[str, str]]
) -> Iterator[Definition]:
    """Yield the definitions of symbols split over several chunks, or not visible in one chunk alone."""
    for row in generation.manifest.defining(plain):
        for qualified in row.defines:
            if _is_named(qualified, name) and (row.path, qualified) not in known:
                kind = row.kind if row.symbol == qualified else "symbol"
                yield Definition(row.path, row.start_line, _last_line(generation, row, qualified), qualified, kind)


def _last_line(generation: Generation, first: ChunkRow, symbol: str) -> int:
    """Find the last line of a symbol beginning in a chunk; chunks of the symbol and its members follow."""
    last = first.end_line
    for row in generation.manifest.chunks_of(first.path)[first.position + 1 :]:
        if row.symbol != symbol and not row.symbol.startswith(f"{symbol}."):
            break
        last = row.end_line
    return last


def _calls(row: ChunkRow, text: str, facts: Sequence[SymbolFacts], plain: str) -> Iterator[CallSite]:
    """Yield the lines of a chunk with a call of the name."""
    said = re.compile(rf"(?<![\w$]){re.escape(plain)}(?![\w$])({_ARGUMENTS})?")
    lines = text.split("\n")
    declared = {number for fact in facts for number in _declared_lines(fact, lines)}
    found = [
        (number, bool(match[1]), _innermost(facts, number))
        for number, line in enumerate(lines, 1)
        if number not in declared and not COMMENT.match(line) and (match := said.search(line))
    ]
    shaped = {around.name for _, has_shape, around in found if has_shape and around}
    for number, has_shape, around in found:
        # Syntax decides whether a symbol calls the name; the line is found by its shape, in Ruby by the name alone.
        is_called = around is None or plain in map(last_part, around.calls)
        if is_called and (has_shape or (around is not None and around.name not in shaped)):
            symbol = _qualified(row, around.name) if around else row.symbol
            yield CallSite(row.path, row.start_line + number - 1, symbol, lines[number - 1].strip()[:_LONGEST_LINE])


def _declared_lines(fact: SymbolFacts, lines: Sequence[str]) -> Iterable[int]:
    """The lines of a symbol's comments and declaration; its own name there is no call."""
    first = fact.signature.partition("\n")[0].strip()
    begins = next((n for n in range(fact.start_line, fact.end_line + 1) if first in lines[n - 1]), fact.start_line)
    return range(fact.start_line, begins + 1)


def _innermost(facts: Sequence[SymbolFacts], number: int) -> SymbolFacts | None:
    around = [fact for fact in facts if fact.start_line <= number <= fact.end_line]
    return min(around, key=lambda fact: fact.end_line - fact.start_line, default=None)


def _qualified(row: ChunkRow, name: str) -> str:
    # A method's chunk has its own name alone; the enclosing names are in other chunks.
    return next((each for each in row.defines if each == name or each.endswith(f".{name}")), name)


def _related(generation: Generation, callees: Sequence[str]) -> tuple[Definition, ...]:
    """Find the definitions of callees in the index, if their names are rare."""
    related: list[Definition] = []
    for callee in callees:
        if len(related) >= _MOST_RELATED:
            break
        rows = generation.manifest.defining(callee)
        if 0 < len(rows) <= _MOST_NAMESAKES:
            related.extend(
                Definition(row.path, row.start_line, row.end_line, _qualified(row, callee), row.kind) for row in rows
            )
    return tuple(related[:_MOST_RELATED])
