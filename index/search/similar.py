"""A place in a file as a question: what else in the index is like the chunks that are there."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from cqm.index.generations.generation import Generation
from cqm.index.manifest.rows import ChunkRow
from cqm.index.model.errors import QueryError
from cqm.index.model.query import Query
from cqm.index.ranking import rank
from cqm.index.ranking.evidence import Evidence
from cqm.index.store.base import TERMS, Nearest, Point, PointFilter
from cqm.index.text.terms import SparseTerms

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_PLACE = re.compile(r"\s*(?P<path>\S(?:.*\S)?):(?P<first>[0-9]{1,9})(?:-(?P<last>[0-9]{1,9}))?\s*")
_FORM = "Write path:line or path:first-last, with the path as results show it, such as src/app.py:40."
_MOST_SHOWN = 3


@dataclass(frozen=True, slots=True)
class Place:
    """The chunks at a place, as a question.

    Attributes:
        label: the place, as a person would say it: "src/app.py:40-61 (run)".
        ids: of the chunks.
        terms: that they have, with their weights.
        vectors: their mean unit vector, by the space that it is of.
    """

    label: str
    ids: frozenset[str]
    terms: SparseTerms
    vectors: Mapping[str, "NDArray[np.float32]"] = field(default_factory=dict)


def asked_place(generation: Generation, query: Query) -> Place | None:
    """The place that a query names, in `Query.like` or as its whole text where there is such a file; else None.

    Raises:
        QueryError: `Query.like` is no place in the index, or the file that it names has no such line.
        StoreError, ManifestError: the index cannot be read.
    """
    found = _PLACE.fullmatch(query.like or query.text)
    if not found:
        if query.like:
            raise QueryError(f"{query.like!r} is no place in a file.", remedy=_FORM)
        return None
    path, first = found["path"].removeprefix("./"), int(found["first"])
    rows = generation.manifest.chunks_of(path)
    if not rows and not query.like:
        return None
    if not rows:
        raise _unknown(generation, path)
    return _place(generation, _rows_at(rows, first, int(found["last"] or first)))


def alike(generation: Generation, place: Place, searches: Sequence[Nearest]) -> tuple[Sequence[rank.Ranked], int]:
    """The chunks that are like those at a place, best first, without themselves, and how many a search gave at most.

    Parameters:
        searches: from `searches_for`.
    """
    given = generation.store.search(searches)
    found = [_without(place.ids, scores) for scores in given]
    by_kind = {search.using: scores for search, scores in zip(searches, found, strict=True)}
    terms = by_kind.pop(TERMS, {})
    ids = dict.fromkeys(name for scores in found for name in scores)
    candidates = tuple(generation.candidates.of(ids))
    evidence = Evidence(candidates, terms, tuple(by_kind.values()), {}, {})
    return rank.rank("", evidence, rank.ALIKE), max(map(len, given), default=0)


def searches_for(
    place: Place, spaces: Mapping[str, "NDArray[np.float32]"], depth: int, keep: PointFilter | None, *, words: bool
) -> list[Nearest]:
    """The searches for what is like a place.

    Parameters:
        spaces: those of its vectors that count.
        depth: chunks wanted of each, beside those of the place.
        keep: which chunks count; None for all.
        words: whether words count.
    """
    depth += len(place.ids)
    by_words = [Nearest(TERMS, place.terms, depth, keep)] if words else []
    return by_words + [Nearest(name, vector, depth, keep) for name, vector in spaces.items()]


def _without(ids: frozenset[str], scores: Mapping[str, float]) -> dict[str, float]:
    return {name: score for name, score in scores.items() if name not in ids}


def _rows_at(rows: Sequence[ChunkRow], first: int, last: int) -> list[ChunkRow]:
    """The chunks of a file that have one of some lines; for blank lines, which no chunk has, the next one."""
    if first < 1 or last < first or first > rows[-1].end_line:
        path, end = rows[0].path, rows[-1].end_line
        lines = f"{first}-{last}" if last != first else f"{first}"
        raise QueryError(
            f"{path} ends at line {end} in the index: it has no {lines}.", remedy="Name lines that it has."
        )
    at = [row for row in rows if row.start_line <= last and row.end_line >= first]
    return at or [next(row for row in rows if row.start_line > first)]


def _place(generation: Generation, rows: Sequence[ChunkRow]) -> Place:
    points = generation.store.points([row.id for row in rows])
    names = [*dict.fromkeys(row.symbol or row.kind for row in rows)]
    told = ", ".join(names[:_MOST_SHOWN] + ["..."] * (len(names) > _MOST_SHOWN))
    lines = f"{rows[0].start_line}-{max(row.end_line for row in rows)}"
    ids = frozenset(row.id for row in rows)
    return Place(f"{rows[0].path}:{lines} ({told})", ids, _sum_of_terms(points), _mean_vectors(points))


def _sum_of_terms(points: Sequence[Point]) -> SparseTerms:
    weights: Counter[int] = Counter()
    for point in points:
        terms = point.sparse.get(TERMS, SparseTerms((), ()))
        weights.update(dict(zip(terms.indices, terms.values, strict=True)))
    ordered = sorted(weights.items())
    return SparseTerms(tuple(term for term, _ in ordered), tuple(weight for _, weight in ordered))


def _mean_vectors(points: Sequence[Point]) -> dict[str, "NDArray[np.float32]"]:
    import numpy as np  # start-up time

    by_space: dict[str, list[NDArray[np.float32]]] = {}
    for point in points:
        if point.dense is not None:
            by_space.setdefault(point.space, []).append(point.dense)
    means = {space: np.mean(rows, axis=0, dtype=np.float32) for space, rows in by_space.items()}
    lengths = {space: float(np.linalg.norm(mean)) for space, mean in means.items()}
    return {space: np.divide(mean, lengths[space], dtype=np.float32) for space, mean in means.items() if lengths[space]}


def _unknown(generation: Generation, path: str) -> QueryError:
    """The error for a file that is not in the index, with those that may be meant."""
    meant = [known for known in generation.manifest.paths() if known.endswith(f"/{path}")][:_MOST_SHOWN]
    remedy = f"Is it {' or '.join(meant)}?" if meant else "Give the path as results show it, relative to the root."
    return QueryError(f"{path} is not in the index.", remedy=remedy)
