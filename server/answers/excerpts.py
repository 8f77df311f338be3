"""Choose the lines of a long chunk to show: those with most terms of the question."""

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from functools import cache
from itertools import chain, pairwise

from cqm.index.text.names.parts import last_part
from cqm.index.text.terms import COMMENT, query_terms, terms_by_line

Lines = Sequence[str]
Terms = Sequence[AbstractSet[int]]
"""For each line of a text, its terms also in the question."""

_DECLARATION_SHARE = 0.25
"""Largest share of the room for the line declaring a symbol, when part of its body is shown."""
MARK_TOKENS = 18
"""Most tokens of a line marking left-out lines, with the reply's mark, in a file of up to 999,999 lines."""
_EQUAL = 1e-9
_COMMENT_SHARE = 0.15
"""Largest share of the room for the comment above a definition asked for: a longer one would fill a reply. The same
share holds for comments inside a definition too large for the room: its code comes first.
"""
_OPENING = re.compile(r"\s*/\*(?!.*\*/)")
_OPENING_TEXT = re.compile(r"\s*[rR]?(\"{3}|'{3})(?!.*\1)")
_TEXT = re.compile(r"\s*[rR]?(?:\"{3}|'{3})")
_FIRST = "/*#-rR\"'"
"""Possible first characters of these patterns' matches, after spaces."""


@dataclass(frozen=True, slots=True)
class Source:
    """A chunk to show lines of.

    Attributes:
        costs: tokens of each line, with its end.
        extent: the lines of the definition it was found for, as positions in `lines`. Before `read_texts` it may reach
            beyond them, and is empty if unknown. After it, an unknown one is the best part.
        at: position of the line named in the question; None if it names none.
        language: for code; else empty.
        said: for each line, its terms also in the question; made by `read_texts`.
    """

    lines: Lines
    costs: Sequence[float]
    extent: range
    at: int | None = None
    language: str = ""
    said: Terms = ()

    def tokens(self, part: range) -> float:
        """Add up the tokens of some of the lines."""
        return math.fsum(self.costs[part.start : part.stop])


@dataclass(frozen=True, slots=True)
class Asked:
    """Chunks, and the weights of the question's terms in them.

    Attributes:
        weights: of each term, the inverse frequency of the lines containing it.
        once: the terms of a single line.
    """

    weights: Mapping[int, float]
    once: AbstractSet[int]
    sources: Sequence[Source]


def read_texts(question: str, texts: Sequence[Source]) -> Asked:
    """Find and weigh the question's terms in each line of some chunks."""
    wanted = set(query_terms(question).indices)
    said = terms_by_line(["\n".join(text.lines) for text in texts], wanted)
    counts = Counter(chain.from_iterable(chain.from_iterable(said)))
    total = sum(map(len, said))
    weights = {term: math.log1p(total / count) for term, count in counts.items()}
    sources = []
    for text, terms in zip(texts, said, strict=True):
        known = range(max(text.extent.start, 0), min(text.extent.stop, len(text.lines)))
        if not known and text.at is None:
            known = max(_parts(text.lines), key=lambda part: _worth(terms[part.start : part.stop], weights))
        sources.append(replace(text, said=terms, extent=known))
    return Asked(weights, {term for term, count in counts.items() if count == 1}, sources)


def core_of(source: Source, asked: Asked, room: float) -> range:
    """Return the lines of a chunk asked for: its definition with a short comment above it, or the best part.

    Parameters:
        asked: result of `read_texts`.
        room: tokens of the whole reply.
    """
    start, stop = source.extent.start, source.extent.stop
    if (at := source.at) is not None:
        return range(min(start, at), max(stop, at + 1)) if start < stop else range(at, at + 1)
    above = start
    while above and COMMENT.match(source.lines[above - 1]):
        above -= 1
    start = above if source.tokens(range(above, start)) <= _COMMENT_SHARE * room else start
    # A word may stand in a comment below the definition alone, and nowhere else.
    if any(source.said[start:stop]):
        return range(start, stop)
    only = [number for number, line in enumerate(source.said) if not asked.once.isdisjoint(line)]
    if not only:
        return range(start, stop)
    nearest = min(only, key=lambda number: max(start - number, number - stop))
    return range(min(start, nearest), max(stop, nearest + 1))


def best_lines(source: Source, symbol: str, core: range, asked: Asked, room: float) -> list[range]:
    """Choose the lines to show, as sorted ranges of positions; empty when not even one line fits.

    They are consecutive: the core with its surroundings, or the best lines of it. The line declaring the symbol stands
    before them where it costs little. In a core without room, long comments are first shortened to their best lines.

    Parameters:
        symbol: qualified name of the chunk's symbol; empty for none.
        core: result of `core_of`.
        asked: result of `read_texts`.
        room: tokens, with those of the lines marking left-out ones.
    """
    kept = _without_long_comments(source, core, asked.weights, room) if source.language and source.at is None else []
    if not kept:
        return _best_lines(source, symbol, core, asked, room)
    gaps = sum(number != before + 1 for before, number in pairwise(kept))
    lines, costs, said = zip(*[(source.lines[it], source.costs[it], source.said[it]) for it in kept], strict=True)
    shorter = Source(lines, costs, range(0), said=said)
    shown = _best_lines(shorter, symbol, range(len(kept)), asked, room - gaps * MARK_TOKENS)
    numbers = [kept[place] for part in shown for place in part]
    starts = [place for place, number in enumerate(numbers) if not place or number != numbers[place - 1] + 1]
    return [range(numbers[start], numbers[stop - 1] + 1) for start, stop in pairwise([*starts, len(numbers)])]


