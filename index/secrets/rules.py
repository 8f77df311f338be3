"""Our own rules for secrets the library of `tokens.py` doesn't look for, or not everywhere.

Each rule first searches its literals; patterns are tried from there, or on the lines containing one.
"""

import base64
import binascii
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from cqm.index.secrets.arguments import CALLS, arguments
from cqm.index.secrets.assignments import assigned
from cqm.index.secrets.blocks import json_keys, kubernetes_secrets, private_keys
from cqm.index.secrets.model import Match
from cqm.index.secrets.names import ANCHORS, SETTINGS_ANCHORS, anchors, pattern_of
from cqm.index.secrets.notations import takes_bare
from cqm.index.secrets.readable import Readable, quick
from cqm.index.secrets.tables import collections, tables
from cqm.index.secrets.values import LOGIN, is_password, is_placeholder, is_strong, is_token

_URL = re.compile(r"://(?P<user>[^\s/:@\"'<>`]{0,100}):(?P<secret>[^\s/@\"'<>`]{3,300})@(?P<host>[\w.\[-]+)")
_LONG_ENOUGH = 8
_PYTHON = (".py", ".pyi")
_SAME = frozenset({"pass", "password", "passwd", "pwd", "secret", "user", "username", "token", "key", "root", "admin"})
_SAME |= {"guest", "test", "postgres", "mysql", "redis"}
"""Passwords used in manuals."""


def _urls(text: str) -> Iterator[Match]:
    """Yield passwords in addresses."""
    for it in _URL.finditer(text):
        value = it["secret"]
        is_long = len(value) >= _LONG_ENOUGH and not is_placeholder(value) and not value.isdigit()
        if value.lower() not in _SAME and value != it["user"] and (is_password(value) or is_long):
            yield Match("password in a URL", *it.span("secret"))


@dataclass(frozen=True, slots=True)
class Rule:
    """A secret recognisable by its form.

    Attributes:
        kind: the name shown to people.
        literals: lower-case texts; the line of every match contains one.
        also: another lower-case text that the line contains.
        pattern: with a group "secret".
        is_secret: whether a match may be a secret.
    """

    kind: str
    literals: tuple[str, ...]
    also: str
    pattern: re.Pattern[str]
    is_secret: Callable[[str], bool]


def _rule(kind: str, literals: str, pattern: str, is_secret: Callable[[str], bool], also: str = "") -> Rule:
    return Rule(kind, tuple(literals.split()), also, re.compile(pattern), is_secret)


def _is_basic(value: str) -> bool:
    """Whether it is "user:password" in base64."""
    try:
        user, colon, password = base64.b64decode(value + "=" * (-len(value) % 4), validate=True).decode().partition(":")
    except (binascii.Error, UnicodeDecodeError, ValueError):
        return False
    return (
        bool(colon and user)
        and password.isprintable()
        and password.lower() not in _SAME
        and not is_placeholder(password)
    )


def _is_login(value: str) -> bool:
    return is_token(value) or _is_basic(value)


def _is_any(_value: str) -> bool:
    return True


_PGPASS = r"^[^\s:]{1,100}:\d{4}:[^\s:]{1,60}:[^\s:]{1,60}:(?P<secret>[^\s:]{6,200})\s*$"
_COOKIE = r"(?:(?i:cookie)[\"']?\]?\s?[:=,]\s?[\"'`]?|;\s?)[\w.-]{1,60}=(?P<secret>[^\s;,\"'`<>\\]{12,2000})"


def _is_cookie(value: str) -> bool:
    return is_strong(value) and is_token(value)


