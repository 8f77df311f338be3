"""Tell how much the lines of each result are worth: of a name or a place, nothing around its definition or line."""

from itertools import takewhile
from typing import NamedTuple

from cqm.index.model.query import Answer
from cqm.index.text.names.parts import name_key

LEAST_GAIN = 0.000002
"""Chance that one more token shows what was asked for, from which on it is spent: room is left only where hundreds of
lines around an unlikely result would fill it."""
_CERTAIN = 0.92
"""Chance of a first result that the question names: `chance_of` gives .95."""
_CORE_CHANCE = 0.8
"""Chance of a line asked for to be in the definition a result was found for, if it is in its chunk."""


class Worth(NamedTuple):
    """Chances of a result's lines to be the answer: those of its definition, and those around it."""

    core: float
    around: float


def named_by(text: str, answer: Answer) -> int:
    """Count the first results that a question names, where it is certain of the first; 0 where it is not.

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
    """Return the worth of each result that deserves lines; they are the first ones.

    Of a name, its definition is the answer, and nothing around it. Of a trace the innermost frame is
    shown whole, of the others only the lines around the call. Where no chances are known, a result is as likely as its
    place is near the first.
    """
    hits = answer.hits
    if named := named_by(text, answer):
        is_trace = hits[0].asked_line is not None
        return [Worth(0.0 if is_trace and rank else hits[rank].chance or 0.0, 0.0) for rank in range(named)]
    chances = [1 / (1 + rank) if hit.chance is None else hit.chance for rank, hit in enumerate(hits)]
    return [Worth(_CORE_CHANCE * chance, (1 - _CORE_CHANCE) * chance) for chance in chances]
