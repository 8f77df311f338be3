"""Texts to dense vectors for the store: the provider's answers, its refusals, and the space they belong to."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cqm.index.embedding.base import Embedder
from cqm.index.errors import EmbeddingError
from cqm.index.generation import Generation
from cqm.index.status import SPACE_FACT

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Vectors:
    """One row a text.

    Attributes:
        space: the name of the vectors in the store; empty without an embedder.
        rows: unit vectors, shape (dimensions,); None where there is none.
        problems: why a row is missing although it was asked for; empty where nothing is wrong.
        embedded: how many texts got a vector.
    """

    space: str
    rows: "tuple[NDArray[np.float32] | None, ...]"
    problems: tuple[str, ...]
    embedded: int = 0


class Vectorizer:
    """Embeds the texts of one update into one generation's space.

    A provider that fails is not asked again in the same update: every further text gets its reason.

    Parameters:
        embedder: None to give no vectors at all.
        generation: where the vectors will be stored.
    """

    def __init__(self, embedder: Embedder | None, generation: Generation) -> None:
        self._embedder = embedder
        self._generation = generation
        self._space = ""
        self._failure = ""

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Vectors of the texts, with a problem for each text that has none although a provider is configured.

        Raises:
            StoreError, ManifestError: the generation cannot take the space.
        """
        if self._embedder is None or not texts:
            return _without(texts, "")
        if self._failure:
            return _without(texts, self._failure)
        try:
            self._enter_space(self._embedder)
            embeddings = self._embedder.embed_documents(texts)
        except EmbeddingError as error:
            self._failure = str(error)
            return _without(texts, self._failure)
        reasons = {text.index: text.reason for text in embeddings.rejected}
        problems = tuple(reasons.get(index, "") for index in range(len(texts)))
        return Vectors(self._space, tuple(embeddings.by_text()), problems, len(embeddings.indices))

    def _enter_space(self, embedder: Embedder) -> None:
        if self._space:
            return
        space = embedder.space()
        self._generation.store.ensure_space(space.vector_name, space.dimensions)
        self._generation.manifest.set_facts({SPACE_FACT: space.name})
        self._space = space.vector_name


def _without(texts: Sequence[str], problem: str) -> Vectors:
    return Vectors("", (None,) * len(texts), (problem,) * len(texts))
