"""Name the definitions in tagged strings of a program: GraphQL operations and fragments, tables of SQL."""

import re
from collections.abc import Iterator, Sequence

from cqm.chunkers.embedded.parts import Name, with_names
from cqm.chunkers.model import Piece

_MOST_CHARACTERS = 20_000
"""Longest string to read."""

# The closing sign of a string stands in a group of its own, or is the heredoc's word.
_TAGGED = re.compile(
    r"(?:(?<![\w$])(?P<tag>gql|graphql|sql)|/\*\s{0,9}(?P<note>GraphQL|SQL)\s{0,9}\*/)[ \t\n(]{0,9}(?P<quote>`|\"\"\")"
    r"|<<[~-]?['\"]?(?P<heredoc>GRAPHQL|GQL|SQL)\b"
)
_TAG = re.compile(r"ql[ \t\n(]{0,9}(?:`|\"\"\")")
"""A tag has this with its string, a note or a heredoc "QL"; a pattern beginning with letters is found fast."""
_NOTE_OR_HEREDOC = re.compile(r"QL\s{0,9}\*/"), re.compile(r"<<[~-]?['\"]?(?:GRAPHQL|GQL|SQL)\b")
_GRAPHQL = re.compile(
    r"^[ \t]*(?P<kind>query|mutation|subscription|fragment)[ \t]+(?P<name>[A-Za-z_]\w{0,100})", re.MULTILINE
)
_SQL = re.compile(
    r"""\bcreate\s+(?:or\s+replace\s+)?(?:temp(?:orary)?\s+)?(?P<kind>table|view|function|procedure)\s+"""
    r"""(?:if\s+not\s+exists\s+)?["`]?(?P<name>[A-Za-z_][\w.]{0,100})""",
    re.IGNORECASE,
)
_CLOSING = re.compile(r"\n[ \t]{0,80}+(?:GRAPHQL|GQL|SQL)\b")


def with_strings(text: str, pieces: Sequence[Piece]) -> list[Piece]:
    """Add the symbols defined in tagged strings to the pieces of a program."""
    return with_names(text, pieces, _found(text)) if pieces and _may_have(text) else [*pieces]


def _may_have(text: str) -> bool:
    # Nearly all programs end here, a hundred times as fast as by the pattern.
    if _TAG.search(text) is None and not (_has_capitals(text) and any(it.search(text) for it in _NOTE_OR_HEREDOC)):
        return False
    return _TAGGED.search(text) is not None


def _has_capitals(text: str) -> bool:
    # Few texts have many of the letter, and one letter is found five times as fast as two.
    place = text.find("Q")
    while place >= 0 and not text.startswith("L", place + 1):
        place = text.find("Q", place + 1)
    return place >= 0


def _found(text: str) -> Iterator[Name]:
    position = 0
    absent: set[str] = set()
    while match := _TAGGED.search(text, position):
        position = match.end()
        sign = match["quote"] or "heredoc"
        if sign in absent:
            continue
        if match["quote"]:
            end = text.find(sign, position)
        else:
            closing = _CLOSING.search(text, position)
            end = closing.start() if closing else -1
        if end < 0:
            # Looked for once: time stays linear.
            absent.add(sign)
            continue
        pattern = _SQL if "sql" in (match["tag"] or match["note"] or match["heredoc"]).lower() else _GRAPHQL
        for found in pattern.finditer(text, position, min(end, position + _MOST_CHARACTERS)):
            yield Name(found["name"], found["kind"].lower(), found.start("kind"), end)
        position = end
