"""Read the first results of a search again, word by word: late interaction over static vectors.

A chunk's vector says little of its single lines. So each word of the question is compared with each word of the chunk,
by their static vectors, and counts with the most alike one, as in ColBERT (Khattab and Zaharia,
doi:10.1145/3397271.3401075): in the whole chunk, in its best few lines, and in its best line. A word weighs as much as
its trained vector is long. Weights of these features are learned by `training/reading.py`.
"""

from collections.abc import Sequence
from itertools import chain
from operator import mul
from typing import TYPE_CHECKING, NamedTuple

from cqm.index.embedding.static_model import lines_of_identifiers, word_vectors, words_of, words_of_identifier
from cqm.index.ranking.question import Question
from cqm.index.ranking.rank import Ranked, Weights, in_order, spread, weights_for
from cqm.index.rerank.word_weights import SENTENCE, TOPIC
from cqm.index.text.terms import content_words

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

DEPTH = 30
"""Results read. 20 and 50 moved span Recall@10 of 1,674 questions by -.005 and .003."""
LEAST_SENTENCE = 0.5
"""Questions that are less of a sentence are topics, which files answer. On the development set, where few are more,
reading all gives the files' NDCG@10 .902, reading sentences alone .906, reading none .905. Of 1,674 sentences 92 % are
above."""
_WINDOW_STEPS = (1, 2, 4)
"""Join a line with the seven after it: each step takes what the steps before made of a line so much later."""
_MOST_WORDS = 64
"""Words of a question that are compared, its first ones: a longer text is no question, and takes time."""
_LONGEST_IDENTIFIER = 64
"""Characters; a longer one is data."""
_NO_LENGTH = 1e-9
_ONE_THREAD = 1 << 18
"""Multiplications up to which OpenBLAS takes one thread (`SMP_THRESHOLD_MIN * GEMM_MULTITHREAD_THRESHOLD`)."""


class Reading(NamedTuple):
    """Agreement of a chunk's words with a question's.

    Attributes:
        whole: mean cosine of the question's words with the most alike words of the chunk, by weight.
        window: the same of the best eight lines.
        line: the same of the best line.
        naming: mean cosine of the words of the chunk's symbol with the most alike words of the question.
        length: logarithm of the number of identifiers.
    """

    whole: float
    window: float
    line: float
    naming: float
    length: float


def read_again(question: Question, ranked: Sequence[Ranked], texts: Sequence[str]) -> Sequence[Ranked]:
    """Order the first results anew, by their words too; what these tell is the part `words` of the score.

    Parameters:
        question: asked.
        ranked: best first.
        texts: of the first of them, in their order; the others stay after these.
    """
    first = ranked[: len(texts)]
    rows = readings(question, [entry.candidate.symbol for entry in first], texts)
    if rows is None:
        return ranked
    weights = weights_for(question, TOPIC, SENTENCE)
    share = question.sentence
    of_words = [(1 - share) * TOPIC[name] + share * SENTENCE[name] for name in Reading._fields]
    read = [_with_words(entry, weights, said) for entry, said in zip(first, (rows @ of_words).tolist(), strict=True)]
    return [*spread(in_order(read), weights.repeat), *ranked[len(read) :]]


def _with_words(entry: Ranked, weights: Weights, said: float) -> Ranked:
    known = sum(map(mul, entry.own, weights.own)) + sum(map(mul, entry.of_file.features, weights.of_file))
    return entry._replace(score=known + said, weights=weights, further=(*entry.further, ("words", said)))


def readings(question: Question, names: Sequence[str], texts: Sequence[str]) -> "Floats | None":
    """Compare a question's words with those of texts.

    Parameters:
        question: its content words count.
        names: of the symbols of the texts; empty for none.
        texts: to compare.

    Returns:
        A row for each text in the order of `Reading`, shape (texts, 5); None where there is nothing to compare.
    """
    import numpy as np

    asked = list(dict.fromkeys(words_of(" ".join(content_words(question.said)))))[:_MOST_WORDS]
    if not asked or not texts:
        return None
    lines = [list(filter(None, lines_of_identifiers(text))) for text in texts]
    named = [list(words_of(name)) for name in names]
    distinct = dict.fromkeys(chain(chain.from_iterable(chain.from_iterable(lines)), chain.from_iterable(named)))
    place_of = {identifier: place for place, identifier in enumerate(distinct)}
    alike, weights = _alike(asked, list(place_of))
    nearest = alike.max(1)
    found = np.zeros((len(texts), len(Reading._fields)), np.float32)
    found[:, 3] = [np.mean(nearest[[place_of[it] for it in words]]) if words else 0.0 for words in named]
    counts = np.fromiter(map(len, lines), np.intp, len(lines))
    some = counts > 0
    if not some.any():
        return found
    sizes = np.fromiter(map(len, chain.from_iterable(lines)), np.intp)
    places = np.fromiter(map(place_of.__getitem__, chain.from_iterable(chain.from_iterable(lines))), np.intp)
    by_line = np.maximum.reduceat(alike[places], np.cumsum(sizes) - sizes)
    starts = (np.cumsum(counts) - counts)[some]
    found[some, 0] = np.einsum("lw,w->l", np.maximum.reduceat(by_line, starts), weights)
    found[some, 1] = np.maximum.reduceat(
        _of_windows(by_line, np.repeat(np.arange(len(texts)), counts)) @ weights, starts
    )
    found[some, 2] = np.maximum.reduceat(np.einsum("lw,w->l", by_line, weights), starts)
    found[some, 4] = np.log1p(np.add.reduceat(sizes, starts))
    return found


def _of_windows(by_line: "Floats", text_of: "NDArray[np.intp]") -> "Floats":
    """Return for each line the most alike of it and the seven after it in its text, by word of the question."""
    import numpy as np

    best = by_line
    for step in _WINDOW_STEPS:
        joined = best.copy()
        is_same = (text_of[step:] == text_of[:-step])[:, None]
        joined[:-step] = np.maximum(best[:-step], best[step:] * is_same)
        best = joined
    return best


def _alike(asked: Sequence[str], identifiers: Sequence[str]) -> "tuple[Floats, Floats]":
    """Compare words with identifiers: with the most alike word of each.

    Returns:
        Cosines from 0, shape (identifiers, asked), and the weights of the words asked, which sum up to 1.
    """
    import numpy as np

    words = [words_of_identifier(it) if len(it) <= _LONGEST_IDENTIFIER else () for it in identifiers]
    place_of = {word: place for place, word in enumerate(dict.fromkeys(chain(asked, chain.from_iterable(words))))}
    vectors = word_vectors(list(place_of))
    lengths = np.linalg.norm(vectors, axis=1)
    units = vectors / np.maximum(lengths, _NO_LENGTH)[:, None]
    wanted = units[: len(asked)].T
    # Of larger products OpenBLAS makes two threads, which wait for each other by counting: twice the processor time.
    rows = max(1, _ONE_THREAD // wanted.size)
    products = [units[start : start + rows] @ wanted for start in range(0, len(units), rows)]
    by_word = np.maximum(np.concatenate(products), 0.0)
    sizes = np.fromiter(map(len, words), np.intp, len(words))
    places = np.fromiter(map(place_of.__getitem__, chain.from_iterable(words)), np.intp)
    alike = np.zeros((len(words), len(asked)), np.float32)
    some = sizes > 0
    if some.any():
        alike[some] = np.maximum.reduceat(by_word[places], (np.cumsum(sizes) - sizes)[some])
    weights = lengths[: len(asked)]
    return alike, weights / max(float(weights.sum()), _NO_LENGTH)
