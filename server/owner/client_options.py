"""A client's options: completed before they are sent, with the variables of their services, and compared in words.

An owner inherits the environment of its first client, and doesn't use it: another client may have a key this one
lacked. So each client sends its own variables in its greeting, over a socket open to their user only. The owner keeps
them as data for the index, and never logs or writes them.
"""

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from cqm.index.model.options import ContextOptions, EmbeddingOptions, IndexOptions, RerankOptions
from cqm.index.remote.variables import CERTIFICATE_VARIABLES, OPENAI_VARIABLES, PROXY_VARIABLES
from cqm.server.owner.messages import Client

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Options = TypeVar("Options", bound="DataclassInstance")

_PATHS = frozenset({"api_key_file", "folder", "encoder"})
"""Text options naming a file or folder, or perhaps a server; empty for none."""
_IN_PROCESS = frozenset({"embedded", "none", "onnx", "rules"})
"""Providers without a service."""
_OF_THE_WAY = (*PROXY_VARIABLES, *map(str.upper, PROXY_VARIABLES), *CERTIFICATE_VARIABLES)
"""Proxies and certificates, for services elsewhere."""


def absolute(options: Options) -> Options:
    """Make paths in options absolute, at any depth; "~" means the same to every process of the user."""
    values = {field.name: getattr(options, field.name) for field in fields(options)}
    return replace(options, **{name: _absolute(name, value) for name, value in values.items()})


def _absolute(name: str, value: object) -> object:
    if isinstance(value, tuple):
        return tuple(_absolute(name, part) for part in value)
    if is_dataclass(value) and not isinstance(value, type):
        return absolute(value)
    if isinstance(value, Path):
        return Path(_from_here(str(value)))
    return _from_here(value) if isinstance(value, str) and name in _PATHS else value


def _from_here(path: str) -> str:
    # Path.resolve() would follow links.
    return path if path[:1] in {"", "~"} or path.startswith(("http://", "https://")) else os.path.abspath(path)  # noqa: PTH100


def differing(there: IndexOptions, here: IndexOptions) -> Iterator[str]:
    """Name the differing options, such as "chunk.max_tokens"; without values, which may name places."""
    for part in fields(there):
        its, mine = getattr(there, part.name), getattr(here, part.name)
        if its == mine:
            continue
        if not hasattr(its, "__dataclass_fields__"):
            yield f"index.{part.name}"
            continue
        yield from (f"{part.name}.{it.name}" for it in fields(its) if getattr(its, it.name) != getattr(mine, it.name))


def names(clients: Iterable[Client]) -> str:
    """Name clients for messages; empty for none."""
    return ", ".join(sorted({str(client) for client in clients}))


def notice(root: str, there: IndexOptions, here: IndexOptions, others: Iterable[Client]) -> str:
    """Tell a client with options `here` about those in force, `there`; empty if they are the same."""
    if there == here:
        return ""
    users = names(others)
    return (
        f"The index of {root} is open{f' for {users}' if users else ''} with other options than this process has: "
        f"{', '.join(differing(there, here))}. They stay in force. Run `cqm index` to apply its own."
    )


def service_variables(options: IndexOptions, environment: Mapping[str, str]) -> dict[str, str]:
    """Return the set variables for the services of an index."""
    return {name: environment[name] for name in sorted(set(_names(options))) if environment.get(name)}


def _names(options: IndexOptions) -> Iterator[str]:
    """Yield the variables of services: named in options, usual for the service, of proxies and certificates."""
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
    """Yield a provider's own variables; the key's only if the options name no other."""
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
    """Yield the values of all options with this ending, at any depth."""
    if isinstance(options, tuple):
        for part in options:
            yield from _values(part, suffix)
    elif is_dataclass(options):
        for field in fields(options):
            value = getattr(options, field.name)
            yield from [value] if field.name.endswith(suffix) else _values(value, suffix)
