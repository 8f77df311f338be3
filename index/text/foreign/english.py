"""Translate a question to English, word by word, as far as its words are known.

Code is written in English whatever its people speak. `training/translations.py` learned the words from translated
messages of programs. An ASCII word unknown in the language stays: it is a name, or English.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from cqm.index.text.foreign.languages import KANJI, LANGUAGES, is_little, language_of, words_of
from cqm.index.text.terms import QUESTION_WORDS

_ENDINGS = 3
"""Most letters at the end differing between forms of one word."""
_SHORTEST_ROOT = 4
_SHORTEST_PART = 4
"""Letters of a part of a compound."""
_LINKING = ("", "s", "n", "en", "es", "er", "e")
"""Between the parts of a German compound."""
_NEAR = 20
"""Most words with one beginning to look at."""

_IN_ASCII = re.compile(r"[A-Za-z_][\w.:/#()-]*", re.ASCII)
_IDEOGRAPH_OR_HANGUL = re.compile(f"[{KANJI}\uac00-\ud7a3]")

_Table = Mapping[str, Sequence[str]]


class InEnglish(NamedTuple):
    """A question in English.

    Attributes:
        text: of the known words.
        known: share of the known words.
    """

    text: str
    known: float


class _Word(NamedTuple):
    """A word of a question with its English meanings; none if unknown."""

    text: str
    meanings: Sequence[str] = ()


def in_english(text: str) -> InEnglish | None:
    """Translate a question to English; None for one in English, and for one without a known word."""
    language = language_of(text)
    words = list(_words(text, language)) if language else []
    if not any(word.meanings for word in words):
        return None
    known = [word for word in words if word.meanings or word.text.isascii()]
    told = dict.fromkeys(said for word in known for said in word.meanings or [word.text])
    return InEnglish(" ".join(told), len(known) / len(words))


def says(text: str, question: str) -> bool:
    """Whether a text has a word of a question in the question's own language, of two letters at least."""
    language = language_of(question)
    own = {word for word in words_of(question, language) if len(word) > 1}
    if LANGUAGES[language].longest:
        return any(word in text for word in own)
    return not own.isdisjoint(_table(language).keys() & words_of(text, language))


def is_translated(path: str, question: str) -> bool:
    """Whether a file has messages in a question's language: `locales/ja.ts`, `values-ja/strings.xml`, `texts_ja.py`."""
    return re.search(rf"(?:^|[/._-]){language_of(question)}(?:[_-][A-Za-z]+)?(?:[/.]|$)", path) is not None


def _words(text: str, language: str) -> Iterator[_Word]:
    """Yield the meaningful words of a question, in order."""
    row, table, end = LANGUAGES[language], _table(language), 0
    for found in row.runs.finditer(text):
        if row.longest:
            yield from _in_ascii(text[end : found.start()])
        end, run = found.end(), found[0].casefold()
        if is_little(run, language):
            continue
        if row.longest:
            yield from _in_run(run, table, row.longest)
        elif not (run.isascii() and run in QUESTION_WORDS):
            yield _Word(found[0], _meanings(run, language))
    if row.longest:
        yield from _in_ascii(text[end:])


def _in_ascii(text: str) -> Iterator[_Word]:
    """Yield the names and English words between those of a language of other letters."""
    return (_Word(word) for word in _IN_ASCII.findall(text) if word.lower() not in QUESTION_WORDS)


def _in_run(run: str, table: _Table, longest: int) -> Iterator[_Word]:
    """Cut a run into known words with the fewest letters left over; of such cuts, take the one with the fewest words.

    In kana all letters must be known, else the run is one unknown word: many words have one beginning. Behind Hangul a
    particle may be left over.
    """
    # By start: the letters left from there on, the words, and the end of the first of them.
    best = [(0, 0, 0)] * (len(run) + 1)
    for start in range(len(run) - 1, -1, -1):
        left, words, _ = best[start + 1]
        ends = range(start + 1, min(len(run), start + longest) + 1)
        known = [(best[end][0], best[end][1] + 1, end) for end in ends if run[start:end] in table]
        best[start] = min([(left + 1, words, start + 1), *known])
    left, words, _ = best[0]
    if not words or (left and not _IDEOGRAPH_OR_HANGUL.match(run)):
        yield from [_Word(run)] * (len(run) > 1)
        return
    start = 0
    while start < len(run):
        end = best[start][2]
        if meanings := table.get(run[start:end]):
            yield _Word(run[start:end], meanings)
        start = end


def _meanings(word: str, language: str) -> Sequence[str]:
    """Return the meanings of a word; of a German compound those of both parts, where they tell more."""
    known = _table(language).get(word) or _by_root(word, language)
    parts = _compound(word, language) if language == "de" else ()
    return parts if len(known) < len(parts) and set(known) <= set(parts) else known


def _by_root(word: str, language: str) -> Sequence[str]:
    """Return the meanings of a known word differing only in its ending; empty without one."""
    words, table = _ordered(language), _table(language)
    for length in range(len(word) - 1, max(len(word) - _ENDINGS, _SHORTEST_ROOT) - 1, -1):
        root = word[:length]
        at = bisect_left(words, root)
        near = [it for it in words[at : at + _NEAR] if it.startswith(root) and len(it) <= length + _ENDINGS]
        if near:
            return table[min(near, key=len)]
    return ()


def _compound(word: str, language: str) -> Sequence[str]:
    """Return the first meanings of both parts of a word made of two known ones; empty for others."""
    table = _table(language)
    for end in range(len(word) - _SHORTEST_PART, _SHORTEST_PART - 1, -1):
        firsts = (table.get(word[:end].removesuffix(link)) for link in _LINKING)
        first = next(filter(None, firsts), None)
        second = first and (table.get(word[end:]) or _by_root(word[end:], language))
        if first and second:
            return first[0], second[0]
    return ()


@cache
def _table(language: str) -> _Table:
    """Read the words of a language, with their meanings."""
    rows = files(__package__).joinpath("static", f"{language}.tsv").read_text("utf-8").splitlines()
    return {word: meanings.split() for word, meanings in (row.split("\t") for row in rows)}


@cache
def _ordered(language: str) -> Sequence[str]:
    return sorted(_table(language))
