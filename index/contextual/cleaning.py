"""Clean a model's answer to one plain paragraph, and reject useless ones."""

import re
import unicodedata
from collections.abc import Sequence

from cqm.chunkers.tokens import estimate

_THOUGHT = re.compile(r"<(think|thinking|reasoning)>.*?(</\1>|\Z)", re.DOTALL | re.IGNORECASE)
_THOUGHT_WITHOUT_BEGINNING = re.compile(r"\A.*</(think|thinking|reasoning)>", re.DOTALL | re.IGNORECASE)
_MARK = re.compile(r"<\|[^|>\n]{1,40}\|>|</?(context|answer|part|document|output)\b[^>\n]{0,80}>|```\w*", re.IGNORECASE)
_PREAMBLE = re.compile(
    r"(sure|certainly|of course|okay|ok|absolutely)\b[,.!]*\s+(?=here|the following)"
    r"|(here\s+(is|are)|here['\u2019]s|the following (is|are))\b[^.:\n]{0,100}:\s*"
    r"|\W{0,3}((short|succinct|brief|situating) )*(context|answer|summary)( description)?\W{0,3}[:\uff1a]\W{0,3}\s*"
    r"|(はい|承知しました|承知いたしました|わかりました|もちろんです)[、。!\uff01]+\s*"
    r"|以下[はがに][^。:\uff1a\n]{0,60}([:\uff1a]|(説明|文脈|コンテキスト|要約)(です|を示します)[。:\uff1a])\s*"
    r"|\W{0,3}(コンテキスト|文脈|説明文?|回答|コンテキスト説明)\W{0,3}[:\uff1a]\s*",
    re.IGNORECASE,
)
_QUOTES = (
    ('"', '"'),
    ("'", "'"),
    ("“", "”"),
    ("\u2018", "\u2019"),
    ("「", "」"),
    ("『", "』"),
    ("«", "»"),
    ("**", "**"),
    ("`", "`"),
)
_SENTENCE_END = re.compile(r"[.!?](?=\s|$)|[。\uff01\uff1f]")
_JOINERS = "\u200c\u200d"
"""Zero-width, but some scripts need them between letters."""
_UNSEEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn"})
"""Unicode categories of invisible characters."""

_REFUSAL = re.compile(
    r"\W*(sorry\b|i apologi[sz]e|(i['\u2019]?m|i am) (sorry|unable|not able)|i (cannot|can not|can['\u2019]?t)\b"
    r"|i do(n['\u2019]t| not) have|unfortunately,? i|as an ai|no (document|context|part) (was|is|has)"
    r"|please provide|could you (please )?provide"
    r"|申し訳|すみません|恐れ入ります|お答えでき|説明できません|提供されていません)",
    re.IGNORECASE,
)
_LEAST_LETTERS = 12
_SHINGLE = 8
"""Characters in a row compared between a context and its chunk."""
_ECHO_SHARE = 0.7
_OWN_SHARE = 0.5
"""Least share of distinct phrases in a context: small models fall into loops."""


def cleaned(answer: str, max_tokens: int, *, is_cut: bool = False) -> str:
    """Return one paragraph without thoughts, preamble, quotes and control characters.

    Parameters:
        max_tokens: estimated, of the result; a longer answer is cut, after a sentence if possible.
        is_cut: whether the model was stopped, leaving its last sentence unfinished.
    """
    told = _MARK.sub(" ", _without_thoughts(answer))
    line = _bare(" ".join(_visible(told).split()))
    bounded = _bounded(line, max_tokens)
    return _whole_sentences(bounded) if is_cut or bounded != line else bounded


def uselessness(note: str, chunk: str, task: str) -> str:
    """Say why a cleaned answer is useless as a context; empty if it is useful."""
    phrases = _phrases(note)
    reasons = (
        ("the model answered nothing", not note),
        ("the model's answer is too short to say anything", sum(map(str.isalnum, note)) < _LEAST_LETTERS),
        ("the model refused", _REFUSAL.match(note) is not None),
        ("the model repeated itself", len(set(phrases)) < _OWN_SHARE * len(phrases)),
        ("the model repeated the chunk", _echoes(phrases, chunk)),
        ("the model repeated its task", _echoes(phrases, task)),
    )
    return next((reason for reason, holds in reasons if holds), "")


def _without_thoughts(answer: str) -> str:
    # Some chat templates put the opening tag into the prompt, so the answer contains only the closing one.
    return _THOUGHT_WITHOUT_BEGINNING.sub("", _THOUGHT.sub("", answer))


def _visible(text: str) -> str:
    """Replace control and format characters and lone surrogates by blanks; joiners stay."""
    return "".join(
        " " if unicodedata.category(character) in _UNSEEN and character not in _JOINERS else character
        for character in text
    )


def _bare(line: str) -> str:
    """Remove preambles and enclosing quotes, in any order."""
    while True:
        inner = _unquoted(_PREAMBLE.sub("", line, count=1) if _PREAMBLE.match(line) else line).strip()
        if inner == line:
            return line
        line = inner


def _unquoted(line: str) -> str:
    for opening, closing in _QUOTES:
        inner = line[len(opening) : -len(closing)]
        encloses = line.startswith(opening) and line.endswith(closing) and len(line) > len(opening)
        if encloses and opening not in inner and closing not in inner:
            return inner
    return line


def _bounded(line: str, max_tokens: int) -> str:
    """Cut a line at its token limit."""
    while (tokens := estimate(line)) > max_tokens:
        line = line[: min(len(line) - 1, len(line) * max_tokens // tokens)].rstrip()
    return line


def _whole_sentences(line: str) -> str:
    """Drop an unfinished last sentence if a finished one comes before it."""
    ends = [match.end() for match in _SENTENCE_END.finditer(line)]
    return line[: ends[-1]] if ends else line


def _phrases(note: str) -> list[str]:
    """Return all runs of `_SHINGLE` letters and digits."""
    letters = _letters(note)
    return [letters[start : start + _SHINGLE] for start in range(max(1, len(letters) - _SHINGLE + 1))]


def _echoes(phrases: Sequence[str], source: str) -> bool:
    """Whether most phrases occur in the source."""
    its = _letters(source)
    return sum(phrase in its for phrase in phrases) >= _ECHO_SHARE * len(phrases)


def _letters(text: str) -> str:
    return "".join(character for character in text.casefold() if character.isalnum())
