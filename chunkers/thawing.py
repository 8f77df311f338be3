"""Making many objects of a frozen dataclass quickly."""

import functools
from dataclasses import field, fields, make_dataclass
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

T = TypeVar("T", bound="DataclassInstance")


@functools.cache
def thawed(frozen: type[T]) -> type[T]:
    """A twin of a frozen slotted dataclass, whose objects are made four times as quickly and can be changed.

    A frozen one calls `object.__setattr__` for every field. An object of the twin becomes one of the dataclass, frozen,
    when its `__class__` is set to that: Python allows it between classes with the same slots.
    """
    own = fields(frozen)
    columns = [(it.name, it.type, field(default=it.default, default_factory=it.default_factory)) for it in own]
    return make_dataclass(frozen.__name__, columns, slots=True)
