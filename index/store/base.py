"""The vector store: what is stored and found, in neutral types, and what a store does.

A point is a chunk or a file. A chunk has the sparse vector `terms` and one dense vector for its embedding space; a file
has the sparse vectors `file_terms` and `path_terms`. The store multiplies the inverse document frequency in at query
time, by vector name, so that the three kinds of frequency never mix.
"""

import hashlib
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from cqm.index.model.errors import StoreError
from cqm.index.text.terms import SparseTerms

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

TERMS = "terms"
FILE_TERMS = "file_terms"
PATH_TERMS = "path_terms"
KEYWORDS = ("path", "language", "kind", "source_type", "dirs")
"""The payload fields that filters look at."""


@dataclass(frozen=True, slots=True)
class Point:
    """What is stored under one id.

    Attributes:
        id: 32 hex digits.
        payload: JSON values; `path` is always there.
        sparse: sparse vectors by name.
        dense: unit vector, shape (dimensions,); None for a point without one.
        space: of the dense vector, by its name in the store.
    """

    id: str
    payload: Mapping[str, Any]
    sparse: Mapping[str, SparseTerms]
    dense: "NDArray[np.float32] | None" = None
    space: str = ""


@dataclass(frozen=True, slots=True)
class PointFilter:
    """Keeps points by payload: any of each given value list, and none of the excluded paths.

    Attributes:
        languages, kinds, sources, paths, folders: empty for all; a folder matches everything below it.
        not_paths: paths to leave out.
        nothing: no point can match (for example: no path matches the globs asked for).
    """

    languages: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()
    not_paths: tuple[str, ...] = ()
    nothing: bool = False


@dataclass(frozen=True, slots=True)
class Nearest:
    """One search: for the points whose vector of a name has the largest dot product with a vector, best first.

    Attributes:
        using: name of the vector: one of the sparse ones, or an embedding space.
        vector: terms for a sparse one, whose products count with their inverse document frequency; a unit vector of
            shape (dimensions,) for a space, so that scores are cosines.
        limit: points wanted.
        keep: which points count; None for all.
    """

    using: str
    vector: "SparseTerms | NDArray[np.float32]"
    limit: int
    keep: PointFilter | None = None

    @property
    def is_empty(self) -> bool:
        """Whether nothing can be found."""
        return bool(self.keep and self.keep.nothing) or (
            isinstance(self.vector, SparseTerms) and not self.vector.indices
        )


class Store(Protocol):
    """Where the points of one generation are. Its methods may be called from any thread, and raise StoreError.

    What a write was given is found by the next search; a write that fails may have been done in part, and may be
    repeated.
    """

    in_folder: bool
    """Whether all of it is in the generation's folder."""

    def create(self) -> None:
        """Make it, empty, and open it."""

    def load(self) -> None:
        """Open it.

        Raises:
            DamagedIndexError: it is not there, or not what was made.
        """

    def ensure_space(self, name: str, dimensions: int) -> None:
        """Make room for dense vectors of an embedding space; harmless when it is there with the same dimensions."""

    def upsert(self, points: Sequence[Point]) -> None:
        """Insert or replace points; of a replaced one nothing stays, in whichever space its vector was."""

    def delete(self, ids: Sequence[str]) -> None:
        """Delete points by id, so that scores are those of a store that never held them; unknown ids are harmless."""

    def ids_of_path(self, path: str) -> set[str]:
        """The ids of all points of a path, also of points that nothing else knows of."""

    def search(self, searches: Sequence[Nearest]) -> list[dict[str, float]]:
        """The scores by id, best first, that each of some searches finds; together they cost less than one by one."""

    def payloads(self, ids: Sequence[str], fields: Sequence[str]) -> dict[str, Mapping[str, Any]]:
        """Chosen payload fields of points by id; unknown ids are left out."""

    def points(self, ids: Sequence[str]) -> list[Point]:
        """Points by id as they are stored; unknown ids are left out."""

    def lost(self, ids: AbstractSet[str]) -> int:
        """How many of these points are not there, at least."""

    def count_vectors(self, space: str) -> int:
        """How many points have a dense vector in a space."""

    def publish(self) -> None:
        """Tell others that this is what the index serves from now on."""

    def flush(self) -> None:
        """Have what was written be safe from a power cut now."""

    def flush_later(self) -> None:
        """Have what was written be safe from a power cut soon; what the caller is about to do is not held up."""

    def close(self) -> None:
        """Make everything safe, and close; harmless when it is not open."""


def search_each(
    searches: Sequence[Nearest], ask: Callable[[list[Nearest]], Iterable[dict[str, float]]]
) -> list[dict[str, float]]:
    """What each search finds, where only those are asked for that can find anything.

    Parameters:
        searches: in the order of the answers.
        ask: gives the answers to some searches, at least one, in their order.
    """
    asked = [search for search in searches if not search.is_empty]
    answers = iter(ask(asked) if asked else ())
    return [{} if search.is_empty else next(answers) for search in searches]


def stored_point(name: str, payload: Mapping[str, Any] | None, vectors: object) -> Point:
    """A point as a store gives it back.

    Parameters:
        name: its id.
        payload: None for none.
        vectors: by name, dense ones as lists, sparse ones with `indices` and `values`.
    """
    import numpy as np  # start-up time

    named = vectors if isinstance(vectors, dict) else {}
    dense = {space: vector for space, vector in named.items() if isinstance(vector, list)}
    sparse = {
        using: SparseTerms(tuple(vector.indices), tuple(vector.values))
        for using, vector in named.items()
        if using not in dense
    }
    space = next(iter(dense), "")
    row = np.asarray(dense[space], dtype=np.float32) if space else None
    return Point(name, payload or {}, sparse, row, space)


def check(point: Point) -> None:
    """Refuse vectors that no search can use: Qdrant's own checks differ from form to form.

    Raises:
        StoreError: a vector is not finite, mismatched, or repeats an index.
    """
    for terms in point.sparse.values():
        whole = len(terms.indices) == len(terms.values) == len(set(terms.indices))
        if not whole or not all(map(math.isfinite, terms.values)):
            raise StoreError(f"A sparse vector of {point.payload['path']} is malformed.")
    if point.dense is not None and not math.isfinite(float(abs(point.dense).max())):
        raise StoreError(f"A vector of {point.payload['path']} is not finite.")


def file_point_id(path: str) -> str:
    """The id of a file's point: a chunk's id hashes its text too, so that they never meet."""
    return hashlib.sha256(f"file\0{path}".encode()).hexdigest()[:32]
