"""Tokens of words by byte pair encoding with byte fallback, read from a file of the `tokenizers` library.

Only the static model uses it, a word of at most 32 characters at a time. The library itself takes 28 MB with all
that it brings.
"""

import json
from collections.abc import Callable, Iterator
from itertools import count, pairwise
from typing import NamedTuple

Pieces = Callable[[str], tuple[int, ...]]
"""Gives the numbers of a word's tokens."""


class _Model(NamedTuple):
    """Numbers of tokens, and ranks of pairs that merge, lowest first."""

    vocabulary: dict[str, int]
    ranks: dict[tuple[str, str], int]


def word_pieces(file: bytes) -> Pieces:
    """Return the tokenizer of a file: a word that is a token stays whole, another is merged from its characters.

    Its time grows with the square of a word's length.

    Parameters:
        file: JSON; BPE without normalizer and pre-tokenizer, with `byte_fallback` and `ignore_merges`.
    """
    told = json.loads(file)["model"]
    model = _Model(told["vocab"], dict(zip(map(tuple, told["merges"]), count())))

    def pieces(word: str) -> tuple[int, ...]:
        whole = model.vocabulary.get(word)
        return (whole,) if whole is not None else _merged(word, model)

    return pieces


def _merged(word: str, model: _Model) -> tuple[int, ...]:
    parts, rank_of, never = list(_characters(word, model.vocabulary)), model.ranks.get, len(model.ranks)
    ranks = [rank_of(pair, never) for pair in pairwise(parts)]
    while (least := min(ranks, default=never)) != never:
        place = ranks.index(least)
        parts[place : place + 2] = [parts[place] + parts[place + 1]]
        # Only the pairs beside the merged one are others now.
        del ranks[place]
        if place:
            ranks[place - 1] = rank_of((parts[place - 1], parts[place]), never)
        if place < len(ranks):
            ranks[place] = rank_of((parts[place], parts[place + 1]), never)
    return tuple(model.vocabulary[part] for part in parts)


def _characters(word: str, vocabulary: dict[str, int]) -> Iterator[str]:
    """Yield the characters of a word; the bytes of a character that is no token."""
    for character in word:
        if character in vocabulary:
            yield character
        else:
            yield from (f"<0x{byte:02X}>" for byte in character.encode())
