"""Count the use of a writing service and keep to its budget."""

from threading import Lock

from cqm.chunkers.tokens import estimate
from cqm.index.contextual.chat import Reply
from cqm.index.contextual.prices import FREE, Price
from cqm.index.contextual.prompt import Prompt
from cqm.index.model.progress import Usage
from cqm.index.remote.budget import Budget

_FRAME_TOKENS = 64
"""Tokens a chat's frame may add to a prompt."""


class Spending:
    """Usage and budget of a writer; its methods may be called from any thread.

    A request is refused if it may cost more than the rest of the budget: its highest possible cost is set aside while
    it is under way. Charges for unanswered requests are unknown and not counted.

    Parameters:
        price: of its tokens; None if unknown, then no budget is allowed.
        budget_usd: until the writer is closed; 0 for no limit.
    """

    def __init__(self, price: Price | None, max_tokens: int, budget_usd: float) -> None:
        self._price = price or FREE
        self._max_tokens = max_tokens
        self._usage = Usage()
        self._counting = Lock()
        self._budget = Budget(budget_usd, lambda: self.usage().usd)
        self._is_spent = False

    @property
    def is_spent(self) -> bool:
        """Whether a request didn't fit into the budget; then no more are begun."""
        return self._is_spent

    def set_aside(self, prompt: Prompt) -> float | None:
        """Set aside and return the highest possible cost of a prompt in dollars; None if too little is left.

        Waits if the answer depends on the cost of requests under way.
        """
        # No token is shorter than a byte.
        most = self._price.usd(len(prompt.text.encode()) + _FRAME_TOKENS, self._max_tokens)
        self._is_spent = self._is_spent or not self._budget.take(most)
        return None if self._is_spent else most

    def settle(self, most: float) -> None:
        """Release the sum set aside for a finished request."""
        self._budget.settle(most)

    def count(self, prompt: Prompt, reply: Reply) -> None:
        """Count an answered request, by the service's report or else by our estimate."""
        given, got = reply.tokens or estimate(prompt.text), reply.output_tokens or estimate(reply.text)
        usd = self._price.usd(given, got, reply.cached_tokens)
        self._add(Usage(requests=1, tokens=given, output_tokens=got, usd=usd))

    def count_written(self) -> None:
        """Count a written context."""
        self._add(Usage(texts=1))

    def count_seconds(self, seconds: float) -> None:
        """Count waiting time."""
        self._add(Usage(seconds=seconds))

    def usage(self) -> Usage:
        """Return the usage so far."""
        with self._counting:
            return self._usage

    def _add(self, usage: Usage) -> None:
        with self._counting:
            self._usage += usage
