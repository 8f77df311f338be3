"""Words of code as sparse vectors: identifier-aware terms with BM25 document weights.

A word is split at case, underscores and digits. Its parts are stemmed lightly, and the whole word is kept as well:
`getUserNames` gives `get`, `user`, `name` and `getusername`. The store multiplies by the inverse document frequency at
query time, so a document's score is Okapi BM25 (Robertson and Zaragoza, "The Probabilistic Relevance Framework", 2009):
the sum over terms of query weight * idf * document weight.
"""

import re
import unicodedata
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import cache
from itertools import chain, pairwise
from typing import TypeVar
from zlib import crc32

Value = TypeVar("Value")

# Okapi's k1 (repeated words saturate; 1.2 is usual, code repeats more) and b (penalty of long texts).
_SATURATION = 1.6
_LENGTH_SHARE = 0.75

LONGEST_IDENTIFIER = 64
"""A longer word is data (base64, a hash): findable as a whole, but its "parts" would be noise."""
# Two adjacent words may be one identifier: "web socket" finds WebSocket and websocket.
_JOINED_WEIGHT = 0.5
_SHORTEST_STEM = 3
_MANY_WORDS = 30

WORD = re.compile(r"\w+")
ONLY_WORDS = {code: " " for code in range(128) if not WORD.match(chr(code))}
"""Blanks everything but ASCII words, for `str.translate`: splitting then takes a fifth of the pattern's time."""
ONLY_WORDS_AND_LINES = {code: blank for code, blank in ONLY_WORDS.items() if code != ord("\n")}
HUMP = r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+"
"""Matches a word in an identifier: "HTTP", "Server" and "url" in HTTPServer_url."""
_PART = re.compile(rf"{HUMP}|[0-9]+")
# Chinese, Japanese and Korean write without spaces: ideographs, kana with their marks, Hangul syllables.
_UNSPACED = "\u3005-\u3007\u3041-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff\U00020000-\U0003ffff"
_VOWEL = re.compile(r"[aeiouy]")
COMMENT = re.compile(r"\s*(?://|/\*|\*(?:[\s/]|$)|#+(?:[\s:]|$)|--\s)")
"""Matches the start of a comment line. "*p = f()", "--n, f()", "#region" and "#[test]" are no comments."""
# Verbs ending in these double letters keep them: "calling" comes from "call", not "cal".
_DOUBLED_OF_ITSELF = "lsz"

# Phrasing words of questions. They are rare enough in code to outweigh the words the question is about.
QUESTION_WORDS = frozenset(
    WORD.findall(
        """
        a an the of to in on at by for from with and or is are was be been being it its this that these those as into
        over how does do did what where which when why who whose can could should would will i we you my our me there
        here has have had not no if then than so such via using use used uses work works working happen happens s t
        """
    )
)


@dataclass(frozen=True, slots=True)
class SparseTerms:
    """A sparse vector of terms.

    Attributes:
        indices: 32-bit hashes of terms, ascending, each once.
        values: their weights, finite and above 0, in the same order.
    """

    indices: tuple[int, ...]
    values: tuple[float, ...]


class _Remembered(dict[str, Value]):
    """The values of words by a function; all are forgotten when there are too many."""

    def __init__(self, find: Callable[[str], Value], most: int) -> None:
        super().__init__()
        self._find, self._most = find, most

    def __missing__(self, word: str) -> Value:
        value = self._find(word)
        if len(word) <= LONGEST_IDENTIFIER:
            if len(self) >= self._most:
                self.clear()
            self[word] = value
        return value


def remembered(most: int) -> Callable[[Callable[[str], Value]], Callable[[str], Value]]:
    """Remember a function's values for so many words, in half the time of `lru_cache` to find one."""
    return lambda find: _Remembered(find, most).__getitem__


