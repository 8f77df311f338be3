"""The budget of a process for documents."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from cqm.index.model.errors import BudgetError
from cqm.index.remote.budget import Budget

_MILLION = 1_000_000
_FRAME_TOKENS = 64
"""Tokens added to a text by a prefix and the model's own tokens."""


class DocumentBudget:
    """Refuses documents which may cost more than the rest of a model's budget.

    The highest possible cost of texts under way is set aside, so several threads together keep to the budget too.
    Questions don't count: a search is answered however much a run has spent.

    Parameters:
        usd: budget until the model is closed.
        spent: returns the dollars spent on documents so far.
    """

    def __init__(self, usd: float, usd_per_million_tokens: float, spent: Callable[[], float]) -> None:
        self._price = usd_per_million_tokens
        self._budget = Budget(usd, spent)

    @contextmanager
    def admitted(self, texts: Sequence[str]) -> Iterator[None]:
        """Embed documents in the block. Waits if the answer depends on the cost of texts under way.

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
            yield
        finally:
            self._budget.settle(most)
