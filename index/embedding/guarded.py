"""A configured model behind its circuit breaker."""

import math
import time
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeVar

from cqm.index.embedding.cached import CachedEmbedder
from cqm.index.embedding.service.batches import CANARY
from cqm.index.model.errors import BudgetError, EmbeddingError, RefusedInputError
from cqm.index.model.spaces import Embeddings, Space
from cqm.index.remote.breaker import Breaker
from cqm.index.remote.deadline import DeadlineError, awaited, begun

if TYPE_CHECKING:
    from concurrent.futures import Future

    from cqm.index.model.spaces import Vector

Result = TypeVar("Result")


class GuardedModel:
    """A model with a breaker: it is left alone while it fails. Its methods may be called from any thread.

    Parameters:
        name: for people, "provider/model".
        embedder: of the model.
        breaker: of the model.
        in_process: whether it runs in this process, without a service and without waiting.
    """

    def __init__(self, name: str, embedder: CachedEmbedder, breaker: Breaker, *, in_process: bool = False) -> None:
        self.name = name
        self.embedder = embedder
        self.breaker = breaker
        self.in_process = in_process
        self._overdue: Future[Any] | None = None

    def space(self) -> Space:
        """Return the space of its vectors.

        Raises:
            EmbeddingError: it is unavailable or left alone.
        """
        return self._guarded(self.embedder.space)

    def space_soon(self, seconds: float) -> Space:
        """Return the space if it is known within `seconds`; a slower service is met in the background.

        Raises:
            EmbeddingError: it is unavailable by then or left alone.
        """
        return self._soon(self.space, seconds)

    def refresh(self, seconds: float) -> None:
        """Notice an exchanged model. A failure counts for the breaker and raises no error."""
        with suppress(EmbeddingError):  # The breaker records it.
            self._soon(lambda: self._guarded(self.embedder.refresh), seconds)

    def embed_documents(self, texts: Sequence[str]) -> Embeddings:
        """Return the vectors of texts with their space.

        Raises:
            EmbeddingError: it failed or is left alone.
        """
        return self._guarded(lambda: self.embedder.embed_documents(texts))

    def embed_query(self, text: str, spaces: Collection[str], seconds: float) -> "tuple[str, Vector] | None":
        """Return a question's vector with the vector name of its space; None if the space is not among `spaces`.

        Parameters:
            seconds: longest time to wait for a service.

        Raises:
            EmbeddingError: it failed, is too slow or is left alone.
        """
        if self.in_process:
            return self._embed_query(text, spaces)
        return self._soon(lambda: self._guarded(lambda: self._embed_query(text, spaces)), seconds)

    def latency(self) -> float:
        """Seconds to embed a short text with an already loaded model; infinite while it fails."""
        try:
            self.space()
            began = time.perf_counter()
            # No cache contains this text.
            self.embed_documents([f"{CANARY} # {time.time_ns()}"])
        except EmbeddingError:
            return math.inf
        return time.perf_counter() - began

    def _embed_query(self, text: str, spaces: Collection[str]) -> "tuple[str, Vector] | None":
        if self.embedder.space().vector_name not in spaces:
            return None
        space, vector = self.embedder.embed_query(text)  # The model may have been exchanged in between.
        return (space.vector_name, vector) if space.vector_name in spaces else None

    def _soon(self, call: Callable[[], Result], seconds: float) -> Result:
        """Wait for a call at most `seconds`; refuse it while an earlier one is overdue."""
        if self.in_process:
            return call()
        if self._overdue is not None and not self._overdue.done():
            raise self._late(seconds)
        attempt = begun(call, "model")
        try:
            return awaited(attempt, seconds)
        except DeadlineError as error:
            self._overdue = attempt
            raise self._late(seconds) from error

    def _late(self, seconds: float) -> EmbeddingError:
        message = f"{self.name} did not answer within {seconds:.2g} s."
        return EmbeddingError(message, remedy="Raise embedding.query_seconds.", retryable=True)

    def _guarded(self, call: Callable[[], Result]) -> Result:
        if not self.breaker.admits():
            message = f"{self.name} failed and is left alone for a while: {self.breaker.reason}"
            raise EmbeddingError(message, remedy="`cqm doctor` tells whether it works again.", retryable=True)
        try:
            if self.breaker.reason:
                self._meet_again()
            result = call()
        except (RefusedInputError, BudgetError):
            # No failure of the model: it answers, if only with a refusal.
            self.breaker.worked()
            raise
        except EmbeddingError as error:
            self.breaker.failed(str(error))
            raise
        self.breaker.worked()
        return result

    def _meet_again(self) -> None:
        """Meet the model anew after a failure, trying it with a short text: it may be another one by now.

        Calls under way in other threads keep their connections.
        """
        self.embedder.close()
        self.embedder.space()
