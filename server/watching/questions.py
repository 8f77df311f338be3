"""The last questions to an index, kept in the memory of its owner only: people see the lines their agents read."""

import math
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
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


def durations(asked: Sequence[AskedQuestion]) -> dict[str, dict[str, float]]:
    """Return how long the last questions took, by method: `count`, `p50_seconds`, `p95_seconds` and `last_seconds`.

    Parameters:
        asked: the last one first.
    """
    by_method: dict[str, list[float]] = {}
    for it in asked:
        by_method.setdefault(it.method, []).append(it.seconds)
    found = {}
    for method, seconds in by_method.items():
        ranked = sorted(seconds)
        # Nearest rank: a measured time, even of a few.
        p50, p95 = (ranked[math.ceil(share * len(ranked)) - 1] for share in (0.5, 0.95))
        found[method] = {"count": len(ranked), "p50_seconds": p50, "p95_seconds": p95, "last_seconds": seconds[0]}
    return found


class Questions:
    """The last questions; any thread may add one."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._last: deque[AskedQuestion] = deque(maxlen=MOST)

    def add(self, client: str, method: str, arguments: Mapping[str, Any], result: object, began: float) -> None:
        """Keep a call answered just now, if people may want to see it.

        Parameters:
            client: the name of the client.
            method, arguments: as called.
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
