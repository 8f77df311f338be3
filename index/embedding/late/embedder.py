"""Embed the chunks of whole documents by a model's tokens, and questions by the same model."""

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from cqm.chunkers.strategies.pooling import Span, TokenEncoder, pooled_in_order, text_vector
from cqm.chunkers.tokens import estimate
from cqm.index.embedding.service.base import Meter, stacked
from cqm.index.embedding.service.models import ModelFacts
from cqm.index.embedding.service.service import Role
from cqm.index.model.errors import RefusedInputError
from cqm.index.model.progress import Usage
from cqm.index.model.spaces import Embeddings, PlacedVector, RejectedText, Space, parse_space

if TYPE_CHECKING:
    from cqm.index.model.spaces import Vector

Result = TypeVar("Result")

_RECIPE = 1
"""Part of the space's version: change it with every change here giving the same text another vector."""
_OVERLAP = 4
"""Windows of a long document share a fourth of their tokens."""
_NO_TOKEN = "it has no token"  # noqa: S105 - no password


class LateEmbedder:
    """An `Embedder` over a token encoder, which also embeds the parts of a document after reading all of it.

    Parameters:
        pooling: of the parts and of questions, a key of `pooling.POOLINGS`.
    """

    def __init__(self, encoder: TokenEncoder, pooling: str) -> None:
        self._encoder = encoder
        self._pooling = pooling
        self._meter = Meter()

    def space(self) -> Space:
        """See `Embedder.space`. Vectors of another pooling are in another space."""
        own = parse_space(self._encoder.name)
        return replace(own, version=f"{own.version}-late{_RECIPE}-{self._pooling}")

    def embed_parts(self, text: str, spans: Sequence[Span]) -> Embeddings:
        """Embed parts of a document: each vector is pooled from its tokens, which were read with those around them.

        Parameters:
            spans: characters of the parts, in order; they don't overlap.

        Raises:
            EmbeddingError: the encoder failed.
        """
        overlap = self._encoder.window // _OVERLAP
        rows = self._counted(
            lambda: pooled_in_order(self._encoder, text, spans, self._pooling, overlap), [text], Role.DOCUMENT
        )
        return self._given([None] * len(spans) if rows is None else list(rows))

    def embed_documents(self, texts: Sequence[str]) -> Embeddings:
        """See `Embedder.embed_documents`. Each text is a document of its own."""
        return self._given(
            self._counted(
                lambda: [text_vector(self._encoder, text, self._pooling) for text in texts], texts, Role.DOCUMENT
            )
        )

    def embed_query(self, text: str) -> PlacedVector:
        """See `Embedder.embed_query`."""
        vector = self._counted(lambda: text_vector(self._encoder, text, self._pooling), [text], Role.QUERY)
        if vector is None:
            raise RefusedInputError(f"The text has no vector: {_NO_TOKEN}.", remedy="Ask with a word.")
        return PlacedVector(self.space(), vector)

    def refresh(self) -> None:
        """See `Embedder.refresh`. Does nothing: another model is met when the encoder is opened again."""

    def usage(self, role: Role | None = None) -> Usage:
        """See `Embedder.usage`; each document counts as a request."""
        return self._meter.total(role)

    def facts(self) -> ModelFacts:
        """See `Embedder.facts`."""
        return ModelFacts(self._encoder.window, self.space().dimensions, 0.0)

    def close(self) -> None:
        """See `Embedder.close`."""
        self._encoder.close()

    def _given(self, rows: "Sequence[Vector | None]") -> Embeddings:
        space = self.space()
        found = {index: row for index, row in enumerate(rows) if row is not None}
        lacking = tuple(RejectedText(index, _NO_TOKEN) for index in range(len(rows)) if index not in found)
        return Embeddings(tuple(found), stacked(list(found.values()), space.dimensions), space, lacking)

    def _counted(self, embed: Callable[[], Result], texts: Sequence[str], role: Role) -> Result:
        began = time.monotonic()
        result = embed()
        seconds = time.monotonic() - began
        self._meter.add(Usage(len(texts), len(texts), sum(map(estimate, texts)), seconds=seconds), role)
        return result
