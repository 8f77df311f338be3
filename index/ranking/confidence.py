"""Confidence: the chance that an answer is one.

A search always finds something nearest. Three signs tell whether that is near: how many of the question's words the
best results have, how rare these are, and how similar the nearest chunk is. They are weighed by a logistic regression,
learned from questions asked of their own repository and of others; see docs/evaluation.md.
"""

from collections.abc import Mapping, Sequence
from math import exp, inf, log, log1p
from operator import mul
from typing import NamedTuple

from cqm.index.model.query import Confidence
from cqm.index.ranking.question import Question
from cqm.index.text.terms import distinct_terms, name_term, stem_term

KNOWN_SPACE = "embedded-code-256-"
"""Beginning of `Space.vector_name` of the model whose cosines were learned from."""
_BEST = 3
"""Results of which one may have an answer's words by itself."""


class Signs(NamedTuple):
    """Signs of an answer, mostly 0 to 1.

    Attributes:
        first: share of the question's words in the first result.
        best: share of them in one of the first three.
        page: share of them in the first ten together.
        cosine: of the nearest chunk and the question; 0 without vectors.
        words: 1 for one word, less for more: a long question is seldom met in all of its words.
        unknown: 1 for a name that no result says.
        chunks: logarithm of the number of chunks of the index: BM25 grows with it.
        weight: logarithm of the best chunk's BM25: rare words weigh more than common ones.
        share: that BM25 for each word, of the most a word could have.
    """

    first: float
    best: float
    page: float
    cosine: float
    words: float
    unknown: float
    chunks: float
    weight: float
    share: float


def signs_of(
    question: Question,
    cosines: Mapping[str, Mapping[str, float]],
    texts: Sequence[str],
    terms: Mapping[str, float],
    chunks: int,
) -> Signs | None:
    """Return the signs of an answer; None without results or without a word to look for.

    Parameters:
        question: asked.
        cosines: of the chunks found, by id, for each space of vectors. Other models have another scale: where a space
            is not the embedded model's, words alone tell.
        texts: of the first ten results, with their paths and symbols.
        terms: BM25 by chunk id; empty for a search by meaning alone.
        chunks: of the index.
    """
    # Two words of a question in one, such as "websocket", may be a word of the code or not.
    pairs = zip(question.terms.indices, question.terms.values, strict=True)
    wanted = frozenset(term for term, weight in pairs if weight >= 1)
    if not wanted or not texts:
        return None
    name = frozenset(name_term(question.symbol).indices) if question.symbol else frozenset[int]()
    found = _said(wanted | name, question, texts)
    said = frozenset[int]().union(*found)
    is_known = all(space.startswith(KNOWN_SPACE) for space in cosines)
    nearest = max((max(scores.values(), default=0.0) for scores in cosines.values()), default=0.0) if is_known else 0.0
    most = log(chunks + 2)
    score = max(terms.values()) if terms else _USUAL_SHARE * len(wanted) * most
    return Signs(
        len(wanted & found[0]) / len(wanted),
        max(len(wanted & it) for it in found[:_BEST]) / len(wanted),
        len(wanted & said) / len(wanted),
        nearest,
        1 / len(wanted),
        float(bool(name) and said.isdisjoint(name)),
        most,
        log1p(score),
        score / (len(wanted) * most),
    )


def _said(asked: frozenset[int], question: Question, texts: Sequence[str]) -> list[frozenset[int]]:
    """Return the terms asked for in each of the first texts, and in each further one that may have terms these lack.

    Splitting a text into terms is dear, looking for the root of a word in it is not.
    """
    roots = {stem_term(word): word.removesuffix("y") for word in question.words}
    found = [asked & distinct_terms(text) for text in texts[:_BEST]]
    missing = asked.difference(*found)
    for text in texts[_BEST:]:
        lowered = text.lower()
        if any(roots.get(term, "") in lowered for term in missing):
            found.append(asked & distinct_terms(text))
            missing -= found[-1]
    return found


class _Regression(NamedTuple):
    """A logistic regression of signs, and the chances from which on an answer is one, or may be one.

    Attributes:
        topic, sentence: chances for a question that names a topic, and for one that is a sentence.
    """

    constant: float
    weights: Signs
    topic: float
    sentence: float
    low: float


_WITH_VECTORS = _Regression(
    -6.89, Signs(2.01, 1.65, 1.97, 12.6, -3.41, -5.10, -0.52, 0.87, 0.59), topic=0.588, sentence=0.244, low=0.074
)
_WORDS_ALONE = _Regression(
    -7.43, Signs(1.80, 6.12, 3.19, 0.0, -5.93, -5.87, -0.43, 1.86, 1.82), topic=0.428, sentence=0.242, low=0.064
)
"""Learned from questions with an answer among the first ten, and from questions of others: of every second repository
of the benchmark and every second package of the set by span. On the other halves: docs/evaluation.md.

To name an answer none hides it, so fewer than 1 in 100 of those with one may be; to name it low costs little."""
_IS_SENTENCE = 0.5
_USUAL_SHARE = 0.31
"""Mean of `Signs.share`, for a search without words."""


class _Chance(NamedTuple):
    """A logistic regression of the answer's likelihood and the logarithm of a result's place."""

    constant: float
    likelihood: float
    place: float


_CHANCE = _Chance(-1.24, 0.202, -1.689)
"""Learned from the same packages as above: a result is right if it has a line of the answer."""
_NAMED, _MEANT = 0.95, 0.89
"""Shares of first results that are right where a question names something (tests/bench/names.py), or a part of it."""
_ENOUGH_WORDS = 0.5
"""Of the question's words in one result: it may answer a question in other words, whatever the regression says."""


class Judgement(NamedTuple):
    """The worth of an answer.

    Attributes:
        confidence: of the whole answer.
        likelihood: logarithm of the odds of the regression; None where a definition, place or file is named.
    """

    confidence: Confidence
    likelihood: float | None = None


def judge(question: Question, signs: Signs | None) -> Judgement:
    """Judge an answer that begins with no definition, place or file named by the question."""
    if signs is None:
        return Judgement(Confidence.NONE, -inf)
    learned = _WITH_VECTORS if signs.cosine else _WORDS_ALONE
    likelihood = learned.constant + sum(map(mul, learned.weights, signs))
    chance = _share(likelihood)
    if chance >= (learned.sentence if question.sentence > _IS_SENTENCE else learned.topic):
        return Judgement(Confidence.HIGH, likelihood)
    is_maybe = chance >= learned.low or signs.best >= _ENOUGH_WORDS
    return Judgement(Confidence.LOW if is_maybe else Confidence.NONE, likelihood)


def chance_of(judgement: Judgement, place: int) -> float:
    """Return the chance that a result is the answer; it falls from place to place.

    Parameters:
        judgement: of the answer.
        place: of the result, 0 for the first.
    """
    if judgement.likelihood is None:
        found = _NAMED if judgement.confidence is Confidence.HIGH else _MEANT
        return found / (1 + place)
    return _share(_CHANCE.constant + _CHANCE.likelihood * judgement.likelihood + _CHANCE.place * log1p(place))


def _share(odds: float) -> float:
    return 1 / (1 + exp(-max(odds, -50.0)))
