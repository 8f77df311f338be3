"""The configured models, each behind its circuit breaker: the first healthy one in their order embeds a text.

Questions use as many as needed. Vectors of different models never mix: every answer names its space, and only vectors
of the same space may be compared.
"""

import math
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from enum import StrEnum
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from cqm.chunkers.strategies.pooling import Span
from cqm.index.embedding.cached import CachedEmbedder
from cqm.index.embedding.late.embedder import LateEmbedder
from cqm.index.embedding.service.base import Embedder
from cqm.index.embedding.service.batches import CANARY
from cqm.index.model.errors import BudgetError, EmbeddingError, RefusedInputError
from cqm.index.model.progress import ModelState
from cqm.index.model.spaces import Embeddings, Space
from cqm.index.remote.breaker import Breaker
from cqm.index.remote.deadline import DeadlineError, awaited, begun

if TYPE_CHECKING:
    from concurrent.futures import Future

    from cqm.index.model.spaces import Vector

Result = TypeVar("Result")

_LEAST_SECONDS = 0.05
"""For a model left with no time by those before it; enough for one in this process."""


class Route(StrEnum):
    """Kind of a text, for choosing its model. LATE: documents are read whole, then pooled chunk by chunk."""

    CODE = "code"
    PROSE = "prose"
    LATE = "late"


TEXT_ROUTES = (Route.CODE, Route.PROSE)
"""Routes of texts embedded one by one."""


@dataclass(frozen=True, slots=True, eq=False)
class Routed:
    """Result of embedding texts.

    Attributes:
        embeddings: all in one space; None if no model embedded them.
        failure: the reason for None.
    """

    embeddings: Embeddings | None = None
    failure: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class QueryVectors:
    """A question's vectors in several spaces.

    Attributes:
        vectors: by the space's vector name.
        missing: reasons for missing ones, by the same.
    """

    vectors: "Mapping[str, Vector]" = field(default_factory=dict)
    missing: Mapping[str, str] = field(default_factory=dict)


class GuardedModel:
    """A model with a breaker: it is left alone while it fails. Its methods may be called from any thread.

    Parameters:
        name: for people, "provider/model".
        embedder: of the model, with its cache if it has one.
        in_process: whether it runs in this process, without a service and without waiting.
    """

    def __init__(self, name: str, embedder: Embedder, breaker: Breaker, *, in_process: bool = False) -> None:
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
        return self._soon(self.embedder.space, seconds)

    def refresh(self, seconds: float) -> None:
        """Notice an exchanged model. A failure counts for the breaker and raises no error."""
        with suppress(EmbeddingError):  # The breaker records it.
            self._soon(self.embedder.refresh, seconds)

    def embed_documents(self, texts: Sequence[str]) -> Embeddings:
        """Return the vectors of texts with their space.

        Raises:
            EmbeddingError: it failed or is left alone.
        """
        return self._guarded(partial(self.embedder.embed_documents, texts))

    def embed_query(self, text: str, spaces: Collection[str], seconds: float) -> "tuple[str, Vector] | None":
        """Return a question's vector with the vector name of its space; None if the space is not among `spaces`.

        Parameters:
            seconds: longest time to wait for a service.

        Raises:
            EmbeddingError: it failed, is too slow or is left alone.
        """
        if self.in_process:
            return self._embed_query(text, spaces)
        return self._soon(partial(self._embed_query, text, spaces), seconds)

    def latency(self) -> float:
        """Return the seconds to embed a short text with an already loaded model; infinite while it fails."""
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
        """Make a guarded call and wait for it at most `seconds`; refuse it while an earlier one is overdue."""
        if self.in_process:
            return self._guarded(call)
        if self._overdue is not None and not self._overdue.done():
            raise self._late(seconds)
        attempt = begun(partial(self._guarded, call), "model")
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
        """Try the model with a short text after a failure: it may be another one by now.

        Calls under way in other threads keep their connections.
        """
        self.embedder.close()
        self.embedder.space()


class LateModel(GuardedModel):
    """The guarded token encoder of late chunking.

    Parameters:
        name, breaker, in_process: as of `GuardedModel`.
    """

    def __init__(self, name: str, embedder: LateEmbedder, breaker: Breaker, *, in_process: bool) -> None:
        super().__init__(name, embedder, breaker, in_process=in_process)
        self._embedder = embedder

    def embed_parts(self, text: str, spans: Sequence[Span]) -> Embeddings:
        """Return the vectors of parts of a document; see `LateEmbedder.embed_parts`.

        Raises:
            EmbeddingError: it failed or is left alone.
        """
        return self._guarded(partial(self._embedder.embed_parts, text, spans))


