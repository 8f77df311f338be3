"""Confidence: the chance that an answer answers the question.

A search always finds something nearest. Signs tell whether it is near enough: how many of the question's words the best
results have, how rare these are, how similar the nearest chunk is, how the reader scores the first results. A logistic
regression weighs them. `training/judging.py` learns it from questions asked of their own repository and of others; see
docs/evaluation.md.
"""

from collections.abc import Mapping, Sequence
from heapq import nlargest
from math import exp, inf, log, log1p
from operator import mul
from typing import NamedTuple

from cqm.index.model.query import Confidence
from cqm.index.ranking.confidence_weights import READ, UNREAD, WORDS_ALONE
from cqm.index.ranking.question import Question
from cqm.index.text.terms import name_term, stem_term, terms_said

KNOWN_SPACE = "embedded-code-256-"
"""Beginning of `Space.vector_name` of the model behind the learned cosines."""
_BEST = 3
"""First results compared with the question one by one."""
_FAR, _FURTHER = 100, 25
"""Ranks in the searches for vectors and for words where results are no answers, but the usual background."""
_USUAL_RARITY = 0.5
"""Rarity of words without a weight."""


class Signs(NamedTuple):
    """Signs of an answer, mostly 0 to 1.

    Attributes:
        best: share of the question's words in one of the first three results.
        page: share of them in the first ten together.
        rare_best, rare_page: the same with each word weighed by its rarity in code.
        words: 1 for one word, less for more: a long question is seldom met in all of its words.
        unknown: 1 for a name in no result.
        chunks: logarithm of the number of chunks of the index: BM25 grows with it.
        weight: logarithm of the best chunk's BM25: rare words weigh more than common ones.
        fall: share of this BM25 missing in the 25th chunk: many chunks have the words of a common phrase.
        name: share of the first result's name in the question, times the share of the question's words in the name.
        file, path: BM25 of its file's text and path, relative to the best.
        cosine: of the nearest chunk and the question; 0 without vectors.
        usual: of the hundredth chunk: the question's similarity to any code; 0 without vectors.
        number: the reader's score of the first result it read; 0 if it read none.
        least: its least score; 0 if it read none.
    """

    best: float
    page: float
    rare_best: float
    rare_page: float
    words: float
    unknown: float
    chunks: float
    weight: float
    fall: float
    name: float
    file: float
    path: float
    cosine: float
    usual: float
    number: float
    least: float


class Results(NamedTuple):
    """The first ten results.

    Attributes:
        texts: with their paths and symbols.
        name, file, path: of the first one's features, as in `Signs`.
        numbers: the reader's, of those it read.
    """

    texts: Sequence[str]
    name: float = 0.0
    file: float = 0.0
    path: float = 0.0
    numbers: Sequence[float] = ()


def signs_of(
    question: Question,
    results: Results,
    cosines: Mapping[str, Mapping[str, float]],
    terms: Mapping[str, float],
    chunks: int,
    rarity: Mapping[int, float],
) -> Signs | None:
    """Return the signs of an answer; None without results or without a word to look for.

    Parameters:
        cosines: of the chunks found, by id, for each space of vectors. Other models have another scale: where a space
            is not the embedded model's, words alone tell.
        terms: BM25 by chunk id; empty for a search by meaning alone.
        rarity: of the question's words, by term.
    """
    # Two words of a question in one, such as "websocket", may be a word of the code or not.
    pairs = zip(question.terms.indices, question.terms.values, strict=True)
    wanted = frozenset(term for term, weight in pairs if weight >= 1)
    if not wanted or not results.texts:
        return None
    name = frozenset(name_term(question.symbol).indices) if question.symbol else frozenset[int]()
    found = _said(wanted | name, question, results.texts)
    said = frozenset[int]().union(*found)
    weights = {term: rarity.get(term, _USUAL_RARITY) for term in sorted(wanted)}
    total = sum(weights.values()) or 1.0
    cosine, usual = _cosines(cosines)
    most = log(chunks + 2)
    scores = nlargest(_FURTHER, terms.values()) or [_USUAL_SHARE * len(wanted) * most]
    numbers = results.numbers or (0.0,)
    return Signs(
        best=max(len(wanted & it) for it in found[:_BEST]) / len(wanted),
        page=len(wanted & said) / len(wanted),
        rare_best=max(_sum(weights, it) for it in found[:_BEST]) / total,
        rare_page=_sum(weights, said) / total,
        words=1 / len(wanted),
        unknown=float(bool(name) and said.isdisjoint(name)),
        chunks=most,
        weight=log1p(scores[0]),
        fall=1 - scores[-1] / scores[0] if terms and scores[0] else _USUAL_FALL,
        name=results.name,
        file=results.file,
        path=results.path,
        cosine=cosine,
        usual=usual,
        number=numbers[0],
        least=min(numbers),
    )


