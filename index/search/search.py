"""From a query to an answer: filters, the store's searches, ranking, the page."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import TYPE_CHECKING, Any

from cqm.index.embedding.routes import Routes
from cqm.index.generations.generation import Generation
from cqm.index.model.errors import QueryError, RerankError
from cqm.index.model.options import RerankOptions
from cqm.index.model.query import Hit, Parent, Query, SearchMode
from cqm.index.ranking import rank
from cqm.index.ranking.evidence import Evidence
from cqm.index.ranking.exact import DEPTH as DEFINITIONS_DEPTH
from cqm.index.ranking.exact import FEW, definition_query, exact_first, word_query
from cqm.index.rerank import Reranker
from cqm.index.rerank.order import reordered
from cqm.index.search.fairness import Turns
from cqm.index.search.similar import Place, alike, asked_place, searches_for
from cqm.index.search.whole_symbols import parents_of
from cqm.index.store.base import FILE_TERMS, PATH_TERMS, TERMS, Nearest, PointFilter
from cqm.index.text.globs import paths_matching, prefix_folder
from cqm.index.text.terms import SparseTerms, query_terms

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors = Mapping[str, NDArray[np.float32]]

_MAX_LIMIT = 100
_ATTEMPTS = 3
"""How often a search begins, where updates end in the middle of it."""
_DEPTHS = (1, 4, 20)
"""How many times as deep as usual a search goes, one after the other."""
SHOWN = ("text", "content", "context", "metadata")
"""What a hit shows of a payload."""
_READ = ("path", "text", "content")
_SAME = 1 + 1e-5
"""Scores that should be equal differ in their last digits, by the order in which a search adds up."""


@dataclass(frozen=True, slots=True)
class Page:
    """The part of an answer that searching gives; the index adds what it knows of itself.

    Attributes:
        hits, next_cursor, mode, degraded, like, parents: as in `Answer`.
    """

    hits: tuple[Hit, ...]
    next_cursor: str
    mode: SearchMode
    degraded: str
    like: str = ""
    parents: tuple[Parent, ...] = ()


@dataclass(frozen=True, slots=True)
class Searching:
    """What a search needs.

    Attributes:
        generation: that is searched.
        routes: the models that embed the question; None without any.
        reranker: None for the first stage's order.
        rerank: how much it decides.
        turns: one is taken while a search keeps the processor busy, not while it waits for a model. None for none.
    """

    generation: Generation
    routes: Routes | None = None
    reranker: Reranker | None = None
    rerank: RerankOptions = field(default_factory=RerankOptions)
    turns: Turns | None = None


def find(searching: Searching, query: Query) -> Page:
    """Search one generation.

    Raises:
        QueryError: a parameter of the query is not valid.
        StoreError, ManifestError: the index cannot be read.
    """
    offset = _checked_offset(query)
    place = asked_place(searching.generation, query)
    vectors, degraded = _vectors_at(place, query) if place else _embedded(searching, query)
    with searching.turns or nullcontext():
        return _page(searching, query, offset, place, vectors, degraded)


def _page(
    searching: Searching, query: Query, offset: int, place: Place | None, vectors: "Vectors", degraded: str
) -> Page:
    generation = searching.generation
    keep = _point_filter(generation, query)
    mode = query.mode if vectors else SearchMode.LEXICAL
    for _ in range(_ATTEMPTS):
        commits = generation.manifest.commits
        wanted = offset + query.limit + 1
        if place:
            ranked, is_whole, late = _alike(searching, query, place, wanted, vectors, keep), True, ""
        else:
            ranked, is_whole, late = _answering(searching, query, wanted, mode, vectors, keep)
        page = ranked[offset : offset + query.limit]
        payloads = generation.store.payloads([entry.candidate.id for entry in page], SHOWN)
        hits = tuple(_hit(entry, payloads[entry.candidate.id]) for entry in page if entry.candidate.id in payloads)
        # What is found and has no row, or no text, was replaced in the middle of this, if an update ended meanwhile.
        if (is_whole and len(hits) == len(page)) or generation.manifest.commits == commits:
            break
    end = offset + len(page)
    cursor = str(end) if end < len(ranked) else ""
    why = " ".join(filter(None, (degraded, late)))
    return Page(hits, cursor, mode, why, place.label if place else "", parents_of(generation, hits))


def _vectors_at(place: Place, query: Query) -> tuple["Vectors", str]:
    """The vectors of a place that count, and why there are none although they were asked for."""
    if query.mode is SearchMode.LEXICAL:
        return {}, ""
    is_lacking = query.mode is SearchMode.SEMANTIC and not place.vectors
    return place.vectors, f"{place.label} has no vector" if is_lacking else ""


def _alike(
    searching: Searching, query: Query, place: Place, wanted: int, vectors: "Vectors", keep: PointFilter | None
) -> list[rank.Ranked]:
    """What is like a place, best first."""
    words = query.mode is not SearchMode.SEMANTIC or not vectors

    def look(times: int) -> tuple[Sequence[rank.Ranked], int]:
        searches = searches_for(place, vectors, times * rank.CHUNK_DEPTH, keep, words=words)
        return alike(searching.generation, place, searches)

    return _stepwise(look, wanted)


def _answering(
    searching: Searching, query: Query, wanted: int, mode: SearchMode, vectors: "Vectors", keep: PointFilter | None
) -> tuple[list[rank.Ranked], bool, str]:
    """What answers a question, best first, whether the manifest has all of it, and why it is not reranked."""
    weights = rank.by_meaning(query.text) if mode is SearchMode.SEMANTIC else None
    is_whole, late = True, ""

    def look(times: int) -> tuple[Sequence[rank.Ranked], int]:
        nonlocal is_whole, late
        evidence, depth = _gather(searching.generation, query.text, mode, vectors, keep, times)
        ranked: Sequence[rank.Ranked] = rank.rank(query.text, evidence, weights)
        if times == _DEPTHS[0]:
            ranked, late = _reranked(searching, query.text, ranked)
        if query.mode is not SearchMode.SEMANTIC:
            ranked = exact_first(query.text, ranked, evidence.saying)
        is_whole = len(evidence.candidates) == len(set(chain(evidence.terms, *evidence.dense)))
        return ranked, depth

    return _stepwise(look, wanted), is_whole, late


def _stepwise(look: Callable[[int], tuple[Sequence[rank.Ranked], int]], wanted: int) -> list[rank.Ranked]:
    """What is found, looked for deeper where that is less than is wanted, and there may be more.

    That is so for large and for later pages, and where copies of one text, which count once, fill a search. What only a
    deeper look finds follows, so that pages fit together.

    Parameters:
        look: finds what is so many times as deep as usual, best first, and tells how many chunks a search gave.
        wanted: how many results, at least.
    """
    ranked: list[rank.Ranked] = []
    for times in _DEPTHS:
        found, depth = look(times)
        known = {text for entry in ranked for text in _identity(entry)}
        ranked += [entry for entry in found if known.isdisjoint(_identity(entry))]
        if len(ranked) >= wanted or depth < times * rank.CHUNK_DEPTH:
            break
    return ranked


def _identity(entry: rank.Ranked) -> tuple[str, str]:
    """What a result is told by: itself, and its text where that is known."""
    return entry.candidate.id, entry.candidate.digest or entry.candidate.id


def _reranked(searching: Searching, question: str, ranked: Sequence[rank.Ranked]) -> tuple[Sequence[rank.Ranked], str]:
    """The order after a second look, and why there was none although one is configured."""
    reranker, options = searching.reranker, searching.rerank
    head = [entry.candidate.id for entry in ranked[: options.depth]]
    if reranker is None or not head:
        return ranked, ""
    payloads = searching.generation.store.payloads(head, _READ)
    texts = [_read_text(payloads.get(name, {})) for name in head]
    try:
        with searching.turns.away() if searching.turns else nullcontext():
            scores = reranker.scores(question, texts, options.deadline_seconds)
    except RerankError as error:
        return ranked, f"The results are not reranked: {error}"
    return reordered(ranked, scores, options.weight), ""


def _read_text(payload: Mapping[str, Any]) -> str:
    """What a reranker reads of a chunk: where it is, then what people read of it."""
    return f"{payload.get('path', '')}\n{payload.get('content') or payload.get('text', '')}"


def _checked_offset(query: Query) -> int:
    if not (query.text or query.like).strip():
        raise QueryError("The query is empty.", remedy="Ask a question or name a symbol.")
    if query.text and query.like:
        raise QueryError("There is a question and a place to find the like of.", remedy="Ask with one of them.")
    if any("\ud800" <= character <= "\udfff" for character in query.text + query.like):
        raise QueryError("The query is no valid Unicode: it has half of a surrogate pair.")
    if not 1 <= query.limit <= _MAX_LIMIT:
        raise QueryError(f"limit is {query.limit}; it must be from 1 to {_MAX_LIMIT}.")
    if query.cursor and not query.cursor.isdecimal():
        raise QueryError(f"{query.cursor!r} is no cursor.", remedy="Pass next_cursor of the page before, unchanged.")
    return int(query.cursor or 0)


def _point_filter(generation: Generation, query: Query) -> PointFilter | None:
    """The filter for the store; globs that are more than a folder are resolved to paths by the manifest."""
    base = PointFilter(languages=query.languages, kinds=query.kinds, sources=query.sources)
    if not (query.include or query.exclude or query.changed_since is not None):
        return None if base == PointFilter() else base
    folders = [prefix_folder(glob) for glob in query.include]
    if query.changed_since is None and not query.exclude and all(folders):
        return replace(base, folders=tuple(filter(None, folders)))
    paths = set(generation.manifest.paths())
    if not query.include and query.changed_since is None:
        return replace(base, not_paths=tuple(sorted(paths_matching(query.exclude, paths))))
    if query.changed_since is not None:
        paths &= set(generation.manifest.changed_since(int(query.changed_since * 1e9)))
    if query.include:
        paths = paths_matching(query.include, paths)
    paths -= paths_matching(query.exclude, paths)
    return replace(base, paths=tuple(sorted(paths)), nothing=not paths)


def _gather(
    generation: Generation, text: str, mode: SearchMode, vectors: "Vectors", keep: PointFilter | None, times: int
) -> tuple[Evidence, int]:
    """All evidence for a question, by words and by its vectors in the spaces of the generation.

    Also tells how many chunks a search gave.

    Parameters:
        times: the usual depth each search goes.
    """
    dense = [Nearest(name, vector, times * rank.CHUNK_DEPTH, keep) for name, vector in vectors.items()]
    terms = query_terms(text)
    lexical = [] if mode is SearchMode.SEMANTIC else _lexical(terms, keep, times)
    exact = [] if mode is SearchMode.SEMANTIC else _exact(text, keep)
    given = generation.store.search([*lexical, *dense, *exact])
    depth = max(map(len, given[2 if lexical else 0 :]), default=0)
    searches = [*lexical, *dense]
    found = list(map(_settled, given, searches))
    defining, saying = given[len(searches) :] or ({}, {})
    saying = saying if len(saying) <= FEW else {}
    files, paths, chunks = found[: len(lexical)] or ({}, {}, {})
    cosines = tuple(filter(None, found[len(lexical) : len(lexical) + len(dense)]))
    files, paths = map(generation.candidates.paths, (files, paths))
    evidence = Evidence((), chunks, cosines, files, paths)
    if more := rank.fill_paths(evidence):
        # The paths come from searches under the same filter, so that they stand for its own.
        within = replace(keep or PointFilter(), paths=more, folders=(), not_paths=())
        fill = Nearest(TERMS, terms, times * rank.FILL_DEPTH, within)
        (further,) = generation.store.search([fill])
        chunks |= _settled(further, fill)
    # Of a chunk that only these found nothing is known; it counts as 0.
    chunks = dict.fromkeys(chain(defining, saying), 0.0) | chunks
    ids = dict.fromkeys(chain(chunks, *cosines))
    return replace(evidence, candidates=tuple(generation.candidates.of(ids)), terms=chunks, saying=saying.keys()), depth


def _settled(scores: dict[str, float], search: Nearest) -> dict[str, float]:
    """What a search gave without those that are equal at its end: which of them it gives differs from time to time."""
    if len(scores) < search.limit:
        return scores
    least = min(scores.values()) * _SAME
    return {name: score for name, score in scores.items() if score > least} or scores


def _lexical(terms: SparseTerms, keep: PointFilter | None, times: int) -> list[Nearest]:
    """The searches for files by their text and by their path, and for chunks."""
    # A file's point has no kind and no source: its evidence counts whatever kind of chunk is asked for.
    of_files = replace(keep, kinds=(), sources=()) if keep else None
    by_file = [Nearest(name, terms, times * rank.FILE_DEPTH, of_files) for name in (FILE_TERMS, PATH_TERMS)]
    return [*by_file, Nearest(TERMS, terms, times * rank.CHUNK_DEPTH, keep)]


def _exact(text: str, keep: PointFilter | None) -> list[Nearest]:
    """The searches for the definitions of a name and for a rare word, if the question is one; what is none is empty."""
    nothing = SparseTerms((), ())
    defining, saying = definition_query(text) or nothing, word_query(text) or nothing
    return [Nearest(TERMS, defining, DEFINITIONS_DEPTH, keep), Nearest(TERMS, saying, FEW + 1, keep)]


def _embedded(searching: Searching, query: Query) -> tuple["Vectors", str]:
    """The question's vector for each space, and why there is none, or not each, although they were asked for."""
    if query.mode is SearchMode.LEXICAL:
        return {}, ""
    if searching.routes is None:
        return {}, "no embedding provider is configured" if query.mode is SearchMode.SEMANTIC else ""
    spaces = searching.generation.manifest.spaces()
    if not spaces:
        return {}, "no chunk has a vector yet"
    question = searching.routes.embed_question(query.text, spaces)
    reasons = [f"the vectors of {spaces[name]} were not searched: {why}" for name, why in question.missing.items()]
    return question.vectors, "; ".join(reasons)


def _hit(entry: rank.Ranked, payload: Mapping[str, Any]) -> Hit:
    chunk = entry.candidate
    return Hit(
        path=chunk.path,
        start_line=chunk.start_line,
        end_line=chunk.end_line,
        score=entry.score,
        symbol=chunk.symbol,
        kind=chunk.kind,
        language=chunk.language,
        text=str(payload.get("text", "")),
        content=str(payload.get("content", "")),
        context=str(payload.get("context", "")),
        position=chunk.position,
        metadata={name: tuple(it) if isinstance(it, list) else it for name, it in payload.get("metadata", {}).items()},
        parts=entry.parts,
    )
