"""Patterns compiled on first use.

A hundred languages have a thousand patterns; compiling all takes .2 s. A project has few of these languages.
"""

import re
from typing import Any, AnyStr, cast


class _Later:
    """Stands for a pattern, and finds its methods on first use."""

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
