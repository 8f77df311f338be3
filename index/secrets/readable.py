"""A text as people read it: without invisible characters, and with full-width letters as plain ones."""

import re
from dataclasses import dataclass

from cqm.index.secrets.model import Match

_INVISIBLE = re.compile(
    "[\u00ad\u034f\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufe00-\ufe0f\ufeff]+"
)
_WIDE = re.compile("[\u3000\uff01-\uff5e\uff1a]")
_PLAIN = {0x3000: " "} | {code: chr(code - 0xFEE0) for code in range(0xFF01, 0xFF5F)}


_ASCII = bytes(range(128))


@dataclass(frozen=True, slots=True)
class Readable:
    """A text to search in.

    Attributes:
        text: with plain letters.
        low: the same in lower case, of the same length, "?" for what is not ASCII.
        others: all characters that are not ASCII, in lower case.
        places: where each character, and the end, is in the original; empty if nothing was left out.
    """

    text: str
    low: str
    others: str = ""
    places: tuple[int, ...] = ()

    def original(self, match: Match) -> Match:
        """Return a match with its span in the original."""
        if not self.places:
            return match
        return Match(match.kind, self.places[match.start], self.places[match.end - 1] + 1)


def readable(text: str) -> Readable:
    """Leave out invisible characters and make full-width ones plain."""
    if text.isascii():
        return Readable(text, text.lower())
    # Most such texts have a few dashes and quotation marks: these are looked at alone.
    others = text.encode("utf-8", "replace").translate(None, _ASCII).decode("utf-8")
    places: tuple[int, ...] = ()
    if _INVISIBLE.search(others):
        hidden = {place for it in _INVISIBLE.finditer(text) for place in range(*it.span())}
        places = tuple(place for place in range(len(text)) if place not in hidden)
        text, others = _INVISIBLE.sub("", text), _INVISIBLE.sub("", others)
    if _WIDE.search(others):
        text = text.translate(_PLAIN)
    # Searching in one byte a character is three times as fast.
    low = text.encode("ascii", "replace").decode("ascii").lower()
    return Readable(text, low, others.lower(), places)
