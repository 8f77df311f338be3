"""Split texts over a model's context into parts, and pool the parts' vectors into one."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from cqm.index.model.spaces import Vector

_ENDS = ("\n", " ")
"""Places to split a text after, the best first."""
_NOTHING = 1e-6
"""A mean of unit vectors this short has only the direction of rounding errors."""


class Part(NamedTuple):
    """The vector of a part of a text: its start, its length in characters, and its unit vector."""

    start: int
    length: int
    vector: "Vector"


def split(text: str, size: int) -> list[str]:
    """Split a text into parts; joined, they give the text again.

    Parameters:
        size: characters a part at most, 1 or more. A part ends with the last line ending in its second half, else after
            a blank there, else at its full size.
    """
    parts = []
    start = 0
    while len(text) - start > size:
        end = start + _length_of_part(text[start : start + size])
        parts.append(text[start:end])
        start = end
    return [*parts, text[start:]]


def pooled(parts: Sequence[Part]) -> "Vector | None":
    """Return the mean of parts' vectors, weighted by length, of unit length; None if they cancel each other out."""
    import numpy as np

    if len(parts) == 1:
        return parts[0].vector
    ordered = sorted(parts, key=lambda part: part.start)  # so the same parts always give the same sum
    lengths = np.array([part.length for part in ordered], dtype=np.float64)
    total = lengths @ np.array([part.vector for part in ordered], dtype=np.float64) / lengths.sum()
    norm = np.linalg.norm(total)
    if norm < _NOTHING:
        return None
    vector: Vector = (total / norm).astype(np.float32)
    return vector


def _length_of_part(window: str) -> int:
    for end in _ENDS:
        found = window.rfind(end, len(window) // 2)
        if found >= 0:
            return found + 1
    return len(window)
