"""Texts to dense vectors by the model of their route, each with its space and its problem."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, TypeVar

from cqm.chunkers.strategies.pooling import Span
from cqm.index.embedding.routes import Route, Routes
from cqm.index.manifest.facts import LACKING_FACT, PROBLEMS_FACT, SPACE_FACT
from cqm.index.manifest.manifest import Manifest
from cqm.index.model.progress import ModelState
from cqm.index.model.spaces import Embeddings, Space
from cqm.index.model.status import IndexStatus
from cqm.index.remote.deadline import StoppedError, unless

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Result = TypeVar("Result")

WHOLE, POOLED, CUT = "whole", "pooled", "cut"
"""Part of a text shown by its vector; see `ChunkRow.embedded`."""


@dataclass(frozen=True, slots=True, eq=False)
class TextVector:
    """The outcome of embedding one text.

    Attributes:
        space: of its vector; None without one.
        row: unit vector, shape (dimensions,).
        embedded: see `ChunkRow.embedded`.
        refused: see `ChunkRow.refused`.
        problem: why there is no vector although there should be one.
    """

    space: Space | None = None
    row: "NDArray[np.float32] | None" = None
    embedded: str = ""
    refused: str = ""
    problem: str = ""

    @property
    def space_name(self) -> str:
        """The name of its vectors in the store; empty without one."""
        return self.space.vector_name if self.space else ""


_NONE = TextVector()
_UNKNOWN = "?"
"""No space has this name, so with it every chunk counts as elsewhere."""
NOTHING_MOVED: Mapping[str, str] = MappingProxyType({})


class Vectorizer:
    """Embeds the texts of one update.

    Parameters:
        routes: None to give no vectors at all.
        cancelled: asked while a service works; when it answers true, `embed` stops.
        fallbacks: whether others stand in for the preferred models.
    """

    def __init__(
        self, routes: Routes | None, cancelled: Callable[[], bool] = lambda: False, *, fallbacks: bool = True
    ) -> None:
        self._routes = routes
        self._cancelled = cancelled
        self._fallbacks = fallbacks
        self.failed = False
        """Whether some texts met no working model."""

    def embed(self, texts: Sequence[tuple[str, str]], moved: Mapping[str, str] = NOTHING_MOVED) -> list[TextVector]:
        """A vector for each text, or a problem; neither where its route has no model.

        Parameters:
            moved: former texts of moved files, by their texts now.

        Raises:
            StoppedError: it was cancelled.
        """
        is_here = self._routes is None or self._routes.in_process
        return self._unless_cancelled(lambda: self._embed(texts, NOTHING_MOVED if is_here else moved))

    def embed_parts(self, text: str, spans: Sequence[Span]) -> list[TextVector]:
        """A vector for each part of a document with a rule for late chunking, or a problem.

        Parameters:
            spans: characters of the parts, in order.

        Raises:
            StoppedError: it was cancelled.
        """
        routes = self._routes
        routed = self._unless_cancelled(lambda: routes.embed_parts(text, spans)) if routes else None
        if routed is None or routed.embeddings is None:
            self.failed = True
            return [TextVector(problem=routed.failure if routed else "")] * len(spans)
        return _by_text(routed.embeddings)

    def _unless_cancelled(self, embed: Callable[[], Result]) -> Result:
        if self._routes is None or self._routes.in_process:
            return embed()
        try:
            return unless(self._cancelled, embed)
        except StoppedError:
            # Running requests keep their connections until they end; the next caller waits for none of them.
            self._routes.close()
            raise

    def _embed(self, texts: Sequence[tuple[str, str]], moved: Mapping[str, str]) -> list[TextVector]:
        vectors = [_NONE] * len(texts)
        for route in self._routes.routes if self._routes else ():
            before = {text: moved[text] for wanted, text in texts if wanted == route and text in moved}
            if before and self._routes:
                self._routes.take_over(route, before)
            places = [place for place, (wanted, _) in enumerate(texts) if wanted == route]
            found = self._embed_all(route, [texts[place][1] for place in places]) if places else []
            for place, vector in zip(places, found, strict=True):
                vectors[place] = vector
        return vectors

    def _embed_all(self, route: Route, texts: list[str]) -> list[TextVector]:
        routed = self._routes.embed(route, texts, fallbacks=self._fallbacks) if self._routes else None
        if routed is None or routed.embeddings is None:
            self.failed = True
            return [TextVector(problem=routed.failure if routed else "")] * len(texts)
        return _by_text(routed.embeddings)


def wanted_spaces(routes: Routes | None, manifest: Manifest) -> dict[str, str]:
    """Return the vector names chunks should have, by route; routes without a model are left out.

    A name is empty while the preferred model is unavailable, and when it is no longer the generation's model: then
    another generation is built, and this one stays unchanged.
    """
    wanted = {}
    for route in routes.routes if routes else ():
        space = routes.preferred(route) if routes else None
        is_same = space is not None and manifest.fact(f"{SPACE_FACT}{route}") in {"", space.name}
        wanted[str(route)] = space.vector_name if space and is_same else ""
    return wanted


def lacking(manifest: Manifest, wanted: Mapping[str, str]) -> int:
    """Count the chunks waiting for a vector of their preferred model or for a written context.

    Parameters:
        wanted: as `wanted_spaces` gives it.
    """
    count = manifest.without_note()[1]
    vector_names = {name: vector_name for vector_name, name in manifest.spaces().items()}
    for route, space in wanted.items():
        recorded = vector_names.get(manifest.fact(f"{SPACE_FACT}{route}"))
        count += manifest.elsewhere(route, space or recorded or _UNKNOWN)[1]
    return count


def status_facts(waiting: int, models: Sequence[ModelState]) -> dict[str, str]:
    """Return the facts of a manifest for the status: waiting chunks, and the problems of their models."""
    problems = {state.name: state.problem for state in models if state.problem}
    return {LACKING_FACT: str(waiting), PROBLEMS_FACT: json.dumps(problems)}


def with_models(status: IndexStatus, routes: Routes | None, manifest: Manifest) -> IndexStatus:
    """Return a status with the models' present state, and with the chunks waiting for one."""
    noted = {state.name: state.problem for state in status.models} if status.lacking else {}
    states = routes.states() if routes else ()
    # Problems met by other processes matter as long as something waits for the model.
    models = tuple(replace(state, problem=state.problem or noted.get(state.name, "")) for state in states)
    waiting = lacking(manifest, dict.fromkeys(routes.routes if routes else (), ""))
    return replace(status, models=models, lacking=waiting)


def note_preferred(manifest: Manifest, routes: Routes | None, vectors: Sequence[tuple[str, TextVector]]) -> None:
    """Note the space of a route once its preferred model has given a first vector.

    Parameters:
        vectors: about to be stored, each with its route.
    """
    given = {(route, vector.space.name) for route, vector in vectors if vector.space}
    for route in routes.routes if routes else ():
        space = routes.preferred(route) if routes and not manifest.fact(f"{SPACE_FACT}{route}") else None
        if space and (route, space.name) in given:
            manifest.set_facts({f"{SPACE_FACT}{route}": space.name})


def _by_text(embeddings: Embeddings) -> list[TextVector]:
    space = embeddings.space
    shown = dict.fromkeys(embeddings.cut, CUT) | dict.fromkeys(embeddings.pooled, POOLED)
    found = {text.index: TextVector(refused=space.vector_name, problem=text.reason) for text in embeddings.rejected}
    for index, row in zip(embeddings.indices, embeddings.vectors, strict=True):
        found[index] = TextVector(space, row, shown.get(index, WHOLE))
    return [found[index] for index in range(len(found))]
