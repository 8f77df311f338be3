"""Follow the callers of a symbol to their own callers."""

import time
from collections.abc import Callable, Sequence

from cqm.index.model.errors import QueryError
from cqm.index.model.uses import Caller, Reference
from cqm.index.search.usages.lines import MOST_NAMESAKES, Symbol
from cqm.index.text.names.parts import last_part

Calls = Sequence[tuple[Reference, Symbol | None]]

_MOST_CALLERS = 200
_MOST_FOLLOWED = 40
"""Most callers followed to their own callers; each costs as much as a question."""
_MOST_SECONDS = 8.0
"""Seconds after which no further caller is followed: an agent waits a minute at most, and each may take a second."""


def callers_of(
    calls_of: Callable[[str], tuple[int, Calls]], name: str, direct: Calls, depth: int
) -> tuple[tuple[Caller, ...], bool]:
    """Return the callers of a symbol by level, each once, and whether there may be more than these.

    Parameters:
        calls_of: returns how many definitions have a symbol's name, and its calls.
        direct: its calls.
    """
    found, seen, is_cut = _around(direct, name, 1, set()), {last_part(name)}, False
    end = time.monotonic() + _MOST_SECONDS
    # The list grows meanwhile: the callers of each caller come behind all of its level.
    for caller in found:
        plain = last_part(caller.symbol)
        if caller.level == depth:
            break
        if plain in seen:
            continue
        if len(seen) > _MOST_FOLLOWED or time.monotonic() > end:
            is_cut = True
            break
        seen.add(plain)
        try:
            namesakes, calls = calls_of(caller.symbol)
        except QueryError:
            continue
        if namesakes > MOST_NAMESAKES:
            is_cut = True
            continue
        found += _around(calls, caller.symbol, caller.level + 1, {(it.path, it.symbol) for it in found})
    return tuple(found[:_MOST_CALLERS]), is_cut or len(found) > _MOST_CALLERS


def _around(calls: Calls, name: str, level: int, known: set[tuple[str, str]]) -> list[Caller]:
    """Return the symbols around some calls, each once, without those known already."""
    found: dict[tuple[str, str], Caller] = {}
    for call, around in calls:
        if around and (call.path, around.name) not in known:
            found.setdefault((call.path, around.name), Caller(level, around.name, call.path, around.line or None, name))
    return list(found.values())
