"""From a query to an answer: filters, the store's searches, ranking, the page."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from cqm.index import rank
from cqm.index.embedding.base import Embedder
from cqm.index.errors import EmbeddingError, QueryError
from cqm.index.generation import Generation
from cqm.index.globs import paths_matching, prefix_folder
from cqm.index.lexical import query_terms
from cqm.index.manifest import ChunkRow
from cqm.index.model import Hit, Query, SearchMode
from cqm.index.status import SPACE_FACT
from cqm.index.store import FILE_TERMS, PATH_TERMS, TERMS, Found, PointFilter

_MAX_LIMIT = 100


@dataclass(frozen=True, slots=True)
class Page:
    """The part of an answer that searching gives; the index adds what it knows of itself.

    Attributes:
        hits, next_cursor, mode, degraded: as in `Answer`.
    """

    hits: tuple[Hit, ...]
    next_cursor: str
    mode: SearchMode
    degraded: str


def find(generation: Generation, query: Query, embedder: Embedder | None) -> Page:
    """Search one generation.

    Raises:
        QueryError: a parameter of the query is not valid.
        StoreError, ManifestError: the index cannot be read.
    """
    offset = _checked_offset(query)
    keep = _point_filter(generation, query)
    evidence, mode, degraded = _gather(generation, query, keep, embedder)
    ranked = rank.rank(query.text, evidence)
    page = ranked[offset : offset + query.limit]
    payloads = generation.store.payloads([entry.candidate.id for entry in page], ["text", "content", "metadata"])
    hits = tuple(_hit(entry, payloads.get(entry.candidate.id, {})) for entry in page)
    end = offset + len(page)
    return Page(hits, str(end) if end < len(ranked) else "", mode, degraded)


def _checked_offset(query: Query) -> int:
    if not query.text.strip():
        raise QueryError("The query is empty.", remedy="Ask a question or name a symbol.")
    if any("\ud800" <= character <= "\udfff" for character in query.text):
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
    generation: Generation, query: Query, keep: PointFilter | None, embedder: Embedder | None
) -> tuple[rank.Evidence, SearchMode, str]:
    """All evidence for a query, the mode that it amounts to, and why that is less than was asked for."""
    dense, degraded = _search_dense(generation, query, keep, embedder)
    lexical = query.mode is not SearchMode.SEMANTIC or bool(degraded)
    mode = SearchMode.LEXICAL if degraded or embedder is None else query.mode
    store, terms = generation.store, query_terms(query.text)
    # A file's point has no kind and no source: its evidence counts whatever kind of chunk is asked for.
    of_files = replace(keep, kinds=(), sources=()) if keep else None
    files = paths = chunks = {}
    if lexical:
        files = _by_path(store.search_terms(FILE_TERMS, terms, rank.FILE_DEPTH, of_files, ["path"]))
        paths = _by_path(store.search_terms(PATH_TERMS, terms, rank.FILE_DEPTH, of_files, ["path"]))
        chunks = _by_id(store.search_terms(TERMS, terms, rank.CHUNK_DEPTH, keep))
    evidence = rank.Evidence((), chunks, dense, files, paths)
    if more := rank.fill_paths(evidence):
        # The paths come from searches under the same filter, so that they stand for its own.
        within = replace(keep or PointFilter(), paths=more, folders=(), not_paths=())
        chunks |= _by_id(store.search_terms(TERMS, terms, rank.CHUNK_DEPTH, within))
    rows = generation.manifest.chunks([*chunks, *(chunk_id for chunk_id in dense if chunk_id not in chunks)])
    candidates = tuple(_candidate(row) for row in rows.values())
    return replace(evidence, candidates=candidates, terms=chunks), mode, degraded


def _search_dense(
    generation: Generation, query: Query, keep: PointFilter | None, embedder: Embedder | None
) -> tuple[dict[str, float], str]:
    """Cosines by chunk id, and why there are none although they were asked for."""
    if query.mode is SearchMode.LEXICAL:
        return {}, ""
    if embedder is None:
        return {}, "no embedding provider is configured" if query.mode is SearchMode.SEMANTIC else ""
    indexed = generation.manifest.fact(SPACE_FACT)
    if not indexed:
        return {}, "no chunk has a vector yet"
    try:
        space = embedder.space()
        if space.name != indexed:
            return {}, f"the index holds vectors of {indexed}, not of {space.name}"
        vector = embedder.embed_query(query.text)
    except EmbeddingError as error:
        return {}, str(error)
    return _by_id(generation.store.search_dense(space.vector_name, vector, rank.CHUNK_DEPTH, keep)), ""


def _by_id(found: Iterable[Found]) -> dict[str, float]:
    return {point.id: point.score for point in found}


def _by_path(found: Sequence[Found]) -> dict[str, float]:
    return {str(point.payload["path"]): point.score for point in found}


def _candidate(row: ChunkRow) -> rank.Candidate:
    return rank.Candidate(
        id=row.id,
        path=row.path,
        language=row.language,
        kind=row.kind,
        symbol=row.symbol,
        defines=row.defines,
        start_line=row.start_line,
        end_line=row.end_line,
        tokens=row.tokens,
        digest=row.digest,
    )


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
        metadata={name: tuple(it) if isinstance(it, list) else it for name, it in payload.get("metadata", {}).items()},
        parts=entry.parts,
    )