class Routes:
    """The configured models in their order. Its methods may be called from any thread.

    Parameters:
        models: of every route in order, the preferred one first, or none. A model may serve both.
        query_seconds: longest wait for a question's vectors.
        late: of documents with a rule for late chunking; None for none.
    """

    def __init__(
        self,
        models: Mapping[Route, tuple[GuardedModel, ...]],
        query_seconds: float,
        late: LateModel | None = None,
    ) -> None:
        self._of_route = dict(models)
        self._late = late
        self._query_seconds = query_seconds
        if late:
            self._of_route[Route.LATE] = (late,)
        self.routes = tuple(route for route, row in self._of_route.items() if row)
        """Those with a model."""
        self.models = tuple({model.name: model for row in self._of_route.values() for model in row}.values())

    @property
    def in_process(self) -> bool:
        """Whether all models run in this process."""
        return all(model.in_process for model in self.models)

    def order_by_latency(self) -> tuple[list[str], bool]:
        """Measure each model; return their names, the quickest first, and whether all of them answered."""
        seconds = {model.name: model.latency() for model in self.models}
        return sorted(seconds, key=lambda name: seconds[name]), math.inf not in seconds.values()

    def sort(self, order: Sequence[str]) -> None:
        """Prefer models in this order of names; others come last, in their old order."""
        place = {name: index for index, name in enumerate(order)}
        for route, row in self._of_route.items():
            self._of_route[route] = tuple(sorted(row, key=lambda model: place.get(model.name, len(place))))

    def refresh(self) -> None:
        """Notice models changed under the same name, if a cheap request shows it."""
        for model in self.models:
            model.refresh(self._query_seconds)

    def retry_models(self) -> None:
        """Let the next call try each model left alone."""
        for model in self.models:
            model.breaker.half_open()

    def preferred(self, route: Route) -> Space | None:
        """Return the preferred model's space; None while it is unavailable, or without models."""
        models = self._of_route[route]
        try:
            return models[0].space_soon(self._query_seconds) if models else None
        except EmbeddingError:
            return None

    def embed(self, route: Route, texts: Sequence[str], *, fallbacks: bool = True) -> Routed:
        """Embed texts in one space: with the route's first working model, or, without fallbacks, with its first."""
        reasons = []
        for model in self._of_route[route] if fallbacks else self._of_route[route][:1]:
            try:
                return Routed(model.embed_documents(texts))
            except EmbeddingError as error:
                reasons.append(str(error))
        return Routed(failure=" ".join(reasons))

    def embed_parts(self, text: str, spans: Sequence[Span]) -> Routed:
        """Embed parts of a document by late chunking; see `LateEmbedder.embed_parts`."""
        if self._late is None:
            return Routed(failure="There is no token encoder for late chunking.")
        try:
            return Routed(self._late.embed_parts(text, spans))
        except EmbeddingError as error:
            return Routed(failure=str(error))

    def take_over(self, route: Route, moved: Mapping[str, str]) -> None:
        """In the cache, give texts of moved files the vectors of their earlier texts, if known."""
        for model in self._of_route[route][:1]:
            with suppress(EmbeddingError):  # Then it is asked for all texts, and reports the error itself.
                model.space()
                if isinstance(model.embedder, CachedEmbedder):
                    model.embedder.take_over(moved)

    def embed_question(self, text: str, spaces: Collection[str]) -> QueryVectors:
        """Embed a question for each of the spaces, given by vector name."""
        vectors: dict[str, Vector] = {}
        reasons = []
        end = time.monotonic() + self._query_seconds
        for model in self.models:
            try:
                found = model.embed_query(text, spaces, max(end - time.monotonic(), _LEAST_SECONDS))
                vectors |= [found] if found else []
            except EmbeddingError as error:
                reasons.append(str(error))
            if vectors.keys() >= set(spaces):
                break
        why = " ".join(reasons) or "no configured model has vectors of that space"
        return QueryVectors(vectors, dict.fromkeys(set(spaces) - vectors.keys(), why))

    def cached(self) -> int:
        """Return the number of texts of all models with a vector from the cache."""
        return sum(model.embedder.cached for model in self.models if isinstance(model.embedder, CachedEmbedder))

    def states(self) -> tuple[ModelState, ...]:
        """Report whether each model worked at its last use."""
        return tuple(ModelState(model.name, self._first_of(model), model.breaker.reason) for model in self.models)

    def close(self) -> None:
        """Release connections and memory; a later call opens them again."""
        for model in self.models:
            model.embedder.close()

    def _first_of(self, model: GuardedModel) -> tuple[str, ...]:
        return tuple(route for route, row in self._of_route.items() if row and row[0] is model)
