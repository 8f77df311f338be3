"""A text as people read it: without invisible characters, and with full-width letters as plain ones."""

import re
from bisect import bisect_right
from dataclasses import dataclass
from functools import cache
from itertools import accumulate
from typing import TYPE_CHECKING

from cqm.index.secrets.model import Match

if TYPE_CHECKING:
    import re2

_INVISIBLE = re.compile(
    "[\u00ad\u034f\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufe00-\ufe0f\ufeff]+"
)
_PLAIN = {"\u3000": " "} | {chr(code): chr(code - 0xFEE0) for code in range(0xFF01, 0xFF5F)}
_ASCII = bytes(range(128))
_LIKE = str.maketrans(
    "\u0430\u0435\u043e\u0440\u0441\u0443\u0445\u0455\u0456\u0458\u0501\u051d\u043a\u04bb\u03bf\u03b1\u03c1\u03ba\u03b9",
    "aeopcyxsijdwkhoapki",
)
"""Small letters of Cyrillic and Greek that look like plain ones; no word of such a language is a part of a name."""
_ESCAPED = re.compile(r"(?<=[A-Za-z_])\\(?:u00|x)(?P<code>[4-7][0-9A-Fa-f])(?=[A-Za-z_\\])")
_SIGN = "\u2064"
"""In the place of the other characters of an escape: it is left out."""


@dataclass(frozen=True, slots=True)
class Readable:
    """A text to search in.

    Attributes:
        text: with plain letters.
        low: the same in lower case, of the same length, "?" for characters beyond ASCII.
        others: all characters beyond ASCII, in lower case.
        gaps: places in the text where characters were left out, in order.
        left_out: number of characters left out before the text, and up to the end of each gap.
    """

    text: str
    low: str
    others: str = ""
    gaps: tuple[int, ...] = ()
    left_out: tuple[int, ...] = (0,)

    def original(self, match: Match) -> Match:
        """Return a match with its span in the original."""
        if not self.gaps:
            return match
        return Match(match.kind, self._original(match.start), self._original(match.end - 1) + 1)

    def _original(self, place: int) -> int:
        return place + self.left_out[bisect_right(self.gaps, place)]


@cache
def quick(pattern: str) -> "re2._Regexp[bytes]":
    """Return a pattern for bytes, reading a text in one pass, ten times as fast as `re`."""
    import re2  # start-up time

    return re2.compile(pattern.encode("ascii"))


def readable(text: str) -> Readable:
    """Leave out invisible characters, and make full-width and escaped ones plain."""
    if "\\u00" in text or "\\x" in text:
        text = _ESCAPED.sub(_plain, text)
    if text.isascii():
        return Readable(text, text.lower())
    # Most such texts have a few dashes and quotation marks: these are looked at alone.
    others = text.encode("utf-8", "replace").translate(None, _ASCII).decode("utf-8")
    gaps: tuple[int, ...] = ()
    left_out: tuple[int, ...] = (0,)
    if _INVISIBLE.search(others):
        spans = [it.span() for it in _INVISIBLE.finditer(text)]
        left_out = tuple(accumulate((end - start for start, end in spans), initial=0))
        gaps = tuple(start - before for (start, _), before in zip(spans, left_out, strict=False))
        text, others = _INVISIBLE.sub("", text), _INVISIBLE.sub("", others)
    for wide in _PLAIN.keys() & set(others):
        text = text.replace(wide, _PLAIN[wide])
    # Searching in one byte a character is three times as fast.
    small = others.lower()
    seen = text.lower().translate(_LIKE) if not small.isascii() and _LIKE.keys() & {*map(ord, small)} else ""
    # Few letters have a small one of another length, "İ" has.
    low = (seen if len(seen) == len(text) else text).encode("ascii", "replace").decode("ascii").lower()
    return Readable(text, low, small, gaps, left_out)


def _plain(escaped: re.Match[str]) -> str:
    return _SIGN * (len(escaped[0]) - 1) + chr(int(escaped["code"], 16))