RULES = (
    _rule(
        "authorization",
        "bearer authorization",
        r"(?i:bearer|authorization[\"']?\]?\s?[:,=]\s?[\"'`]?(?:token|apikey|api-key|key))\s{1,4}"
        r"(?P<secret>[^\s\"'`,;<>\\(){}\[\]]{16,2000})",
        is_strong,
    ),
    _rule("authorization", "basic", r"(?i:basic)\s{1,4}(?P<secret>[A-Za-z0-9+/]{8,400}={0,2})", _is_basic, "auth"),
    _rule("registry login", '"auth"', r"\"auth\"\s{0,4}:\s{0,4}\"(?P<secret>[A-Za-z0-9+/]{8,2000}={0,2})\"", _is_basic),
    _rule("registry token", "_auth", r"_auth(?i:token)?\s{0,4}=\s{0,4}[\"']?(?P<secret>[^\s\"'$]{8,2000})", _is_login),
    _rule(
        "login",
        "curl",
        r"curl\b[^\n|]{0,120}?\s(?:-[a-zA-Z]{0,6}u\s?|--user[= ])[\"']?[^\s:\"'$]{1,100}:(?P<secret>[^\s\"'$]{4,200})",
        is_password,
    ),
    _rule(
        "password", "mysql mariadb", r"(?:mysql|mariadb)\w*[^\n|]{0,120}?\s-p(?P<secret>[^\s\"'$]{4,200})", is_password
    ),
    _rule("password", "sshpass", r"sshpass\s{1,4}-p\s{0,2}[\"']?(?P<secret>[^\s\"'$]{4,200})", is_password),
    _rule(
        "password hash",
        "$1$ $5$ $6$ $7$ $y$ $2$ $2a$ $2b$ $2x$ $2y$ $apr1$ $argon2 $scrypt$ $pbkdf2",
        r"(?P<secret>\$(?:2[abxy]?\$\d\d\$[./A-Za-z0-9]{53}|[156y7]\$(?:[^\s$:\"']{1,40}\$){1,2}[./A-Za-z0-9]{20,90}"
        r"|apr1\$[^\s$:]{1,16}\$[./A-Za-z0-9]{16,}|(?:argon2(?:id|i|d)|scrypt|pbkdf2[\w-]*)\$[^\s\"']{20,300}))",
        _is_any,
    ),
    _rule(
        "password hash",
        "pass",
        r"\{(?i:s?sha(?:256|512)?|s?md5|crypt)\}(?P<secret>[A-Za-z0-9+/=.$]{13,400})",
        _is_any,
        "{",
    ),
    _rule(
        "password",
        "securestring",
        r"(?i:securestring)[\s(]{1,4}(?:-String\s)?[\"'](?P<secret>[^\s\"']{6,300})[\"']",
        is_strong,
    ),
    _rule(
        "password",
        "pass sudo",
        r"\b(?:echo|printf)\s{1,4}(?:-\w\s)?[\"']?(?P<secret>[^\s\"'$|]{6,300})[\"']?\s?\|",
        is_strong,
        "|",
    ),
    _rule(
        "password",
        "identified",
        r"(?i:by|as)\s{1,4}(?:(?i:password)\s)?[\"'](?P<secret>[^\s\"']{6,300})[\"']",
        is_password,
    ),
    _rule(
        "password",
        "bindpw rootpw",
        r"(?i:bindpw|rootpw)\s{1,4}(?:--\w{1,12}\s)?[\"']?(?P<secret>[^\s\"']{6,200})",
        is_password,
    ),
    _rule(
        "password",
        "default_authtok",
        r"(?i:authtok)\w{0,20}\s{0,8}[:=]\s{0,8}[\"']?(?P<secret>[^\s\"']{6,200})",
        is_password,
    ),
    _rule("password", "psk", r"\b(?i:psk)\s{1,4}[\"'](?P<secret>[^\s\"']{6,200})[\"']", is_password),
    _rule("password", "insecure-password", r"insecure-password\s{1,4}(?P<secret>[^\s\"']{6,200})", is_password),
    _rule(
        "password",
        "createuser",
        r"(?i:createuser)\s\S{1,60}\s(?i:md5|sha)[\w-]{0,8}\s[\"']?(?P<secret>[^\s\"']{6,200})",
        is_password,
    ),
    # Short options of programs that log in.
    _rule(
        "password",
        "login",
        r"\blogin\b[^\n|]{0,120}?\s(?:-p|--pass(?:word)?)[\s=]?[\"']?(?P<secret>[^\s\"'$]{6,200})",
        is_password,
        " -p",
    ),
    _rule("password", "redis-cli", r"redis-cli\b[^\n|]{0,120}?\s-a\s?[\"']?(?P<secret>[^\s\"'$]{6,200})", is_password),
    _rule(
        "password",
        "htpasswd",
        r"htpasswd\s(?:-\w{1,8}\s){0,4}-\w{0,8}b\w{0,8}\s(?:\S{1,200}\s){1,2}[\"']?(?P<secret>[^\s\"'$]{6,200})",
        is_password,
    ),
    _rule(
        "password",
        "openssl",
        r"openssl\b[^\n|]{0,160}?\s(?:-k\s|-pass\w{0,3}\spass:)[\"']?(?P<secret>[^\s\"'$]{6,200})",
        is_password,
    ),
    _rule("password", ":5432: :3306: :1521: :5433: :6432:", _PGPASS, is_password),
    _rule("password", "]:587 ]:465 ]:25", r"\]:\d{2,5}\s{1,8}[^\s:]{1,100}:(?P<secret>\S{6,200})", is_password),
    _rule(
        "password",
        "zip 7z",
        r"\b(?:zip\s-P|7z\s[^\n|]{0,80}?\s?-p)\s?[\"']?(?P<secret>[^\s\"'$]{6,200})",
        is_password,
        " -p",
    ),
    _rule(
        "password",
        "passwd/",
        r"passwd/[\w/-]{1,40}\s{1,4}password\s{1,4}(?P<secret>[^\s\"']{6,200})",
        is_password,
    ),
    _rule("password hash", ":::", r":(?P<secret>[0-9a-fA-F]{32}:[0-9a-fA-F]{32}):::", _is_any),
    _rule(
        "seed phrase",
        "mnemonic seed_phrase seedphrase",
        r"(?i:mnemonic|seed_?phrase)\w{0,20}[\"']?\s?[:=]\s?[\"']?(?P<secret>(?:[a-z]{3,8} ){11,23}[a-z]{3,8})\b",
        _is_any,
    ),
    _rule("cookie", "cookie", _COOKIE, _is_cookie, "="),
)
"""Secrets recognisable by their form. Remove a row once the library finds its secrets."""


