"""The last questions to an index, kept in the memory of its owner only: people see the lines that their agents read."""

import time
from collections import deque
from collections.abc import Callable, Mapping
from threading import Lock
from typing import Any

from cqm.index.model.asked import AskedQuestion
from cqm.index.model.query import Answer

MOST = 40
"""Questions kept. An answer of ten results takes about 30 KB."""
_LONGEST = 1_000
"""Characters kept of a question, which may be a whole log."""

_KEPT: Mapping[str, Callable[[Mapping[str, Any], Any], tuple[str, int]]] = {
    "search": lambda asked, answer: (asked["query"].text or asked["query"].like, len(answer.hits)),
    "usages": lambda asked, uses: (asked["name"], sum(uses.totals.values())),
    "outline": lambda asked, outline: (asked["query"].path, outline.total_symbols),
    "read": lambda asked, reading: (asked["query"].what, len(reading.text.splitlines())),
}
"""For each kept method, the words asked for and the number found, from its arguments and its result."""


class Questions:
    """The last questions; any thread may add one."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._last: deque[AskedQuestion] = deque(maxlen=MOST)

    def add(self, client: str, method: str, arguments: Mapping[str, Any], result: object, began: float) -> None:
        """Keep a call that was answered just now, if people may want to see it.

        Parameters:
            client: who asked.
            method, arguments: as called.
            result: given to the client.
            began: when it was asked, seconds since the epoch.
        """
        if method not in _KEPT:
            return
        text, found = _KEPT[method](arguments, result)
        query, answer = (arguments["query"], result) if isinstance(result, Answer) else (None, None)
        asked = AskedQuestion(began, time.time() - began, client, method, text[:_LONGEST], found, query, answer)
        with self._lock:
            self._last.append(asked)

    def all(self) -> tuple[AskedQuestion, ...]:
        """Return those kept, the last one first."""
        with self._lock:
            return tuple(reversed(self._last))
