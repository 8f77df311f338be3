"""An embedder keeping to a process's budget."""

from collections.abc import Sequence

from cqm.index.embedding.service.base import Embedder
from cqm.index.embedding.service.models import ModelFacts
from cqm.index.embedding.service.service import Role
from cqm.index.model.errors import BudgetError
from cqm.index.model.progress import Usage
from cqm.index.model.spaces import Embeddings, PlacedVector, Space
from cqm.index.remote.budget import Budget

_MILLION = 1_000_000
_FRAME_TOKENS = 64
"""Tokens added to a text by a prefix and the model's own tokens."""


class BudgetedEmbedder:
    """An `Embedder` refusing texts which may cost more than the rest of its budget.

    The highest possible cost of texts under way is set aside, so several threads together keep to the budget too.
    Questions don't count: a search is answered however much a run has spent.

    Parameters:
        embedder: does the work.
        usd: budget for documents until it is closed.
        usd_per_million_tokens: the price.
    """

    def __init__(self, embedder: Embedder, usd: float, usd_per_million_tokens: float) -> None:
        self._embedder = embedder
        self._price = usd_per_million_tokens
        self._budget = Budget(usd, lambda: embedder.usage(Role.DOCUMENT).usd)

    def space(self) -> Space:
        """See `Embedder.space`."""
        return self._embedder.space()

    def facts(self) -> ModelFacts:
        """See `Embedder.facts`."""
        return self._embedder.facts()

    def refresh(self) -> None:
        """See `Embedder.refresh`."""
        self._embedder.refresh()

    def usage(self, role: Role | None = None) -> Usage:
        """See `Embedder.usage`."""
        return self._embedder.usage(role)

    def embed_documents(self, texts: Sequence[str]) -> Embeddings:
        """See `Embedder.embed_documents`. Waits if the answer depends on the cost of texts under way.

        Raises:
            BudgetError: these texts may cost more than the rest of the budget.
        """
        # No token is shorter than a byte.
        tokens = sum(len(text.encode("utf-8", "surrogatepass")) + _FRAME_TOKENS for text in texts)
        most = tokens * self._price / _MILLION
        if not self._budget.take(most):
            need = f"{self._budget.left:.4f} are left, and the next texts may cost {most:.4f}"
            raise BudgetError(
                f"The budget of {self._budget.usd:g} USD is used up: {need}.",
                remedy="Raise embedding.budget_usd; every process has one of its own.",
            )
        try:
            return self._embedder.embed_documents(texts)
        finally:
            self._budget.settle(most)

    def embed_query(self, text: str) -> PlacedVector:
        """See `Embedder.embed_query`."""
        return self._embedder.embed_query(text)

    def close(self) -> None:
        """See `Embedder.close`."""
        self._embedder.close()
