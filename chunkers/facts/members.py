"""Collect the fields and methods of types."""

from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

from cqm.chunkers.code.outline import TYPES
from cqm.chunkers.facts.rows.model import Symbol, own_name, scope_name
from cqm.chunkers.facts.rows.uses import Uses

_METHODS = frozenset({"method", "constructor"})
_FIELDS = frozenset({"property", "variable", "constant"})
_OWNERS = TYPES | {"module", "component", "type"}
_SPACES = frozenset({"namespace"})


class Members(NamedTuple):
    """Names of members without the type's, in order, as keys."""

    fields: dict[str, None]
    methods: dict[str, None]


def members_of(symbols: Sequence[Symbol], uses: Sequence[Uses]) -> list[Members]:
    """Return each symbol's members: those inside it, or else those which name it, as methods of Go and Rust do."""
    inside: defaultdict[int, Members] = defaultdict(_none)
    by_name: defaultdict[str, Members] = defaultdict(_none)
    for symbol, used in zip(symbols, uses, strict=False):
        if symbol.parent is not None:
            _add(symbol, inside[id(symbol.parent)])
        _add(symbol, by_name[scope_name(symbol)])
        owner = _owner(symbol) if used.fields or used.methods else None
        if owner is not None:
            inside[id(owner)].fields.update(used.fields)
            inside[id(owner)].methods.update(used.methods)
    # Only the first symbol of a name declares the type; the others are blocks of methods.
    return [_chosen(symbol, inside[id(symbol)], by_name.pop(symbol.mark.name, _none())) for symbol in symbols]


def _none() -> Members:
    return Members({}, {})


def _add(symbol: Symbol, members: Members) -> None:
    name = own_name(symbol)
    if symbol.mark.kind in _METHODS:
        members.methods[name] = None
    elif symbol.mark.kind in _FIELDS and not symbol.local:
        members.fields[name] = None


def _owner(symbol: Symbol | None) -> Symbol | None:
    while symbol is not None and symbol.mark.kind not in _OWNERS:
        symbol = symbol.parent
    return symbol


def _chosen(symbol: Symbol, inside: Members, by_name: Members) -> Members:
    if symbol.mark.kind not in _OWNERS:
        return Members({}, {} if symbol.mark.kind in _SPACES else inside.methods)
    return inside if symbol.mark.members else Members(inside.fields, inside.methods or by_name.methods)
