"""Questions from people's words about code: plain sentences of comments, and the words of names."""

import re
from dataclasses import dataclass

from spans_set import first_sentence

_WORDS = range(3, 61)
"""Numbers of words allowed in a question."""
_LEAST_ASCII = 0.95
"""The share of a question's characters: most other writing is not English."""
_MOST_SENTENCES = 3
DIRECTIVE = re.compile(
    r"\W*(fixme|xxx|hack|eslint|pylint|pragma|noqa|type:|istanbul|prettier|ts-|copyright|licen[cs]e|swiftlint|spdx|rubocop"
    r"|phpcs|phpstan|nolint|clang-|region|endregion|\$|#|jshint|global|coverage|generated|deprecated|inherit|overrid|see\b"
    r"|same as|alias|todo|no-?op|unused|-\*-|vim?:|go:|\+build|use strict|end of|internal\W*$|nosec|mypy|c8 "
    r"|encoding:|frozen|require ['\"])",
    re.IGNORECASE,
)
LICENCE = re.compile(
    r"copyright|licen[cs]e|spdx|all rights reserved|permission is hereby|redistribut|warrant|this file is part of",
    re.IGNORECASE,
)
_CODE = re.compile(r"https?:|->|=>|[{}=<>;|\\]|\w\(\w|\$\w|@\w|::\w+::")
_END = re.compile(r"(?<=[.!?])\s+(?=[A-Z`])")
_FIELD = re.compile(
    r"^\s*([@\\]\w|:\w+[^:]*:|\.\. |>>>|[-=~*]{3}|[-*+] |\d+[.)] |```"
    r"|(Args|Arguments|Parameters|Params|Returns?|Raises|Examples?|Notes?|Usage)\b:?\s*$)"
)
"""Begins a part of a comment after its sentences: fields, lists, titles and code."""


@dataclass(frozen=True, slots=True)
class Pair:
    """A question and an answering text.

    Attributes:
        kind: see `pairs.py`.
        path: relative to the package.
        symbol: qualified, or the path of headings; empty if the question is made of it.
        text: without header.
    """

    kind: str
    package: str
    language: str
    path: str
    question: str
    symbol: str
    text: str


def sentences(comment: str, name: str) -> tuple[str, str]:
    """The first sentence of a comment and its first three, without markup and the function's own name; "" for none."""
    text = _plain(comment, name)
    first = _asked(first_sentence(text))
    if not first:
        return "", ""
    paragraphs: list[str] = []
    for row in text.split("\n"):
        if _FIELD.match(row):
            break
        paragraphs.append(row.strip())
    whole = _END.split(" ".join(" ".join(paragraphs).split()))
    return first, _asked(_unmarked(" ".join(whole[:_MOST_SENTENCES]))) or first


def _unmarked(text: str) -> str:
    """A text without markup."""
    text = re.sub(r"\{@\w+ ([^}]*)\}|:[\w:]+:`~?([^`]*)`", r"\1\2", text)
    return " ".join(re.sub(r"</?\w+\b[^>]*>|[`*]", "", text).split())


def _plain(comment: str, name: str) -> str:
    text = re.sub(r"^[@\\](brief|description|short|summary|fileoverview|file)\s+", "", comment)
    own = re.escape(re.split(r"[.:]", name)[-1])
    text = re.sub(rf"^`*{own}`*(\(\))?\s*[:-]*\s+", "", text) if name else text
    text = re.sub(r"<see\w* \w+=\"(?:\w:)?([^\"]*)\"\s*/>|\[`?([\w:.]+)`?\]", r"\1\2", text)
    text = re.sub(r"\[([^\]]+)\]\([^)]*\)", r"\1", text)
    text = re.sub(r"</?(summary|remarks|para|c|p|b|i|em|code|tt)\b[^>]*>", "", text)
    return re.sub(r"[\\@][cpae] (\w+)", r"\1", text)


def _asked(sentence: str) -> str:
    """Return a sentence usable as a question, else ""."""
    sentence = sentence.strip(" -:#*/\"'")
    words = re.findall(r"[A-Za-z][\w'-]*", sentence)
    ascii_count = sum(map(str.isascii, sentence))
    is_one = (
        len(words) in _WORDS
        and 2 * sum(map(str.isalpha, sentence.replace(" ", ""))) > len(sentence)
        and ascii_count >= _LEAST_ASCII * len(sentence)
        and not _CODE.search(sentence)
        and not LICENCE.search(sentence)
        and not DIRECTIVE.match(sentence)
    )
    return sentence if is_one else ""


def question(text: str) -> str:
    """A line of prose as a question, else ""."""
    return _asked(_unmarked(text))


def name_words(name: str) -> list[str]:
    """The words of an identifier, in lower case: "parseHTTPHeader" to "parse http header"."""
    return [word.lower() for word in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+", name)]
