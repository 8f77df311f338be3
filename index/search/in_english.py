"""Choose between the answers to a question of another language: by its own words, and by their English ones."""

from collections.abc import Set as AbstractSet

from cqm.chunkers.source_types import CONFIG, DATA, DOCUMENTATION
from cqm.index.model.query import Confidence, Hit
from cqm.index.ranking.confidence import Judgement, chance_of
from cqm.index.search.page import Page
from cqm.index.text.foreign.english import InEnglish, is_translated, says
from cqm.index.text.terms import distinct_terms

_TELLING = 3
"""Results telling whether a question's own words found something."""
_LEAST_KNOWN = 0.7
"""Share of a question's words in English, with fewer of which no answer is sure."""
_QUOTES = " \t\n\"'`\u201c\u201d\u201e\u00ab\u00bb\u300c\u300d\u300e\u300f"
"""Around a message, as languages write them."""
_OF_MACHINES = (CONFIG, DATA)
_MOST = 0.7
"""Share of a question's own terms that a text says, from which on it is that text which was meant."""
_LEAST_TERMS = 4
"""Terms of a question with fewer of which the share says little."""


def is_answered(page: Page, judgement: Judgement, question: str) -> bool:
    """Whether a question's own words have found what it names or quotes, or surely a text in its language."""
    first = page.hits[:_TELLING]
    if any(question.strip(_QUOTES) in hit.text for hit in first):
        return True
    own = distinct_terms(question)
    if len(own) >= _LEAST_TERMS and any(_says_most(hit, own) and _is_own(hit, question) for hit in first):
        return True
    is_named = judgement.likelihood is None
    return judgement.confidence is Confidence.HIGH and (is_named or any(_is_own(hit, question) for hit in first))


def is_better(english: tuple[Page, Judgement], own: tuple[Page, Judgement], question: str) -> bool:
    """Whether the answer in English counts: it is likelier, or one at all where no text in the language was found."""
    (page, judgement), (own_page, own_judgement) = english, own
    if any(_is_own(hit, question) for hit in own_page.hits[:_TELLING]):
        return chance_of(judgement, 0) >= chance_of(own_judgement, 0)
    return page.confidence is not Confidence.NONE or own_page.confidence is Confidence.NONE


def confidence_of(page: Page, english: InEnglish) -> Confidence:
    """How far to rely on an answer in English: never surely where many words of the question are not known."""
    is_known = english.known >= _LEAST_KNOWN or page.confidence is Confidence.NONE
    return page.confidence if is_known else Confidence.LOW


def _says_most(hit: Hit, terms: AbstractSet[int]) -> bool:
    return len(terms & distinct_terms(hit.text)) >= _MOST * len(terms)


def _is_own(hit: Hit, question: str) -> bool:
    """Whether a result is a text in a question's language. Data and translated messages have words, but tell little."""
    source = hit.metadata.get("source_type")
    # A page in a folder of its language is for people.
    tells = source == DOCUMENTATION or (source not in _OF_MACHINES and not is_translated(hit.path, question))
    return tells and says(hit.text, question)
