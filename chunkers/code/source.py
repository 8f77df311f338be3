"""A text as lines: where each begins, how long it is, and which are blank. The code chunker counts in rows."""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import accumulate

from cqm.chunkers.model import ChunkOptions
from cqm.chunkers.tokens import QUARTERS, quarters


@dataclass(frozen=True, slots=True)
class Source:
    r"""A text and its lines; rows count from 0, and a line ends at "\n" only, as in the syntax tree.

    Attributes:
        text: the whole text.
        data: what was parsed: the text as UTF-8, with what its grammar does not know blanked.
        lines: without their ends.
        starts: the character where each row begins, and the length of the text at the end.
        offsets: the byte of the data where each row begins, and a place behind all of them at the end.
        sizes: quarters of a token before each row, and of the whole text at the end.
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
        """Quarters of a token of the rows from first to before end."""
        return self.sizes[end] - self.sizes[first]

    def is_blank(self, row: int) -> bool:
        """Whether nothing but white space is in the row."""
        line = self.lines[row]
        return not line or line.isspace()

    def trimmed(self, first: int, end: int) -> int:
        """The end of rows without the blank ones at their end; first when all are blank."""
        while end > first and self.is_blank(end - 1):
            end -= 1
        return end


def source_of(text: str, data: bytes, options: ChunkOptions) -> Source:
    """Count the lines of a text that was parsed as the data."""
    lines = text.split("\n")
    offsets = _begins(map(len, lines if text.isascii() else data.split(b"\n")))
    starts = offsets.copy() if text.isascii() else _begins(map(len, lines))
    starts[-1] = len(text)
    # The estimate is additive, so that a sum over rows is that of their text.
    sizes = starts if text.isascii() else _begins(len(line) if line.isascii() else quarters(line) for line in lines)
    least = 0 if options.apart else options.min_tokens * QUARTERS
    return Source(text, data, lines, starts, offsets, sizes, options.max_tokens * QUARTERS, least, options.apart)


def _begins(lengths: Iterable[int]) -> list[int]:
    """Where each line begins, and the place behind the last one's end; lengths are without the line ends."""
    return list(accumulate([length + 1 for length in lengths], initial=0))
