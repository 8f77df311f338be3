"""Our own rules for secrets the library of `tokens.py` doesn't look for, or not everywhere.

Each rule first searches its literals; patterns are tried from there, or on the lines containing one.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

from cqm.index.secrets.arguments import CALLS, arguments
from cqm.index.secrets.assignments import assigned
from cqm.index.secrets.blocks import (
    KEY_HEADS,
    json_keys,
    kubernetes_secrets,
    lines_of_keys,
    lists_of_users,
    private_keys,
)
from cqm.index.secrets.forms import RULES, USUAL
from cqm.index.secrets.model import Match
from cqm.index.secrets.names import ANCHORS, SETTINGS_ANCHORS, anchors, pattern_of
from cqm.index.secrets.notations import takes_bare
from cqm.index.secrets.readable import Readable, quick
from cqm.index.secrets.tables import collections, tables
from cqm.index.secrets.values import LOGIN, is_password, is_placeholder

_URL = re.compile(r"://(?P<user>[^\s/:@\"'<>`]{0,100}):(?P<secret>[^\s/@\"'<>`]{3,300})@(?P<host>[\w.\[-]+)")
_LONG_ENOUGH = 8
_PYTHON = (".py", ".pyi")


def _urls(text: str) -> Iterator[Match]:
    """Yield passwords in addresses."""
    for it in _URL.finditer(text):
        value = it["secret"]
        is_long = len(value) >= _LONG_ENOUGH and not is_placeholder(value) and not value.isdigit()
        if value.lower() not in USUAL and value != it["user"] and (is_password(value) or is_long):
            yield Match("password in a URL", *it.span("secret"))


_SETTINGS_WORDS = frozenset({*SETTINGS_ANCHORS, "sudo", "securestring"})
_BY_LITERAL = {it: [rule for rule in RULES if it in rule.literals] for rule in RULES for it in rule.literals}
# "_auth" would hide "authorization" in "HTTP_AUTHORIZATION": see `_places`.
_WORDS = frozenset(
    {*ANCHORS, *SETTINGS_ANCHORS, *_BY_LITERAL, *CALLS, *KEY_HEADS, "chpasswd", '"kty"', "_authorization"}
)
_IN_SETTINGS, _IN_CODE = pattern_of(sorted(_WORDS)), pattern_of(sorted(_WORDS - _SETTINGS_WORDS))


def own_matches(view: Readable, path: str) -> Iterator[Match]:
    """Yield secrets by our own rules, in no order; they may overlap. The path tells if values lack quotes."""
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
    yield from lines_of_keys(text, low, places)
    yield from lists_of_users(text, places["chpasswd"])
    if places['"kty"']:
        yield from json_keys(text)
    if places["secret"] and "data" in low:
        yield from kubernetes_secrets(text)


def _by_form(text: str, low: str, places: Mapping[str, Sequence[int]]) -> Iterator[Match]:
    for literal, found_at in places.items():
        rules = _BY_LITERAL.get(literal, ())
        for start, end in _lines(low, found_at) if rules else ():
            for rule in rules:
                if low.find(rule.also, start, end) >= 0:
                    found = (it for it in rule.pattern.finditer(text, start, end) if rule.is_secret(it["secret"]))
                    yield from (Match(rule.kind, *it.span("secret")) for it in found)


def _places(data: bytes, pattern: str) -> defaultdict[str, list[int]]:
    """Return the places of words. Of two overlapping ones only the first is found, with all words in it."""
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
