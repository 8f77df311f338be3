"""Half of a surrogate pair in a request, as of a text cut within an emoji: JSON of other programs may have it."""

import re

_SURROGATE = re.compile(r"(\\[^u]|\\u[dD][89abAB]\w\w\\u[dD][c-fC-F]\w\w)|\\u[dD][89a-fA-F]\w\w")
"""Matches half of a surrogate pair in JSON; other escapes and whole pairs are in its group."""


def with_whole_characters(line: str) -> str:
    """Replace each half of a surrogate pair in JSON by U+FFFD; pydantic refuses the whole line."""
    if r"\ud" not in line and r"\uD" not in line:
        return line
    return _SURROGATE.sub(lambda found: found[1] or r"\ufffd", line)
