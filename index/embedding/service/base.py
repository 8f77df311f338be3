"""What every embedding provider offers, and what holds for every vector: unit length, finite, in one named space."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from cqm.index.model.errors import EmbeddingError
from cqm.index.model.spaces import Embeddings, PlacedVector, Space

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from cqm.index.embedding.service.models import ModelFacts
    from cqm.index.embedding.service.service import Role
    from cqm.index.model.progress import Usage
    from cqm.index.model.spaces import Mask, Vector, Vectors


_NO_MODEL_OF_VECTORS = "Check that embedding.model is a model that embeds, and what embedding.base_url leads to."


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
