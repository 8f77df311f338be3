"""Signs of an answer, and what they are worth."""

import pytest

from cqm.index.model.query import Confidence
from cqm.index.ranking.confidence import Judgement, Results, Signs, chance_of, judge, signs_of
from cqm.index.ranking.question import read_question
from cqm.index.search.judging import rarity_of

SPACE = "embedded-code-256-x"
QUESTION = read_question("returns the number of kernels that are running")
COMMON = "size.py\nsize\n\ndef size(self):\n    return the_number_of_all_values(self, running=True)\n"
RARE = "kernels.py\nkernels\n\ndef kernels(self):\n    pass\n"
COSINES = {str(place): 0.6 - place / 1000 for place in range(100)}
TERMS = {str(place): 20.0 - place / 10 for place in range(100)}


def signs(
    *texts: str,
    numbers: tuple[float, ...] = (),
    cosines: dict[str, float] = COSINES,
    terms: dict[str, float] = TERMS,
) -> Signs:
    found = signs_of(QUESTION, Results(texts, numbers=numbers), {SPACE: cosines}, terms, 1000, rarity_of(QUESTION))
    assert found is not None
    return found


def likelihood(found: Signs) -> float:
    judged = judge(QUESTION, found).likelihood
    assert judged is not None
    return judged


def test_a_rare_word_tells_more_than_common_ones() -> None:
    common, rare = signs(COMMON), signs(RARE)
    assert rare.best < common.best
    assert rare.rare_best / rare.best > common.rare_best / common.best


def test_words_of_which_nothing_is_known_are_equally_rare() -> None:
    found = signs_of(QUESTION, Results((RARE,)), {SPACE: COSINES}, TERMS, 1000, {})
    assert found is not None
    assert found.rare_best == pytest.approx(found.best)
    assert found.rare_page == pytest.approx(found.page)


def test_an_answer_is_likelier_if_the_reader_says_so() -> None:
    believed, denied = signs(COMMON, numbers=(3.0, 1.0)), signs(COMMON, numbers=(-6.0, -8.0))
    assert likelihood(believed) > likelihood(denied) + 1


def test_without_the_reader_or_vectors_other_weights_judge() -> None:
    unread, words = signs(COMMON), signs(COMMON, cosines={})
    assert (unread.number, unread.least, words.cosine, words.usual) == (0, 0, 0, 0)
    assert len({likelihood(it) for it in (signs(COMMON, numbers=(1e-9,)), unread, words)}) == 3


def test_a_deeper_look_changes_no_sign() -> None:
    further = {f"more{place}": -0.1 - place / 1000 for place in range(300)}
    assert signs(COMMON, cosines=COSINES | further, terms=TERMS | dict.fromkeys(further, 0.5)) == signs(COMMON)


def test_vectors_of_another_model_tell_nothing() -> None:
    found = signs_of(QUESTION, Results((COMMON,)), {"openai-1536": COSINES}, TERMS, 1000, {})
    assert found is not None
    assert (found.cosine, found.usual) == (0, 0)


def test_a_chance_falls_from_place_to_place_and_rises_with_the_likelihood() -> None:
    sure, doubtful = Judgement(Confidence.HIGH, 5.0), Judgement(Confidence.LOW, -5.0)
    of_sure = [chance_of(sure, place) for place in range(10)]
    assert of_sure == sorted(of_sure, reverse=True)
    assert all(chance > chance_of(doubtful, place) for place, chance in enumerate(of_sure))
    assert chance_of(Judgement(Confidence.HIGH, 50.0), 0) == of_sure[0]