def _without_long_comments(source: Source, core: range, weights: Mapping[int, float], room: float) -> list[int]:
    """Return the positions of a core too large for the room, without most of its long comments; none if all stay.

    A comment keeps its lines with most terms, or the first ones.
    """
    if source.tokens(core) <= room - 2 * MARK_TOKENS:
        return []
    most = _COMMENT_SHARE * room
    kept = set(core)
    for comment in _comments(source, core):
        if source.tokens(comment) > most:
            kept -= set(comment) - set(_densest(comment, source.said, source.costs, weights, most))
    return sorted(kept) if len(kept) < len(core) else []


def _comments(source: Source, part: range) -> Iterator[range]:
    """Yield runs of comment lines, and docstrings of Python."""
    is_python = source.language == "python"
    start, end = None, ""
    for number in part:
        line = source.lines[number]
        # Most lines are told by their first character, in a third of the patterns' time.
        may_begin = line.lstrip()[:1] in _FIRST
        is_comment = bool(end or (may_begin and (COMMENT.match(line) or (is_python and _TEXT.match(line)))))
        if is_comment and start is None:
            start = number
        elif not is_comment and start is not None:
            yield range(start, number)
            start = None
        if end:
            end = "" if end in line else end
        elif may_begin and _OPENING.match(line):
            end = "*/"
        elif may_begin and is_python and (opening := _OPENING_TEXT.match(line)):
            end = opening[1]
    if start is not None:
        yield range(start, part.stop)


def _best_lines(source: Source, symbol: str, core: range, asked: Asked, room: float) -> list[range]:
    room -= 2 * MARK_TOKENS
    window = _window(source, core, asked.weights, room)
    declared = _declaration(source.lines, symbol)
    extra = source.costs[declared] + MARK_TOKENS
    if window and declared not in window and extra <= _DECLARATION_SHARE * room:
        window = _window(source, core, asked.weights, room - extra)
        if window and declared not in window:
            return sorted([range(declared, declared + 1), window], key=lambda part: part.start)
    return [window] if window else []


def _declaration(lines: Lines, symbol: str) -> int:
    """Find the line declaring a symbol: the first with its name which is no comment, else the first."""
    said = re.compile(rf"(?<![\w$]){re.escape(last_part(symbol))}(?![\w$])")
    found = (place for place, line in enumerate(lines) if said.search(line) and not COMMENT.match(line))
    return next(found, 0) if symbol else 0


def _window(source: Source, core: range, weights: Mapping[int, float], room: float) -> range:
    """Find the best consecutive lines within the room."""
    if source.tokens(core) <= room:
        return _widened(core, source.costs, room)
    if source.at is not None:
        return _around(source.at, core, source.costs, room)
    return _densest(core, source.said, source.costs, weights, room)


def _worth(terms: Terms, weights: Mapping[int, float]) -> float:
    """Weigh the question's terms in some lines; repetitions of a term count less."""
    said = Counter(chain.from_iterable(terms))
    return math.fsum(weights[term] * _times(count) for term, count in said.items())


@cache
def _times(count: int) -> float:
    """Weigh so many mentions of a term; one alone weighs 1."""
    return 1 + 0.3 * math.log(count) if count else 0.0


def _parts(lines: Lines) -> Iterator[range]:
    """Split a chunk into members or paragraphs: they start after a blank line at the outermost indentation."""
    indents = [len(line) - len(line.lstrip()) for line in lines]
    # The first line may begin in the middle of a line of the file.
    outermost = min((indents[place] for place, line in enumerate(lines) if place and line.strip()), default=0)
    start = 0
    for place in range(1, len(lines)):
        if lines[place].strip() and not lines[place - 1].strip() and indents[place] <= outermost:
            yield range(start, place)
            start = place
    yield range(start, len(lines))


def _densest(part: range, terms: Terms, costs: Sequence[float], weights: Mapping[int, float], room: float) -> range:
    """Find the consecutive lines of a part with most weight within the room; the first of equals."""
    best, most = range(0), -1.0
    # The worth of the lines from start to stop, kept up as both move on.
    worth, said = 0.0, Counter[int]()
    stop, left = part.start, room
    for start in part:
        while stop < part.stop and costs[stop] <= left:
            left -= costs[stop]
            for term in terms[stop]:
                worth += weights[term] * (_times(said[term] + 1) - _times(said[term]))
                said[term] += 1
            stop += 1
        if stop > start:
            if worth > most + _EQUAL:
                best, most = range(start, stop), worth
            left += costs[start]
            for term in terms[start]:
                said[term] -= 1
                worth -= weights[term] * (_times(said[term] + 1) - _times(said[term]))
        else:
            stop = start + 1
    return best


def _around(at: int, part: range, costs: Sequence[float], room: float) -> range:
    """Widen a line by others of its part, equally on both sides; empty where it does not fit itself."""
    if costs[at] > room:
        return range(0)
    start, stop, left = at, at + 1, room - costs[at]
    while (above := start > part.start and costs[start - 1] <= left) or (stop < part.stop and costs[stop] <= left):
        is_above = above and (at - start <= stop - 1 - at or stop >= part.stop or costs[stop] > left)
        left -= costs[start - 1] if is_above else costs[stop]
        start, stop = (start - 1, stop) if is_above else (start, stop + 1)
    return range(start, stop)


def _widened(part: range, costs: Sequence[float], room: float) -> range:
    """Widen a part by the lines after and before it, as far as they fit."""
    start, stop = part.start, part.stop
    left = room - math.fsum(costs[start:stop])
    while stop < len(costs) and costs[stop] <= left:
        left -= costs[stop]
        stop += 1
    while start and costs[start - 1] <= left:
        start -= 1
        left -= costs[start]
    return range(start, stop)
