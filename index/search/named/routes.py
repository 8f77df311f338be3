"""Find the declaration of a route, and its handler."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import PurePosixPath
from typing import NamedTuple

from cqm.index.generations.generation import Generation
from cqm.index.manifest.rows import ChunkRow
from cqm.index.ranking.exact import fitting
from cqm.index.ranking.file_roles import role_of
from cqm.index.search.named.defining import NameLookup
from cqm.index.store.base import FILE_TERMS, Nearest
from cqm.index.text.names.parts import last_part
from cqm.index.text.routes.asked import METHODS, AskedRoute, is_placeholder
from cqm.index.text.routes.declared import Declared, declared_in
from cqm.index.text.routes.folders import route_of_file
from cqm.index.text.routes.pattern import Fit, Segment, fit, patterns_of
from cqm.index.text.stored_definitions import read_definitions
from cqm.index.text.terms import SparseTerms, distinct_terms, stem_term, stems

_POSTINGS = 2_000
"""Files with a word to ask for."""
_MOST_FILES, _MOST_CHUNKS = 40, 800
"""Files and chunks to read."""
_MOST_ROUTES, _MOST_HANDLERS = 5, 3
_MARKERS = tuple(map(stem_term, stems("route router url urlpatterns controller mapping handlefunc endpoint api")))
"""Terms of files declaring routes."""
_ROUTE_FILE = re.compile(
    r"(?:^|[/._-])(?:routes?|routers?|routing|urls|controllers?|endpoints?|apis?|handlers?|web)\b|Controller|Router|Api"
)
_ASIDE = frozenset({"test", "documentation", "configuration", "declarations"})
"""Roles of files without routes of the program."""
_MOUNTED = re.compile(r"api|rest|v\d+(?:\.\d+)?|app|public|web|graphql|[a-z]{2}(?:-[a-z]{2})?", re.IGNORECASE)
"""Segments mostly added by a mount or proxy: "/api/v1", "/en"."""
_BUILT = re.compile(r"(?:^|/)(?:dist|build|out|target|public)/")
_MANY_EXTRA = 2
"""Weight of a segment only the pattern has in front, in segments only the path has."""
_SHORT = 0.25
"""Weight of a file's prefix missing in the path: "/users" fits a file without prefix better than one with "/v1"."""


class Routed(NamedTuple):
    """The chunks answering a route.

    Attributes:
        lines: the line of the declaration or handler, by id of the chunk; best first.
        is_sure: whether all of the path is accounted for, and the method.
    """

    lines: Mapping[str, int]
    is_sure: bool


class _Match(NamedTuple):
    """A fitting declaration or file; the least comes first.

    Attributes:
        is_other: whether it answers other methods.
        unknown: unexplained segments in front.
        apart: the weight of segments in only one of the two.
        unlike: less for more segments with equal spelling.
        weak: more for a built file, or for a line that may be no route.
    """

    is_other: bool
    unknown: int
    apart: float
    unlike: float
    weak: int
    path: str
    line: int
    handler: str = ""

    @property
    def rank(self) -> tuple[bool, int, float, float, int]:
        """Its order among others, without its place."""
        return self[:5]


def read_route(lookup: NameLookup, asked: AskedRoute) -> Routed | None:
    """Find the declarations of a route, best first, the handlers they name, and its operations in API descriptions.

    None if nothing declares or describes it.

    Parameters:
        asked: a method and a path; values in it may stand for placeholders.
    """
    generation = lookup.generation
    matches = sorted({*_declared(generation, asked), *_in_folders(generation, asked)})
    described = _described(generation, asked)
    if not matches:
        return Routed(described, is_sure=True) if described else None
    best = [it for it in matches if it.rank == matches[0].rank][:_MOST_ROUTES]
    lines: dict[str, int] = {}
    for match in best:
        lines |= {row.id: match.line for row in _rows_at(generation, match) if row.id not in lines}
    for match in best:
        lines |= {name: line for name, line in _handlers(lookup, match) if name not in lines}
    lines |= {name: line for name, line in described.items() if name not in lines}
    return Routed(lines, _is_sure(best[0]))


def _described(generation: Generation, asked: AskedRoute) -> dict[str, int]:
    """Return the operations of OpenAPI with exactly a route, each with its line."""
    rows = generation.manifest.defining(f"{asked.method} {asked.path}") if asked.method else ()
    return {row.id: row.start_line for row in rows[:_MOST_ROUTES]}


def _is_sure(match: _Match) -> bool:
    return not match.is_other and match.unknown < max(1, -match.unlike)


def _declared(generation: Generation, asked: AskedRoute) -> Iterator[_Match]:
    """Yield fitting declarations from the files with most words of the path."""
    wanted = [it.lower() for it in asked.segments if not is_placeholder(it)]
    left = _MOST_CHUNKS
    for path in _files(generation, wanted):
        rows = generation.manifest.chunks_of(path)
        left -= len(rows)
        if left < 0:
            return
        text = _text_of(generation, rows)
        lowered = text.lower()
        if not any(word in lowered for word in wanted):
            continue
        for it in declared_in(text):
            fits = _fits(asked, it)
            if best := min((_judged(asked, path, each, it.methods) for each in fits), default=None):
                weak = it.is_weak + bool(_BUILT.search(path)) + (path in generation.candidates.generated())
                yield _Match(*best, weak, path, it.line, it.handler)


