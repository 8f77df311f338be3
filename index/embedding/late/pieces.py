"""Find the offsets of a tokenizer's pieces in a text, for tokenizers without offsets."""

import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_REACH = 256
"""Bytes covered by an unknown piece: BERT's tokenizers treat words of up to 100 characters as one unknown token."""
_MOST_LOST = 16
"""Unknown pieces in a row which extend the search; keeps it linear."""
_LEFT_OUT = frozenset({"Mn", "Cc", "Cf", "Zs", "Zl", "Zp"})
"""Accents, controls and spaces: categories dropped by an uncased tokenizer."""


def offsets_of(text: str, pieces: Sequence[bytes]) -> "NDArray[np.int64]":
    """Return each piece's range of characters, half-open, shape (pieces, 2); starts never decrease.

    Exact if the joined pieces equal the text, as for byte-level and SentencePiece tokenizers; and if each is found in
    turn in the text without case, accents and spaces, as for BERT's. A piece not found (an unknown word) covers the
    range between its neighbours.

    Parameters:
        text: encodable.
        pieces: in order, in UTF-8; a piece may be a part of a character.
    """
    import numpy as np

    whole, own = b"".join(pieces), text.encode()
    lead = len(whole) - len(own)  # SentencePiece puts a space before the text.
    if whole.endswith(own) and whole[:lead].strip() == b"":
        spans = _spans_in_turn(text, pieces, lead)
    else:
        spans = _spans_found(text, pieces)
    return np.array(list(spans), np.int64).reshape(-1, 2)


def _spans_in_turn(text: str, pieces: Sequence[bytes], lead: int) -> Iterator[tuple[int, int]]:
    characters = list(accumulate((len(character.encode()) for character in text), initial=0))
    for start, end in pairwise(accumulate(map(len, pieces), initial=-lead)):
        yield bisect_right(characters, max(start, 0)) - 1, bisect_left(characters, max(end, 0))


def _spans_found(text: str, pieces: Sequence[bytes]) -> Iterator[tuple[int, int]]:
    folded, origins = _folded(text)
    places = _places(folded, pieces)
    following = len(folded)
    spans: list[tuple[int, int]] = []
    for start, end in reversed(places):
        if end > start:
            spans.append((origins[start], origins[end - 1] + 1))
            following = start
        else:
            spans.append((origins[start], origins[following - 1] + 1 if following > start else origins[start]))
    return reversed(spans)


def _places(folded: bytes, pieces: Sequence[bytes]) -> list[tuple[int, int]]:
    """Find each piece in the folded text; one not found is an empty range after the piece before it."""
    places: list[tuple[int, int]] = []
    position, lost = 0, 0
    for piece in pieces:
        wanted, _ = _folded(piece.decode(errors="ignore"))
        # After unknown pieces the next one may be further on; otherwise it must be right here.
        reach = position + len(wanted) + _REACH * min(lost, _MOST_LOST)
        found = folded.find(wanted, position, reach) if wanted else -1
        start = position if found < 0 else found
        position = start if found < 0 else start + len(wanted)
        lost = lost + 1 if found < 0 else 0
        places.append((start, position))
    return places


def _folded(text: str) -> tuple[bytes, list[int]]:
    """Fold a text to UTF-8 without case, accents, controls and spaces.

    Returns:
        The folded text, and each byte's character position followed by the text's length.
    """
    folded = bytearray()
    origins: list[int] = []
    for index, character in enumerate(text):
        own = "".join(part for part in unicodedata.normalize("NFD", character.lower()) if _counts(part)).encode()
        folded += own
        origins.extend([index] * len(own))
    return bytes(folded), [*origins, len(text)]


def _counts(character: str) -> bool:
    return not character.isspace() and unicodedata.category(character) not in _LEFT_OUT
