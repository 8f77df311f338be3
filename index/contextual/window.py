"""How much of a document a model is shown: all of a short one; of a long one its beginning and a window.

Windows lie at fixed places and overlap by half, and a chunk takes the one that shows most of both of its sides. So
neighbours share a window, which a provider's prompt cache then knows, and yet a chunk has about a quarter of a window
on either side.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from cqm.chunkers.tokens import QUARTERS, estimate, quarters

_BEGINNING_SHARE = 8
"""A document's title and introduction get every so many tokens of what is shown."""
_LEAST_TOKENS = 64
_LEFT_OUT = "\n[...]\n"


@dataclass(frozen=True, slots=True)
class Windows:
    """The windows of one document.

    Attributes:
        text: the document's.
        beginning: characters of it that are shown with every window.
        spans: start and end of each window, in characters; ascending.
    """

    text: str
    beginning: int
    spans: tuple[tuple[int, int], ...]

    def around(self, start: int, end: int) -> str:
        """What is shown with the characters from start to end."""
        middle = (start + end) // 2
        opened, closed = max(self.spans, key=lambda span: min(middle - span[0], span[1] - middle))
        rest = _LEFT_OUT if closed < len(self.text) else ""
        if opened <= self.beginning:
            return self.text[:closed] + rest
        return self.text[: self.beginning] + _LEFT_OUT + self.text[opened:closed] + rest


def cut_windows(text: str, window_tokens: int) -> Windows:
    """The windows of a document, so that what is shown has at most `window_tokens` estimated tokens, or 64.

    Parameters:
        text: the whole document.
        window_tokens: estimated, of the beginning and a window together.
    """
    tokens = max(window_tokens, _LEAST_TOKENS)
    if estimate(text) <= tokens:
        return Windows(text, 0, ((0, len(text)),))
    beginning = tokens // _BEGINNING_SHARE
    cuts = [0, *_cuts(text, (tokens - beginning) // 2)]
    spans = tuple(zip(cuts, cuts[2:], strict=False))
    return Windows(text, next(_cuts(text, beginning)), spans)


def _cuts(text: str, tokens: int) -> Iterator[int]:
    """Where stretches of at most so many tokens end: at lines, but within a line that is longer than a stretch."""
    limit = tokens * QUARTERS
    held, position = 0, 0
    for piece in _pieces(text, limit // 2):
        size = quarters(piece)
        if held + size > limit:
            yield position
            held = 0
        held += size
        position += len(piece)
    yield position


def _pieces(text: str, longest: int) -> Iterator[str]:
    """The lines with their ends, long ones in pieces of so many characters; a character is half a token at most."""
    for line in text.splitlines(keepends=True):
        for start in range(0, len(line), longest):
            yield line[start : start + longest]
