"""What a question says: its words, the roles of files that it asks for; and the parts of names."""

import re
from dataclasses import dataclass

from cqm.index.ranking.file_roles import ROLES
from cqm.index.text.terms import content_words, stems

_SEPARATOR = re.compile(r"\.|::|#|->|/| > ")
_NOT_IN_KEY = re.compile(r"[\W_]+")


@dataclass(frozen=True, slots=True)
class Question:
    """A question, read.

    Attributes:
        words: its stemmed words, without those that only phrase it.
        roles: names of the roles of files that it asks for.
    """

    words: frozenset[str]
    roles: frozenset[str]


def read_question(text: str) -> Question:
    """Read a question, a symbol's name, an error message or a path."""
    content = content_words(text)
    said = [word.lower() for word in content]
    roles = {role.name for role in ROLES if role.asked_by and any(map(role.asked_by.fullmatch, said))}
    return Question(frozenset(stems(" ".join(content))), frozenset(roles))


def name_key(name: str) -> str:
    """The last part of a qualified name, without case, underscores and marks: "http.Client.get_url" gives "geturl"."""
    return _NOT_IN_KEY.sub("", last_part(name)).lower()


def last_part(name: str) -> str:
    """A qualified name or heading path without what encloses it: "http.Client.get_url" gives "get_url"."""
    return _SEPARATOR.split(name)[-1]
