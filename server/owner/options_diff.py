"""Compare a client's options with those in force, in words."""

import os
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

from collections.abc import Iterable, Iterator

from cqm.index.model.options import IndexOptions
from cqm.server.owner.messages import Client

Options = TypeVar("Options", bound="DataclassInstance")

_PATHS = frozenset({"api_key_file", "folder", "encoder"})
"""Text options naming a file or folder, or perhaps a server; empty for none."""


def absolute(options: Options) -> Options:
    """Make paths in options absolute, at any depth; "~" means the same to every process of the user.

    Parameters:
        options: of an index, or of a part of it.
    """
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
    """Tell a client about other options in force; empty where they are its own.

    Parameters:
        root: of the index.
        there: options in force.
        here: options of the client.
        others: further clients of the index.
    """
    if there == here:
        return ""
    users = names(others)
    return (
        f"The index of {root} is open{f' for {users}' if users else ''} with other options than this process has: "
        f"{', '.join(differing(there, here))}. They stay in force. Run `cqm index` to apply its own."
    )