def _sum(weights: Mapping[int, float], said: frozenset[int]) -> float:
    return sum(weight for term, weight in weights.items() if term in said)


def _cosines(cosines: Mapping[str, Mapping[str, float]]) -> tuple[float, float]:
    """Return the cosines of the nearest chunk, and of one near by chance; 0 unless they are the known model's.

    A deeper look finds more chunks; they change neither.
    """
    found = [nlargest(_FAR, it.values()) for it in cosines.values() if it]
    if not found or not all(space.startswith(KNOWN_SPACE) for space in cosines):
        return 0.0, 0.0
    nearest = max(found)
    return nearest[0], nearest[-1]


def _said(asked: frozenset[int], question: Question, texts: Sequence[str]) -> list[frozenset[int]]:
    """Return the terms asked for in each of the first texts, and in further ones with possible missing terms."""
    known = {stem_term(word): word.removesuffix("y") for word in question.words}
    roots = {term: known.get(term, "") for term in asked}
    found = [terms_said(text, roots) for text in texts[:_BEST]]
    missing = asked.difference(*found)
    for text in texts[_BEST:]:
        lowered = text.lower()
        if any(roots[term] in lowered for term in missing):
            found.append(terms_said(text, roots))
            missing -= found[-1]
    return found


class _Regression(NamedTuple):
    """A logistic regression of signs, and the least chances of a sure and of a possible answer.

    Attributes:
        topic, sentence: chances for the name of a topic, and for a sentence.
        low: least chance of a possible answer. Calling an answer "none" hides it, so this may happen to fewer than 1 in
            100 questions with an answer; calling it "low" costs little.
        right: constant and weights of the likelihood, of the logarithm of a result's place, and of the first place.
            They give the chance that a result has a line of the answer.
    """

    constant: float
    weights: Signs
    topic: float
    sentence: float
    low: float
    right: tuple[float, float, float, float]


def _regression(learned: Mapping[str, float]) -> _Regression:
    weights = Signs(*(learned[name] for name in Signs._fields))
    right = (learned["right"], learned["right_likelihood"], learned["right_place"], learned["right_first"])
    return _Regression(learned["constant"], weights, learned["topic"], learned["sentence"], learned["low"], right)


_READ, _UNREAD, _WORDS_ALONE = map(_regression, (READ, UNREAD, WORDS_ALONE))
_IS_SENTENCE = 0.5
_USUAL_SHARE, _USUAL_FALL = 0.31, 0.45
"""Share of a word's highest BM25, and `Signs.fall`, for a search without words: their means with words."""
SURE = 4.0
"""Likelihood of an answer as good as sure: above it, results are right no more often."""
_NAMED, _MEANT = 0.95, 0.89
"""Shares of right first results where a question names something (tests/bench/names.py), or a part of it."""
ENOUGH_WORDS = 0.5
"""Share of a question's words in one result for a possible answer, whatever the regression says."""


class Judgement(NamedTuple):
    """The worth of an answer.

    Attributes:
        confidence: of the whole answer.
        likelihood: logarithm of the odds that it is an answer; None if a definition, place or file is named.
        right: as in `_Regression`.
    """

    confidence: Confidence
    likelihood: float | None = None
    right: tuple[float, float, float, float] = _UNREAD.right


def judge(question: Question, signs: Signs | None) -> Judgement:
    """Judge an answer without a definition, place or file named by the question at its head."""
    if signs is None:
        return Judgement(Confidence.NONE, -inf)
    # No number and no cosine is exactly 0, but by chance.
    learned = _WORDS_ALONE if not signs.cosine else _READ if signs.number or signs.least else _UNREAD
    likelihood = learned.constant + sum(map(mul, learned.weights, signs))
    chance = _logistic(likelihood)
    if chance >= (learned.sentence if question.sentence > _IS_SENTENCE else learned.topic):
        return Judgement(Confidence.HIGH, likelihood, learned.right)
    is_maybe = chance >= learned.low or signs.best >= ENOUGH_WORDS
    return Judgement(Confidence.LOW if is_maybe else Confidence.NONE, likelihood, learned.right)


def chance_of(judgement: Judgement, place: int) -> float:
    """Return the chance of the result at a place, from 0, to be the answer; it falls from place to place."""
    if judgement.likelihood is None:
        found = _NAMED if judgement.confidence is Confidence.HIGH else _MEANT
        return found / (1 + place)
    constant, of_likelihood, of_place, of_first = judgement.right
    known = constant + of_likelihood * min(judgement.likelihood, SURE)
    return _logistic(known + of_place * log1p(place) + of_first * (not place))


def _logistic(log_odds: float) -> float:
    return 1 / (1 + exp(-max(log_odds, -50.0)))
