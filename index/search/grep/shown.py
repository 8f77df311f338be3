"""Matching lines as they are shown: with the lines around them, long ones cut."""

from typing import NamedTuple

from cqm.index.search.grep.lines import Match

_LONGEST_LINE = 400
_BEFORE = 100
"""Characters shown of a long line, and those of them before its first match."""
_MOST_LINES = 60
"""Lines shown of a match of several."""


class Shown(NamedTuple):
    """Lines of a file around a match.

    Attributes:
        first, last: their numbers.
        text: their text; of a line of more than 400 characters the part with its first match.
        matches: as in `Hit.matches`, by the text shown.
        cut: characters left out before the text shown, by the number of the line.
    """

    first: int
    last: int
    text: str
    matches: tuple[tuple[int, int, int], ...]
    cut: dict[int, int]


def shown_lines(text: bytes, match: Match, around: int) -> Shown:
    """Show the lines of a match.

    Parameters:
        match: in it.
        around: number of lines before and after.
    """
    first, start = match.first, match.start
    for _ in range(around):
        if start == 0:
            break
        first, start = first - 1, text.rfind(b"\n", 0, start - 1) + 1
    end = match.end
    for _ in range(around):
        following = text.find(b"\n", end + 1)
        if end + 1 >= len(text):
            break
        end = len(text) if following < 0 else following
    lines, matches, cut, place = list[str](), list[tuple[int, int, int]](), dict[int, int](), start
    for number, line in enumerate(text[start:end].split(b"\n")[:_MOST_LINES], first):
        spans = [
            (max(0, a - place), min(len(line), b - place))
            for a, b in match.spans
            if a <= place + len(line) and (b > place or a == b >= place)
        ]
        shown, skipped, marks = _cut(line, spans)
        lines.append(shown)
        matches += [(number, a, b) for a, b in marks]
        if skipped:
            cut[number] = skipped
        place += len(line) + 1
    return Shown(first, first + len(lines) - 1, "\n".join(lines), tuple(matches), cut)


def _cut(line: bytes, spans: list[tuple[int, int]]) -> tuple[str, int, list[tuple[int, int]]]:
    """Return the part of a line to show, the number of characters before it, and the matches in it by character."""
    whole = line.decode("utf-8", "replace")
    first = len(line[: spans[0][0]].decode("utf-8", "replace")) if spans else 0
    skipped = max(0, min(first - _BEFORE, len(whole) - _LONGEST_LINE)) if len(whole) > _LONGEST_LINE else 0
    shown = whole[skipped : skipped + _LONGEST_LINE]
    marks = []
    at, character = 0, 0
    for start, end in spans:
        character += len(line[at:start].decode("utf-8", "replace"))
        at = start
        if character - skipped > len(shown):
            break
        length = len(line[start:end].decode("utf-8", "replace"))
        marks.append((character - skipped, min(len(shown), character - skipped + length)))
    return shown, skipped, marks
