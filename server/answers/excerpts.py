"""Which lines of a chunk to show where there is no room for all: those that say most of what is asked."""

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from cqm.chunkers.tokens import QUARTERS, quarters
from cqm.index.ranking.question import last_part
from cqm.index.text.headers import COMMENT
from cqm.index.text.terms import count_terms, query_terms

Lines = Sequence[str]
Terms = Sequence[AbstractSet[int]]
"""Of each line of a text, those that the question has too."""

_DECLARATION_SHARE = 0.2
"""Of the room at most, for the line that declares a symbol of whose body a part is shown."""
_MARK_TOKENS = 9
"""Of a line that tells which lines are left out, the reply's mark included."""
_EQUAL = 1e-9


def cost(lines: Lines) -> float:
    """Estimated tokens of lines, their ends included."""
    return sum(quarters(line) + 1 for line in lines) / QUARTERS


@dataclass(frozen=True, slots=True)
class Asked:
    """What some texts say of a question.

    Attributes:
        weights: of its terms, the inverse frequency of the lines that say one.
        said: the terms of each line of each text.
    """

    weights: Mapping[int, float]
    said: Sequence[Terms]


def read_texts(question: str, texts: Sequence[Lines]) -> Asked:
    """See which lines say what is asked."""
    wanted = set(query_terms(question).indices)
    said = [[wanted & count_terms(line).keys() for line in lines] for lines in texts]
    counts = Counter(term for text in said for terms in text for term in terms)
    total = sum(map(len, texts))
    return Asked({term: math.log1p(total / count) for term, count in counts.items()}, said)


def best_lines(lines: Lines, symbol: str, asked: Asked, place: int, room: float) -> list[range]:
    """The lines to show, as places in `lines`, in order; none when not even one fits.

    They are consecutive, and stay within one part of the chunk where there are several, such as short functions. The
    line that declares the symbol stands before them where that costs little.

    Parameters:
        lines: of the chunk.
        symbol: that the chunk is of, qualified; empty for none.
        asked: what is said of the question.
        place: of the chunk among the texts that were read for that.
        room: tokens, the lines that tell what is left out included.
    """
    room -= 2 * _MARK_TOKENS
    terms = asked.said[place]
    window = _window(lines, terms, asked.weights, room)
    declared = _declaration(lines, symbol)
    extra = cost([lines[declared]]) + _MARK_TOKENS
    if window and declared not in window and extra <= _DECLARATION_SHARE * room:
        window = _window(lines, terms, asked.weights, room - extra)
        if window and declared not in window:
            return sorted([range(declared, declared + 1), window], key=lambda part: part.start)
    return [window] if window else []


def _declaration(lines: Lines, symbol: str) -> int:
    """The line that declares a symbol: the first that says its name and is no comment, or else the first."""
    said = re.compile(rf"(?<![\w$]){re.escape(last_part(symbol))}(?![\w$])")
    found = (place for place, line in enumerate(lines) if said.search(line) and not COMMENT.match(line))
    return next(found, 0) if symbol else 0


def _window(lines: Lines, terms: Terms, weights: Mapping[int, float], room: float) -> range:
    """The best consecutive lines that fit."""
    costs = [cost([line]) for line in lines]
    part = max(_parts(lines), key=lambda part: _worth(terms[part.start : part.stop], weights))
    if sum(costs[place] for place in part) > room:
        return _densest(part, terms, costs, weights, room)
    return _widened(part, costs, room)


def _worth(terms: Terms, weights: Mapping[int, float]) -> float:
    """What some lines say of the question; a term counts less each time it is said again."""
    said = Counter(term for line in terms for term in line)
    return sum(weights[term] * (1 + 0.3 * math.log(count)) for term, count in said.items())


def _parts(lines: Lines) -> Iterator[range]:
    """What stands at the chunk's outermost indentation and begins after a blank line: members, paragraphs."""
    indents = [len(line) - len(line.lstrip()) for line in lines]
    # The first line may begin in the middle of one.
    outermost = min((indents[place] for place, line in enumerate(lines) if place and line.strip()), default=0)
    start = 0
    for place in range(1, len(lines)):
        if lines[place].strip() and not lines[place - 1].strip() and indents[place] <= outermost:
            yield range(start, place)
            start = place
    yield range(start, len(lines))


def _densest(part: range, terms: Terms, costs: Sequence[float], weights: Mapping[int, float], room: float) -> range:
    """The consecutive lines of a part that say most among those that fit; the first where several say as much."""
    best, most = range(0), -1.0
    stop, left = part.start, room
    for start in part:
        while stop < part.stop and costs[stop] <= left:
            left -= costs[stop]
            stop += 1
        if stop > start:
            if (worth := _worth(terms[start:stop], weights)) > most + _EQUAL:
                best, most = range(start, stop), worth
            left += costs[start]
        else:
            stop = start + 1
    return best


def _widened(part: range, costs: Sequence[float], room: float) -> range:
    """A part with the lines after and before it that fit as well."""
    start, stop = part.start, part.stop
    left = room - sum(costs[start:stop])
    while stop < len(costs) and costs[stop] <= left:
        left -= costs[stop]
        stop += 1
    while start and costs[start - 1] <= left:
        start -= 1
        left -= costs[start]
    return range(start, stop)