_SETTINGS_WORDS = frozenset({*SETTINGS_ANCHORS, "sudo", "securestring"})
_BY_LITERAL = {it: [rule for rule in RULES if it in rule.literals] for rule in RULES for it in rule.literals}
# "_auth" would hide "authorization" in "HTTP_AUTHORIZATION": see `_places`.
_WORDS = frozenset({*ANCHORS, *SETTINGS_ANCHORS, *_BY_LITERAL, *CALLS, '"kty"', "_authorization"})
_IN_SETTINGS, _IN_CODE = pattern_of(sorted(_WORDS)), pattern_of(sorted(_WORDS - _SETTINGS_WORDS))


def own_matches(view: Readable, path: str) -> Iterator[Match]:
    """Yield secrets of a text by our own rules, in no order; they may overlap.

    Parameters:
        view: of the text.
        path: of the file: in some kinds of files values have no quotes.
    """
    text, low, data = view.text, view.low, view.low.encode("ascii")
    takes_all = takes_bare(path.rpartition("/")[2]) or path.endswith(".json")
    places = _places(data, _IN_SETTINGS if takes_all else _IN_CODE)
    if path.endswith(_PYTHON):
        places["pass"] = [it for it in places["pass"] if not _is_statement(text, it)]
    named = sorted(anchors(text, low, places, view.others))
    if named:
        yield from assigned(text, named, path)
        yield from collections(text, named)
        yield from tables(text, low, named, path)
    yield from arguments(text, places)
    if quick(LOGIN).search(data):
        yield from _urls(text)
    if any(anchor == "key" and text.startswith("PRIVATE ", place - len("PRIVATE ")) for place, anchor in named):
        yield from private_keys(text)
    yield from _by_form(text, low, places)
    if places['"kty"']:
        yield from json_keys(text)
    if places["secret"] and "data" in low:
        yield from kubernetes_secrets(text)


def _by_form(text: str, low: str, places: Mapping[str, Sequence[int]]) -> Iterator[Match]:
    for literal, rules in _BY_LITERAL.items():
        for start, end in _lines(low, places.get(literal, ())):
            for rule in rules:
                if low.find(rule.also, start, end) >= 0:
                    found = (it for it in rule.pattern.finditer(text, start, end) if rule.is_secret(it["secret"]))
                    yield from (Match(rule.kind, *it.span("secret")) for it in found)


def _places(data: bytes, pattern: str) -> defaultdict[str, list[int]]:
    """Return where words stand. Of two that overlap only the one that begins first is found, with all words in it."""
    places = defaultdict[str, list[int]](list)
    for found in quick(pattern).finditer(data):
        start, end = found.span()
        for place, word in _words_in(data[start:end]):
            places[word].append(start + place)
    return places


@lru_cache(maxsize=1024)
def _words_in(found: bytes) -> list[tuple[int, str]]:
    text = found.decode("ascii")
    return [(place, word) for word in _WORDS if (place := text.find(word)) >= 0]


def _is_statement(text: str, place: int) -> bool:
    """Whether "pass" at a place is a line of Python, as most are there."""
    return text.startswith("\n", place + len("pass")) and text[max(0, place - 2) : place].isspace()


def _lines(low: str, places: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Yield the spans of the lines at these places, each line once."""
    end = -1
    for place in places:
        if place > end:
            end = low.find("\n", place)
            end = len(low) if end < 0 else end
            yield low.rfind("\n", 0, place) + 1, end
