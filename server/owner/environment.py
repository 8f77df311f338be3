"""The variables of services that a client sends to its owner: addresses, keys and proxies.

An owner inherits the environment of the client that started it, and doesn't use it: another client may have a key that
this one lacked. So each sends its own in its greeting, over a socket open to their user only. The owner keeps them as
data for the index, and never logs or writes them.
"""

from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass

from cqm.index.model.options import ContextOptions, EmbeddingOptions, IndexOptions, RerankOptions
from cqm.index.remote.variables import CERTIFICATE_VARIABLES, OPENAI_VARIABLES, PROXY_VARIABLES

_IN_PROCESS = frozenset({"embedded", "none", "onnx", "rules"})
"""Providers without a service."""
_OF_THE_WAY = (*PROXY_VARIABLES, *map(str.upper, PROXY_VARIABLES), *CERTIFICATE_VARIABLES)
"""Proxies and certificates, for services elsewhere."""


def service_variables(options: IndexOptions, environment: Mapping[str, str]) -> dict[str, str]:
    """Return the variables for the services of an index; only those that are set.

    Parameters:
        options: of the index.
        environment: of the process.
    """
    return {name: environment[name] for name in sorted(set(_names(options))) if environment.get(name)}


def _names(options: IndexOptions) -> Iterator[str]:
    """Variables named by options, those of each service by convention, and those of the way."""
    yield from filter(None, _values(options, "_env"))
    is_alone = _IN_PROCESS.issuperset(_values(options, "provider"))
    if is_alone and not options.store.url and not options.late.is_served:
        return
    routes = options.routes
    prose = () if routes.prose is None else (routes.prose,)
    for service in (options.embedding, *routes.fallback, *prose, options.context):
        yield from filter(None, _of_model(service))
    yield from filter(None, _of_reranker(options.rerank))
    yield from _OF_THE_WAY


def _of_model(options: EmbeddingOptions | ContextOptions) -> Iterator[str]:
    """A provider's own variables; that of the key only where the options name no other."""
    from cqm.index.remote.addresses import OLLAMA_VARIABLE  # start-up time, here and below: most have no service
    from cqm.index.remote.presets import PRESETS, key_variable

    preset = PRESETS.get(options.provider)
    if not options.api_key_env:
        yield key_variable(options.provider)
    if not options.base_url:
        yield preset.url_variable if preset else OLLAMA_VARIABLE if options.provider == "ollama" else ""
    if "openai" in {
        options.provider,
        *(name for name, it in PRESETS.items() if it.key_variable == options.api_key_env),
    }:
        yield from OPENAI_VARIABLES


def _of_reranker(options: RerankOptions) -> Iterator[str]:
    from cqm.index.rerank.shapes import SHAPES, shape_by_url

    if options.provider == "http" and not options.api_key_env:
        shape = SHAPES.get(options.shape or shape_by_url(options.url))
        yield shape.key_variable if shape else ""


def _values(options: object, suffix: str) -> Iterator[str]:
    """The values of all options with this ending, at any depth."""
    if isinstance(options, tuple):
        for part in options:
            yield from _values(part, suffix)
    elif is_dataclass(options):
        for field in fields(options):
            value = getattr(options, field.name)
            yield from [value] if field.name.endswith(suffix) else _values(value, suffix)
