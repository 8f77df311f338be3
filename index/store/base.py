"""The interface of vector stores, with neutral types for points and searches.

A point is a chunk or a file. A chunk has the sparse vector `terms` and one dense vector for its embedding space; a file
has the sparse vectors `file_terms` and `path_terms`. At query time the store multiplies by the inverse document
frequency of each vector name, so the three kinds of frequency never mix. Over a base those of base and layer count
together; see `frequencies.py`.
"""

import hashlib
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Protocol

from cqm.index.model.errors import StoreError
from cqm.index.text.terms import SparseTerms

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


TERMS = "terms"
FILE_TERMS = "file_terms"
PATH_TERMS = "path_terms"
WORDS = (TERMS, FILE_TERMS, PATH_TERMS)
"""The names of all sparse vectors."""
_ID_DIGITS = 16
NO_SPACES: Mapping[str, int] = MappingProxyType({})
KEYWORDS = ("path", "language", "kind", "source_type", "dirs", "issues")
"""Payload fields used by filters."""


Indices = Mapping[str, Sequence[int]]
"""The terms of a point, by the name of its sparse vector."""


@dataclass(frozen=True, slots=True)
class Point:
    """The data stored under one id.

    Attributes:
        id: 16 hex digits; stores know it as this number.
        payload: JSON values; always contains `path`.
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
    """Selects points by payload: they match one of each given list of values, and none of the excluded paths.

    Attributes:
        languages, kinds, sources, issues, paths, folders: empty for all; a folder matches everything below it.
        not_paths: excluded paths.
        ids: of the only points to keep; empty for all.
        nothing: no point can match, for example because no path matches the wanted globs.
    """

    languages: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    issues: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()
    not_paths: tuple[str, ...] = ()
    ids: tuple[str, ...] = ()
    nothing: bool = False


@dataclass(frozen=True, slots=True)
class Nearest:
    """One search for the points with the largest dot product between their named vector and a given one, best first.

    Attributes:
        using: name of the vector: one of the sparse ones, or an embedding space.
        vector: for a sparse vector, terms, with products weighted by their inverse document frequency; for a space, a
            unit vector of shape (dimensions,), so scores are cosines.
        limit: points wanted.
        keep: selects points; None for all.
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
    """The points of one generation. Methods may be called from any thread, and raise StoreError.

    The next search finds everything written. A failed write may be partly done, and may be repeated.
    """

    in_folder: bool
    """Whether everything is stored in the generation's folder."""

    def create(self, spaces: Mapping[str, int] = NO_SPACES) -> None:
        """Create an empty store with the spaces surely needed, and open it; `ensure_space` is called anyway."""

    def load(self) -> None:
        """Open an existing store.

        Raises:
            DamagedIndexError: it is missing or damaged.
        """

    def ensure_space(self, name: str, dimensions: int) -> None:
        """Create a missing vector space; harmless if it exists with the same dimensions."""

    def upsert(self, points: Sequence[Point]) -> None:
        """Insert or replace points. Nothing stays of a replaced one, in any space."""

    def delete(self, ids: Sequence[str]) -> None:
        """Delete points by id. Scores are then as if they had never been stored. Unknown ids are harmless."""

    def ids_of_path(self, path: str) -> set[str]:
        """Return the ids of all points of a path, even of points unknown to the manifest."""

    def search(self, searches: Sequence[Nearest]) -> list[dict[str, float]]:
        """Return each search's scores by id, best first; searching together costs less than one by one."""

    def payloads(self, ids: Sequence[str], fields: Sequence[str]) -> dict[str, Mapping[str, Any]]:
        """Return chosen payload fields of points by id; unknown ids are left out."""

    def points(self, ids: Sequence[str]) -> list[Point]:
        """Return points by id as stored; unknown ids are left out."""

    def lost(self, ids: AbstractSet[str]) -> int:
        """Return a lower bound for the number of missing points among these."""

    def count_vectors(self, space: str) -> int:
        """Count the points with a dense vector in a space."""

    def publish(self) -> None:
        """Publish this store as the serving one."""

    def flush(self) -> None:
        """Make all writes safe from a power cut now."""

    def flush_later(self) -> None:
        """Make all writes safe from a power cut soon, without delaying the caller."""

    def rest(self, seconds: float) -> bool:
        """Free memory if the store was unused for so long, and return whether it did; nothing else changes."""

    def close(self) -> None:
        """Make everything safe and close; harmless if it is not open."""


