"""Find passwords and keys among the arguments of calls that log in or sign: `smtp.login("me", "...")`."""

import re
from collections.abc import Iterator, Mapping, Sequence

from cqm.index.secrets.model import Match
from cqm.index.secrets.values import is_strong

CALLS = (".login(", "connect(", "jwt.", "auth", "cred")
"""Literals of such calls, in lower case."""

# No part gives back what it took: blanks may belong to each, and calls of many lines would be tried in all ways.
_ARGUMENT = r"(?:[^()\"'`\n,]{0,80}+|\"[^\"\n]{0,80}\"|'[^'\n]{0,80}')\s{0,8}+,\s{0,8}+"
_CALL = re.compile(
    r"(?i:\.login\(|connect\(|jwt\.\w{1,20}\(|auth\s?=\s?\(|auth\w{0,12}\(|cred\w{0,12}\()\s{0,8}+"
    rf"(?:{_ARGUMENT}){{1,3}}?[bru@]?[\"'`](?P<secret>[^\s\"'`]{{6,300}})[\"'`]"
)


def arguments(text: str, places: Mapping[str, Sequence[int]]) -> Iterator[Match]:
    """Yield the first argument after others which has the form of a password.

    Parameters:
        places: positions of each of CALLS in the text.
    """
    for literal in CALLS:
        for place in places[literal]:
            found = _CALL.match(text, place)
            if found and is_strong(found["secret"]):
                yield Match("password", *found.span("secret"))
