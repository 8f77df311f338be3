"""Name each hit after the definition in it fitting the question best, and tell its line."""

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import takewhile
from math import fsum, log1p
from typing import Any, NamedTuple

from cqm.chunkers.source_types import CALLABLE, CODE, source_type_of
from cqm.index.generations.generation import Generation
from cqm.index.ranking.evidence import Candidate
from cqm.index.ranking.exact import PART, fitting
from cqm.index.ranking.question import Question, roots_of
from cqm.index.ranking.rank import Ranked
from cqm.index.text.declarations import SECTION_KINDS, is_bare, own_name, plain, sections_of, signature_of
from cqm.index.text.names.parameters import AS_WRITTEN, fit, written
from cqm.index.text.names.parts import dotted, last_part
from cqm.index.text.stored_definitions import StoredDefinition, read_definitions

_NAME_WEIGHT = 2
"""Weight of a word of the question in a definition's name."""
_CALLABLE_FACTOR = 1.2
"""Questions mostly ask what something does. Of 489 results with the answer to a question by span in Go and Python, 396
are named after its function with this factor and with weights, 382 without; in PHP, Rust and TypeScript as many."""
_MOST_TIED = 30
"""Definitions of one name to compare; more are of many types."""
_MOST_WITH_LINE = 60
_MOST_OVERLOADS = 300
"""Definitions of one name to compare by their parameters."""


def definitions_first(generation: Generation, question: Question, ranked: Sequence[Ranked]) -> Sequence[Ranked]:
    """Put definitions of a symbol before its declarations, and these before additions to it, where all else is equal.

    A prototype in a header declares, an extension in Swift adds. Those of tests and examples come after all of these.

    Parameters:
        ranked: best first, after `exact_first`.
    """
    tied = _tied(question, ranked)
    is_line = question.symbol in question.declared
    if len(tied) < 2 and not (tied and is_line):  # noqa: PLR2004 - one is not tied
        return ranked
    payloads = generation.store.payloads([entry.candidate.id for entry in tied], ["text", "definitions"])
    standings = [_standing(question, entry, payloads.get(entry.candidate.id, {})) for entry in tied]
    ordered = [tied[n] for n in sorted(range(len(tied)), key=standings.__getitem__)] + [*ranked[len(tied) :]]
    is_any_as_asked = not all(it.is_not_as_asked for it in standings)
    return ordered if is_any_as_asked or not is_line else _line_first(generation, question, ordered)


def _tied(question: Question, ranked: Sequence[Ranked]) -> list[Ranked]:
    """Return the first results, which the name alone does not tell apart."""
    grade = ranked[0].parts.get(PART, 0.0) if ranked else 0.0
    if not grade:
        return []
    # Parameters tell more than the grades of a name do.
    if question.parameters:
        return [*takewhile(lambda entry: PART in entry.parts, ranked[:_MOST_OVERLOADS])]
    return [*takewhile(lambda entry: entry.parts.get(PART) == grade, ranked[:_MOST_TIED])]


class _Standing(NamedTuple):
    """The order of a result among others with the name; the least comes first."""

    defines_not: bool
    is_not_as_asked: bool
    is_aside: bool
    unlike: float
    grade: float
    is_not_whole: bool


def _standing(question: Question, entry: Ranked, payload: Mapping[str, Any]) -> _Standing:
    defined = read_definitions(payload.get("definitions", ""))
    lines = str(payload.get("text", "")).split("\n")
    asked = [defined[n] for n in fitting([it.name for it in defined], question.symbol, entry.candidate.path)]
    # A class comes before its constructor, which has its name, unless it is asked for as such.
    asks_for_constructor = _is_twice(question.symbol)
    whole = [
        it
        for it in asked
        if (it.kind == "constructor" or _is_twice(it.name)) == asks_for_constructor
        and not is_bare(it, lines, entry.candidate.language)
    ]
    alike = max((_parameters_fit(question, it, lines) for it in asked), default=0.0)
    return _Standing(
        not asked,
        alike < AS_WRITTEN,
        bool(entry.candidate.role),
        -alike,
        -entry.parts.get(PART, 0.0),
        not whole,
    )


def _is_twice(name: str) -> bool:
    """Whether the last two parts of a name are the same, as in `Client.Client`."""
    parts = name.split(".")
    return parts[-1:] == parts[-2:-1]


