"""Keep a reply within its budget of tokens, as models count them.

Four characters a token, by which passages are measured, are a third off for some code, long paths and numbers.
"""

import re
from collections.abc import Callable, Iterable
from functools import lru_cache
from math import ceil
from typing import Protocol, TypeVar


class Reply(Protocol):
    """A reply, and whether more room would show no more of it."""

    @property
    def text(self) -> str: ...  # noqa: D102 - see above

    @property
    def is_all(self) -> bool: ...  # noqa: D102


_Made = TypeVar("_Made", bound=Reply)

_PIECE = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|[0-9]{1,3}| ?[!-/:-@\[-`{-~]+[\r\n/]*|\n+|\s{2,}|[^\x00-\x7f]|.|\s")
"""Pieces that OpenAI's encodings split into few tokens: parts of identifiers, digits, marks, spaces."""
# Mean tokens of a piece by its most characters, learned by least squares from 1,040 replies and 2,600 files of 30
# repositories, counted with o200k_base. Other letters than ASCII's: measured on a text of nine languages.
_WORD = ((3, 0.72), (6, 0.74), (9, 0.98), (12, 1.22))
_CAPITALS = ((2, 0.62), (4, 0.99), (8, 1.29))
_MARKS = ((1, 0.83), (2, 1.38), (4, 1.38), (8, 1.63))
_LONGER = 4
"""Characters a token of words, capitals and marks longer than the last row of their table."""
_DIGITS, _SPACE, _LINE_ENDS, _SPACES = 1.37, 0.24, 0.88, 1.19
_FOREIGN = ((0x2000, 0.5), (0x3000, 1.1), (0xE000, 0.8))
"""By character: letters with accents and alphabets, signs, East Asian scripts."""
_OTHER = 3.0
_MARGIN = 1.11
"""No reply of those 1,040 had more than 1.11 times the sum, by o200k_base or cl100k_base; the median has .999."""
_FIRST_SHARE = 0.92
"""Of the budget as room of the first attempt: most replies have a few more tokens than estimated."""
_NEXT_SHARE = 0.99
"""Of the budget as aim of the next attempts. With both shares 1,800 replies of 500 to 4,000 tokens took 1.86 attempts
and were a little fuller than with .87 and 1, which took 2.09."""
_ENOUGH = 0.95
"""Share of the budget from which on a reply is not written again to fill more."""
_ATTEMPTS = 5
_USUAL_LINE = 256
"""Characters of a line that is remembered with its tokens."""


def most_tokens(text: str) -> float:
    """Return a number of tokens that a reply hardly exceeds; most have a tenth less."""
    lines = text.split("\n")
    if len(max(lines, key=len)) <= _USUAL_LINE:
        return _MARGIN * sum(map(_tokens_of_line, lines))
    return _MARGIN * sum(
        _tokens_of_line(line) if len(line) <= _USUAL_LINE else _tokens_of_line.__wrapped__(line) for line in lines
    )


def tokens_of_lines(lines: Iterable[str]) -> int:
    """Return a number of tokens that lines with their ends hardly exceed."""
    return ceil(sum(most_tokens(f"{line}\n") for line in lines))


@lru_cache(maxsize=1 << 12)
def _tokens_of_line(line: str) -> float:
    """Count a line with its end. An empty one has the end of the line above, with which it is one piece."""
    # A reply is written a few times until it fits, mostly of the same lines.
    return sum(map(_tokens, _PIECE.findall(f"{line}\n"))) if line else 0.0


@lru_cache(maxsize=1 << 15)
def _tokens(piece: str) -> float:
    size, first = len(piece.strip()), piece[0]
    if not piece.isascii():
        return next((tokens for end, tokens in _FOREIGN if ord(first) < end), _OTHER)
    if first.isdigit():
        return _DIGITS
    if not size:
        return _SPACE if piece == " " else _LINE_ENDS if first == "\n" else _SPACES
    is_word = first.isalpha() and (size == 1 or not piece.isupper())
    table = _WORD if is_word else _CAPITALS if first.isalpha() else _MARKS
    longest, tokens = table[-1]
    return next((tokens for most, tokens in table if size <= most), tokens + (size - longest) / _LONGER)


def kept_within(budget: int, write: Callable[[int], _Made]) -> _Made:
    """Write a reply with as much as its budget allows; the shortest one tried where even that has more.

    Parameters:
        budget: tokens of the whole text.
        write: makes the reply with a room of estimated tokens; more room makes no shorter text.
    """
    room, aim = int(_FIRST_SHARE * budget), _NEXT_SHARE * budget
    # Rooms whose replies were within the budget and above it, with the tokens of these.
    within, above = (0, 0.0), (0, 0.0)
    best = None
    attempts = 0
    # A reply that fits is looked for until there is no less room.
    while attempts < _ATTEMPTS or best is None:
        attempts += 1
        made = write(room)
        tokens = most_tokens(made.text)
        is_stuck = False
        if tokens > budget:
            is_stuck = 0 < above[1] <= tokens
            above = room, tokens
            shortest = made
        else:
            is_all = made.is_all or (best is not None and best.text == made.text)
            best, within = made, (room, tokens)
            if is_all or tokens >= _ENOUGH * budget:
                break
        if best is None and (is_stuck or attempts >= _ATTEMPTS):
            # A definition that is shown whole takes the same from much room and from little.
            room //= 2
        elif above[0]:
            share = (aim - within[1]) / (above[1] - within[1])
            room = int(within[0] + (above[0] - within[0]) * share)
        else:
            room = int(room * aim / tokens)
        if room in {within[0], above[0]}:
            break
    return shortest if best is None else best


def most_that_fit(count: int, budget: float, write: Callable[[int], str]) -> int:
    """Return how many of some things fit into a reply's budget; 0 if it is above its budget without them.

    Parameters:
        count: of things.
        budget: tokens of the whole text.
        write: makes the text with the first so many; more of them make no shorter text.
    """
    least, most = 0, count + 1
    # The whole first: most replies fit.
    middle = count
    while most - least > 1:
        if most_tokens(write(middle)) <= budget:
            least = middle
        else:
            most = middle
        middle = (least + most) // 2
    return least


def clipped(text: str, budget: float) -> str:
    """Cut a reply that is above its budget even with nothing but names, such as paths of thousands of characters."""
    if most_tokens(text) <= budget:
        return text
    return text[: most_that_fit(len(text), budget, lambda size: text[:size])]
