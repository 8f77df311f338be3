"""Find services' tokens by their form with the library Kingfisher and the rules in its releases.

It matches all rules in one pass, 100 MB a second. Loading the rules takes 0.3 s. Their first use on a machine compiles
them (4 s) into the user's cache. So it is used only if a text contains something like a token: one text in seven of
usual sources.
"""

import os
import re
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from platformdirs import user_cache_path

from cqm.index.secrets.model import Match
from cqm.index.secrets.readable import quick
from cqm.index.secrets.values import ALTERNATING, LOGIN, is_name, is_placeholder, is_scrambled, looks_random

if TYPE_CHECKING:
    from kingfisher_sdk import Scanner

_COMMON = re.compile(r"pass(?:word)?|postgres|root|secret|admin|user|guest|\w{1,4}", re.IGNORECASE)
_LONG = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{15,}")
_AFTER_FIRST = 15
_FIRST_DIGITS = [rf"[A-Za-z_-]{{{place}}}[0-9][A-Za-z0-9_-]{{{_AFTER_FIRST - place}}}" for place in range(_AFTER_FIRST)]
_LONG_WITH_DIGIT = "|".join([*_FIRST_DIGITS, rf"[A-Za-z_-]{{{_AFTER_FIRST},}}[0-9]"])
_CANDIDATE = rf"(?:^|[^A-Za-z0-9_-])[_-]*(?:{_LONG_WITH_DIGIT}|[A-Za-z0-9_-]*{ALTERNATING.pattern})[A-Za-z0-9_-]*"
"""Matches possibly odd words, a row for each place of the first digit: few states tell them from all others."""
_SURE = (
    r"(?:A[KS]IA|AIza|gh[pousr]_|github_pat_|gl(?:pat|rt)-|xox[abprs]-|xapp-|[rs]k_(?:live|test)_|\bsk-|hf_|npm_|pypi-"
    r"|SG\.|NRAK-|whsec_|GOCSPX-|gsk_|glsa_|figd_|hv[sbr]\.|AGE-SECRET-KEY-|:AA)[A-Za-z0-9_-]{10}"
    r"|\bcurl\s|hooks[./]|[?&;-][Ss]ig(?:nature)?="
)
"""Matches beginnings of tokens without digits, and surroundings by which the library knows secrets."""
_IS_SURE = re.compile(_SURE)
_MOST_WORDS = 300
"""The library is faster than looking at more words."""
_TELLING = f"{_CANDIDATE}|{_SURE}"
_AWS = re.compile(r"A[KS]IA[A-Z2-7]{16}")
"""Matches keys of upper case; one in thirty has no digit to tell it from a name."""
_DIGITS = re.compile(r"\d[^\d]+\d")
_OURS = (b"PRIVATE KEY", b"PRIVATE_KEY")
"""`blocks.py` finds private keys, even if sources break them up; the library takes 4 s for 1 MB of such marks."""
_SNAKE = re.compile(r"[a-z0-9]{1,9}(?:[_-][a-z0-9]{1,9})+|[A-Z0-9]{1,9}(?:_[A-Z0-9]{1,9})+")
_RULES = Path(__file__).with_name("rules.yml")
_OWN = "cqm."
_lock = threading.Lock()
_loaded: "list[Scanner]" = []
"""The library with its rules, once this process needed it."""
_instead: list[Callable[[], object]] = []


def token_matches(text: str) -> Iterator[Match]:
    """Yield secrets found by the library, in no order; they may overlap."""
    # Characters without a UTF-8 form become one byte.
    data = text.encode("utf-8", "replace")
    if not _may_have_tokens(data):
        return
    # Zero bytes would suggest another encoding.
    data = data.replace(b"\0", b" ").replace(*_OURS)
    for rule, start, end in _in_characters(data, len(data) == len(text)):
        value = text[start:end]
        # Some rules mistake a variable's name, or a manual's placeholder, for a value.
        is_guess = ("generic" in rule or rule.startswith(_OWN)) and is_placeholder(value)
        is_named = is_name(value) and not _AWS.fullmatch(value)
        if not (is_guess or is_named or _COMMON.fullmatch(value)):
            yield Match(_kind(rule), start, end)


def _in_characters(data: bytes, is_ascii: bool) -> Iterator[tuple[str, int, int]]:  # noqa: FBT001 - private
    """Yield the library's matches in UTF-8 bytes, in order, with spans in characters."""
    found = [
        (it.location["start_offset"], it.location["end_offset"], it.rule_id)
        for it in _scanner().scan(data)
        if it.visible
    ]
    place = character = 0
    for start, end, rule in sorted(found):
        if is_ascii:
            yield rule, start, end
            continue
        character += len(data[place:start].decode("utf-8", "ignore"))
        place = start
        yield rule, character, character + len(data[start:end].decode("utf-8", "ignore"))


def load_rules() -> None:
    """Load the library and its rules; the first time on a machine compiles them (4 s of CPU time)."""
    with _lock:
        if not _loaded:
            from kingfisher_sdk import Rules, Scanner

            folder = os.environ.get("KF_RULE_CACHE_DIR") or user_cache_path("cqm", appauthor=False) / "secret-rules"
            _loaded.append(Scanner(Rules([_RULES], cache_dir=folder)))


def call_instead_of_loading(step: Callable[[], object]) -> None:
    """Call a function in this process instead of loading the rules; it must have loaded them when it returns."""
    _instead.append(step)


def _may_have_tokens(data: bytes) -> bool:
    """Whether a text has a known form, or a long odd word: with digits, and no usual name."""
    for number, found in enumerate(quick(_TELLING).finditer(data)):
        if number == _MOST_WORDS or _is_telling(found[0].decode("ascii", "replace")):
            return True
    return bool(quick(LOGIN).search(data))


def _is_telling(found: str) -> bool:
    word = _LONG.search(found)
    return bool(word and _is_odd(word[0])) or bool(_IS_SURE.search(found))


def _is_odd(word: str) -> bool:
    return not _SNAKE.fullmatch(word) and (bool(_DIGITS.search(word)) or looks_random(word) or is_scrambled(word))


def _kind(rule: str) -> str:
    return rule.partition(".")[2].replace("-", " ").replace("_", " ") or rule


def _scanner() -> "Scanner":
    if not _loaded:
        for step in _instead or [load_rules]:
            step()
    return _loaded[0]
