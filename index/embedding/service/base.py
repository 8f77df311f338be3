"""The interface of embedding providers, the count of their use, and the checks on every vector.

A vector has unit length, is finite, and lies in one named space.
"""

from collections import defaultdict
from collections.abc import Sequence
from threading import Lock
from typing import TYPE_CHECKING, Protocol

from cqm.index.model.errors import EmbeddingError
from cqm.index.model.progress import Usage
from cqm.index.model.spaces import Embeddings, PlacedVector, Space

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from cqm.index.embedding.service.models import ModelFacts
    from cqm.index.embedding.service.service import Role
    from cqm.index.model.spaces import Mask, Vector, Vectors


_NO_MODEL_OF_VECTORS = "Check that embedding.model is a model that embeds, and what embedding.base_url leads to."


class Embedder(Protocol):
    """One model of one provider. All methods may be called from several threads at once.

    The first call of a method loads the model or contacts the service.
    """

    def space(self) -> Space:
        """Return the space of this embedder's vectors; found once, by asking the service if there is one.

        Raises:
            EmbeddingError: the model is unavailable, or its service doesn't answer.
        """

    def embed_documents(self, texts: Sequence[str]) -> Embeddings:
        """Embed texts for search. A refused text is reported and doesn't stop the others.

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
        """Notice an exchanged model, by one cheap request if the service can tell models apart.

        Does nothing before the first use.

        Raises:
            EmbeddingError: as `space`.
        """

    def usage(self, role: "Role | None" = None) -> Usage:
        """Return usage of one role or all since this embedder was opened, also before a `close`. Contacts nothing."""

    def facts(self) -> "ModelFacts":
        """Return the model's known facts: from the options, else its service, else our table.

        Raises:
            EmbeddingError: as `space`.
        """

    def close(self) -> None:
        """Release connections and memory; a later call opens them again. Waits for nothing.

        Calls under way finish; the last of them releases their resources.
        """


class Meter:
    """Sums of `Usage`, one for each role of texts."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._of_role: defaultdict[Role, Usage] = defaultdict(Usage)

    def add(self, usage: Usage, role: "Role") -> None:
        """Add usage for a role."""
        with self._lock:
            self._of_role[role] += usage

    def total(self, role: "Role | None" = None) -> Usage:
        """Return the usage so far, of one role or of both."""
        with self._lock:
            return self._of_role[role] if role else sum(self._of_role.values(), Usage())


def validated(
    rows: "Sequence[Sequence[float]] | Vectors", *, texts: int, dimensions: int, source: str
) -> "tuple[Vectors, Mask]":
    """Normalise a model's vectors and mark the usable rows.

    Parameters:
        texts: expected number of rows.
        dimensions: expected length of each row; 0 for any common length.
        source: for the error's message.

    Returns:
        The vectors, shape (texts, dimensions), and a mask, shape (texts,), false for zero vectors and for rows with an
        infinite or undefined value. Such rows must not be stored.

    Raises:
        EmbeddingError: a wrong count or wrong dimensions; no numbers; or no usable row among several texts.
    """
    import numpy as np

    _check_shape(rows, texts, dimensions, source)
    exact = _floats(rows, source)
    largest = np.abs(exact).max(axis=1, initial=0)
    usable = np.isfinite(largest) & (largest > 0)
    if not usable.all():
        exact, largest = np.where(usable[:, None], exact, np.nan), np.where(usable, largest, 1)
    # Scaled by the largest value first: squares of very large or small ones would leave the range of a float.
    scaled = exact / largest[:, None]
    vectors = (scaled / np.linalg.norm(scaled, axis=1, keepdims=True)).astype(np.float32)
    if texts > 1 and not usable.any():
        message = f"{source} returned only vectors without a direction, for {texts} texts."
        raise EmbeddingError(message, remedy=_NO_MODEL_OF_VECTORS)
    return vectors, usable


def _check_shape(rows: "Sequence[Sequence[float]] | Vectors", texts: int, dimensions: int, source: str) -> None:
    if len(rows) != texts:
        message = f"{source} returned {len(rows)} vectors for {texts} texts."
        raise EmbeddingError(message, remedy=_NO_MODEL_OF_VECTORS)
    lengths = {len(row) for row in rows}
    if len(lengths) > 1 or (dimensions and lengths - {dimensions}):
        found = " and ".join(map(str, sorted(lengths)))
        message = f"{source} returned vectors of {found} dimensions{f', not of {dimensions}' if dimensions else ''}."
        raise EmbeddingError(message, remedy="Run again: the service may have been given another model just now.")


def _floats(rows: "Sequence[Sequence[float]] | Vectors", source: str) -> "NDArray[np.float64]":
    import numpy as np

    try:
        return np.asarray(rows, dtype=np.float64)
    except (TypeError, ValueError) as error:
        message = f"{source} returned something else than numbers: {error}."
        raise EmbeddingError(message, remedy=_NO_MODEL_OF_VECTORS) from error


def stacked(rows: "Sequence[Vector]", dimensions: int) -> "Vectors":
    """Stack rows into one array, shape (len(rows), dimensions); also works for no rows."""
    import numpy as np

    return np.array(rows, dtype=np.float32).reshape(len(rows), dimensions)
