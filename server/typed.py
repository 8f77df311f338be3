"""Rebuild dataclasses from the JSON of `console.plain` without validation: only for peers running the same code.

A validating library takes longer to load than all the rest of a client searching once.
"""

from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import cache, partial
from pathlib import PurePath
from types import NoneType, UnionType
from typing import Any, TypeVar, Union, cast, get_args, get_origin, get_type_hints

Value = TypeVar("Value")
Maker = Callable[[Any], Any]


def typed(kind: type[Value], value: object) -> Value:
    """Make a value of a type from JSON types.

    Parameters:
        kind: a dataclass, or a tuple, mapping or choice of such, of enumerations, paths and JSON's own types.
        value: as `console.plain` made it; numbers and texts are taken as they are.

    Raises:
        TypeError, ValueError, KeyError, AttributeError: the value has another form.
    """
    return cast("Value", _maker(cast("Any", kind))(value))


@cache
def _maker(kind: Any) -> Maker:  # noqa: ANN401 - a type
    origin, parts = get_origin(kind), get_args(kind)
    made: Maker
    if is_dataclass(kind):
        made = partial(_data, kind)
    elif origin is tuple and parts[1:] == (...,):
        made = partial(_items, _maker(parts[0]))
    elif origin is tuple:
        made = partial(_fixed, tuple(map(_maker, parts)))
    elif origin is Mapping:
        made = partial(_entries, _maker(parts[1]))
    elif origin in {Union, UnionType}:
        made = _of_choice([part for part in parts if part is not NoneType])
    elif isinstance(kind, type) and issubclass(kind, Enum | PurePath):
        made = kind
    elif kind in {str, int, float, bool, None, NoneType}:
        made = _same
    else:
        raise TypeError(f"{kind} is not made of JSON.")
    return made


def _of_choice(parts: list[Any]) -> Maker:
    """One type or null; or JSON's own types and a tuple, which a list stands for."""
    if len(parts) == 1:
        return partial(_unless_none, _maker(parts[0]))
    [of_list] = [part for part in parts if get_origin(part) is tuple]
    return partial(_if_list, _maker(of_list))


def _data(kind: Any, value: Mapping[str, Any]) -> Any:  # noqa: ANN401 - a dataclass
    makers = _makers(kind)
    return kind(**{name: makers[name](it) for name, it in value.items()})


@cache
def _makers(kind: Any) -> Mapping[str, Maker]:  # noqa: ANN401 - a dataclass
    declared: dict[str, Any] = {it.name: it.type for it in fields(kind)}
    if any(isinstance(it, str) for it in declared.values()):
        declared |= get_type_hints(kind)
    return {name: _maker(it) for name, it in declared.items()}


def _items(make: Maker, value: list[Any]) -> tuple[Any, ...]:
    return tuple(map(make, value))


def _fixed(makers: tuple[Maker, ...], value: list[Any]) -> tuple[Any, ...]:
    return tuple(make(it) for make, it in zip(makers, value, strict=True))


def _entries(make: Maker, value: Mapping[str, Any]) -> dict[str, Any]:
    return {name: make(it) for name, it in value.items()}


def _unless_none(make: Maker, value: Any) -> Any:  # noqa: ANN401 - of the type, or None
    return None if value is None else make(value)


def _if_list(make: Maker, value: Any) -> Any:  # noqa: ANN401 - of one of the types
    return make(value) if isinstance(value, list) else value


def _same(value: Any) -> Any:  # noqa: ANN401 - of JSON
    return value
