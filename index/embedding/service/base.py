"""What every embedding provider offers, and what holds for every vector: unit length, finite, in one named space."""

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Protocol

from cqm.index.model.errors import EmbeddingError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from cqm.index.embedding.service.models import ModelFacts
    from cqm.index.embedding.service.service import Role
    from cqm.index.model.progress import Usage

    Vector = NDArray[np.float32]
    """A unit vector, shape (dimensions,)."""
    Vectors = NDArray[np.float32]
    """Unit vectors in rows, shape (texts, dimensions)."""
    Mask = NDArray[np.bool_]
    """Which rows count, shape (texts,)."""


_NO_MODEL_OF_VECTORS = "Check that embedding.model is a model that embeds, and what embedding.base_url leads to."


@dataclass(frozen=True, slots=True)
class Space:
    """A vector space: only vectors of the same space may be compared.

    Attributes:
        provider, model: who embeds, with what.
        dimensions: of its vectors.
        version: changes whenever the same text would get another vector: a model's digest, our own recipe's number,
            the host of an endpoint whose models only their name tells apart; empty when nothing is known.
    """

    provider: str
    model: str
    dimensions: int
    version: str = ""

    @property
    def name(self) -> str:
        """The space's identity, such as "embedded/code-256/256@1"; two spaces are equal when their names are."""
        name = f"{self.provider}/{self.model}/{self.dimensions}"
        return f"{name}@{self.version}" if self.version else name

    @property
    def vector_name(self) -> str:
        """The name of the space's vectors in a store: at most 49 letters, digits and hyphens, as unique as `name`."""
        readable = re.sub(r"[^a-z0-9]+", "-", f"{self.provider}-{self.model}".lower())[:40].strip("-")
        return f"{readable}-{hashlib.sha256(self.name.encode()).hexdigest()[:8]}"


@dataclass(frozen=True, slots=True)
class RejectedText:
    """A text that has no vector, by its position among the texts of the call, and why."""

    index: int
    reason: str


@dataclass(frozen=True, slots=True, eq=False)
class Embeddings:
    """The vectors of a batch of texts. A text without a vector has no row: nothing stands in for it.

    Attributes:
        indices: positions of the texts that have a vector, ascending.
        vectors: their unit vectors, shape (len(indices), dimensions).
        space: of the model that made these very vectors; another may have taken its place since.
        rejected: the other texts.
        cut: positions of texts that were too long for the model, so that the vector shows only how they begin.
        pooled: positions of texts that were too long for the model, so that the vector is the mean of their parts'.
    """

    indices: tuple[int, ...]
    vectors: "Vectors"
    space: Space
    rejected: tuple[RejectedText, ...] = ()
    cut: tuple[int, ...] = ()
    pooled: tuple[int, ...] = ()

    def by_text(self) -> "list[Vector | None]":
        """A row for each text of the call, None for a rejected one."""
        rows: list[Vector | None] = [None] * (len(self.indices) + len(self.rejected))
        for index, vector in zip(self.indices, self.vectors, strict=True):
            rows[index] = vector
        return rows


class PlacedVector(NamedTuple):
    """A vector and the space of the model that made it."""

    space: Space
    vector: "Vector"


class Embedder(Protocol):
    """One model of one provider. All methods may be called from several threads at once.

    Nothing is loaded and no service is contacted before the first call of one of them.
    """

    def space(self) -> Space:
        """The space of this embedder's vectors; found out once, by asking the service where there is one.

        Raises:
            EmbeddingError: the model is not to be had, or its service does not answer.
        """

    def embed_documents(self, texts: Sequence[str]) -> Embeddings:
        """Embed texts to be searched. A text that cannot be embedded is reported and does not stop the others.

        Raises:
            EmbeddingError: the provider failed; no text is to blame.
        """

    def embed_query(self, text: str) -> PlacedVector:
        """Embed a question.

        Raises:
            RefusedInputError: this text cannot be embedded.
            EmbeddingError: the provider failed.
        """

    def refresh(self) -> None:
        """Notice when the service has another model by now: asks it one cheap question, where it tells models apart.

        What was not met yet is left alone: it is met at its first use.

        Raises:
            EmbeddingError: as `space`.
        """

    def usage(self, role: "Role | None" = None) -> "Usage":
        """What was embedded since this embedder was opened, also before a `close`. Contacts nothing.

        Parameters:
            role: of the texts that count; None for all.
        """

    def facts(self) -> "ModelFacts":
        """What is known of the model: what the options, its service and our table tell, in this order.

        Raises:
            EmbeddingError: as `space`.
        """

    def close(self) -> None:
        """Give back connections and memory; a later call opens them again. Waits for nothing.

        Calls that are under way go on to their end; the last of them gives back what they use.
        """


