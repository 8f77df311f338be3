"""Texts to dense vectors for the store: by the model of their route, each with its space and with what went wrong."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cqm.index.embedding.base import Embeddings, Space
from cqm.index.embedding.routes import Route, Routes
from cqm.index.generation import Generation
from cqm.index.status import space_fact

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

WHOLE, POOLED, CUT, REJECTED = "whole", "pooled", "cut", "rejected"
"""What a vector shows of its text; see `ChunkRow.embedded`."""


@dataclass(frozen=True, slots=True, eq=False)
class TextVector:
    """What became of one text.

    Attributes:
        space: the name of its vector in the store; empty without a vector.
        row: unit vector, shape (dimensions,).
        embedded: see `ChunkRow.embedded`.
        problem: why there is no vector although there should be one.
    """

    space: str = ""
    row: "NDArray[np.float32] | None" = None
    embedded: str = ""
    problem: str = ""


_NONE = TextVector()


class Vectorizer:
    """Embeds the texts of one update for one generation.

    Parameters:
        routes: None to give no vectors at all.
        generation: where the vectors will be stored.
    """

    def __init__(self, routes: Routes | None, generation: Generation) -> None:
        self._routes = routes
        self._generation = generation
        self.failed = False
        """Whether some texts met no model that works."""
        self._known: set[tuple[Route, str]] = set()

    def embed(self, texts: Sequence[tuple[str, str]]) -> list[TextVector]:
        """A vector for each text, or a problem.

        Parameters:
            texts: each with its route.

        Raises:
            StoreError, ManifestError: the generation cannot take a space.
        """
        vectors = [_NONE] * len(texts)
        for route in Route if self._routes else ():
            places = [place for place, (wanted, _) in enumerate(texts) if wanted == route]
            found = self._embed_all(route, [texts[place][1] for place in places]) if places else []
            for place, vector in zip(places, found, strict=True):
                vectors[place] = vector
        return vectors

    def wanted(self, route: str) -> str:
        """The name of the vectors that the preferred model gives; empty while it is not to be had."""
        space = self._routes.preferred(Route(route)) if self._routes else None
        return space.vector_name if space else ""

    def wanted_spaces(self) -> dict[Route, str]:
        """The same for every route; none where chunks are to have no vectors at all."""
        return {route: self.wanted(route) for route in Route} if self._routes else {}

    def _embed_all(self, route: Route, texts: list[str]) -> list[TextVector]:
        routes = self._routes
        if routes is None:
            return []
        routed = routes.embed(route, texts)
        if routed.space is None or routed.embeddings is None:
            self.failed = True
            return [TextVector(problem=routed.failure)] * len(texts)
        self._enter(routed.space, is_preferred=routed.space == routes.preferred(route), route=route)
        return _by_text(routed.space, routed.embeddings)

    def _enter(self, space: Space, *, is_preferred: bool, route: Route) -> None:
        if (route, space.name) in self._known:
            return
        manifest = self._generation.manifest
        self._generation.store.ensure_space(space.vector_name, space.dimensions)
        manifest.add_space(space.vector_name, space.name)
        if is_preferred:
            manifest.set_facts({space_fact(route): space.name})
        self._known.add((route, space.name))


def _by_text(space: Space, embeddings: Embeddings) -> list[TextVector]:
    shown = dict.fromkeys(embeddings.cut, CUT) | dict.fromkeys(embeddings.pooled, POOLED)
    found = {text.index: TextVector(embedded=REJECTED, problem=text.reason) for text in embeddings.rejected}
    for index, row in zip(embeddings.indices, embeddings.vectors, strict=True):
        found[index] = TextVector(space.vector_name, row, shown.get(index, WHOLE))
    return [found[index] for index in range(len(found))]
