"""Find the declarations and statements of a program without its grammar, by brackets outside strings and comments."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from cqm.chunkers.languages.model import signs_of

if TYPE_CHECKING:
    from cqm.chunkers.languages.model import Unread

_CLOSING = {b"}": b"{", b")": b"(", b"]": b"["}
_OPENING = frozenset(_CLOSING.values())
_BRACKETS = {b"@int": b"{", b"@imp": b"{", b"@pro": b"{", b"@end": b"}"}
"""Words of Objective-C enclosing like braces, by their beginnings."""
_LONGEST_CALL = 2_000
"""Most bytes of a macro's call in a row of its own, without an end sign."""
_NONE: Mapping[int, tuple[int, int]] = {}
_MAX_OPEN = 200
"""Brackets open at once; deeper ones are text, so nothing here is quadratic."""


@dataclass(slots=True, eq=False)
class Segment:
    """A whole declaration or statement, without comments above it.

    Attributes:
        start, end: bytes, half-open.
        opens, closes: bytes of the braces around its last block; -1 without one, `closes` also if it is never closed.
        inner: the segments of this block.
    """

    start: int
    end: int
    opens: int = -1
    closes: int = -1
    inner: "list[Segment]" = field(default_factory=list)


@dataclass(slots=True, eq=False)
class _Frame:
    """An open bracket, or the whole text.

    Attributes:
        sign: the bracket; empty for the text.
        holds: whether it has segments: the text and braces do.
        outer: the indentation of the segment around it.
        inside: the indentation of its first row; -1 before one.
        segments: the complete ones.
        current: the incomplete segment.
        indentation: of the current segment's first row.
    """

    sign: bytes = b""
    holds: bool = True
    start: int = -1
    outer: int = -1
    inside: int = -1
    segments: list[Segment] = field(default_factory=list)
    current: Segment | None = None
    indentation: int = -1


def segments_of(source: bytes, unread: "Unread", whole: Mapping[int, tuple[int, int]] = _NONE) -> list[Segment]:
    """Divide a program into its outermost segments, each with those in its block; time is linear.

    Brackets decide where they balance. Elsewhere, rows indented less than an open block's first row close it: a bracket
    too many or too few costs only its own declaration.

    Parameters:
        source: the program, as given to the parser.
        whole: starts of blocks and ends of declarations without need for a look inside, by their first bytes; they get
            no inner segments.
    """
    by_brackets = _Reader(source, unread, {} if unread.ends_at_rows else whole, is_forced=False)
    segments = by_brackets.read()
    return segments if by_brackets.is_balanced else _Reader(source, unread, _NONE, is_forced=True).read()


