"""Words of code as sparse vectors: identifier-aware terms with BM25 document weights.

The store multiplies the inverse document frequency in at query time, so that the score of a document is Okapi BM25
(Robertson and Zaragoza 2009): the sum over terms of query weight * idf * document weight.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from zlib import crc32

# BM25's usual constants: how fast repeated words saturate, and how much a long text is held down.
_SATURATION = 1.2
_LENGTH_SHARE = 0.75

_WORD = re.compile(r"\w+")
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+|[^\W\dA-Za-z_]+")


@dataclass(frozen=True, slots=True)
class SparseTerms:
    """A sparse vector of terms.

    Attributes:
        indices: 32-bit hashes of terms, ascending, each once.
        values: their weights, finite and above 0, in the same order.
    """

    indices: tuple[int, ...]
    values: tuple[float, ...]


def query_terms(text: str) -> SparseTerms:
    """The terms of a question, each weighing as often as it occurs."""
    return _sparse(count_terms(((text, 1.0),)))


def document_terms(fields: Iterable[tuple[str, float]], average_length: float) -> SparseTerms:
    """The terms of a document with their BM25 weights.

    Parameters:
        fields: texts with the weight of each of their words.
        average_length: terms of a usual document of this kind, a constant: scores must not change when others are added.
    """
    return weigh(count_terms(fields), average_length)


def count_terms(fields: Iterable[tuple[str, float]]) -> Counter[int]:
    """How often each term occurs, by its hash; the counts of a field are multiplied by its weight."""
    counts: Counter[int] = Counter()
    for text, weight in fields:
        for word, times in Counter(_WORD.findall(text)).items():
            for term in _terms_of_word(word):
                counts[term] += times * weight
    return counts


def weigh(counts: Counter[int], average_length: float) -> SparseTerms:
    """BM25 weights from the counts of a document; see `document_terms`."""
    length = sum(counts.values())
    norm = _SATURATION * (1 - _LENGTH_SHARE + _LENGTH_SHARE * length / average_length)
    return _sparse({term: tf * (_SATURATION + 1) / (tf + norm) for term, tf in counts.items()})


def words(text: str) -> Sequence[str]:
    """The lower-case words of a text in order, identifiers split; for matching names, not for vectors."""
    return [part.lower() for word in _WORD.findall(text) for part in _PART.findall(word)]


def _sparse(weights: dict[int, float]) -> SparseTerms:
    ordered = sorted(weights.items())
    return SparseTerms(tuple(term for term, _ in ordered), tuple(float(value) for _, value in ordered))


@lru_cache(maxsize=65536)
def _terms_of_word(word: str) -> tuple[int, ...]:
    parts = [part.lower() for part in _PART.findall(word)]
    whole = word.replace("_", "").lower()
    terms = parts if parts == [whole] else [*parts, whole]
    return tuple(crc32(term.encode()) for term in terms)
