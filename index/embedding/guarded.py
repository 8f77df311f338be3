"""A configured model behind its circuit breaker."""

import math
import time
from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING, TypeVar

from cqm.index.deadline import DeadlineError, within
from cqm.index.embedding.base import Embeddings, RefusedInputError, Space
from cqm.index.embedding.batches import CANARY
from cqm.index.embedding.breaker import Breaker
from cqm.index.embedding.cached import CachedEmbedder
from cqm.index.errors import BudgetError, EmbeddingError

if TYPE_CHECKING:
    from cqm.index.embedding.base import Vector

Result = TypeVar("Result")


class GuardedModel:
    """A model that is not asked while it fails. Its methods may be called from any thread.

    Parameters:
        name: for people, "provider/model".
        embedder: of it.
        breaker: of it.
        in_process: whether it needs no service, so that nobody has to wait for it.
    """

    def __init__(self, name: str, embedder: CachedEmbedder, breaker: Breaker, *, in_process: bool = False) -> None:
        self.name = name
        self.embedder = embedder
        self.breaker = breaker
        self._in_process = in_process

    def space(self) -> Space:
        """The space of its vectors.

        Raises:
            EmbeddingError: it is not to be had, or is left alone.
        """
        return self._guarded(self.embedder.space)

    def embed_documents(self, texts: Sequence[str]) -> tuple[Space, Embeddings]:
        """The vectors of texts, and the space that they are in.

        Raises:
            EmbeddingError: it failed, or is left alone.
        """
        return self._guarded(lambda: (self.embedder.space(), self.embedder.embed_documents(texts)))

    def embed_query(self, text: str, spaces: Collection[str], seconds: float) -> "tuple[str, Vector] | None":
        """The vector of a question with its space's vector name; None when that is none of `spaces`.

        Parameters:
            seconds: how long a service is waited for.

        Raises:
            EmbeddingError: it failed, is too slow or is left alone.
        """
        if self._in_process:
            return self._embed_query(text, spaces)
        try:
            return within(seconds, lambda: self._guarded(lambda: self._embed_query(text, spaces)))
        except DeadlineError as error:
            slow = EmbeddingError(f"{self.name} did not answer within {seconds:g} s.", retryable=True)
            self.breaker.failed(str(slow))
            raise slow from error

    def latency(self) -> float:
        """Seconds that it takes to embed a short text once it is met; infinite while it fails."""
        try:
            self.space()
            began = time.perf_counter()
            # No cache has this text.
            self.embed_documents([f"{CANARY} # {time.time_ns()}"])
        except EmbeddingError:
            return math.inf
        return time.perf_counter() - began

    def _embed_query(self, text: str, spaces: Collection[str]) -> "tuple[str, Vector] | None":
        name = self.embedder.space().vector_name
        return (name, self.embedder.embed_query(text)) if name in spaces else None

    def _guarded(self, call: Callable[[], Result]) -> Result:
        if not self.breaker.admits():
            raise EmbeddingError(f"{self.name} failed and is left alone for a while: {self.breaker.reason}")
        try:
            if self.breaker.reason:
                self._meet_again()
            result = call()
        except (RefusedInputError, BudgetError):
            # Neither is the model's failure.
            raise
        except EmbeddingError as error:
            self.breaker.failed(str(error))
            raise
        self.breaker.worked()
        return result

    def _meet_again(self) -> None:
        """After a failure: find the model anew, since it may be another by now; that tries it with a short text."""
        self.embedder.close()
        self.embedder.space()
