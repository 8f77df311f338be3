"""Choose between the answers to a question of another language: by its own words, and by their English ones."""

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from typing import NamedTuple

from cqm.chunkers.source_types import CONFIG, DATA, DOCUMENTATION
from cqm.index.model.query import Confidence
from cqm.index.ranking.confidence import Judgement, chance_of
from cqm.index.text.foreign.english import InEnglish, is_translated, says
from cqm.index.text.terms import distinct_terms

TELLING = 3
"""First results telling whether a question's own words found something."""
_LEAST_KNOWN = 0.7
"""Least share of a question's words known in English for a sure answer."""
_QUOTES = " \t\n\"'`\u201c\u201d\u201e\u00ab\u00bb\u300c\u300d\u300e\u300f"
"""Around a message, as languages write them."""
_OF_MACHINES = (CONFIG, DATA)
_MOST = 0.7
"""Least share of a question's own terms in a text for it to be the text meant."""
_LEAST_TERMS = 4
"""Least number of a question's terms for the share to mean something."""


class Result(NamedTuple):
    """One of the first results, on any page: pages of one question must make the same choice."""

    path: str
    text: str
    source_type: str


def is_answered(first: Sequence[Result], judgement: Judgement, question: str) -> bool:
    """Whether a question's own words found a name or quotation of it, or surely a text in its language."""
    if any(question.strip(_QUOTES) in it.text for it in first):
        return True
    own = distinct_terms(question)
    if len(own) >= _LEAST_TERMS and any(_says_most(it, own) and _is_own(it, question) for it in first):
        return True
    is_named = judgement.likelihood is None
    return judgement.confidence is Confidence.HIGH and (is_named or any(_is_own(it, question) for it in first))


def is_better(english: Judgement, own: Judgement, first: Sequence[Result], question: str) -> bool:
    """Whether the answer in English counts: it is likelier, or one at all where no text in the language was found.

    Parameters:
        english, own: of the two answers.
        first: results for the question's own words.
    """
    if any(_is_own(it, question) for it in first):
        return chance_of(english, 0) >= chance_of(own, 0)
    return english.confidence is not Confidence.NONE or own.confidence is Confidence.NONE


def confidence_of(judgement: Judgement, english: InEnglish) -> Confidence:
    """Tell how far to rely on an answer in English: never surely where many words of the question are not known."""
    is_known = english.known >= _LEAST_KNOWN or judgement.confidence is Confidence.NONE
    return judgement.confidence if is_known else Confidence.LOW


def _says_most(result: Result, terms: AbstractSet[int]) -> bool:
    return len(terms & distinct_terms(result.text)) >= _MOST * len(terms)


def _is_own(result: Result, question: str) -> bool:
    """Whether a result is a text in a question's language. Data and translated messages have words, but tell little."""
    is_of_people = result.source_type not in _OF_MACHINES and not is_translated(result.path, question)
    # A page in a folder of its language is for people.
    return (is_of_people or result.source_type == DOCUMENTATION) and says(result.text, question)
