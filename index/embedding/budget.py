"""What a process may spend on embedding, and the embedder that keeps to it."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from cqm.chunkers.tokens import estimate
from cqm.index.embedding.base import Embedder, Embeddings, Space
from cqm.index.embedding.models import ModelFacts
from cqm.index.errors import BudgetError
from cqm.index.model import Usage

if TYPE_CHECKING:
    from cqm.index.embedding.base import Vector

_MILLION = 1_000_000


class BudgetedEmbedder:
    """An `Embedder` that refuses to begin what would cost more than is left of its budget.

    Questions are not counted: a search is answered whatever a run has spent.

    Parameters:
        embedder: who embeds.
        usd: what may be spent until it is closed.
        usd_per_million_tokens: the price.
    """

    def __init__(self, embedder: Embedder, usd: float, usd_per_million_tokens: float) -> None:
        self._embedder = embedder
        self._usd = usd
        self._price = usd_per_million_tokens

    def space(self) -> Space:
        """See `Embedder.space`."""
        return self._embedder.space()

    def facts(self) -> ModelFacts:
        """See `Embedder.facts`."""
        return self._embedder.facts()

    def usage(self) -> Usage:
        """See `Embedder.usage`."""
        return self._embedder.usage()

    def embed_documents(self, texts: Sequence[str]) -> Embeddings:
        """See `Embedder.embed_documents`.

        Raises:
            BudgetError: these texts would cost more than is left.
        """
        spent = self._embedder.usage().usd
        if spent + sum(map(estimate, texts)) * self._price / _MILLION > self._usd:
            raise BudgetError(
                f"The budget of {self._usd:g} USD is used up: {spent:.4f} USD are spent.",
                remedy="Raise embedding.budget_usd, or run again.",
            )
        return self._embedder.embed_documents(texts)

    def embed_query(self, text: str) -> "Vector":
        """See `Embedder.embed_query`."""
        return self._embedder.embed_query(text)

    def close(self) -> None:
        """See `Embedder.close`."""
        self._embedder.close()
