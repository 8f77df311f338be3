"""Count a text's lines, their sizes and blanks; the code chunker works in rows."""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import accumulate

from cqm.chunkers.model import ChunkOptions
from cqm.chunkers.tokens import QUARTERS, quarters


@dataclass(frozen=True, slots=True)
class Source:
    r"""A text and its lines; rows count from 0, and a line ends at "\n" only, as in the syntax tree.

    Attributes:
        data: the text as UTF-8, with anything unknown to its grammar blanked (`Language.removed`).
        lines: without their ends.
        starts: the first character of each row, then the length of the text.
        offsets: the first byte of each row in the data, then a position after all of them.
        sizes: quarters of a token before each row, then of the whole text.
        limit, least: `ChunkOptions.max_tokens` and `min_tokens` in quarters of a token.
        apart: see `ChunkOptions`; nothing is too small then.
    """

    text: str
    data: bytes
    lines: list[str]
    starts: list[int]
    offsets: list[int]
    sizes: list[int]
    limit: int
    least: int
    apart: bool = False

    def size(self, first: int, end: int) -> int:
        """Return the quarters of a token in the rows from first to before end."""
        return self.sizes[end] - self.sizes[first]

    def is_blank(self, row: int) -> bool:
        """Tell if the row has nothing but white space."""
        line = self.lines[row]
        return not line or line.isspace()

    def trimmed(self, first: int, end: int) -> int:
        """Return the end of the rows without trailing blank rows; first if all are blank."""
        lines = self.lines
        while end > first and (not (line := lines[end - 1]) or line.isspace()):
            end -= 1
        return end


def source_of(text: str, data: bytes, options: ChunkOptions) -> Source:
    """Count the lines of a text parsed as the given data."""
    lines = text.split("\n")
    lengths = [*map(len, lines)]
    starts = _begins(lengths)
    # The estimate is additive: a sum over rows is the size of their text.
    offsets, sizes = starts.copy(), starts
    if not text.isascii():
        offsets = _begins(map(len, data.split(b"\n")))
        for row, is_ascii in enumerate(map(str.isascii, lines)):
            if not is_ascii:
                lengths[row] = quarters(lines[row])
        sizes = _begins(lengths)
    starts[-1] = len(text)
    least = 0 if options.apart else options.min_tokens * QUARTERS
    return Source(text, data, lines, starts, offsets, sizes, options.max_tokens * QUARTERS, least, options.apart)


def _begins(lengths: Iterable[int]) -> list[int]:
    """Return the start of each line, then the end of the last one; lengths are without line ends."""
    return list(accumulate([length + 1 for length in lengths], initial=0))