def query_terms(text: str, content: Sequence[str] | None = None) -> SparseTerms:
    """Return the terms of a question without phrasing words; if it has no others, they stay."""
    content = content_words(text) if content is None else content
    weights: dict[int, float] = dict(count_terms(" ".join(content)))
    # A pasted log has thousands of words, a question a handful.
    known = content if len(content) < _MANY_WORDS else frozenset(content)
    for first, second in pairwise(WORD.findall(text)):
        if first in known and second in known and (joined := first + second).isalpha():
            term = _hash(stem(joined.lower()))
            weights[term] = weights.get(term, 0.0) + _JOINED_WEIGHT
    indices = sorted(weights)
    return SparseTerms(tuple(indices), tuple(float(weights[term]) for term in indices))


def name_term(name: str) -> SparseTerms:
    """Return the single term of a whole identifier; none for "_". Marks around it are ignored."""
    terms = _hashes(WORD.findall(name)[-1])[-1:]
    return SparseTerms(terms, (1.0,) * len(terms))


def stem_term(word: str) -> int:
    """Return the term of a stemmed word."""
    return _hash(word)


def label_term(label: str) -> SparseTerms:
    """Return the one term of a label."""
    return SparseTerms((_label_hash(label),), (1.0,))


def with_labels(terms: SparseTerms, labels: Iterable[str]) -> SparseTerms:
    """Add labels to a document's terms. Labels equal no word of any text, so no score changes."""
    indices, values = [*terms.indices], [*terms.values]
    for label in map(_label_hash, labels):
        place = bisect_left(indices, label)
        if place == len(indices) or indices[place] != label:
            indices.insert(place, label)
            values.insert(place, 1.0)
    return SparseTerms(tuple(indices), tuple(values))


def content_words(text: str) -> list[str]:
    """Return the words of a question as written, without phrasing words; if it has no others, they stay."""
    words = WORD.findall(text)
    return [word for word in words if word.lower() not in QUESTION_WORDS] or words


def count_terms(text: str) -> Counter[int]:
    """Count the terms of a text by their hash."""
    return Counter(terms_of(text))


def terms_of(text: str) -> list[int]:
    """Return the hashes of a text's terms, in order; a repeated term is there each time."""
    return list(chain.from_iterable(map(_hashes, _words(text))))


def distinct_terms(text: str) -> set[int]:
    """Return the hashes of a text's terms; takes half of the time of `terms_of`."""
    return set(chain.from_iterable(map(_hashes, set(_words(text)))))


def terms_said(text: str, roots: Mapping[int, str]) -> frozenset[int]:
    """Return the terms found in a text: looking for a root is cheaper than splitting all words.

    Parameters:
        roots: for each term the beginning of its words, in lower case, from `stem`, without a "y" at its end; empty if
            unknown.
    """
    if not text.isascii() or not all(roots.values()):
        return frozenset(roots.keys() & distinct_terms(text))
    plain = text.translate(ONLY_WORDS)
    lowered = plain.lower()
    return frozenset(term for term, root in roots.items() if _is_said(term, root, plain, lowered))


def _is_said(term: int, root: str, plain: str, lowered: str) -> bool:
    """Whether a text of words and blanks has a term, in a word with its root."""
    at = lowered.find(root)
    while at >= 0:
        start, end = plain.rfind(" ", 0, at) + 1, plain.find(" ", at)
        if term in _hashes(plain[start : end if end >= 0 else None]):
            return True
        at = lowered.find(root, end) if end >= 0 else -1
    return False


def _words(text: str) -> list[str]:
    return text.translate(ONLY_WORDS).split() if text.isascii() else WORD.findall(text)


def terms_by_line(texts: Sequence[str], wanted: set[int]) -> list[list[AbstractSet[int]]]:
    """Return for each line of each text which of the wanted terms it has."""
    said = [
        list(map(str.split, text.translate(ONLY_WORDS_AND_LINES).split("\n")))
        if text.isascii()
        else list(map(WORD.findall, text.split("\n")))
        for text in texts
    ]
    # Texts repeat words, so each is looked up once.
    words = set(chain.from_iterable(chain.from_iterable(said)))
    having = {word: wanted.intersection(_hashes(word)) for word in words if not wanted.isdisjoint(_hashes(word))}
    known, none = having.keys(), frozenset[int]()
    return [
        [none if known.isdisjoint(line) else {it for word in known & line for it in having[word]} for line in lines]
        for lines in said
    ]


