"""The variables of the environment that services are reached with: where they are, and their keys.

An owner inherits the environment of the client that started it. Another client may have a key that this one lacked, so
that each says in its greeting, over a socket that only their user can reach, what it has. The owner keeps that as its
own environment: it is not logged and not written.
"""

import os
from collections.abc import Iterator, Mapping

from cqm.index.embedding.presets import PRESETS
from cqm.index.options import IndexOptions
from cqm.index.rerank.shapes import SHAPES

_OLLAMA = ("OLLAMA_HOST", "OLLAMA_API_KEY")


def service_variables(options: IndexOptions) -> dict[str, str]:
    """Those variables of this process that the services of an index may read; only what is set."""
    return {name: os.environ[name] for name in sorted(set(_names(options))) if os.environ.get(name)}


def adopt(options: IndexOptions, variables: Mapping[str, str], *, only_new: bool) -> bool:
    """Take over a client's variables; whether that changed anything.

    Parameters:
        options: of the index.
        variables: of the client.
        only_new: keep the values that there are: other clients came with them.
    """
    before = service_variables(options)
    after = {**variables, **before} if only_new else variables
    for name in _names(options):
        if name in after:
            os.environ[name] = after[name]
        else:
            os.environ.pop(name, None)
    return service_variables(options) != before


def _names(options: IndexOptions) -> Iterator[str]:
    """The variables that the options name, and those that services have by their own convention."""
    routes = options.routes
    models = (options.embedding, *routes.fallback, *filter(None, [routes.prose]))
    others = (options.cache.redis_password_env, options.context.api_key_env, options.rerank.api_key_env)
    named = (*(model.api_key_env for model in models), *others)
    presets = (name for preset in PRESETS.values() for name in (preset.key_variable, preset.url_variable))
    shapes = (shape.key_variable for shape in SHAPES.values())
    yield from filter(None, [*named, *presets, *shapes, *_OLLAMA])
