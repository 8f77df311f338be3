"""Divide items into batches, as `itertools.batched` of Python 3.12."""

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TypeVar

T = TypeVar("T")


def batched(items: Iterable[T], size: int) -> Iterator[list[T]]:
    """Yield items in lists of a size; the last may be shorter."""
    waiting = iter(items)
    while some := list(islice(waiting, size)):
        yield some
