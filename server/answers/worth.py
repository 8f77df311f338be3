"""Tell how much the lines of each result are worth, and share a reply's room among them.

For a name or a place, nothing around its definition or line is worth anything.
"""

from collections.abc import Sequence
from itertools import takewhile
from math import fsum
from typing import NamedTuple

from cqm.index.model.query import Answer
from cqm.index.text.names.parts import name_key

LEAST_GAIN = 0.000002
"""Least chance of one more token to show what was asked for. Room is left only where hundreds of lines around an
unlikely result would fill it."""
_CERTAIN = 0.92
"""Least chance of a first result named in the question: `chance_of` gives .95."""
_CORE_CHANCE = 0.8
"""Chance of a line asked for to be in the definition a result was found for, if it is in its chunk."""

# These and `_CORE_CHANCE` were chosen on 200 training questions by span, of four languages, for the share of their
# lines shown within 500 to 6,000 tokens of four characters. Now tokens are counted: the least stands for as many lines.
_LEAST_TOKENS = 50
"""Least tokens for the lines of a hit; with fewer it is only named."""
_FIRST_TOKENS = 600
"""Tokens for the first hit; half as many for the second, a third for the third: as likely is each to be the answer."""
_FRAME_TOKENS = 100
"""For the lines around the call of a trace's second frame; the innermost has its whole function, later ones half."""
_NAMES_SHARE = 0.02
"""Largest share of the room for hits which are only named."""
NAMING_TOKENS = 52
"""Tokens of the lines telling why hits are only named, and how many are left out."""
_UNNAMED_TOKENS = 30
"""Tokens of the second of these."""


class Worth(NamedTuple):
    """Chances of a result's lines to be the answer: those of its definition, and those around it."""

    core: float
    around: float


def named_by(text: str, answer: Answer) -> int:
    """Count the first results named in a question, if the first is certain; else 0.

    A name is answered by its definitions, a trace or place by its frames, a path by its file.
    """
    hits = answer.hits
    if not hits or (hits[0].chance or 0.0) < _CERTAIN:
        return 0
    first = hits[0]
    key = name_key(first.symbol)
    if first.asked_line is not None:
        return len([*takewhile(lambda hit: hit.asked_line is not None, hits)])
    if key in answer.asked_names:
        return len([*takewhile(lambda hit: name_key(hit.symbol) == key, hits)])
    is_path = len(text.split()) == 1
    return len([*takewhile(lambda hit: hit.path == first.path, hits)]) if is_path else 0


def worths_of(text: str, answer: Answer) -> list[Worth]:
    """Return the worth of the first results, those deserving lines.

    For a name, its definition is the answer, and nothing around it. For a trace, the innermost frame is shown whole,
    the others only around the call. Without known chances, a result's likelihood falls with its rank.
    """
    hits = answer.hits
    if named := named_by(text, answer):
        is_trace = hits[0].asked_line is not None
        return [Worth(0.0 if is_trace and rank else hits[rank].chance or 0.0, 0.0) for rank in range(named)]
    chances = [1 / (1 + rank) if hit.chance is None else hit.chance for rank, hit in enumerate(hits)]
    return [Worth(_CORE_CHANCE * chance, (1 - _CORE_CHANCE) * chance) for chance in chances]


def allot(
    wanted: Sequence[float], needs: Sequence[float], heads: Sequence[float], room: float, worths: Sequence[Worth]
) -> list[float]:
    """Share the room among the lines of the first hits, as long as it lasts and pays; the likeliest get more.

    Lines asked for come first, their surroundings then. Room is left over where nothing else may be asked for.

    Parameters:
        wanted: tokens of each hit's lines asked for.
        needs: tokens of all its lines; none gets more.
        heads: tokens above them.
        room: tokens, with the heads.
        worths: of the first hits, those deserving lines; later ones are only named.
    """
    floors = [
        min(need, max(_LEAST_TOKENS, _FIRST_TOKENS / (1 + rank)) if worth.core else _FRAME_TOKENS / min(2, rank))
        for rank, (need, worth) in enumerate(zip(wanted, worths, strict=False))
    ]
    for count in range(len(worths), 0, -1):
        free = room - _naming(heads[count:], room) - fsum(heads[:count]) - fsum(floors[:count])
        if free >= 0:
            return _filled(wanted[:count], needs[:count], floors[:count], free, worths)
    # There is no room for even the first hit's floor.
    left = room - heads[0] - _naming(heads[1:], room) if heads else 0.0
    return [left] if needs and left >= min(needs[0], _LEAST_TOKENS) else []


def _naming(heads: Sequence[float], room: float) -> float:
    """Tokens kept to name the hits left over, or to tell their number."""
    names = min(fsum(heads), _NAMES_SHARE * room)
    if not heads or names >= min(heads):
        return NAMING_TOKENS + names if heads else 0.0
    return _UNNAMED_TOKENS


def _filled(
    wanted: Sequence[float], needs: Sequence[float], floors: Sequence[float], free: float, worths: Sequence[Worth]
) -> list[float]:
    """Spend the free tokens above the floors where a token shows most of the answer."""
    allotted = list(floors)
    steps = []
    for rank, (core, whole, worth) in enumerate(zip(wanted, needs, worths, strict=False)):
        steps.append((worth.core / max(core, 1.0), rank, core))
        if whole > core:
            steps.append((worth.around / (whole - core), rank, whole))
    for gain, rank, most in sorted(steps, key=lambda it: (-it[0], it[1])):
        if gain < LEAST_GAIN:
            break
        more = min(max(0.0, most - allotted[rank]), free)
        allotted[rank] += more
        free -= more
    return allotted
