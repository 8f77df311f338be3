"""Read the first results of a search again, word by word: late interaction over static vectors.

A chunk's vector says little of its single lines. So each word of the question is compared with each word of the chunk,
by their static vectors, and counts with the most similar one, as in ColBERT (Khattab and Zaharia,
doi:10.1145/3397271.3401075): in the whole chunk, in its best few lines, and in its best line. A word's weight is the
length of its trained vector. Weights of these features are learned by `training/reading.py`.
"""

from collections.abc import Sequence
from functools import cache, lru_cache
from itertools import islice
from operator import mul
from typing import TYPE_CHECKING, NamedTuple

from cqm.index.embedding.static_model import words_of
from cqm.index.ranking.question import Question
from cqm.index.ranking.rank import Ranked, Weights, in_order, spread, weights_for
from cqm.index.rerank.vocabulary import TextNumbers, Vocabulary
from cqm.index.rerank.word_weights import SENTENCE, TOPIC
from cqm.index.text.terms import content_words

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]
    Numbers = NDArray[np.int32]

DEPTH = 30
"""Results read. 20 and 50 moved span Recall@10 of 1,674 questions by -.005 and .003."""
LEAST_SENTENCE = 0.5
"""Questions with less sentence likeness are topics, answered by files. On the development set, with few sentences,
reading all gives the files' NDCG@10 .902, reading sentences alone .906, reading none .905. Of 1,674 sentences 92 % are
above."""
_WINDOW_STEPS = (1, 2, 4)
"""Join a line with the seven after it: each step adds the result of the steps before for a line so much later."""
_MOST_WORDS = 64
"""First words of a question, to be compared: a longer text is no question, and takes time."""
_NO_LENGTH = 1e-9
_vocabulary = cache(Vocabulary)
"""One for the process: its projects share words."""


class Reading(NamedTuple):
    """Agreement of a chunk's words with a question's.

    Attributes:
        whole: mean cosine of the question's words with the most similar words of the chunk, by weight.
        window: the same of the best eight lines.
        line: the same of the best line.
        naming: mean cosine of the words of the chunk's symbol with the most similar words of the question.
        length: logarithm of the number of identifiers.
    """

    whole: float
    window: float
    line: float
    naming: float
    length: float


def read_again(question: Question, ranked: Sequence[Ranked], texts: Sequence[str]) -> Sequence[Ranked]:
    """Reorder the first results by their words too; these add the part `words` to the score.

    Parameters:
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

    Returns:
        A row for each text in the order of `Reading`, shape (texts, 5); None where there is nothing to compare.
    """
    import numpy as np

    asked = list(dict.fromkeys(words_of(" ".join(content_words(question.said)))))[:_MOST_WORDS]
    if not asked or not texts:
        return None
    read, (asking, *named) = _vocabulary().numbers(texts, asked, *map(_words_of_name, names))
    identifiers, at = _distinct(np.concatenate([text.identifiers for text in read.texts]))
    of_identifiers = read.words_of.take(identifiers, 0).T
    words, of_all = _distinct(np.concatenate([of_identifiers.ravel(), *named]))
    of_identifiers, of_names = of_all[: of_identifiers.size], of_all[of_identifiers.size :]
    # By word of the question and word of the texts. Sums of products in one order: the same words have the same
    # similarity in any process, whatever was read before.
    alike = np.maximum(np.einsum("qd,wd->qw", read.units.take(asking, 0), read.units.take(words, 0)), 0.0)
    weights = read.lengths.take(asking)
    weights /= max(float(weights.sum()), _NO_LENGTH)
    nearest = iter(alike.max(0).take(of_names).tolist())
    found = np.zeros((len(texts), len(Reading._fields)), np.float32)
    found[:, 3] = [sum(islice(nearest, len(it))) / max(len(it), 1) for it in named]
    if any(len(text.sizes) for text in read.texts):
        by_identifier = alike.take(of_identifiers.reshape(-1, len(identifiers)), 1).max(1).take(at, 1)
        _read_lines(found, read.texts, by_identifier, weights)
    return found


def _read_lines(found: "Floats", texts: Sequence[TextNumbers], by_identifier: "Floats", weights: "Floats") -> None:
    """Fill in the readings of lines, for texts with lines.

    Parameters:
        by_identifier: similarity of the question's words to the identifiers of all texts, a row a word.
    """
    import numpy as np

    sizes = np.concatenate([text.sizes for text in texts])
    by_line = np.maximum.reduceat(by_identifier, np.cumsum(sizes) - sizes, axis=1)
    counts = np.array([len(text.sizes) for text in texts])
    some = counts > 0
    starts = (np.cumsum(counts) - counts)[some]
    text_of = np.repeat(np.arange(len(texts)), counts)
    found[some, 0] = np.einsum("ql,q->l", np.maximum.reduceat(by_line, starts, axis=1), weights)
    windows = np.einsum("ql,q->l", _of_windows(by_line, text_of), weights)
    found[some, 1] = np.maximum.reduceat(windows, starts)
    found[some, 2] = np.maximum.reduceat(np.einsum("ql,q->l", by_line, weights), starts)
    found[some, 4] = np.log1p(np.add.reduceat(sizes, starts))


@lru_cache(maxsize=1 << 12)
def _words_of_name(name: str) -> tuple[str, ...]:
    return tuple(words_of(name))


def _of_windows(by_line: "Floats", text_of: "NDArray[np.intp]") -> "Floats":
    """Return for each line the greatest similarity in it and the seven lines after it, by word of the question."""
    import numpy as np

    best = by_line
    for step in _WINDOW_STEPS:
        joined = best.copy()
        is_same = text_of[step:] == text_of[:-step]
        joined[:, :-step] = np.maximum(best[:, :-step], best[:, step:] * is_same)
        best = joined
    return best


def _distinct(numbers: "Numbers") -> "tuple[Numbers, Numbers]":
    """Return the distinct numbers in order, and the place of each number among them; quicker than `np.unique`."""
    import numpy as np

    places = np.zeros(int(numbers.max(initial=-1)) + 1, np.int32)
    places[numbers] = 1
    distinct = np.flatnonzero(places).astype(np.int32)
    places[distinct] = np.arange(len(distinct))
    return distinct, places.take(numbers)
