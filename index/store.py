"""The vector store: what is stored and found, in neutral types.

A point is a chunk or a file. A chunk has the sparse vector `terms` and one dense vector for its embedding space; a file
has the sparse vectors `file_terms` and `path_terms`. The store multiplies the inverse document frequency in at query
time, by vector name, so that the three kinds of frequency never mix.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cqm.index.lexical import SparseTerms

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

TERMS = "terms"
FILE_TERMS = "file_terms"
PATH_TERMS = "path_terms"


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
class Found:
    """A point that a search returned, with its raw score."""

    id: str
    score: float
    payload: Mapping[str, Any]


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


def file_point_id(path: str) -> str:
    """The id of a file's point: a chunk's id hashes its text too, so that they never meet."""
    return hashlib.sha256(f"file\0{path}".encode()).hexdigest()[:32]
