"""The environment variables of services: their addresses, keys and proxies.

An owner inherits the environment of the client that started it. Another client may have a key that this one lacked, so
each sends its variables in its greeting, over a socket open to their user only. The owner takes them into its own
environment, and never logs or writes them: httpx, openai and ollama read proxies, certificates and headers from there.
"""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import fields, is_dataclass

from cqm.index.model.options import ContextOptions, EmbeddingOptions, IndexOptions, RerankOptions
from cqm.index.remote.addresses import OLLAMA_VARIABLE
from cqm.index.remote.presets import PRESETS, key_variable
from cqm.index.rerank.shapes import SHAPES, shape_by_url

_IN_PROCESS = frozenset({"embedded", "none", "onnx", "rules"})
"""Providers without a service."""
_OF_OPENAI = ("OPENAI_ORG_ID", "OPENAI_PROJECT_ID", "OPENAI_CUSTOM_HEADERS")
"""Variables read by OpenAI's package itself."""
_PROXIES = ("http_proxy", "https_proxy", "all_proxy", "no_proxy")
_OF_THE_WAY = (*_PROXIES, *map(str.upper, _PROXIES), "SSL_CERT_FILE", "SSL_CERT_DIR")
"""Variables read by httpx: proxies and certificates of services elsewhere."""


def service_variables(options: IndexOptions) -> dict[str, str]:
    """The variables of this process for the services of an index; only those that are set."""
    return {name: os.environ[name] for name in sorted(set(_names(options))) if os.environ.get(name)}


def adopt(options: IndexOptions, variables: Mapping[str, str], *, only_new: bool) -> bool:
    """Take over a client's variables; tell whether anything changed.

    Parameters:
        options: of the index.
        variables: of the client.
        only_new: keep present values, which other clients brought.
    """
    before = service_variables(options)
    after = {**variables, **before} if only_new else variables
    for name in _names(options):
        if name in after:
            os.environ[name] = after[name]
        else:
            os.environ.pop(name, None)
    return service_variables(options) != before


@contextmanager
def restored_on_error() -> Iterator[None]:
    """Restore the environment when the body fails."""
    before = dict(os.environ)
    try:
        yield
    except BaseException:
        for name in os.environ.keys() - before.keys():
            del os.environ[name]
        os.environ.update(before)
        raise


def _names(options: IndexOptions) -> Iterator[str]:
    """Variables named by options, those of each service by convention, and those of the way."""
    yield from filter(None, _values(options, "_env"))
    if _IN_PROCESS.issuperset(_values(options, "provider")):
        return
    routes = options.routes
    prose = () if routes.prose is None else (routes.prose,)
    for service in (options.embedding, *routes.fallback, *prose, options.context):
        yield from filter(None, _of_model(service))
    yield from filter(None, _of_reranker(options.rerank))
    yield from _OF_THE_WAY


def _of_model(options: EmbeddingOptions | ContextOptions) -> Iterator[str]:
    """A provider's own variables; that of the key only where the options name no other."""
    preset = PRESETS.get(options.provider)
    if not options.api_key_env:
        yield key_variable(options.provider)
    if not options.base_url:
        yield preset.url_variable if preset else OLLAMA_VARIABLE if options.provider == "ollama" else ""
    if options.provider == "openai":
        yield from _OF_OPENAI


def _of_reranker(options: RerankOptions) -> Iterator[str]:
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
