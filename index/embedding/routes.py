"""Which of several models embeds what: the first healthy one in the configured order; a question, all that are needed.

Vectors of different models never mix: every answer names the space of its vectors, and nothing else may be compared
with them.
"""

import math
import time
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

from cqm.index.embedding.guarded import GuardedModel
from cqm.index.model.errors import EmbeddingError
from cqm.index.model.progress import Usage
from cqm.index.model.spaces import Embeddings, Space
from cqm.index.model.status import ModelState

if TYPE_CHECKING:
    from cqm.index.model.spaces import Vector


_LEAST_SECONDS = 0.05
"""For a model whose turn comes when those before it took all the time: one in this process needs no more."""


class Route(StrEnum):
    """What a text is, as far as the choice of its model goes."""

    CODE = "code"
    PROSE = "prose"


@dataclass(frozen=True, slots=True, eq=False)
class Routed:
    """What became of some texts.

    Attributes:
        embeddings: all in one space; None when no model embedded them.
        failure: why not.
    """

    embeddings: Embeddings | None = None
    failure: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class QueryVectors:
    """A question in the spaces that hold vectors.

    Attributes:
        vectors: by the name of the space's vectors.
        missing: why there is none, by the same.
    """

    vectors: "Mapping[str, Vector]" = field(default_factory=dict)
    missing: Mapping[str, str] = field(default_factory=dict)


class Routes:
    """The configured models in their order. Its methods may be called from any thread.

    Parameters:
        models: of every route in order, the preferred one first, or none. A model may serve both.
        query_seconds: how long the vectors of a question are waited for.
    """

    def __init__(self, models: Mapping[Route, tuple[GuardedModel, ...]], query_seconds: float) -> None:
        self._of_route = dict(models)
        self._query_seconds = query_seconds
        self.models = tuple({model.name: model for row in models.values() for model in row}.values())

    @property
    def routes(self) -> tuple[Route, ...]:
        """Those that have a model."""
        return tuple(route for route, row in self._of_route.items() if row)

    @property
    def in_process(self) -> bool:
        """Whether no model needs a service."""
        return all(model.in_process for model in self.models)

    def order_by_latency(self) -> tuple[list[str], bool]:
        """Measure each model; gives their names, the quickest first, and whether all of them answered."""
        seconds = {model.name: model.latency() for model in self.models}
        return sorted(seconds, key=lambda name: seconds[name]), math.inf not in seconds.values()

    def sort(self, order: Sequence[str]) -> None:
        """Prefer models in the order of their names; those that are not in it come last, as they were."""
        place = {name: index for index, name in enumerate(order)}
        for route, row in self._of_route.items():
            self._of_route[route] = tuple(sorted(row, key=lambda model: place.get(model.name, len(place))))

    def refresh(self) -> None:
        """Notice models that have become others under the same name, where a cheap question tells."""
        for model in self.models:
            model.refresh(self._query_seconds)

    def retry_models(self) -> None:
        """Let each model that is left alone be tried by the next call."""
        for model in self.models:
            model.breaker.half_open()

    def preferred(self, route: Route) -> Space | None:
        """The space of the first choice; None while it is not to be had, or when there is none."""
        try:
            return next((model.space_soon(self._query_seconds) for model in self._of_route[route][:1]), None)
        except EmbeddingError:
            return None

    def embed(self, route: Route, texts: Sequence[str], *, fallbacks: bool = True) -> Routed:
        """Embed texts by the first model of the route that works, all in one space.

        Parameters:
            fallbacks: whether any but the preferred one may.
        """
        reasons = []
        for model in self._of_route[route] if fallbacks else self._of_route[route][:1]:
            try:
                return Routed(model.embed_documents(texts))
            except EmbeddingError as error:
                reasons.append(str(error))
        return Routed(failure=" ".join(reasons))

    def take_over(self, route: Route, moved: Mapping[str, str]) -> None:
        """Let texts of moved files have the vectors that they had before, as far as the cache holds them.

        Parameters:
            moved: the earlier text by each new one.
        """
        for model in self._of_route[route][:1]:
            with suppress(EmbeddingError):  # Then it is asked for all of them, and says so itself.
                model.space()
                model.embedder.take_over(moved)

    def embed_question(self, text: str, spaces: Collection[str]) -> QueryVectors:
        """Embed a question for each of the spaces, given by the names of their vectors."""
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

    def usage(self) -> dict[str, Usage]:
        """What each model was used for since it was opened, by its name."""
        return {model.name: model.embedder.usage() for model in self.models}

    def cached(self) -> int:
        """How many texts of all models got their vector from the cache."""
        return sum(model.embedder.cached for model in self.models)

    def states(self) -> tuple[ModelState, ...]:
        """Whether each model worked when it was asked the last time."""
        return tuple(ModelState(model.name, self._first_of(model), model.breaker.reason) for model in self.models)

    def close(self) -> None:
        """Give back connections and memory; a later call opens them again."""
        for model in self.models:
            model.embedder.close()

    def _first_of(self, model: GuardedModel) -> tuple[str, ...]:
        return tuple(route for route, row in self._of_route.items() if row and row[0] is model)
