"""Tell the language of a question: by its script, by little words unknown in English, or by a letter of its own."""

import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import NamedTuple

_LONGEST = 2_000
"""Characters: a longer text was pasted, not asked."""
_LEAST_LETTERS = 2
"""Least letters of a script to tell its language."""
_LEAST_LITTLE_WORDS = 2
"""Least little words to tell a language in Latin letters; beside a letter unknown in English, one is enough."""
_LETTERS = {
    "de": "\u00e4\u00f6\u00fc\u00df", "fr": "\u00ea\u00ee\u0153", "es": "\u00f1\u00bf\u00a1", "pt": "\u00e3\u00f5",
    "pl": "\u0142\u0105\u0119\u015b\u017c", "cs": "\u011b\u0159\u016f", "tr": "\u0131\u015f\u011f",
}  # fmt: skip
"""Letters of one language more than of the others; Turkish and German share two, Turkish has its own beside them."""
_ENGLISH_TOO = frozenset({
    "a", "al", "am", "an", "as", "die", "do", "et", "he", "in", "me", "no", "on", "or", "so", "to", "was",
})  # fmt: skip

WORD = re.compile(r"[^\W\d_]+")
KANJI = "\u3005\u4e00-\u9fff"
"""Ideographs, and the mark repeating one."""
_IN_PROSE = re.compile(r"(?<![\w./\\])[^\W\d_]{2,}(?![\w/\\]|-\w)")
"""A word of a sentence: parts of addresses, paths and "non-empty" tell no language; single letters are variables."""
_WITHIN_VERBS = "\u307f\u304d\u308a\u3073\u3044\u3061\u3057\u3079\u3048\u3051\u308c\u3081\u3052\u3063"
"""Kana between the two ideographs of a verb, as in "read in" and "switch over". Others are particles."""
_LITTLE_IN_CHINESE = (
    "\u7684\u4e86\u662f\u548c\u4e0e\u6216\u5c06\u628a\u88ab\u8bf7\u6b64\u8be5\u8fd9\u90a3\u4e2a\u4eec\u53ca\u5176"
    "\u5982\u4f55\u4ec0\u4e48\u54ea\u91cc\u600e\u6837\u4e3a\u4ece\u5728"
)
"""Ideographs of "and", "is", "how" ..., which end a run of words."""


class Language(NamedTuple):
    """The marks of a language.

    Attributes:
        script: matches a letter telling the language; None if little words do.
        runs: matches a word, or a run of words without blanks.
        longest: letters of a word in such a run; 0 if words stand alone.
    """

    script: re.Pattern[str] | None = None
    runs: re.Pattern[str] = WORD
    longest: int = 0


LANGUAGES: Mapping[str, Language] = {
    # Kana tell Japanese before ideographs tell Chinese.
    "ja": Language(
        re.compile("[\u3041-\u30fa]"),
        re.compile(f"[\u30a1-\u30fa\u30fc]{{2,}}|[{KANJI}]+(?:[{_WITHIN_VERBS}]{{1,2}}[{KANJI}]+)*"),
        longest=10,
    ),
    "ko": Language(re.compile("[\uac00-\ud7a3]"), re.compile("[\uac00-\ud7a3]+"), longest=6),
    "zh": Language(
        re.compile("[\u4e00-\u9fff]"), re.compile(f"(?:(?![{_LITTLE_IN_CHINESE}])[\u4e00-\u9fff])+"), longest=4
    ),
    "ru": Language(re.compile("[\u0430-\u044f]")),
    **dict.fromkeys(("de", "fr", "es", "pt", "it", "pl", "cs", "tr"), Language()),
}
"""By ISO 639-1. Each has a file of words in `static`, made by `training/translations.py`."""


def language_of(text: str) -> str:
    """Tell the language of a question; empty for English, for code, and for a text too long for a question."""
    if len(text) > _LONGEST:
        return ""
    if not text.isascii():
        for name, row in LANGUAGES.items():
            if row.script and len(row.script.findall(text)) >= _LEAST_LETTERS:
                return name
    words = {*map(str.casefold, _IN_PROSE.findall(text))} - _ENGLISH_TOO
    said = {name: len(words & little) for name, little in _little_words().items() if not LANGUAGES[name].script}
    likely = max(said, key=said.__getitem__)
    is_ascii = "".join(words).isascii()
    if said[likely] >= (_LEAST_LITTLE_WORDS if is_ascii else 1):
        return likely
    return "" if is_ascii else _by_letters(text)


def _by_letters(text: str) -> str:
    """Tell a topic without little words by a letter: "G\u00fcltigkeit pr\u00fcfen"; empty where no letter tells it."""
    said = {name: sum(map(text.casefold().count, letters)) for name, letters in _LETTERS.items()}
    told = [name for name, count in said.items() if count]
    return "tr" if "tr" in told else told[0] if told else ""


def words_of(text: str, language: str) -> list[str]:
    """Return the words of a text in lower case, or its runs of words, without those saying nothing about code."""
    little = _little_words().get(language, frozenset())
    return [run for run in map(str.casefold, LANGUAGES[language].runs.findall(text)) if run not in little]


def is_little(word: str, language: str) -> bool:
    """Whether a word, in lower case, says nothing of code."""
    return word in _little_words().get(language, ())


@cache
def _little_words() -> Mapping[str, frozenset[str]]:
    rows = files(__package__).joinpath("static", "little_words.tsv").read_text("utf-8").splitlines()
    return {name: frozenset(words.split()) for name, words in (row.split("\t") for row in rows)}
