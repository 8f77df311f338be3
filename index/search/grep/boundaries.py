"""Find a pattern with word boundaries beside letters of any script.

RE2 knows boundaries of ASCII words only: in "größe" it sees two more, before and after "öß". So a line with other
letters gets marks: one character at each boundary, another one everywhere else, and one each for its start and end. The
pattern for marked lines passes over them.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from cqm.index.search.grep.syntax import ANY_WORD, BOUNDARY, END, NO_BOUNDARY, START, Read

if TYPE_CHECKING:
    import re2

_LONGEST = 1 << 17
"""Bytes of a line to be marked, which takes .1 s. Longer ones have the boundaries of ASCII."""
_TIMES = 2
"""Marks in one place, as a pattern may ask for it twice."""
_ON, _OFF = BOUNDARY * _TIMES, NO_BOUNDARY * _TIMES
_MARKS = tuple(mark.encode() for mark in (BOUNDARY, NO_BOUNDARY, START, END))
_WIDTH = len(_MARKS[0])
_HEAD, _INSIDE = 0b11000000, 0b10000000
"""Bits of a byte of UTF-8 that tell whether it goes on with a character."""


class Boundaries:
    """Finds a pattern in texts beyond ASCII.

    Parameters:
        read: a pattern with word boundaries and without line ends.
        for_ascii: compiled for texts of ASCII.
    """

    def __init__(self, read: Read, for_ascii: "re2._Regexp", options: "re2.Options") -> None:
        import re2

        self._for_ascii = for_ascii
        self._marked, self._possible = (
            re2.compile(f"(?m:{it})".encode(), options) for it in (read.for_marked, read.without_boundaries)
        )
        self._words = re2.compile(f"[{ANY_WORD}]+", options)

    @property
    def programsize(self) -> int:
        """Instructions of the compiled pattern."""
        return int(self._marked.programsize)

    def spans(self, text: bytes, start: int, end: int) -> Iterator[tuple[int, int]]:
        """Yield first byte and the one after the last of each match in some lines of a text, without overlap."""
        while start <= end and (found := self._possible.search(text, start, end)):
            first = text.rfind(b"\n", start, found.start()) + 1 or start
            last = text.find(b"\n", found.start(), end)
            last = end if last < 0 else last
            yield from self._in_line(text, first, last)
            start = last + 1

    def _in_line(self, text: bytes, first: int, last: int) -> Iterator[tuple[int, int]]:
        line = text[first:last]
        if line.isascii() or len(line) > _LONGEST:
            yield from (found.span() for found in self._for_ascii.finditer(text, first, last))
            return
        marked = self._with_marks(line.decode("utf-8", "replace")).encode()
        place, marks, former = 0, 0, [-1, -1]
        for found in self._marked.finditer(marked):
            span = []
            for met in found.span():
                at = _character(marked, met)
                marks += sum(marked.count(mark, place, at) for mark in _MARKS)
                place = at
                span.append(first + at - marks * _WIDTH)
            # A match of nothing is met once for each mark.
            if span != former:
                yield span[0], span[1]
            former = span

    def _with_marks(self, line: str) -> str:
        parts, end = [], 0
        for found in self._words.finditer(line):
            parts += [_OFF.join(line[end : found.start()]), _OFF.join(found[0])]
            end = found.end()
        parts.append(_OFF.join(line[end:]))
        # At either end of a line is no word.
        first, last = (_OFF if it or not line else _ON for it in (parts[0], parts[-1]))
        inner = _ON.join(parts).removeprefix(_ON).removesuffix(_ON)
        return f"{first}{START}{first}{inner}{last}{END}{last}"


def _character(marked: bytes, at: int) -> int:
    """Return where the character at a place begins: RE2 meets matches of nothing inside of characters, too."""
    while at < len(marked) and marked[at] & _HEAD == _INSIDE:
        at -= 1
    return at
