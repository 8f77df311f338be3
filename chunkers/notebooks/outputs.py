"""Fold the outputs of a notebook's cells: similar lines, similar outputs, and very long text."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from cqm.chunkers.notebooks.cells import OUTPUT, Line
from cqm.chunkers.tokens import quarters

_NO_LETTER = re.compile(r"[\W\d_]+")
_LEAST_ALIKE = 10
_FIRST, _LAST = 4, 2
"""Shown lines of a run with only numbers and bars differing, if a cell has at least `_LEAST_ALIKE` such lines."""

_LEAST_REPEATED = 8
_OF_REPEATED = 2
"""Shown lines of an output similar to an earlier one, of at least `_LEAST_REPEATED` lines."""

_HEAD_SHARE = 0.75

Shapes = dict[tuple[str, ...], int]
"""The outputs seen so far, by the shapes of their lines, and the numbers of their cells."""


def folded(lines: Sequence[Line], number: int, seen: Shapes, most: int) -> tuple[Line, ...]:
    """Return the lines of a cell with a note in place of folded ones; all lines stay, some of them empty.

    Parameters:
        seen: outputs of the cells before; this one is added.
        most: of an output, in quarters of a token.
    """
    places = [place for place, line in enumerate(lines) if line.role == OUTPUT]
    if len(places) < _LEAST_REPEATED and sum(quarters(lines[place].content) for place in places) <= most:
        return tuple(lines)
    shapes = tuple(_NO_LETTER.sub(" ", lines[place].content) for place in places)
    earlier = seen.setdefault(shapes, number)
    if len(places) >= _LEAST_REPEATED and earlier != number:
        hidden = set(range(_OF_REPEATED, len(places)))
        note = f"lines as in cell {earlier + 1}"
    else:
        hidden = set(_alike(shapes))
        note = "lines like these"
    shown = [line for line in range(len(places)) if line not in hidden]
    far = set(_beyond([quarters(lines[places[line]].content) for line in shown], most))
    hidden |= {shown[line] for line in far}
    result = list(lines)
    for first, length in _runs(hidden):
        for line in range(first, first + length):
            result[places[line]] = lines[places[line]]._replace(content="")
        told = f"... {length:,} {'lines' if far else note} ...\n"
        result[places[first]] = lines[places[first]]._replace(content=told)
    return tuple(result)


def _alike(shapes: Sequence[str]) -> Iterator[int]:
    counts, passed = Counter(shapes), Counter[str]()
    for line, shape in enumerate(shapes):
        passed[shape] += 1
        if counts[shape] >= _LEAST_ALIKE and _FIRST < passed[shape] <= counts[shape] - _LAST:
            yield line


def _beyond(sizes: Sequence[int], most: int) -> Iterator[int]:
    """Yield the lines in the middle, so the first and last of them are within the limit."""
    if sum(sizes) <= most:
        return
    first, end, room = 0, len(sizes), most * _HEAD_SHARE
    while first < end and sizes[first] <= room:
        room -= sizes[first]
        first += 1
    room = most * (1 - _HEAD_SHARE)
    while end > first and sizes[end - 1] <= room:
        room -= sizes[end - 1]
        end -= 1
    # A single line over the limit stays; it is divided like any other.
    yield from range(first, end) if end - first > 1 else ()


def _runs(numbers: set[int]) -> Iterator[tuple[int, int]]:
    """Yield the first number and the length of each run of consecutive numbers."""
    for number in sorted(numbers):
        if number - 1 in numbers:
            continue
        length = 1
        while number + length in numbers:
            length += 1
        yield number, length
