"""The text of a JSON string and where each of its characters stands in the JSON."""

import json
import re
from bisect import bisect_right
from typing import NamedTuple

# RFC 8259, section 7: a character beyond the first plane is two escapes.
_ESCAPE = re.compile(r"\\(?:u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2}|u[\da-fA-F]{4}|.)", re.DOTALL)


class Encoded(NamedTuple):
    """A decoded string.

    Attributes:
        text: the string's value.
        start: where its first character stands in the source, after the quote.
        after: for each escape the index in `text` of the character after it, in order.
        shifts: for each escape how much longer the source is than the text, up to and with it.
    """

    text: str
    start: int
    after: tuple[int, ...] = ()
    shifts: tuple[int, ...] = ()

    def source_of(self, index: int) -> int:
        """Where a character of `text` begins in the source; for the length of `text`, where the closing quote is."""
        escapes = bisect_right(self.after, index)
        return self.start + index + (self.shifts[escapes - 1] if escapes else 0)


def encoded(source: str, start: int, end: int) -> Encoded:
    """The string that is written from start to end, quotes included; an empty one where it is no JSON string.

    Parameters:
        source: the JSON text.
        start, end: characters of it.
    """
    written = source[start:end]
    try:
        text = json.loads(written, strict=False)
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