class RefusedInputError(EmbeddingError):
    """A service refused the texts of a request for what they are: the same texts will be refused again.

    Parameters:
        message, remedy: as in `CqmError`.
        too_long: whether it said that a text is over the model's context.
        by_fault: whether it broke over them rather than said so.
    """

    def __init__(self, message: str, *, remedy: str = "", too_long: bool = False, by_fault: bool = False) -> None:
        super().__init__(message, remedy=remedy)
        self.too_long = too_long
        self.by_fault = by_fault


def validated(
    rows: "Sequence[Sequence[float]] | Vectors", *, texts: int, dimensions: int, source: str
) -> "tuple[Vectors, Mask]":
    """Make unit vectors of what a model returned, and tell the usable rows.

    Parameters:
        rows: one vector a text.
        texts: how many there must be.
        dimensions: how long each must be; 0 to take what comes, as long as they are equal.
        source: who returned them, for the error's message.

    Returns:
        The vectors, shape (texts, dimensions), and a mask, shape (texts,), that is false for each row with a value that
        is not finite and for each zero vector. Such rows must not be stored.

    Raises:
        EmbeddingError: a wrong count or wrong dimensions; no numbers; or no usable row among several texts.
    """
    import numpy as np

    if len(rows) != texts:
        message = f"{source} returned {len(rows)} vectors for {texts} texts."
        raise EmbeddingError(message, remedy=_NO_MODEL_OF_VECTORS)
    lengths = {len(row) for row in rows}
    if len(lengths) > 1 or (dimensions and lengths - {dimensions}):
        found = " and ".join(map(str, sorted(lengths)))
        message = f"{source} returned vectors of {found} dimensions{f', not of {dimensions}' if dimensions else ''}."
        raise EmbeddingError(message, remedy="Run again: the service may have been given another model just now.")
    exact = _floats(rows, source)
    largest = np.abs(exact).max(axis=1, initial=0)
    usable = np.isfinite(largest) & (largest > 0)
    # Scaled by the largest value first: squares of very large or small ones would leave the range of a float.
    scaled = np.where(usable[:, None], exact, 0) / np.where(usable, largest, 1)[:, None]
    with np.errstate(invalid="ignore"):  # 0 / 0: an unusable row becomes NaN
        vectors = (scaled / np.linalg.norm(scaled, axis=1, keepdims=True)).astype(np.float32)
    if texts > 1 and not usable.any():
        message = f"{source} returned only vectors without a direction, for {texts} texts."
        raise EmbeddingError(message, remedy=_NO_MODEL_OF_VECTORS)
    return vectors, usable


def _floats(rows: "Sequence[Sequence[float]] | Vectors", source: str) -> "NDArray[np.float64]":
    import numpy as np

    try:
        return np.asarray(rows, dtype=np.float64)
    except (TypeError, ValueError) as error:
        message = f"{source} returned something else than numbers: {error}."
        raise EmbeddingError(message, remedy=_NO_MODEL_OF_VECTORS) from error


def stacked(rows: "Sequence[Vector]", dimensions: int) -> "Vectors":
    """Rows as one array, shape (len(rows), dimensions), for no rows too."""
    import numpy as np

    return np.array(rows, dtype=np.float32).reshape(len(rows), dimensions)
