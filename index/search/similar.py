"""A place in a file as a question: find chunks like those there."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from cqm.index.generations.generation import Generation
from cqm.index.manifest.rows import ChunkRow
from cqm.index.model.errors import QueryError, UnknownNameError
from cqm.index.model.query import Query
from cqm.index.ranking.question import Lines, Question
from cqm.index.search.named.tree_paths import tree_of
from cqm.index.store.base import TERMS, Point
from cqm.index.text.terms import SparseTerms

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_FORM = "Write a path as results show it, such as src/app.py:40 or src/app.py:40-61."
_MOST_SHOWN = 3


@dataclass(frozen=True, slots=True)
class Example:
    """The chunks at a place, as a question.

    Attributes:
        label: shown to users: "src/app.py:40-61 (run)".
        terms: of the chunks, with their summed weights.
        vectors: mean unit vector of the chunks, by the name of its space.
    """

    label: str
    ids: frozenset[str]
    terms: SparseTerms
    vectors: Mapping[str, "NDArray[np.float32]"] = field(default_factory=dict)


def find_example(generation: Generation, query: Query, question: Question, root: str) -> Example | None:
    """Find the chunks at the place named in `Query.like`; None for a query without.

    Parameters:
        question: the query, as read.

    Raises:
        QueryError: `Query.like` is no place in the index, or the file has no such line.
    """
    if not query.like:
        return None
    lines = question.lines
    if not lines:
        raise QueryError(f"`like {query.like}`: expected path:line or path:first-last.", remedy=_FORM)
    rows = generation.manifest.chunks_of(lines.path)
    if not rows:
        path = tree_of(generation, root).meant(lines.path)
        if not path:
            raise _unknown(generation, lines)
        lines, rows = lines._replace(path=path), generation.manifest.chunks_of(path)
    if not rows:
        raise _unknown(generation, lines)
    return _example(generation, _rows_at(rows, lines))


def _rows_at(rows: Sequence[ChunkRow], lines: Lines) -> list[ChunkRow]:
    """Return the chunks of a file with one of these lines; for blank lines, which no chunk has, the next one."""
    path, first, last = lines
    if first < 1 or last < first or first > rows[-1].end_line:
        end = rows[-1].end_line
        message = f"`like {_shown(lines)}`: expected lines 1 to {end}; {path} ends there in the index."
        raise UnknownNameError(message, remedy="Name lines it has.")
    at = [row for row in rows if row.start_line <= last and row.end_line >= first]
    return at or [next(row for row in rows if row.start_line > first)]


def _example(generation: Generation, rows: Sequence[ChunkRow]) -> Example:
    points = generation.store.points([row.id for row in rows])
    names = [*dict.fromkeys(row.symbol or row.kind for row in rows)]
    told = ", ".join(names[:_MOST_SHOWN] + ["..."] * (len(names) > _MOST_SHOWN))
    lines = f"{rows[0].start_line}-{max(row.end_line for row in rows)}"
    ids = frozenset(row.id for row in rows)
    return Example(f"{rows[0].path}:{lines} ({told})", ids, _sum_of_terms(points), _mean_vectors(points))


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


def _shown(lines: Lines) -> str:
    return f"{lines.path}:{lines.first}" + (f"-{lines.last}" if lines.last != lines.first else "")


def _unknown(generation: Generation, lines: Lines) -> UnknownNameError:
    """Return the error for a file missing in the index; its remedy names likely files."""
    near = tree_of(generation).near(lines.path)
    remedy = f"Is it {' or '.join(near)}?" if near else "Give the path as results show it, relative to the root."
    return UnknownNameError(f"`like {_shown(lines)}`: {lines.path} is not in the index.", remedy=remedy)
