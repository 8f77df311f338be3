"""Find keywords, strings, names and comments for colours on a page, with Pygments."""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby
from pathlib import PurePosixPath
from typing import Any

from cqm.server.console import visible

Word = tuple[int, int, str]
"""Start, end and CSS class for its colour."""

# Pygments' time may grow with the square of a line's length.
_LONGEST_LINE = 2_000
_MOST_CHARACTERS = 500_000


@dataclass(frozen=True, slots=True)
class Words:
    """Words of a text in order, with their starts."""

    words: Sequence[Word]
    starts: Sequence[int]

    def between(self, start: int, end: int) -> Iterator[Word]:
        """Yield the words in a part of the text, cut to it."""
        index = max(bisect_right(self.starts, start) - 1, 0)
        while index < len(self.words) and self.words[index][0] < end:
            first, last, kind = self.words[index]
            if last > start:
                yield max(first, start), min(last, end), kind
            index += 1


def words_of(path: str, text: str) -> Words:
    """Find the coloured words of a text; none in a text too long, or in a language unknown to Pygments.

    Parameters:
        path: its last part decides the language.
        text: with any line ends.
    """
    words = [*_words(path, text)] if _is_short(text) else []
    return Words(words, [start for start, _, _ in words])


def _is_short(text: str) -> bool:
    return len(text) <= _MOST_CHARACTERS and max(map(len, text.split("\n"))) <= _LONGEST_LINE


def _words(path: str, text: str) -> Iterator[Word]:
    lexer = _lexer(visible(PurePosixPath(path).name))
    if lexer is None:
        return
    found = lexer().get_tokens_unprocessed(text)
    kinds = ((start, start + len(value), _kind(str(token))) for start, token, value in found)
    done = 0
    for kind, group in groupby(kinds, key=lambda word: word[2]):
        words = list(group)
        # Some lexers leave the order of the text where one language is inside another.
        if kind and words[0][0] >= done:
            done = max(word[1] for word in words)
            yield words[0][0], done, kind


@lru_cache(maxsize=512)
def _lexer(name: str) -> Any:  # noqa: ANN401 - a class of Pygments, which has no types
    """Find the reader of a file of this name: Pygments tries the patterns of 500 languages."""
    from pygments.lexers import find_lexer_class_for_filename  # type: ignore[import-untyped] # heavy, and only for pages

    return find_lexer_class_for_filename(name)


@lru_cache(maxsize=512)
def _kind(token: str) -> str:
    """Map Pygments' name of a word, such as "Token.Literal.String.Double", to a CSS class."""
    return next((kind for prefix, kind in _KINDS.items() if token.startswith(prefix)), "")


_KINDS = {
    "Token.Comment": "c",
    "Token.Keyword": "k",
    "Token.Operator.Word": "k",
    "Token.Name.Tag": "k",
    "Token.Literal.String": "s",
    "Token.Literal.Number": "n",
    "Token.Name.Function": "f",
    "Token.Name.Class": "f",
    "Token.Name.Attribute": "f",
    "Token.Name.Decorator": "n",
    "Token.Generic.Heading": "f",
    "Token.Generic.Subheading": "f",
}
