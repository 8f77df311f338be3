"""What a model answered, made one plain paragraph; and whether that says anything."""

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
"""Zero-width, but letters of some scripts change with them."""
_UNSEEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn"})
"""Unicode categories of characters that people do not see."""

_REFUSAL = re.compile(
    r"\W*(sorry\b|i apologi[sz]e|(i['\u2019]?m|i am) (sorry|unable|not able)|i (cannot|can not|can['\u2019]?t)\b"
    r"|i do(n['\u2019]t| not) have|unfortunately,? i|as an ai|no (document|context|part) (was|is|has)"
    r"|please provide|could you (please )?provide"
    r"|申し訳|すみません|恐れ入ります|お答えでき|説明できません|提供されていません)",
    re.IGNORECASE,
)
_LEAST_LETTERS = 12
_SHINGLE = 8
"""Characters: phrases of a context that stand in the chunk too are so long at least."""
_ECHO_SHARE = 0.7
_OWN_SHARE = 0.5
"""Of the phrases of a context, that must differ: small models fall into loops."""


def cleaned(answer: str, max_tokens: int, *, is_cut: bool = False) -> str:
    """One paragraph without thoughts, preamble, quotes and control characters.

    Parameters:
        answer: as it came.
        max_tokens: estimated, of the result; what has more ends with a sentence where one ends within them.
        is_cut: whether the model was stopped in the middle, so that its last sentence is not whole.
    """
    told = _MARK.sub(" ", _without_thoughts(answer))
    line = _bare(" ".join(_visible(told).split()))
    bounded = _bounded(line, max_tokens)
    return _whole_sentences(bounded) if is_cut or bounded != line else bounded


def uselessness(note: str, chunk: str, task: str) -> str:
    """Why a cleaned answer is of no use as a context; empty when it is of use.

    Parameters:
        note: the cleaned answer.
        chunk: what it should situate, as the model was shown it.
        task: what the model was told to do.
    """
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
    # Some chat templates put the opening tag into the prompt: then only the closing one is in the answer.
    return _THOUGHT_WITHOUT_BEGINNING.sub("", _THOUGHT.sub("", answer))


def _visible(text: str) -> str:
    """Control and format characters become blanks, broken surrogates too; joiners stay."""
    return "".join(
        " " if unicodedata.category(character) in _UNSEEN and character not in _JOINERS else character
        for character in text
    )


def _bare(line: str) -> str:
    """Take away preambles and enclosing quotes, whichever is outside."""
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
    """As much of the beginning as the tokens allow."""
    while (tokens := estimate(line)) > max_tokens:
        line = line[: min(len(line) - 1, len(line) * max_tokens // tokens)].rstrip()
    return line


def _whole_sentences(line: str) -> str:
    """Without the unfinished sentence at the end, if there is a finished one before it."""
    ends = [match.end() for match in _SENTENCE_END.finditer(line)]
    return line[: ends[-1]] if ends else line


def _phrases(note: str) -> list[str]:
    """All runs of so many letters."""
    letters = _letters(note)
    return [letters[start : start + _SHINGLE] for start in range(max(1, len(letters) - _SHINGLE + 1))]


def _echoes(phrases: Sequence[str], source: str) -> bool:
    """Whether most phrases are the source's."""
    its = _letters(source)
    return sum(phrase in its for phrase in phrases) >= _ECHO_SHARE * len(phrases)


def _letters(text: str) -> str:
    return "".join(character for character in text.casefold() if character.isalnum())
