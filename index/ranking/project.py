"""Questions about a project itself, such as its licence or its CI: their words, and the files with the answers.

A question is about the project only if all of its words are of one topic: "license header check" asks about code.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from cqm.index.text.terms import stem


@dataclass(frozen=True, slots=True)
class Files:
    """Files answering a topic. Their patterns are compiled on demand: all of them take 15 ms.

    Attributes:
        paths: pattern of their paths, from the name of a folder or file on.
        says: pattern of an answering line; empty if the whole file answers.
    """

    paths: str
    says: str = ""

    @property
    def of_paths(self) -> re.Pattern[str]:
        """The pattern of whole paths."""
        return re.compile(rf"(?:^|/){self.paths}", re.IGNORECASE)

    @property
    def of_lines(self) -> re.Pattern[str]:
        """The pattern of a text with such a line."""
        return re.compile(self.says, re.IGNORECASE | re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Topic:
    """Something people ask of every project.

    Attributes:
        ways: to ask for it: each is groups of words; a question has one word of each group.
        words: all possible words of a question, besides "how", "the" and the like; stemmed.
        names: words asking for it alone, as "license".
        files: the best first.
        is_of_code: whether code may answer it as well.
    """

    ways: tuple[tuple[frozenset[str], ...], ...]
    words: frozenset[str]
    names: frozenset[str]
    files: tuple[Files, ...]
    is_of_code: bool = False

    def is_asked(self, words: frozenset[str]) -> bool:
        """Whether the words of a question, stemmed, ask for it in one of the ways."""
        return any(all(not group.isdisjoint(words) for group in way) for way in self.ways)


def stemmed(words: str) -> frozenset[str]:
    """Return the stems of words with blanks between them."""
    return frozenset(map(stem, words.split()))


_ANY = stemmed(
    "project projects repository repo codebase library app application tool package crate gem file files list show find"
    " see get tell give locate located define defined declare declared specify specified state stated set up setup"
    " configure configured configuration config setting settings live kept stored described documented documentation"
    " docs current currently whole full all exactly please needed information place way name their its"
)
"""Words of any of these questions."""


def topic(
    ways: Sequence[str],
    beside: str,
    *files: str | tuple[str, str],
    names: str = "",
    is_of_code: bool = False,
) -> Topic:
    """Make a topic.

    Parameters:
        ways: the groups of each have a blank between them, their words a "/".
        beside: further words.
        files: patterns of paths from the name of a folder or file on, some with the pattern of a line.
        names: words asking for it alone.
        is_of_code: whether code may answer it as well.
    """
    groups = tuple(tuple(stemmed(group.replace("/", " ")) for group in way.split()) for way in ways)
    words = _ANY.union(stemmed(beside), *(group for way in groups for group in way))
    return Topic(groups, words, stemmed(names), tuple(map(_files, files)), is_of_code)


def _files(row: str | tuple[str, str]) -> Files:
    return Files(row) if isinstance(row, str) else Files(*row)
