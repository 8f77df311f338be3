"""Cut windows of a fixed number of tokens with a fixed overlap."""

import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from cqm.chunkers.documents.blocks import blocks_of
from cqm.chunkers.documents.sectioning import WHOLE_BLOCK_LIMITS
from cqm.chunkers.model import Cut, Piece
from cqm.chunkers.strategies.rules import TOKENIZER, Flag, Rule, Whole
from cqm.chunkers.tokens import QUARTERS, Tokenizer, quarters

# A token ending inside a character is read with the following ones; no character has more than 4 bytes.
_MOST_AT_ONCE = 16

# A run of marks is not a character, despite Unicode.
_LONGEST_CHARACTER = 64

# Decoders' replacement for invalid bytes, and surrogates, allowed in JSON but unreadable for tokenizers.
_UNREADABLE = re.compile("[\ufffd\ud800-\udfff]")

_LONGEST_WORD = 24
_WORD = re.compile(rf"\S{{1,{_LONGEST_WORD}}}\s{{0,{_LONGEST_WORD}}}|\s{{1,{_LONGEST_WORD}}}")

_JOINER = "\u200d"
_SKIN_TONES = range(0x1F3FB, 0x1F400)
_REGIONAL_INDICATORS = range(0x1F1E6, 0x1F200)


class Positions(NamedTuple):
    """Possible cuts of a text, ascending, from its start to its end.

    Attributes:
        ends: characters of the text.
        tokens: number up to each end; in quarters of a token for estimates.
        scale: units of `tokens` in a token.
    """

    ends: Sequence[int]
    tokens: Sequence[int]
    scale: int


