"""The order of the calls in a stack trace: which is the innermost.

Python prints the innermost call last, everybody else first. An exception's cause is further in than its effect: Java
prints it after, Python before. If handling one exception raised another, the later one ended the program.
"""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

INNERMOST_LAST, AS_WRITTEN, CALLERS_LAST = range(3)
"""Order of a form: Python's; everybody's; a message with the innermost call, and a table of its callers in reverse."""

_MARK = re.compile(
    r"(?P<cause>(?P<depth>(?<![ \t])[ \t]{0,200})(?:\bCaused by: ?|\[cause\]: |\[previous exception\]))"
    r"|(?P<suppressed>(?P<deep>(?<![ \t])[ \t]{0,200})\bSuppressed: )"
    r"|(?P<direct>The above exception was the direct cause)"
    r"|(?P<during>During handling of the above exception|\+-+ 1 -+)"
    r"|(?P<traceback>Traceback \(most recent call last\))"
    # Ruby prints a cause like the exception before it.
    r"|(?P<ruby>(?<=['\"])\n(?=\S+:\d+:in ['`][^\n]* \([A-Z][\w:]*\)))"
)
_FIRST_CALL_FIRST = "most recent call first"
_INCLUDED = re.compile(
    r"[Ii]n(?:cluded)?(?: file)? (?:included )?from|^\s*from\s+[^\n]*[,:]?$|required from|\binstantiated from"
)


class Quoted(NamedTuple):
    """Lines of a file quoted in a text, without the blanks around them.

    Attributes:
        lines: one after the other.
        changed: number of the first changed one: those before it are context.
    """

    lines: tuple[str, ...]
    changed: int = 0


class NamedPlace(NamedTuple):
    """A place named in a text.

    Attributes:
        path: with "/", as complete as written.
        first, last: lines from 1; equal for one line, 0 if only the file is named.
        near: words beside it; in a trace they name its function.
        stack: 0 for the most important trace, 1 for the next.
        leads: whether it begins its line, as in messages of compilers and linters.
        function: around the place, if a trace tells it; else empty.
        quoted: lines at the place, in the versions of a diff: the new one, the old one.
    """

    path: str
    first: int
    last: int
    near: str = ""
    stack: int = 0
    leads: bool = False
    function: str = ""
    quoted: tuple[Quoted, ...] = ()


class Frame(NamedTuple):
    """A place in a text, at a character, with the order of its form."""

    start: int
    order: int
    place: NamedPlace


def in_order(text: str, frames: Sequence[Frame]) -> list[NamedPlace]:
    """Return the places of a text, innermost call first; each once."""
    starts, ranks = _stacks(text)
    stacks: list[list[Frame]] = [[] for _ in starts]
    number = 0
    for frame in frames:
        while number + 1 < len(starts) and starts[number + 1] <= frame.start:
            number += 1
        stacks[number].append(frame)
    # Text without a frame, such as a title, is no stack.
    full = [stacks[number] for number in sorted(range(len(starts)), key=ranks.__getitem__) if stacks[number]]
    is_turned = _FIRST_CALL_FIRST in text
    found: dict[tuple[str, int, int], NamedPlace] = {}
    for rank, stack in enumerate(full):
        for place in _innermost_first(stack, is_turned=is_turned):
            found.setdefault(place[:3], place._replace(stack=rank))
    return [*found.values()]


def _innermost_first(stack: Sequence[Frame], *, is_turned: bool) -> Iterator[NamedPlace]:
    of: dict[int, list[NamedPlace]] = {INNERMOST_LAST: [], AS_WRITTEN: [], CALLERS_LAST: []}
    for frame in stack:
        of[frame.order].append(frame.place)
    yield from of[INNERMOST_LAST] if is_turned else reversed(of[INNERMOST_LAST])
    including = [bool(_INCLUDED.search(place.near.partition("\n")[0])) for place in of[AS_WRITTEN]]
    yield from (place for place, is_before in zip(of[AS_WRITTEN], including, strict=True) if not is_before)
    yield from reversed(of[CALLERS_LAST])
    yield from (place for place, is_before in zip(of[AS_WRITTEN], including, strict=True) if is_before)


def _stacks(text: str) -> tuple[list[int], list[int]]:
    """Return the start of each stack in a text, and its rank: the innermost has the least."""
    starts, order, pending, deep = [0], [0], "first", -1
    for mark in _MARK.finditer(text):
        kind = mark.lastgroup
        if mark["during"] or mark["direct"]:
            pending = "during" if mark["during"] else "direct"
            continue
        starts.append(mark.start())
        is_of_suppressed = bool(mark["cause"]) and 0 <= deep <= len(mark["depth"])
        deep = len(mark["deep"]) if mark["suppressed"] else deep if is_of_suppressed else -1
        is_further_in = mark["cause"] or mark["ruby"] or (kind == "traceback" and pending in {"first", "during"})
        order.insert(0 if is_further_in and not is_of_suppressed else len(order), len(starts) - 1)
        pending = ""
    ranks = [0] * len(order)
    for rank, number in enumerate(order):
        ranks[number] = rank
    return starts, ranks
