"""Candidates for an answer: run the store's searches for a question or a place in a file, and collect the evidence."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from cqm.index.generations.generation import Generation
from cqm.index.model.query import Query, SearchMode
from cqm.index.ranking.evidence import Evidence
from cqm.index.ranking.exact import DEPTH as DEFINITIONS_DEPTH
from cqm.index.ranking.exact import FEW
from cqm.index.ranking.question import Question
from cqm.index.ranking.rank import CHUNK_DEPTH, FILE_DEPTH, FILL_DEPTH, fill_paths
from cqm.index.search.literals import saying
from cqm.index.search.named.in_sentence import named_within
from cqm.index.search.similar import Example
from cqm.index.store.base import FILE_TERMS, PATH_TERMS, TERMS, Nearest, PointFilter
from cqm.index.text.globs import prefix_folder
from cqm.index.text.terms import SparseTerms
from cqm.index.tracing import traced

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors = Mapping[str, NDArray[np.float32]]

_NOTHING = SparseTerms((), ())
_SAME = 1 + 1e-5
"""Scores within this factor are equal at the end of a search. Their last digits depend on a store's order of addition,
which differs between two indexes of the same files."""
_DEEPER = 10
"""Multiple of its limit to look for if all results of a search are equal."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """Everything the store's searches depend on.

    Attributes:
        mode: lexical without vectors.
        vectors: of the question or place, by the name of their space.
    """

    question: Question
    mode: SearchMode
    vectors: "Vectors"
    keep: PointFilter | None = None


class Found(NamedTuple):
    """The result of one look.

    Attributes:
        evidence: with all candidates.
        is_cut: whether a deeper look may find more.
        is_whole: whether the manifest has all chunks found; an update may have replaced some meanwhile.
    """

    evidence: Evidence
    is_cut: bool
    is_whole: bool


@traced("cqm.candidates")
def for_question(generation: Generation, wanted: Wanted, times: int, pinned: Iterable[str] = ()) -> Found:
    """Find candidates by words, vectors and names.

    Parameters:
        times: depth of each search, as a multiple of the usual one.
        pinned: ids of chunks to consider whatever their evidence.
    """
    keep, depth = wanted.keep, times * CHUNK_DEPTH
    is_semantic = wanted.mode is SearchMode.SEMANTIC
    # A search for nothing finds nothing, and costs nothing.
    terms = _NOTHING if is_semantic else wanted.question.terms
    definitions = _NOTHING if is_semantic else wanted.question.definitions
    mentions = _NOTHING if is_semantic else wanted.question.mentions
    # A file's point has no kind and no source: its evidence counts for any kind of chunk.
    of_files = replace(keep, kinds=(), sources=(), issues=()) if keep else None
    by_evidence = [
        Nearest(FILE_TERMS, terms, times * FILE_DEPTH, of_files),
        Nearest(PATH_TERMS, terms, times * FILE_DEPTH, of_files),
        Nearest(TERMS, terms, depth, keep),
        *(Nearest(name, vector, depth, keep) for name, vector in wanted.vectors.items()),
    ]
    by_name = [Nearest(TERMS, definitions, DEFINITIONS_DEPTH + 1, keep), Nearest(TERMS, mentions, FEW + 1, keep)]
    *given, defining, mentioning = generation.store.search([*by_evidence, *by_name])
    files, paths, chunks, *dense = _settled(generation, given, by_evidence)

    evidence = Evidence(
        (), chunks, tuple(filter(None, dense)), generation.candidates.paths(files), generation.candidates.paths(paths)
    )
    chunks |= _in_best_files(generation, evidence, Nearest(TERMS, terms, times * FILL_DEPTH, keep))
    # With more, the store's choice would be chance.
    defining = defining if len(defining) <= DEFINITIONS_DEPTH else {}
    few, likely = mentioning if len(mentioning) <= FEW else {}, list[str]()
    if not is_semantic:
        few, likely = _with_named(generation, wanted.question, keep, few, chunks)
    # Chunks found only by name have no evidence; they count as 0.
    chunks = dict.fromkeys(chain(pinned, defining, few), 0.0) | chunks
    found = _with_candidates(
        generation, replace(evidence, terms=chunks, mentioning=few.keys(), likely=frozenset(likely))
    )
    return found._replace(is_cut=max(map(len, given[2:])) >= depth)


def _in_best_files(generation: Generation, evidence: Evidence, search: Nearest) -> dict[str, float]:
    """Return the scores of a search in the best files alone."""
    best = fill_paths(evidence)
    if not best:
        return {}
    # The paths come from searches under the same filter, so they replace its own.
    within = replace(search.keep or PointFilter(), paths=best, folders=(), not_paths=())
    fill = replace(search, keep=within)
    return _settled(generation, generation.store.search([fill]), [fill])[0]


def _with_named(
    generation: Generation,
    question: Question,
    keep: PointFilter | None,
    few: dict[str, float],
    chunks: Mapping[str, float],
) -> tuple[dict[str, float], list[str]]:
    """Add chunks with a question's codes, literals and names to the few mentioning it; return likely ones too.

    Parameters:
        few: chunks mentioning the question.
        chunks: found by words.
    """
    few = few | _with_codes(generation, question, keep)
    said = saying(generation, question, chunks, keep)
    named = named_within(generation, question, keep, said.texts)
    likely = [it for it in (*named, *(() if said.is_whole else said.ids)) if it not in few]
    return few | dict.fromkeys([*said.ids, *named], 0.0), likely


def _with_codes(generation: Generation, question: Question, keep: PointFilter | None) -> dict[str, float]:
    """Find the few chunks containing an error code of a question; more tell nothing."""
    codes = [Nearest(TERMS, terms, FEW + 1, keep) for terms in question.codes]
    few = [found for found in (generation.store.search(codes) if codes else ()) if len(found) <= FEW]
    return {name: score for found in few for name, score in found.items()}


@traced("cqm.candidates")
def for_example(generation: Generation, wanted: Wanted, example: Example, times: int) -> Found:
    """Find candidates like the chunks at a place, without those themselves.

    Parameters:
        wanted: its vectors are those of the place.
        example: from `find_example`.
        times: depth of each search, as a multiple of the usual one.
    """
    depth = times * CHUNK_DEPTH
    terms = _NOTHING if wanted.mode is SearchMode.SEMANTIC else example.terms
    # The chunks of the place are found as well, in front.
    limit = depth + len(example.ids)
    dense_searches = [Nearest(name, vector, limit, wanted.keep) for name, vector in wanted.vectors.items()]
    given = generation.store.search([Nearest(TERMS, terms, limit, wanted.keep), *dense_searches])
    words, *dense = ({name: score for name, score in scores.items() if name not in example.ids} for scores in given)
    found = _with_candidates(generation, Evidence((), words, tuple(dense), {}, {}))
    return found._replace(is_cut=max(map(len, given)) >= depth)


def _with_candidates(generation: Generation, evidence: Evidence) -> Found:
    ids = dict.fromkeys(chain(evidence.terms, *evidence.dense))
    candidates = tuple(generation.candidates.of(ids))
    return Found(replace(evidence, candidates=candidates), is_cut=False, is_whole=len(candidates) == len(ids))


def _settled(
    generation: Generation, given: Sequence[dict[str, float]], searches: Sequence[Nearest]
) -> list[dict[str, float]]:
    """Make the results of searches independent of chance.

    If a search is cut by its limit in the middle of equal scores, the store's choice among them differs from index to
    index: all of them are dropped. If nothing better was found, all are taken, from a deeper look.
    """
    settled = []
    for scores, search in zip(given, searches, strict=True):
        if len(scores) < search.limit:
            settled.append(scores)
            continue
        least = min(scores.values()) * _SAME
        better = {name: score for name, score in scores.items() if score > least}
        settled.append(better or generation.store.search([replace(search, limit=_DEEPER * search.limit)])[0])
    return settled


def point_filter(generation: Generation, query: Query) -> PointFilter | None:
    """Make the store's filter; globs other than folders are resolved to paths by the manifest."""
    base = PointFilter(languages=query.languages, kinds=query.kinds, sources=query.sources, issues=query.issues)
    if not (query.include or query.exclude or query.changed_since is not None):
        return None if base == PointFilter() else base
    folders = [prefix_folder(glob) for glob in query.include]
    if query.changed_since is None and not query.exclude and all(folders):
        return replace(base, folders=tuple(filter(None, folders)))
    excluded = generation.paths.matching(query.exclude) if query.exclude else frozenset[str]()
    if not query.include and query.changed_since is None:
        return replace(base, not_paths=tuple(sorted(excluded)))
    paths = generation.paths.matching(query.include) if query.include else generation.paths.with_chunks()
    if query.changed_since is not None:
        paths = set(generation.manifest.changed_since(query.changed_since)).intersection(paths)
    left = sorted(path for path in paths if path not in excluded)
    return replace(base, paths=tuple(left), nothing=not left)
