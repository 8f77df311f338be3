"""What a question says: its words, the identifiers that it names, the roles of files that it asks for."""

import re
from dataclasses import dataclass

from cqm.index.lexical import content_words, stems
from cqm.index.roles import ROLES

# A dotted, scoped or plain name, as it stands in code or prose.
_NAME = re.compile(r"[^\W\d][\w$]*(?:(?:\.|::|#|->|/)[^\W\d][\w$]*)*")
_SEPARATOR = re.compile(r"\.|::|#|->|/| > ")
_NOT_IN_KEY = re.compile(r"[\W_]+")
_QUOTED = re.compile(r"`([^`]+)`")
_CALLED = re.compile(r"\b([^\W\d]\w*)\(\)")
# What is longer is no identifier.
_LONGEST_NAME = 200
# Written like code: inner capitals, an underscore, a digit, or qualified.
_CODE_SHAPE = re.compile(r"_|[a-z][A-Z]|[A-Z]{2}[a-z]|\d|\w(?:\.|::|#|->)\w")


@dataclass(frozen=True, slots=True)
class Question:
    """A question, read.

    Attributes:
        words: its stemmed words, without those that only phrase it.
        names: the identifiers that it names, as `name_key` gives them.
        roles: names of the roles of files that it asks for.
    """

    words: frozenset[str]
    names: frozenset[str]
    roles: frozenset[str]


def read_question(text: str) -> Question:
    """Read a question, a symbol's name, an error message or a path."""
    content = content_words(text)
    said = [word.lower() for word in content]
    roles = {role.name for role in ROLES if role.asked_by and any(map(role.asked_by.fullmatch, said))}
    keys = map(name_key, _names(text, content))
    names = frozenset(key for key in keys if 0 < len(key) <= _LONGEST_NAME)
    return Question(frozenset(stems(" ".join(content))), names, frozenset(roles))


def name_key(name: str) -> str:
    """The last part of a qualified name, without case, underscores and marks: "http.Client.get_url" gives "geturl"."""
    return _NOT_IN_KEY.sub("", last_part(name)).lower()


def last_part(name: str) -> str:
    """A qualified name or heading path without what encloses it: "http.Client.get_url" gives "get_url"."""
    return _SEPARATOR.split(name)[-1]


def _names(text: str, content: list[str]) -> list[str]:
    quoted = [name for quote in _QUOTED.findall(text) for name in _NAME.findall(quote)]
    if len(content) == 1:
        quoted.append(content[0])
    shaped = [
        name
        for position, name in enumerate(_NAME.findall(text))
        # A capital inside a sentence marks a name; the first word has one anyway.
        if _CODE_SHAPE.search(name) or (position and name[0].isupper())
    ]
    return quoted + _CALLED.findall(text) + [name for name in shaped if len(name) > 1]
