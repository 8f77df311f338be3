"""Measure parts of a page by the text people read of it: tags weigh little, however many."""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import NamedTuple

from cqm.chunkers.documents.markup import OPEN, Token
from cqm.chunkers.pages.html_text import BREAKS, PLAIN, Reading
from cqm.chunkers.tokens import quarters

MARKUP = 16
"""Characters of markup weighing as much as one of text: a chunk's source is at most this many times its limit.

In half of the chunks of Dokka's and Scaladoc's pages, over 14 characters of source give one to read; of Sphinx's and
Javadoc's, over 4.
"""

# A shorter script or style sheet sets up the page; a longer one is read as code.
_LEAST_SCRIPT = 2_000
_SCRIPTS = frozenset(("script", "style"))


class Sizes(NamedTuple):
    """The weight of any part of a page, in quarters of a token; parts add up to the whole, but for rounding.

    Attributes:
        starts, ends: of the stretches of text, in order; everything between them is markup.
        weights: of each stretch.
        before: of everything before each stretch.
    """

    starts: list[int]
    ends: list[int]
    weights: list[int]
    before: list[int]

    def between(self, start: int, end: int) -> int:
        """Return the weight of the characters from start to end, at least 1 for any."""
        return max(self._at(end) - self._at(start), 1) if start < end else 0

    def _at(self, position: int) -> int:
        number = bisect_right(self.starts, position) - 1
        start, end, weight = self.starts[number], self.ends[number], self.weights[number]
        if position < end:
            # In proportion: counting again for each place in a long text would be quadratic.
            return self.before[number] + weight * (position - start) // (end - start)
        return self.before[number] + weight + (position - end) // MARKUP


def sizes_of(text: str, tokens: Sequence[Token], reading: Reading) -> Sizes:
    """Weigh a page; time and memory are linear in its length.

    Parameters:
        tokens: all its tags.
        reading: of the whole page.
    """
    stretches = sorted([*_read(text, reading), *_scripts(text, tokens)])
    sizes = Sizes([0], [0], [0], [0])
    position = total = 0
    for start, end, weight, lead in stretches:
        total += (start - position) // MARKUP + lead
        sizes.starts.append(start)
        sizes.ends.append(end)
        sizes.weights.append(weight)
        sizes.before.append(total)
        total += weight
        position = end
    return sizes


def _read(text: str, reading: Reading) -> Iterator[tuple[int, int, int, int]]:
    """Yield the stretches of text: start, end, weight, and the weight of signs and line ends written before it."""
    gap = 0
    for start, end, note in zip(reading.starts, reading.ends, reading.notes, strict=True):
        if start == end:
            if note in BREAKS or note == " ":
                gap = max(gap, len(note))
            else:
                yield start, end, 0, len(note)
            continue
        own = text[start:end]
        words = " ".join(own.split()) if note == PLAIN else own
        if words:
            # Where no line ends, a blank may part it from the text before.
            yield start, end, quarters(words), gap or int(own[0].isspace())
            gap = 0


def _scripts(text: str, tokens: Sequence[Token]) -> Iterator[tuple[int, int, int, int]]:
    for token, following in zip_longest(tokens, tokens[1:]):
        end = following.start if following else len(text)
        if token.name in _SCRIPTS and token.kind == OPEN and end - token.end >= _LEAST_SCRIPT:
            yield token.end, end, quarters(text[token.end : end]), 0
