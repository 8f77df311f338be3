"""Vector spaces, and vectors of texts in them."""

import hashlib
import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vector = NDArray[np.float32]
    """A unit vector, shape (dimensions,)."""
    Vectors = NDArray[np.float32]
    """Unit vectors in rows, shape (texts, dimensions)."""
    Mask = NDArray[np.bool_]
    """Which rows count, shape (texts,)."""


@dataclass(frozen=True, slots=True)
class Space:
    """A vector space. Compare only vectors of the same space.

    Attributes:
        provider, model: of the options.
        dimensions: of its vectors.
        version: another one whenever the same text would get another vector: a model's digest, our own recipe's
            number, or the host of an endpoint; empty when unknown.
    """

    provider: str
    model: str
    dimensions: int
    version: str = ""

    @property
    def name(self) -> str:
        """The space's identity, such as "embedded/code-256/256@1"; spaces with equal names are equal."""
        name = f"{self.provider}/{self.model}/{self.dimensions}"
        return f"{name}@{self.version}" if self.version else name

    @property
    def vector_name(self) -> str:
        """The name of the space's vectors in a store: at most 49 letters, digits and hyphens, as unique as `name`."""
        return _vector_name(self)


def parse_space(name: str) -> Space:
    """Parse `Space.name`.

    Raises:
        ValueError: it is no such name.
    """
    provider, _, rest = name.partition("/")
    model, _, end = rest.rpartition("/")
    dimensions, _, version = end.partition("@")
    return Space(provider, model, int(dimensions), version)


@lru_cache(maxsize=64)
def _vector_name(space: Space) -> str:
    # Remembered: each chunk of an update asks for it twice.
    readable = re.sub(r"[^a-z0-9]+", "-", f"{space.provider}-{space.model}".lower())[:40].strip("-")
    return f"{readable}-{hashlib.sha256(space.name.encode()).hexdigest()[:8]}"


@dataclass(frozen=True, slots=True)
class RejectedText:
    """A text without a vector: its position in the call, and the reason."""

    index: int
    reason: str


@dataclass(frozen=True, slots=True, eq=False)
class Embeddings:
    """The vectors of a batch of texts. A text without a vector has no row.

    Attributes:
        indices: positions of the texts with a vector, ascending.
        vectors: their unit vectors, shape (len(indices), dimensions).
        space: of the model behind these vectors; another may have taken its place since.
        rejected: the other texts.
        cut: positions of overlong texts with only their beginning embedded.
        pooled: positions of overlong texts with the mean vector of their parts.
    """

    indices: tuple[int, ...]
    vectors: "Vectors"
    space: Space
    rejected: tuple[RejectedText, ...] = ()
    cut: tuple[int, ...] = ()
    pooled: tuple[int, ...] = ()

    def by_text(self) -> "list[Vector | None]":
        """Return a row for each text of the call, None for a rejected one."""
        rows: list[Vector | None] = [None] * (len(self.indices) + len(self.rejected))
        for index, vector in zip(self.indices, self.vectors, strict=True):
            rows[index] = vector
        return rows


class PlacedVector(NamedTuple):
    """A vector and the space of its model."""

    space: Space
    vector: "Vector"
