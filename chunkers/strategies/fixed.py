"""Windows of a fixed number of tokens, which overlap by a fixed number of tokens."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from cqm.chunkers.model import Cut, Piece
from cqm.chunkers.strategies.positions import Positions, estimated_positions, token_positions
from cqm.chunkers.strategies.rules import TOKENIZER, Rule, Whole
from cqm.chunkers.tokens import Tokenizer

_DEFAULT_OVERLAP = 64

_INEXACT = "The tokenizer does not give every text back as it was: windows have estimated sizes."


@dataclass(frozen=True, slots=True)
class FixedOptions:
    """Windows of tokens; sizes are in tokens of the tokenizer, or estimated ones (`tokens.estimate`).

    Attributes:
        size_tokens: of a window with its overlap. 128 to 8192.
        overlap_tokens: how much of the window before it one repeats. 0 to half of size_tokens; 64 when neither this
            nor overlap_percent is given.
        overlap_percent: the same as a share of size_tokens, in place of overlap_tokens. 0 to 50.
        min_tokens: a last window with less than this beside its overlap is joined to the one before it. 0 to half of
            size_tokens.
        tokenizer: counts exactly; None for the estimate.
    """

    size_tokens: int = 512
    overlap_tokens: int | None = None
    overlap_percent: int | None = None
    min_tokens: int = 64
    tokenizer: Tokenizer | None = None


FIXED_RULES: Mapping[str, Rule] = {
    "size_tokens": Whole(128, 8192),
    "overlap_tokens": Whole(0, lambda options: options.size_tokens // 2, optional=True),
    "overlap_percent": Whole(0, 50, optional=True, instead_of="overlap_tokens"),
    "min_tokens": Whole(0, lambda options: options.size_tokens // 2),
    "tokenizer": TOKENIZER,
}


def cut_fixed(text: str, _language: str, options: FixedOptions) -> Cut:
    """Cut a text into windows; see `FixedOptions`.

    With a tokenizer every window is a run of the tokens of the whole text, but that it never ends inside a character or
    between characters that are read as one. Without, it ends after a word, or inside one of more than 24 characters.
    """
    exact = token_positions(text, options.tokenizer) if options.tokenizer else None
    positions = exact or estimated_positions(text)
    warnings = [_INEXACT] if options.tokenizer and exact is None else []
    return list(_windows(positions, options)), warnings


def _windows(positions: Positions, options: FixedOptions) -> Iterator[Piece]:
    ends, tokens, scale = positions
    size, overlap, least = (count * scale for count in (options.size_tokens, _overlap(options), options.min_tokens))
    last = len(ends) - 1
    start = 0
    while start < last:
        begin = bisect_left(tokens, tokens[start] - overlap, 0, start)
        end = max(bisect_right(tokens, tokens[begin] + size, start) - 1, start + 1)
        if tokens[last] - tokens[end] < least:
            end = last
        yield Piece(ends[start], ends[end], "text", overlap=ends[start] - ends[begin])
        start = end


def _overlap(options: FixedOptions) -> int:
    if options.overlap_percent is not None:
        return options.size_tokens * options.overlap_percent // 100
    return _DEFAULT_OVERLAP if options.overlap_tokens is None else options.overlap_tokens
