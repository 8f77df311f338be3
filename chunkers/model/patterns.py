"""Patterns that are compiled when they are first used.

A hundred languages have a thousand patterns, which take a fifth of a second. A project has few of these languages.
"""

import re
from typing import Any, AnyStr, cast


class _Later:
    """Stands for a pattern, whose methods it finds when they are first asked for."""

    def __init__(self, pattern: object, flags: int) -> None:
        self.pattern, self._flags = pattern, flags

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - as of the pattern
        compiled: re.Pattern[Any] = re.compile(self.pattern, self._flags)
        self.__dict__ |= {it: getattr(compiled, it) for it in _ASKED}
        return getattr(compiled, name)


_ASKED = ("finditer", "findall", "fullmatch", "groups", "match", "search", "split", "sub", "subn")


def later(pattern: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """Return a pattern, for its methods alone: functions of `re` don't take it."""
    return cast("re.Pattern[AnyStr]", _Later(pattern, flags))