class _Reader:
    """One pass over the signs of a source."""

    def __init__(
        self, source: bytes, unread: "Unread", whole: Mapping[int, tuple[int, int]], *, is_forced: bool
    ) -> None:
        self.source, self.unread, self.whole, self.is_forced = source, unread, whole, is_forced
        self.frames = [_Frame()]
        self.is_balanced = True
        self.row = self.indentation = 0
        self.is_first = True
        self.end = 0
        self.leap = -1

    def read(self) -> list[Segment]:
        """Return the outermost segments."""
        place = self._read_from(0)
        while place >= 0:
            place = self._read_from(place)
        self.is_balanced = self.is_balanced and len(self.frames) == 1
        while len(self.frames) > 1:
            self._close(-1)
        self._finish(self.frames[0])
        return self.frames[0].segments

    def _read_from(self, place: int) -> int:
        """Read to the end, and return -1; or to a declaration without need for a look inside, and return its end."""
        source = self.source
        for found in signs_of(self.unread.signs).finditer(source, place):
            kind = found.lastgroup
            if kind == "plain":
                continue
            start, end = found.span()
            if place < start:
                self._note_words(source[place:start], place)
                if self.leap >= 0:
                    return self._leapt()
            place = end
            if kind == "row":
                self.row, self.is_first = place, True
            elif kind == "sign":
                self._note_sign(found[0], start, place)
            elif kind == "text":
                self._begin(start)
                self.end = place
        self._note_words(source[place:], place)
        return self._leapt() if self.leap >= 0 else -1

    def _leapt(self) -> int:
        self.end, self.leap = self.leap, -1
        self.row = self.source.rfind(b"\n", 0, self.end) + 1
        self._finish(self.frames[-1])
        return self.end

    def _end_of_whole(self, start: int) -> int:
        """Return the end of a declaration without need for a look inside; negative if signs may divide it."""
        opens, end = self.whole.get(start, (-1, -1))
        head = self.source[start:opens] if opens >= 0 else b""
        if end < 0 or b"{" in head or self.source[end - 1 : end] not in (b"}", b";"):
            return -1
        row = head.find(b"\n")
        while row >= 0:
            if self.unread.alone.fullmatch(head[:row].rstrip()):
                return -1
            row = head.find(b"\n", row + 1)
        goes_on = self.source[end - 1 : end] == b"}" and self.unread.goes_on.match(self.source, end) is not None
        return -1 if goes_on else end

    def _note_words(self, text: bytes, place: int) -> None:
        words = text.rstrip()
        if not words:
            return
        frame = self.frames[-1]
        # Most words go on with a row and a segment.
        if self.is_first or (frame.current is None and frame.holds):
            first = place + len(text) - len(text.lstrip())
            self._begin(first)
            current = self.frames[-1].current
            if current is not None and current.start == first:
                self.leap = self._end_of_whole(first)
        self.end = max(self.end, place + len(words))

    def _begin(self, place: int) -> None:
        """Note code: the first of a row may end open segments, and the first of a segment begins it."""
        if self.is_first:
            self.is_first = False
            self._begin_row(place)
        frame = self.frames[-1]
        if frame.holds and frame.current is None:
            frame.current = Segment(place, place)
            frame.indentation = self.indentation

    def _begin_row(self, place: int) -> None:
        indentation, sign = place - self.row, self.source[place : place + 1]
        self.indentation = indentation
        is_closing = sign in _CLOSING
        if self.is_forced and not self.unread.label.match(self.source, place):
            while len(self.frames) > 1:
                top = self.frames[-1]
                # An open parenthesis does not outlast the end of a statement.
                is_over = top.inside > top.outer or (not top.holds and self.source[self.end - 1 : self.end] == b";")
                leaves = indentation == top.outer and not is_closing and sign != b"{" and is_over
                if not (indentation < top.outer or leaves):
                    break
                self._close(-1)
                if self.frames[-1].holds and not is_closing:
                    self._finish(self.frames[-1])
        frame = self.frames[-1]
        if frame.inside < 0 and frame.sign and not is_closing:
            frame.inside = indentation
        if not is_closing and frame.holds and indentation <= frame.indentation:
            self._end_at_row(frame, place)

    def _end_at_row(self, frame: _Frame, place: int) -> None:
        current = frame.current
        if current is None or self.unread.continues.match(self.source, place):
            return
        if not self.unread.ends_at_rows:
            text = self.source[current.start : self.end] if self.end - current.start < _LONGEST_CALL else b""
            if self.unread.alone.fullmatch(text):
                self._finish(frame)
            return
        last = self.source.rfind(b"\n", 0, self.end) + 1
        if not self.unread.leads.match(self.source, max(last, current.start), self.end):
            self._finish(frame)

    def _note_sign(self, text: bytes, place: int, end: int) -> None:
        sign = text if len(text) == 1 else _BRACKETS[text[:4]]
        closes = _CLOSING.get(sign)
        frame = self.frames[-1]
        if closes is not None:
            if self.is_first:
                self.is_first = False
                self._begin_row(place)
            self._note_closing(closes, place, end)
            return
        if self.is_first or (frame.current is None and frame.holds):
            self._begin(place)
            frame = self.frames[-1]
        self.end = end
        if sign in _OPENING:
            if len(self.frames) < _MAX_OPEN:
                outer = frame.indentation if frame.holds else frame.outer
                self.frames.append(_Frame(sign, sign == b"{", end - 1, outer))
        elif frame.holds:
            self._finish(frame)

    def _note_closing(self, opening: bytes, place: int, end: int) -> None:
        if self.frames[-1].sign != opening:
            self.is_balanced = False
            if all(frame.sign != opening for frame in self.frames):
                self.end = end
                return
            # Brackets never reach out of the block around them.
            inner = next(frame.sign for frame in reversed(self.frames) if frame.sign in (opening, b"{", b""))
            if inner != opening:
                self.end = end
                return
            while self.frames[-1].sign != opening:
                self._close(-1)
        self._close(place)
        self.end = end
        frame = self.frames[-1]
        if opening == b"{" and frame.holds and not self.unread.ends_at_rows:
            following = self.unread.goes_on.match(self.source, end)
            if not following:
                self._finish(frame)

    def _close(self, place: int) -> None:
        frame = self.frames.pop()
        self._finish(frame)
        outer = self.frames[-1]
        if frame.sign == b"{" and outer.holds and outer.current is not None:
            outer.current.opens, outer.current.closes = frame.start, place
            outer.current.inner = frame.segments

    def _finish(self, frame: _Frame) -> None:
        if frame.current is not None:
            frame.current.end = self.end
            if frame.current.end > frame.current.start:
                frame.segments.append(frame.current)
            frame.current = None


def flat(segments: list[Segment]) -> Iterator[Segment]:
    """Yield segments and all those inside, in order."""
    waiting = segments[::-1]
    while waiting:
        segment = waiting.pop()
        yield segment
        waiting += segment.inner[::-1]