def document_terms(counts: Counter[int], usual_length: float) -> SparseTerms:
    """Return the terms of a document with their BM25 weights.

    Parameters:
        counts: of `terms_of`; fields are added up beforehand, as in BM25F.
        usual_length: terms of a typical document of its kind. A constant, so other documents change no weight.
    """
    length_norm = 1 - _LENGTH_SHARE + _LENGTH_SHARE * counts.total() / usual_length
    norm = _SATURATION * length_norm
    scale = _SATURATION + 1
    # A term is a number, so terms sort several times faster than pairs; few counts occur, so each has its weight once.
    indices = sorted(counts)
    weights = {times: times * scale / (times + norm) for times in set(counts.values())}
    return SparseTerms(tuple(indices), tuple([weights[counts[term]] for term in indices]))


def stems(text: str) -> list[str]:
    """Return the stemmed words of a text in order, with identifiers split. Used to compare names."""
    return [part for word in WORD.findall(text) for part in _parts(word)]


@remembered(1 << 14)
def stem(word: str) -> str:
    """Remove plural, -ing, -ed and final e from a lower-case English word; other words stay as they are.

    Measured better than no stemming and than plurals alone, and equal to a table of longer suffixes (-er, -tion ...).
    """
    if len(word) <= _SHORTEST_STEM or not word.isascii():
        return word
    word = _singular(word)
    for suffix in ("ing", "ed"):
        root = word.removesuffix(suffix)
        if root != word and len(root) >= _SHORTEST_STEM and _VOWEL.search(root):
            doubled = len(root) > _SHORTEST_STEM and root[-1] == root[-2] and root[-1] not in _DOUBLED_OF_ITSELF
            word = root[:-1] if doubled else root
            break
    return word[:-1] if word.endswith("e") and len(word) > _SHORTEST_STEM else word


def _singular(word: str) -> str:
    if word.endswith("ies") and len(word) > len("ties"):
        return word[:-3] + "y"
    if word.endswith(("sses", "shes", "ches", "xes", "zes")):
        return word[:-2]
    if word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


@remembered(1 << 16)
def _hashes(word: str) -> tuple[int, ...]:
    if word.isascii() and len(word) <= LONGEST_IDENTIFIER:
        found = _PART.findall(word)
        if len(found) < 2:  # noqa: PLR2004 - a word that is its only part
            return tuple(map(_part_hash, found))
        return (*map(_part_hash, found), _hash(stem(word.replace("_", "").lower())))
    parts = _parts(word)
    whole = stem(word.replace("_", "").lower())
    return tuple(_hash(term) for term in (parts if len(parts) == 1 else [*parts, whole]) if term)


@remembered(1 << 15)
def _part_hash(part: str) -> int:
    # The same few thousand parts make most identifiers.
    return _hash(stem(part.lower()))


def _hash(term: str) -> int:
    # Stored with the index, so it must be equal in every process and version; hash() isn't.
    return crc32(term.encode("utf-8", "surrogatepass"))


def _label_hash(label: str) -> int:
    return _hash(f"\0{label}")


def _parts(word: str) -> list[str]:
    if len(word) > LONGEST_IDENTIFIER:
        return [word.lower()]
    if word.isascii():
        return [stem(part.lower()) for part in _PART.findall(word)]
    plain = unicodedata.normalize("NFKC", word)
    return [part for run in _foreign_part().findall(plain) for part in _foreign_parts(run)]


@cache
def _foreign_part() -> re.Pattern[str]:
    # Its ranges take as long to compile as all else here, and a client's question is seldom of them.
    return re.compile(rf"[{_UNSPACED}]+|[^\W_{_UNSPACED}]+")


@cache
def _unspaced_run() -> re.Pattern[str]:
    return re.compile(rf"[{_UNSPACED}]+")


def _foreign_parts(run: str) -> Iterable[str]:
    if _unspaced_run().fullmatch(run):
        return [first + second for first, second in pairwise(run)] or [run]
    return [stem(run.casefold())]


_SURROGATE = re.compile("[\ud800-\udfff]")


def encodable(text: str) -> str:
    """Replace each lone surrogate, which has no UTF-8 form, by U+FFFD; offsets stay."""
    return _SURROGATE.sub("\ufffd", text)
