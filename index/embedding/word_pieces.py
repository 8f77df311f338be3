"""Tokens of words by byte pair encoding with byte fallback, read from a file of the `tokenizers` library.

Only the static model uses it, a word of at most 32 characters at a time. The library itself takes 28 MB with all
that it brings.
"""

import json
from collections.abc import Callable, Iterator
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
    model = _Model(told["vocab"], {(left, right): rank for rank, (left, right) in enumerate(told["merges"])})

    def pieces(word: str) -> tuple[int, ...]:
        whole = model.vocabulary.get(word)
        return (whole,) if whole is not None else _merged(word, model)

    return pieces


def _merged(word: str, model: _Model) -> tuple[int, ...]:
    parts = list(_characters(word, model.vocabulary))
    never = len(model.ranks)
    while len(parts) > 1:
        rank, place = min((model.ranks.get((parts[at], parts[at + 1]), never), at) for at in range(len(parts) - 1))
        if rank == never:
            break
        parts[place : place + 2] = [parts[place] + parts[place + 1]]
    return tuple(model.vocabulary[part] for part in parts)


def _characters(word: str, vocabulary: dict[str, int]) -> Iterator[str]:
    """Yield the characters of a word; the bytes of a character that is no token."""
    for character in word:
        if character in vocabulary:
            yield character
        else:
            yield from (f"<0x{byte:02X}>" for byte in character.encode())
