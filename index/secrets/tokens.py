"""Find services' tokens by their form with the library Kingfisher and the rules in its releases.

It matches all rules in one pass, 100 MB a second. Loading the rules takes 0.3 s. Their first use on a machine compiles
them (4 s) into the user's cache. So it is used only if a text contains something like a token.
"""

import os
import re
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from platformdirs import user_cache_path

from cqm.index.secrets.model import Match
from cqm.index.secrets.values import is_name, is_placeholder, looks_random

if TYPE_CHECKING:
    from kingfisher_sdk import Scanner

_COMMON = re.compile(r"pass(?:word)?|postgres|root|secret|admin|user|guest|\w{1,4}", re.IGNORECASE)
_LONG = re.compile(r"[A-Za-z0-9][\w-]{15,}")
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
    if not (_loaded or may_have_tokens(text)):
        return
    # Characters without a UTF-8 form become one byte; zero bytes would suggest another encoding.
    data = text.encode("utf-8", "replace").replace(b"\0", b" ").replace(*_OURS)
    for rule, start, end in _in_characters(data, len(data) == len(text)):
        value = text[start:end]
        # Some rules mistake a variable's name, or a manual's placeholder, for a value.
        is_guess = ("generic" in rule or rule.startswith(_OWN)) and is_placeholder(value)
        if not (is_guess or is_name(value) or _COMMON.fullmatch(value)):
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


def may_have_tokens(text: str) -> bool:
    """Whether a text contains anything like a token: a long word with digits which is no usual name."""
    return any(_is_odd(it[0]) for it in _LONG.finditer(text))


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


def _is_odd(word: str) -> bool:
    return (bool(_DIGITS.search(word)) and not _SNAKE.fullmatch(word)) or looks_random(word)


def _kind(rule: str) -> str:
    return rule.partition(".")[2].replace("-", " ").replace("_", " ") or rule


def _scanner() -> "Scanner":
    if not _loaded:
        for step in _instead or [load_rules]:
            step()
    return _loaded[0]