def token_positions(text: str, tokenizer: Tokenizer) -> Positions | None:
    """Return the ends of a text's tokens; None if the tokenizer does not reproduce the text."""
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
    """Return the ends of a text's words, and positions inside words of more than 24 characters."""
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
    """Tell if a text may be cut here: not before a modifier of the previous character, nor between CR and LF.

    This is close to the grapheme clusters of Unicode's Annex 29.
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


_DEFAULT_OVERLAP = 64

_INEXACT = "The tokenizer does not give every text back as it was: windows have estimated sizes."


@dataclass(frozen=True, slots=True)
class FixedOptions:
    """Windows of tokens; sizes are in tokens of the tokenizer, or estimated ones (`tokens.estimate`).

    Attributes:
        size_tokens: size of a window with its overlap. 128 to 8192.
        overlap_tokens: tokens repeated from the previous window. 0 to half of size_tokens; 64 if neither this nor
            overlap_percent is given.
        overlap_percent: the overlap as a share of size_tokens, instead of overlap_tokens. 0 to 50.
        min_tokens: a last window with less than this beside its overlap is joined to the previous one. 0 to half of
            size_tokens.
        keep_blocks: whether fences of up to four times size_tokens stay whole, and none is repeated in part: a window
            ends before a fence it would cut, or has all of it if less than min_tokens came before. A window ends before
            a heading rather than after it, if at least half of its size is left.
        tokenizer: counts exactly; None for the estimate.
    """

    size_tokens: int = 512
    overlap_tokens: int | None = None
    overlap_percent: int | None = None
    min_tokens: int = 64
    keep_blocks: bool = True
    tokenizer: Tokenizer | None = None


FIXED_RULES: Mapping[str, Rule] = {
    "size_tokens": Whole(128, 8192),
    "overlap_tokens": Whole(0, lambda options: options.size_tokens // 2, optional=True),
    "overlap_percent": Whole(0, 50, optional=True, instead_of="overlap_tokens"),
    "min_tokens": Whole(0, lambda options: options.size_tokens // 2),
    "keep_blocks": Flag(),
    "tokenizer": TOKENIZER,
}


def cut_fixed(text: str, _language: str, options: FixedOptions) -> Cut:
    """Cut a text into windows; see `FixedOptions`.

    With a tokenizer, each window is a run of the whole text's tokens, but never ends inside a character or between
    characters read as one. Without, it ends after a word, or inside one of more than 24 characters.
    """
    exact = token_positions(text, options.tokenizer) if options.tokenizer else None
    positions = exact or estimated_positions(text)
    warnings = [_INEXACT] if options.tokenizer and exact is None else []
    kept = _kept(text) if options.keep_blocks else []
    fences = [_tokens_in(positions, block) for block in kept if block.is_fence]
    limit = options.size_tokens * positions.scale
    if whole := sum(limit < size <= WHOLE_BLOCK_LIMITS * limit for size in fences):
        warnings.append(f"{whole} of the fences are over size_tokens={options.size_tokens} and stay whole")
    return list(_windows(positions, options, kept)), warnings


class _Kept(NamedTuple):
    """Characters where no window ends; those of fences are ends of windows themselves."""

    start: int
    end: int
    is_fence: bool


def _kept(text: str) -> list[_Kept]:
    """Return the fences, each with the headings right above it, and other headings with the first character below."""
    kept: list[_Kept] = []
    for block in blocks_of(text, (0, len(text))):
        if block.kind not in ("fence", "heading"):
            continue
        start, is_fence = block.start, block.kind == "fence"
        if kept and not kept[-1].is_fence and kept[-1].end > start:
            start = kept.pop().start
        kept.append(_Kept(start, block.end + (not is_fence), is_fence))
    return kept


def _windows(positions: Positions, options: FixedOptions, kept: Sequence[_Kept]) -> Iterator[Piece]:
    ends, tokens, scale = positions
    size, overlap, least = (count * scale for count in (options.size_tokens, _overlap(options), options.min_tokens))
    last = len(ends) - 1
    start = 0
    while start < last:
        begin = bisect_left(tokens, tokens[start] - overlap, 0, start)
        end = max(bisect_right(tokens, tokens[begin] + size, start) - 1, start + 1)
        block = _around(kept, ends[end])
        if block and end < last:
            begin, end = _around_block(positions, (begin, start, end), block, (size, least))
        if (fence := _around(kept, ends[begin])) and fence.is_fence and fence.end <= ends[start]:
            begin = bisect_left(ends, fence.end)
        if tokens[last] - tokens[end] < least:
            end = last
        yield Piece(ends[start], ends[end], "text", overlap=ends[start] - ends[begin])
        start = end


def _around(kept: Sequence[_Kept], position: int) -> _Kept | None:
    """Return the block divided by a cut at a position, if any."""
    number = bisect_left(kept, position, key=lambda block: block.start) - 1
    return kept[number] if number >= 0 and position < kept[number].end else None


def _tokens_in(positions: Positions, block: _Kept) -> int:
    """Return the size of a block in the units of the positions."""
    ends, tokens, _ = positions
    return tokens[bisect_left(ends, block.end, 0, len(ends) - 1)] - tokens[bisect_right(ends, block.start) - 1]


def _around_block(
    positions: Positions, window: tuple[int, int, int], block: _Kept, limits: tuple[int, int]
) -> tuple[int, int]:
    """Return the new start and end of a window ending inside a block.

    Parameters:
        window: start of its overlap, its own start, and its end.
        limits: size and least size of a window.
    """
    ends, tokens, _ = positions
    (begin, start, end), (size, least) = window, limits
    before, after = bisect_right(ends, block.start) - 1, bisect_left(ends, block.end)
    if not block.is_fence:
        return begin, before if tokens[before] - tokens[begin] >= size // 2 and before > start else end
    if _tokens_in(positions, block) > WHOLE_BLOCK_LIMITS * size:
        return begin, end
    if before > start and tokens[before] - tokens[start] >= least:
        return begin, before
    # All of the fence, with as much of the overlap as there is room for.
    return max(begin, min(bisect_left(tokens, tokens[after] - size), start)), after


def _overlap(options: FixedOptions) -> int:
    if options.overlap_percent is not None:
        return options.size_tokens * options.overlap_percent // 100
    return _DEFAULT_OVERLAP if options.overlap_tokens is None else options.overlap_tokens
