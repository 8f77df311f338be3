"""Decode a JSON string and map its characters to positions in the JSON."""

import re
from bisect import bisect_right
from typing import NamedTuple

from cqm.chunkers.structured.spans_of_json import loads

# RFC 8259, section 7: a character beyond the first plane is two escapes.
_ESCAPE = re.compile(r"\\(?:u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2}|u[\da-fA-F]{4}|.)", re.DOTALL)


class Encoded(NamedTuple):
    """A decoded string.

    Attributes:
        text: the string's value.
        start: position of its first character in the source, after the quote.
        after: for each escape the index in `text` of the next character, in order.
        shifts: for each escape the extra length of the source over the text, including this escape.
    """

    text: str
    start: int
    after: tuple[int, ...] = ()
    shifts: tuple[int, ...] = ()

    def source_of(self, index: int) -> int:
        """Return the position of a character of `text` in the source; of the closing quote for the length of `text`."""
        escapes = bisect_right(self.after, index)
        return self.start + index + (self.shifts[escapes - 1] if escapes else 0)


def encoded(source: str, start: int, end: int) -> Encoded:
    """Decode the string written from start to end, quotes included; an empty one if it is not a JSON string."""
    written = source[start:end]
    try:
        text = loads(written)
    except (ValueError, RecursionError):
        return Encoded("", start + 1)
    if not isinstance(text, str):
        return Encoded("", start + 1)
    after: list[int] = []
    shifts: list[int] = []
    shift = 0
    for escape in _ESCAPE.finditer(source, start + 1, end - 1):
        shift += escape.end() - escape.start() - 1
        after.append(escape.end() - start - 1 - shift)
        shifts.append(shift)
    return Encoded(text, start + 1, tuple(after), tuple(shifts))
