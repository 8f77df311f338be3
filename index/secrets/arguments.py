"""Find passwords and keys among the arguments of calls to log in, connect or sign: `smtp.login("me", "...")`."""

import re
from collections.abc import Iterator, Mapping, Sequence

from cqm.index.secrets.model import Match
from cqm.index.secrets.values import is_strong, is_token

CALLS = (
    *(".login(", "connect(", "jwt.", "auth", "cred"),
    *(
        "sequelize(",
        "getconnection(",
        "pdo(",
        "mysqli(",
        "forurl(",
        "jdbi.create(",
        "newinstance(",
        "redis(",
        "redispool(",
    ),
    *("sftpclient(", "sshclient(", "ftp(", "ftp_ssl(", "ldap_bind(", "bind_s(", "imap_open(", ".basic(", "twilio"),
)
"""Literals of such calls, in lower case."""

_CALL = re.compile(
    r"(?i:\.login\(|connect\(|jwt\.\w{1,20}\(|auth\s?=\s?\(|auth\w{0,12}\(|cred\w{0,12}(?:::new)?\("
    r"|twilio[\"']\)\(|[.\w]{3,14}\()\s{0,8}+"
)
# No part gives back its match: blanks may belong to each, and calls of many lines would be tried in all ways.
_QUOTED = re.compile(r"(?:[\w=]{1,20}=)?[bru@]?(?P<quote>[\"'`])(?P<secret>[^\s\"'`]{6,300})(?P=quote)")
_ARGUMENT = re.compile(
    r"(?:\"[^\"\n]{0,200}\"|'[^'\n]{0,200}'|[^()\"'`\n,]{0,80}+)(?:\.\w{1,20}\(\)|\(\))?\s{0,8}+,\s{0,8}+"
)
_MOST_ARGUMENTS = 6
_SINGLE = re.compile(r"(?i:\.auth\()[\"'](?P<secret>[^\s\"'`]{6,300})[\"']\)")


def arguments(text: str, places: Mapping[str, Sequence[int]]) -> Iterator[Match]:
    """Yield, at each place of CALLS, the first argument with the form of a password."""
    for literal in CALLS:
        for place in places[literal]:
            if found := _CALL.match(text, place):
                yield from _among(text, found.end())
    for place in places["auth"]:
        single = _SINGLE.match(text, place - 1)
        if single and is_strong(single["secret"]) and is_token(single["secret"]):
            yield Match("password", *single.span("secret"))


def _among(text: str, place: int) -> Iterator[Match]:
    for number in range(_MOST_ARGUMENTS):
        found = _QUOTED.match(text, place) if number else None
        if found and is_strong(found["secret"]):
            yield Match("password", *found.span("secret"))
            return
        argument = _ARGUMENT.match(text, place)
        if not argument:
            return
        place = argument.end()
