"""The variables of the environment that services are reached with: where they are, and their keys.

An owner inherits the environment of the client that started it. Another client may have a key that this one lacked, so
that each says in its greeting, over a socket that only their user can reach, what it has. The owner keeps that as its
own environment: it is not logged and not written.
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
"""Providers that are no services."""
_OF_OPENAI = ("OPENAI_ORG_ID", "OPENAI_PROJECT_ID", "OPENAI_CUSTOM_HEADERS")
"""Variables that OpenAI's package reads by itself."""
_PROXIES = ("http_proxy", "https_proxy", "all_proxy", "no_proxy")
_OF_THE_WAY = (*_PROXIES, *map(str.upper, _PROXIES), "SSL_CERT_FILE", "SSL_CERT_DIR")
"""What httpx reads: the way to a service that is not on this machine, and whom to trust there."""


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


@contextmanager
def restored_on_error() -> Iterator[None]:
    """Puts the environment back as it was when what is done within fails."""
    before = dict(os.environ)
    try:
        yield
    except BaseException:
        for name in os.environ.keys() - before.keys():
            del os.environ[name]
        os.environ.update(before)
        raise


def _names(options: IndexOptions) -> Iterator[str]:
    """The variables that the options name; for each service in use, its own by convention; and those of the way."""
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
    """What a provider reads by convention; the key's variable only where the options name no other."""
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
    """The values of all options whose names end so, at any depth."""
    if isinstance(options, tuple):
        for part in options:
            yield from _values(part, suffix)
    elif is_dataclass(options):
        for field in fields(options):
            value = getattr(options, field.name)
            yield from [value] if field.name.endswith(suffix) else _values(value, suffix)
