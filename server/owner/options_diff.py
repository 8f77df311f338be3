"""A client's options beside those that an index is open with, in words."""

from collections.abc import Iterable, Iterator
from dataclasses import fields

from cqm.index.model.options import IndexOptions
from cqm.server.owner.messages import Client


def differing(there: IndexOptions, here: IndexOptions) -> Iterator[str]:
    """The options that are not the same, as "chunk.max_tokens"; no values, which may name places."""
    for part in fields(there):
        its, mine = getattr(there, part.name), getattr(here, part.name)
        if its == mine:
            continue
        if not hasattr(its, "__dataclass_fields__"):
            yield f"index.{part.name}"
            continue
        yield from (f"{part.name}.{it.name}" for it in fields(its) if getattr(its, it.name) != getattr(mine, it.name))


def names(clients: Iterable[Client]) -> str:
    """Clients as messages name them; empty for none."""
    return ", ".join(sorted({str(client) for client in clients}))


def notice(root: str, there: IndexOptions, here: IndexOptions, others: Iterable[Client]) -> str:
    """What a client is told whose options are not those in force; empty where they are.

    Parameters:
        root: of the index.
        there: the options that the index is open with.
        here: the client's.
        others: who uses the index beside the client.
    """
    if there == here:
        return ""
    users = names(others)
    return (
        f"The index of {root} is open{f' for {users}' if users else ''} with other options than this process has, and "
        f"is used as it is: {', '.join(differing(there, here))}. `cqm index` puts its own options in force."
    )