def _fits(asked: AskedRoute, declared: Declared) -> Iterator[Fit]:
    for path in declared.paths:
        for pattern in patterns_of(path):
            if found := fit(pattern, asked.segments):
                # Without the prefixes before it, it fits a little less.
                yield found._replace(is_short=path not in declared.whole)


def _judged(asked: AskedRoute, path: str, found: Fit, methods: Iterable[str]) -> tuple[bool, int, float, float]:
    """Return the first four fields of a match."""
    answered = {*methods}
    is_other = bool(asked.method and answered and asked.method not in answered)
    around = {word.lower() for word in re.split(r"[/._-]|(?<=[a-z])(?=[A-Z])", path)}
    unknown = sum(1 for it in found.missing if it.lower() not in around and not _MOUNTED.fullmatch(it))
    said = sum(1 for it in found.missing if it.lower() in around)
    apart = len(found.missing) - said / 2 + _MANY_EXTRA * found.extra + _SHORT * found.is_short
    return is_other, unknown, apart, -found.literals


def _files(generation: Generation, words: Sequence[str]) -> list[str]:
    """Return the files likely to declare a route with some words, best first."""
    of_words = [distinct_terms(word) for word in words]
    terms = [*dict.fromkeys([*(term for own in of_words for term in own), *_MARKERS])]
    searches = [Nearest(FILE_TERMS, SparseTerms((term,), (1.0,)), _POSTINGS) for term in terms]
    found = generation.store.search(searches)
    having = {term: generation.candidates.paths(scores).keys() for term, scores in zip(terms, found, strict=True)}
    segments: Counter[str] = Counter()
    for own in of_words:
        segments.update(set.intersection(*(set(having[term]) for term in own)) if own else ())
    marked = Counter(path for term in _MARKERS for path in having[term])
    scores = {
        path: count + min(2, marked[path]) / 2 + bool(_ROUTE_FILE.search(path))
        for path, count in segments.items()
        if not _is_aside(path)
    }
    return sorted(scores, key=lambda path: (-scores[path], path))[:_MOST_FILES]


def _is_aside(path: str) -> bool:
    role = role_of(path)
    return role is not None and role.name in _ASIDE


def _text_of(generation: Generation, rows: Sequence[ChunkRow]) -> str:
    """Return the text of a file as its chunks have it, each line at its place."""
    payloads = generation.store.payloads([row.id for row in rows], ["text"])
    lines: dict[int, str] = {}
    for row in rows:
        said = str(payloads.get(row.id, {}).get("text", "")).removesuffix("\n").split("\n")
        lines |= {number: line for number, line in enumerate(said, row.start_line) if number not in lines}
    return "\n".join(lines.get(number, "") for number in range(1, max(lines, default=0) + 1))


def _in_folders(generation: Generation, asked: AskedRoute) -> Iterator[_Match]:
    """Yield the files matching the route by their folders."""
    for path, (patterns, method) in generation.paths.selected("routes", _routes_of_files).items():
        for pattern in patterns:
            found = fit(pattern, asked.segments)
            if found and not found.missing and not found.extra:
                methods = _exported(generation, path, method)
                line = methods.get(asked.method, min(methods.values(), default=1))
                yield _Match(*_judged(asked, path, found, methods), weak=0, path=path, line=line)


def _routes_of_files(paths: Sequence[str]) -> dict[str, tuple[Sequence[Sequence[Segment]], str]]:
    """Return the routes of files by their folders: patterns of the path, and the method or empty for any."""
    routes = ((path, route_of_file(path)) for path in paths)
    return {
        path: (tuple(patterns_of(route.pattern)), route.method)
        for path, route in routes
        if route and not _is_aside(path)
    }


def _exported(generation: Generation, path: str, method: str) -> dict[str, int]:
    """Return the methods answered by a file, each with its line; empty for any."""
    if method:
        return {method: 1}
    found: dict[str, int] = {}
    for row in generation.manifest.chunks_of(path):
        for name in METHODS:
            if name in row.defines:
                found.setdefault(name, _line_of(generation, row.id, row.start_line, row.path, name))
    return found


def _rows_at(generation: Generation, match: _Match) -> list[ChunkRow]:
    """Return the smallest chunk with the line of a match; chunks of a tree contain each other."""
    rows = [it for it in generation.manifest.chunks_of(match.path) if it.start_line <= match.line <= it.end_line]
    return sorted(rows, key=lambda row: row.end_line - row.start_line)[:1]


def _handlers(lookup: NameLookup, match: _Match) -> Iterator[tuple[str, int]]:
    """Yield the chunks defining the handler of a match, with its line, if they are few."""
    if not match.handler:
        return
    chunks = lookup.defining(match.handler) or lookup.defining(last_part(match.handler))
    chunks = [it for it in chunks if not _is_aside(it.path)]
    folder = PurePosixPath(match.path).parent
    near = [it for it in chunks if PurePosixPath(it.path).parent == folder]
    few = chunks if len(chunks) <= 1 else near or chunks
    if len(few) > _MOST_HANDLERS:
        return
    for it in sorted(few, key=lambda chunk: (chunk.path, chunk.position)):
        yield it.id, _line_of(lookup.generation, it.id, it.start_line, it.path, match.handler)


def _line_of(generation: Generation, name: str, start: int, path: str, symbol: str) -> int:
    """Return the line where a chunk defines a symbol."""
    payload = generation.store.payloads([name], ["definitions"]).get(name, {})
    defined = read_definitions(payload.get("definitions", ""))
    found = fitting([it.name for it in defined], symbol, path)
    return start + defined[found[0]].line if found else start
