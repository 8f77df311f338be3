"""Where a text may be cut for a window of tokens, and how many tokens lie before each such place."""

import re
import unicodedata
from collections.abc import Sequence
from typing import NamedTuple

from cqm.chunkers.tokens import QUARTERS, Tokenizer, quarters

# A token that ends inside a character is read together with those after it; no character has more than 4 bytes.
_MOST_AT_ONCE = 16

# A run of marks is not a character, however Unicode reads it.
_LONGEST_CHARACTER = 64

# What decoders put for bytes that are no character, and what JSON can carry and no tokenizer reads.
_UNREADABLE = re.compile("[\ufffd\ud800-\udfff]")

_LONGEST_WORD = 24
_WORD = re.compile(rf"\S{{1,{_LONGEST_WORD}}}\s{{0,{_LONGEST_WORD}}}|\s{{1,{_LONGEST_WORD}}}")

_JOINER = "\u200d"
_SKIN_TONES = range(0x1F3FB, 0x1F400)
_REGIONAL_INDICATORS = range(0x1F1E6, 0x1F200)


class Positions(NamedTuple):
    """Places where a text may be cut, ascending, from its start to its end.

    Attributes:
        ends: characters of the text.
        tokens: in the text up to there; in quarters of a token where they are estimated.
        scale: how many units of `tokens` are a token.
    """

    ends: Sequence[int]
    tokens: Sequence[int]
    scale: int


def token_positions(text: str, tokenizer: Tokenizer) -> Positions | None:
    """The ends of a text's tokens; None when the tokenizer does not give the text back as it was."""
    readable = _UNREADABLE.sub("?", text)
    tokens = tokenizer.encode(readable)
    ends, counts = [0], [0]
    first, position = 0, 0
    for last in range(1, len(tokens) + 1):
        own = tokenizer.decode(tokens[first:last])
        if readable.startswith(own, position) and own:
            first, position = last, position + len(own)
            if _may_end(text, ends[-1], position):
                ends.append(position)
                counts.append(last)
        elif last - first >= _MOST_AT_ONCE:
            return None
    if position < len(text):
        return None
    return Positions(ends, counts, 1)


def estimated_positions(text: str) -> Positions:
    """The ends of a text's words, and places inside of words of more than 24 characters."""
    ends, sizes = [0], [0]
    start, size = 0, 0
    while match := _WORD.match(text, start):
        end = match.end()
        while not _may_end(text, start, end):
            end += 1
        size += quarters(text[start:end])
        ends.append(end)
        sizes.append(size)
        start = end
    return Positions(ends, sizes, QUARTERS)


def is_boundary(text: str, position: int) -> bool:
    """Whether a text may be cut there: not before what changes the character before it, nor between CR and LF.

    Close to the grapheme clusters of Unicode's Annex 29.
    """
    if position <= 0 or position >= len(text):
        return True
    before, after = text[position - 1], text[position]
    if before == "\r":
        return after != "\n"
    if after.isascii() and before != _JOINER:
        return True
    return not _continues(before, after)


def _continues(before: str, after: str) -> bool:
    code = ord(after)
    if code in _SKIN_TONES or _JOINER in (before, after) or unicodedata.category(after).startswith("M"):
        return True
    if code in _REGIONAL_INDICATORS and ord(before) in _REGIONAL_INDICATORS:
        return True
    return "\udc00" <= after <= "\udfff" and "\ud800" <= before <= "\udbff"


def _may_end(text: str, start: int, end: int) -> bool:
    return is_boundary(text, end) or end - start > _LONGEST_CHARACTER