class Base(Protocol):
    """The operations on points under a layer; see `Store`."""

    def load(self) -> None:
        """Open it."""

    def count(self, what: str = "read") -> int:
        """Count all points; an error says they cannot be read, or opened."""

    def ids_of_path(self, path: str) -> set[str]:
        """See `Store.ids_of_path`."""

    def search(self, searches: Sequence[Nearest]) -> list[dict[str, float]]:
        """See `Store.search`."""

    def payloads(self, ids: Sequence[str], fields: Sequence[str]) -> dict[str, Mapping[str, Any]]:
        """See `Store.payloads`."""

    def points(self, ids: Sequence[str]) -> list[Point]:
        """See `Store.points`."""

    def indices(self, ids: Sequence[str]) -> dict[str, Indices]:
        """Return the terms of points by id; unknown ids are left out."""

    def count_vectors(self, space: str, but: Sequence[str] = ()) -> int:
        """Count the points with a dense vector in a space, but some."""

    def rest(self, seconds: float) -> bool:
        """See `Store.rest`."""

    def close(self) -> None:
        """See `Store.close`."""


def search_each(
    searches: Sequence[Nearest], ask: Callable[[list[Nearest]], Iterable[dict[str, float]]]
) -> list[dict[str, float]]:
    """Return each search's results, asking in one call, in order, only for searches able to find anything."""
    asked = [search for search in searches if not search.is_empty]
    answers = iter(ask(asked) if asked else ())
    return [{} if search.is_empty else next(answers) for search in searches]


def stored_point(name: str, payload: Mapping[str, Any] | None, vectors: object) -> Point:
    """Convert a point returned by a store.

    Parameters:
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


def stored_indices(vectors: object) -> Indices:
    """Return the indices of the terms of a point returned by a store; for the vectors see `stored_point`."""
    named = vectors if isinstance(vectors, dict) else {}
    return {using: tuple(vector.indices) for using, vector in named.items() if using in WORDS}


def check(point: Point) -> None:
    """Refuse vectors no search can use: Qdrant's own checks differ between Edge and server.

    Raises:
        StoreError: a vector is not finite, mismatched, or repeats an index.
    """
    for terms in point.sparse.values():
        whole = len(terms.indices) == len(terms.values) == len(set(terms.indices))
        # A value that is not finite makes no finite sum.
        if not whole or not math.isfinite(sum(terms.values)):
            raise StoreError(f"A sparse vector of {point.payload['path']} is malformed.")
    if point.dense is not None and not math.isfinite(float(point.dense @ point.dense)):
        raise StoreError(f"A vector of {point.payload['path']} is not finite.")


def stored_id(name: str) -> int | str:
    """Return the id under which Qdrant keeps a point: a number, which takes a quarter of a UUID's time to return.

    An index of an earlier release, which serves until it is rebuilt, has 32 digits: a UUID.
    """
    return int(name, 16) if len(name) == _ID_DIGITS else name


def point_id(stored: object) -> str:
    """Return the id of a point from Qdrant; see `stored_id`."""
    # Half the time of an f-string, and there are hundreds of ids per search.
    return "%016x" % stored if isinstance(stored, int) else str(stored).replace("-", "")  # noqa: UP031


def file_point_id(path: str) -> str:
    """Return the id of a file's point. It never equals a chunk's id, as a chunk's hash includes its text."""
    return hashlib.sha256(f"file\0{path}".encode()).hexdigest()[:_ID_DIGITS]
