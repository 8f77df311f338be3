"""Find the lines of a text matching a pattern."""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from cqm.index.search.grep.pattern import Pattern

_SLICE = 1 << 16
"""Bytes between two looks at the clock."""
_MOST_LINES = 100_000
_MOST_MATCHES = 500_000
"""Counting ends here; more tell nothing to people, and take a second."""


class Match(NamedTuple):
    """Lines with matches.

    Attributes:
        first, last: number of the first and the last line, from 1. Equal unless a match has several.
        start, end: of these lines in the text, without the line end.
        spans: of the matches in the text, in order.
    """

    first: int
    last: int
    start: int
    end: int
    spans: list[tuple[int, int]]


@dataclass(slots=True)
class Tally:
    """Counts of a search, and its deadline.

    Attributes:
        deadline: of `time.monotonic`.
        matches, lines, files: found so far.
        is_complete: False once something was left out.
    """

    deadline: float
    matches: int = 0
    lines: int = 0
    files: int = 0
    is_complete: bool = True

    def is_over(self) -> bool:
        """Tell whether to stop, and note so."""
        if self.lines >= _MOST_LINES or self.matches >= _MOST_MATCHES or time.monotonic() > self.deadline:
            self.is_complete = False
        return not self.is_complete


def as_lines(text: bytes, pattern: Pattern) -> bytes:
    """Return a text with plain line ends, unless the pattern asks for the others."""
    return text if pattern.has_return or b"\r" not in text else text.replace(b"\r\n", b"\n")


def matching_lines(text: bytes, pattern: Pattern, tally: Tally) -> Iterator[Match]:
    """Yield the lines of a text with matches, in order; count them.

    Parameters:
        text: from `as_lines`, UTF-8.
        tally: counts, and ends the search.
    """
    files, waiting, number, counted = tally.files, None, 1, 0
    for start, end in _spans(text, pattern, tally):
        if waiting and start <= waiting.end:
            waiting.spans.append((start, end))
            if end > waiting.end:
                stop = _line_end(text, end - 1)
                waiting = waiting._replace(last=waiting.last + text.count(b"\n", waiting.end, stop), end=stop)
            continue
        if waiting:
            yield _counted(waiting, tally)
        number += text.count(b"\n", counted, start)
        counted = start
        line_start = text.rfind(b"\n", 0, start) + 1
        # A line end at the end of a match over several lines belongs to its last line.
        stop = _line_end(text, max(start, end - 1))
        waiting = Match(number, number + text.count(b"\n", start, stop), line_start, stop, [(start, end)])
    if waiting:
        yield _counted(waiting, tally)
    tally.files = files + (waiting is not None)


def count_lines(text: bytes, pattern: Pattern, tally: Tally) -> int:
    """Count as `matching_lines` does, for a pattern within lines; return the number of lines with a match."""
    lines, line_end = 0, -1
    for start, _ in _spans(text, pattern, tally):
        tally.matches += 1
        if start > line_end:
            lines += 1
            line_end = _line_end(text, start)
    tally.lines += lines
    tally.files += lines > 0
    return lines


def _counted(match: Match, tally: Tally) -> Match:
    tally.matches += len(match.spans)
    tally.lines += match.last - match.first + 1
    return match


def _line_end(text: bytes, place: int) -> int:
    found = text.find(b"\n", place)
    return len(text) if found < 0 else found


def _spans(text: bytes, pattern: Pattern, tally: Tally) -> Iterator[tuple[int, int]]:
    """Yield the matches, and look at the clock between slices of whole lines."""
    pattern = pattern.fitting(text)
    # After the last line end there is no line.
    beyond = len(text) if text.endswith(b"\n") or not text else -1
    if pattern.has_newline:
        for span in pattern.spans(text, 0, len(text)):
            if tally.is_over():
                return
            if span != (beyond, beyond):
                yield span
        return
    start = 0
    while start < len(text) and not tally.is_over():
        end = len(text) if len(text) - start <= _SLICE else _line_end(text, start + _SLICE)
        stop = end
        if pattern.is_large and end - start > 2 * _SLICE:
            # One long line, with a pattern needing seconds for it.
            stop, tally.is_complete = start + 2 * _SLICE, False
        for span in pattern.spans(text, start, stop):
            if span != (beyond, beyond):
                yield span
        start = end + 1
