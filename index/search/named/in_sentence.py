"""Find the definitions of the names within a sentence or an issue."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import PurePosixPath

from cqm.index.generations.generation import Generation
from cqm.index.ranking.evidence import Candidate
from cqm.index.ranking.exact import fitting
from cqm.index.ranking.question import Question, definitions_term
from cqm.index.store.base import TERMS, Nearest, PointFilter
from cqm.index.text.exact_words import is_spelled_as_name
from cqm.index.text.names.parts import dotted, last_part, name_key
from cqm.index.text.terms import label_term

_MOST_OF_WORD = 60
"""Chunks to look at, defining symbols with a word of a sentence: it may be no name."""
_FEW = 3
"""Most definitions of a name surely meant by an issue."""
_MARKS = "?!="
"""At the end of names of Ruby and Elixir, and of sentences."""


def about_subject(generation: Generation, question: Question) -> Question:
    """Return the question for the defined symbol a plain sentence asks about; any other question unchanged."""
    if question.symbol or question.places or not question.subject:
        return question
    symbol = dotted(question.subject)
    found = generation.candidates.of(next(_defining(generation, [symbol], None)))
    if not any(_has_owner(chunk, symbol) for chunk in found):
        return question
    return replace(question, symbol=symbol, definitions=definitions_term(symbol))


def named_within(
    generation: Generation, question: Question, keep: PointFilter | None, said: Sequence[str] = ()
) -> list[str]:
    """Return the ids of the chunks defining a question's names that have few definitions.

    A plain word in backticks counts only without an identifier in backticks: `state` may be anything.

    Parameters:
        said: parts of the question found in a file; names in these are not asked about.
    """
    names = [dotted(name) for name in question.named if not any(_stands_in(name, text) for text in said)]
    if question.symbol or not names:
        return []
    found = [(name, ids) for name, ids in zip(names, _defining(generation, names, keep), strict=True) if ids]
    few = [(name, ids) for name, ids in found if len(ids) <= _FEW]
    spelled = [ids for name, ids in few if is_spelled_as_name(name)] or [ids for _, ids in few]
    return [*dict.fromkeys(name for ids in spelled for name in ids)]


def _defining(generation: Generation, names: Sequence[str], keep: PointFilter | None) -> Iterator[list[str]]:
    """Yield for each name the ids of the chunks defining exactly it, of plain source if there are any."""
    searches = [Nearest(TERMS, label_term(name_key(name)), _MOST_OF_WORD, keep) for name in names]
    for name, scores in zip(names, generation.store.search(searches), strict=True):
        chunks = [it for it in generation.candidates.of(scores) if _defines(it, name)]
        yield [it.id for it in chunks if it.role is None] or [it.id for it in chunks]


def _stands_in(name: str, text: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text) is not None


def _has_owner(chunk: Candidate, name: str) -> bool:
    """Whether a definition or its path has the last two parts of a name; `subprocess.run` is no other `run`."""
    *outer, own = name.split(".")
    if not outer:
        return True
    folders = {part.lower() for part in PurePosixPath(chunk.path).with_suffix("").parts}
    owned = f".{outer[-1]}.{own}"
    return outer[-1].lower() in folders or any(f".{dotted(it)}".endswith(owned) for it in chunk.defines)


def _defines(chunk: Candidate, name: str) -> bool:
    own = last_part(name).rstrip(_MARKS)
    defined = (last_part(chunk.defines[n]).lstrip(".").rstrip(_MARKS) for n in fitting(chunk.defines, name, chunk.path))
    return own in defined