def _line_first(generation: Generation, question: Question, ranked: Sequence[Ranked]) -> Sequence[Ranked]:
    """Put the chunk with a pasted line first: it may define the line's name where no grammar tells."""
    payloads = generation.store.payloads([entry.candidate.id for entry in ranked[:_MOST_WITH_LINE]], ["text"])
    line = written(question.text.strip().strip("`"))
    for entry in ranked[:_MOST_WITH_LINE]:
        text = str(payloads.get(entry.candidate.id, {}).get("text", ""))
        if line in map(written, text.split("\n")):
            return [entry, *(it for it in ranked if it is not entry)]
    return ranked


def without_other_kinds(
    generation: Generation, question: Question, ranked: Sequence[Ranked], exact: Sequence[Ranked], kinds: Sequence[str]
) -> Sequence[Ranked]:
    """Undo the lift of results whose definition of the symbol is of none of some kinds.

    Parameters:
        ranked, exact: before and after `exact_first`.
        kinds: asked for; empty for all.
    """
    lifted = [entry for entry in exact if PART in entry.parts] if kinds and question.symbol else []
    payloads = generation.store.payloads([entry.candidate.id for entry in lifted], ["definitions"]) if lifted else {}
    others = set()
    for entry in lifted:
        chunk = entry.candidate
        defined = read_definitions(payloads.get(chunk.id, {}).get("definitions", ""))
        asked = fitting([it.name for it in defined], question.symbol, chunk.path)
        if asked and not any(defined[n].kind in kinds for n in asked):
            others.add(chunk.id)
    if not others:
        return exact
    first = [entry for entry in lifted if entry.candidate.id not in others]
    known = {entry.candidate.id for entry in first}
    return [*first, *(entry for entry in ranked if entry.candidate.id not in known)]


class Naming(NamedTuple):
    """The definition, heading or key after which a hit is named; its fields as in `Hit`."""

    symbol: str
    kind: str
    line: int
    signature: str
    extent: tuple[int, int] | None


def namings(
    generation: Generation,
    question: Question,
    found: Sequence[Candidate],
    payloads: Sequence[Mapping[str, Any]],
    lines: Sequence[int | None],
    kinds: Sequence[str] = (),
) -> list[Naming | None]:
    """Return the definition for which each result was found; None where none is known.

    A result in the middle of a long symbol has that symbol, declared in an earlier chunk.

    Parameters:
        question: names a symbol, or shares words with a definition's name and lines.
        payloads: of these, with their texts and definitions.
        lines: for each, its line named in the question, if any.
        kinds: of definitions to name results after; empty for all.
    """
    roots = roots_of(question)
    named: list[Naming | None] = []
    parts = []
    for chunk, payload, asked in zip(found, payloads, lines, strict=True):
        defined, text = _of_kinds(read_definitions(payload.get("definitions", "")), kinds), str(payload.get("text", ""))
        if asked:
            at = _around(defined, asked - chunk.start_line, chunk.symbol)
        else:
            at = _best(question, roots, chunk, text, defined)
        if at is None and defined and kinds and chunk.kind not in kinds:
            at = defined[0]
        if at is None and chunk.symbol and source_type_of(chunk.language) == CODE:
            parts.append(len(named))
        named.append(_of(at, chunk.start_line, text) if at else _section(question, roots, chunk, text, asked))
    wholes = _declared_before(generation, [found[place] for place in parts], kinds) if parts else []
    for place, whole in zip(parts, wholes, strict=True):
        named[place] = whole
    return named


def _section(question: Question, roots: Sequence[str], chunk: Candidate, text: str, asked: int | None) -> Naming | None:
    """Name a chunk of a document after its heading or key asked for; None if no line tells it."""
    if chunk.kind not in SECTION_KINDS or source_type_of(chunk.language) == CODE:
        return None
    found = _sections(chunk.kind, tuple(chunk.defines), text)
    words = plain(question.text)
    alike = (it for it in found if words in {plain(own_name(it.kind, it.name)), plain(it.name)})
    if asked:
        line = asked - chunk.start_line
        # Several keys may stand on one line.
        at = next((it for it in alike if it.line == line), None) or _around(found, line, chunk.symbol)
    else:
        at = next(alike, None) or _best(question, roots, chunk, text, found)
    return Naming(at.name, at.kind, chunk.start_line + at.line, "", None) if at else None


@lru_cache(maxsize=1 << 9)
def _sections(kind: str, names: tuple[str, ...], text: str) -> Sequence[StoredDefinition]:
    # Questions of one task have the same results again.
    return sections_of(kind, names, text)


