"""The variables of the environment that services are reached with: where they are, and their keys.

An owner inherits the environment of the client that started it. Another client may have a key that this one lacked, so
that each says in its greeting, over a socket that only their user can reach, what it has. The owner keeps that as its
own environment: it is not logged and not written.
"""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import fields, is_dataclass

from cqm.index.embedding.presets import PRESETS
from cqm.index.options import IndexOptions
from cqm.index.rerank.shapes import SHAPES

_IN_PROCESS = frozenset({"embedded", "none", "onnx", "rules"})
"""Providers that are no services."""
_OF_CLIENTS = ("OLLAMA_HOST", "OLLAMA_API_KEY", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID")
"""What the packages that speak to services read by themselves."""
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
    """The variables that the options name; if they use a service, also those of its own convention and of the way."""
    yield from filter(None, _values(options, "_env"))
    if _IN_PROCESS.issuperset(_values(options, "provider")):
        return
    for preset in PRESETS.values():
        yield from filter(None, (preset.key_variable, preset.url_variable))
    yield from filter(None, (shape.key_variable for shape in SHAPES.values()))
    yield from (*_OF_CLIENTS, *_OF_THE_WAY)


def _values(options: object, suffix: str) -> Iterator[str]:
    """The values of all options whose names end so, at any depth."""
    if isinstance(options, tuple):
        for part in options:
            yield from _values(part, suffix)
    elif is_dataclass(options):
        for field in fields(options):
            value = getattr(options, field.name)
            yield from [value] if field.name.endswith(suffix) else _values(value, suffix)
