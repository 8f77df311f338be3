"""Models for embedding questions: the configured ones, and former ones with vectors still searched.

While a new generation is built for another model, the old one serves, and its vectors compare only with vectors of its
own model. So a generation records its models' configuration, without keys: these stay in the environment.
"""

import json
import logging
from collections.abc import Iterator
from dataclasses import asdict
from threading import Lock
from typing import get_type_hints

from cqm.index.cache import Cache
from cqm.index.embedding.opening import distinct_models, open_former, shape_of
from cqm.index.embedding.routes import GuardedModel, Route, Routes
from cqm.index.generations.generation import Generation, generation_name
from cqm.index.manifest.facts import MODELS_FACT
from cqm.index.manifest.manifest import Manifest
from cqm.index.model.errors import EmbeddingError
from cqm.index.model.options import EmbeddingOptions, IndexOptions
from cqm.index.remote.addresses import MAY_HOLD_A_SECRET
from cqm.index.remote.presets import is_away
from cqm.index.remote.variables import Variables

_IN_PROCESS = "embedded"

_log = logging.getLogger(__name__)


def models_text(options: IndexOptions) -> str:
    """Return the configuration of the embedding models, as a generation records it."""
    models = [asdict(model) for model in distinct_models(options) if MAY_HOLD_A_SECRET.isdisjoint(model.base_url)]
    return json.dumps(models)


class QuestionModels:
    """Chooses the models embedding questions to a generation. Its methods may be called from any thread."""

    def __init__(self, routes: Routes | None, options: IndexOptions, cache: Cache, variables: Variables) -> None:
        self._routes = routes
        self._options = options
        self._cache = cache
        self._variables = variables
        self._recipe = generation_name(options)
        self._lock = Lock()
        self._of = ""
        self._together: Routes | None = None
        self.former: tuple[GuardedModel, ...] = ()
        """Models no longer configured, of the generation asked last."""

    def of(self, generation: Generation) -> Routes | None:
        """Return the models for questions to a generation; None without any. Former ones are loaded at their first use.

        Closes models needed by the last generation and not by this one.
        """
        is_former = generation.recipe != self._recipe
        with self._lock:
            if is_former and generation.name != self._of:
                self._let_go()
                self._open_former(generation)
            elif not is_former:
                self._let_go()
            return self._together or self._routes

    def close(self) -> None:
        """Close former models; a later call opens them again."""
        with self._lock:
            self._let_go()

    def _let_go(self) -> None:
        for model in self.former:
            model.embedder.close()
        self._of, self._together, self.former = "", None, ()

    def _open_former(self, generation: Generation) -> None:
        """Put a generation's former models, where it has some, before the configured ones."""
        former = [
            one for one in _former(generation.manifest, self._options, self._variables) if self._can_be_opened(one)
        ]
        models = open_former(former, self._options, self._cache, self._variables)
        ours = self._routes.models if self._routes else ()
        together = Routes({Route.CODE: (*models, *ours)}, self._options.routes.query_seconds) if models else None
        self._of, self._together, self.former = generation.name, together, models

    def _can_be_opened(self, model: EmbeddingOptions) -> bool:
        try:
            open_former([model], self._options, self._cache, self._variables)
        except EmbeddingError as error:
            _log.warning("The vectors of a model of before cannot be searched: %s", error)
            return False
        return True


def _former(manifest: Manifest, options: IndexOptions, variables: Variables) -> Iterator[EmbeddingOptions]:
    """Yield a generation's models which are no longer configured and may still be asked."""
    configured = distinct_models(options)
    shapes = set(map(shape_of, configured))
    sends_away = any(is_away(model, variables) for model in configured)
    for model in _kept(manifest):
        # An index below its root may have come with a clone, so it must not name services. And data leave the machine
        # only if the present settings send some away too.
        would_leave = is_away(model, variables) and not sends_away
        may_be_asked = model.provider == _IN_PROCESS or not (options.in_project or would_leave)
        if may_be_asked and shape_of(model) not in shapes:
            yield model


def _kept(manifest: Manifest) -> list[EmbeddingOptions]:
    """Return the models recorded in a generation, leaving out unreadable ones, as from another release or a clone."""
    types = get_type_hints(EmbeddingOptions)
    try:
        noted = json.loads(manifest.fact(MODELS_FACT) or "[]")
    except ValueError:
        return []
    rows = [row for row in noted if isinstance(row, dict)] if isinstance(noted, list) else []
    chosen = [{name: value for name, value in row.items() if name in types} for row in rows]
    return [
        EmbeddingOptions(**row) for row in chosen if all(isinstance(value, types[name]) for name, value in row.items())
    ]