def _of_kinds(defined: Sequence[StoredDefinition], kinds: Sequence[str]) -> Sequence[StoredDefinition]:
    return [it for it in defined if it.kind in kinds] if kinds else defined


def _around(defined: Sequence[StoredDefinition], line: int, symbol: str) -> StoredDefinition | None:
    """Return the innermost definition with a line; for a comment before it the chunk's symbol."""
    around = [it for it in defined if it.first <= line <= it.last]
    below = (it for it in defined if it.first > line and it.name == symbol)
    return min(around, key=lambda it: it.last - it.first, default=None) or next(below, None)


def _best(
    question: Question, roots: Sequence[str], chunk: Candidate, text: str, defined: Sequence[StoredDefinition]
) -> StoredDefinition | None:
    """Return the definition a chunk was found for; None if nothing tells it."""
    for name in filter(None, (question.symbol, *question.calls, *map(dotted, question.named))):
        if asked := fitting([it.name for it in defined], name, chunk.path):
            if not question.parameters or len(asked) == 1:
                return defined[asked[0]]
            lines = text.split("\n")
            return max((defined[n] for n in asked), key=lambda it: _parameters_fit(question, it, lines))
    if len(defined) <= 1:
        return defined[0] if defined else None
    # Looking for the roots of words is far cheaper than splitting lines into terms.
    text = text.lower()
    found = [root for root in roots if root in text]
    scores = _fits(defined, found, text.split("\n")) if found else [0.0]
    if max(scores) > 0:
        best = max(range(len(defined)), key=lambda n: (scores[n], -(defined[n].last - defined[n].first), -n))
        return defined[best]
    return next((it for it in defined if it.name == chunk.symbol), None)


def _parameters_fit(question: Question, it: StoredDefinition, lines: Sequence[str]) -> float:
    """Grade a definition by the parameters written after its name in the question; `lines` are of its chunk."""
    if not question.parameters:
        return 0.0
    own = lines[it.line] if it.line < len(lines) else ""
    return fit(question.parameters, own, signature_of(lines[it.first :], it))


def _fits(defined: Sequence[StoredDefinition], roots: Sequence[str], lines: Sequence[str]) -> list[float]:
    """Weigh the words of the question in each definition: in its name, its lines, and the comment above it."""
    ends = sorted({end for it in defined for end in (it.line, it.last)})
    befores = [bisect_left(ends, it.first) for it in defined]
    texts = [
        "\n".join(lines[ends[before - 1] + 1 if before else 0 : it.last + 1])
        for before, it in zip(befores, defined, strict=True)
    ]
    having = [(root, [root in text for text in texts]) for root in roots]
    # A word in few of them tells more.
    weights = [(root, has, log1p(len(texts) / found)) for root, has in having if (found := sum(has))]
    scores = []
    for place, it in enumerate(defined):
        name = last_part(it.name).lower()
        # An exact sum; others depend on the order of the words, which differs between processes.
        said = fsum([weight * (_NAME_WEIGHT * (root in name) + has[place]) for root, has, weight in weights])
        scores.append(said * (_CALLABLE_FACTOR if it.kind in CALLABLE else 1))
    return scores


def _of(it: StoredDefinition, start: int, text: str) -> Naming:
    extent = (start + it.first, start + it.last)
    return Naming(it.name, it.kind, start + it.line, _signature(text, it), extent)


@lru_cache(maxsize=1 << 9)
def _signature(text: str, it: StoredDefinition) -> str:
    # Questions of one task have the same results again.
    return signature_of(text.split("\n")[it.first :], it)


def _declared_before(generation: Generation, parts: Sequence[Candidate], kinds: Sequence[str]) -> list[Naming | None]:
    """Name parts of symbols after the declarations in earlier chunks of their files."""
    places = [(it.path, it.position, it.symbol) for it in parts]
    declared = generation.manifest.defined_before(places, ("position", "id", "start_line"))
    ids = [row[1] for row in declared if row]
    payloads = generation.store.payloads(ids, ["text", "definitions"]) if ids else {}
    named: list[Naming | None] = []
    for part, row in zip(parts, declared, strict=True):
        payload = payloads.get(row[1], {}) if row else {}
        defined = _of_kinds(read_definitions(payload.get("definitions", "")), kinds)
        found = [it for it in defined if it.name == part.symbol]
        named.append(_of(found[-1], row[2], str(payload.get("text", ""))) if row and found else None)
    return named
