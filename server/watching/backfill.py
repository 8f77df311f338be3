"""Embed or describe waiting chunks in a thread of its own, again and again until none waits for a model."""

import logging
from collections.abc import Callable
from threading import Event, Lock, Thread

from cqm.chunkers.errors import CqmError
from cqm.index.model.outcomes import Improved
from cqm.index.model.progress import UpdateSummary
from cqm.server.console import number

_log = logging.getLogger(__name__)

Improve = Callable[[Callable[[], bool]], Improved]
"""Goes over waiting chunks; stops early when the given function returns True."""


def improved_line(improved: Improved) -> str:
    """Report chunks embedded again after waiting for a model."""
    rest = f", {improved.lacking:,} still wait" if improved.lacking else ""
    return (
        f"{number(improved.embedded, 'chunk')} of {number(improved.files, 'file')} that waited for their model are"
        f" embedded anew{rest}"
    )


class Improver:
    """Improve an index after updates which left chunks waiting, until `stop`.

    Parameters:
        improve: does the work; called from one thread.
        retry_seconds: time to the next try while chunks still wait.
    """

    def __init__(
        self, improve: Improve, retry_seconds: float, name: str, report: Callable[[Improved], None] = lambda _: None
    ) -> None:
        self._improve = improve
        self._report = report
        self._retry_seconds = retry_seconds
        self._thread = Thread(target=self._run, name=name, daemon=True)
        self._lock = Lock()
        self._woken = Event()
        self._stopped = Event()

    def after(self, summary: UpdateSummary, *, is_heavy: bool = False) -> UpdateSummary:
        """Take up chunks left waiting by an update, and an index grown heavy; return its summary."""
        with self._lock:
            if (summary.lacking or is_heavy) and not self._stopped.is_set():
                self._woken.set()
                if not self._thread.is_alive():
                    self._thread.start()
        return summary

    def stop(self) -> None:
        """Begin nothing more. A running request to a model isn't awaited."""
        with self._lock:
            self._stopped.set()
            self._woken.set()

    def _run(self) -> None:
        waits = False
        while not self._stopped.is_set():
            self._woken.wait(self._retry_seconds if waits else None)
            self._woken.clear()
            if not self._stopped.is_set():
                waits = self._improved()

    def _improved(self) -> bool:
        """Improve once; whether chunks still wait."""
        try:
            improved = self._improve(self._stopped.is_set)
        except CqmError as error:
            if not self._stopped.is_set():  # Else the index was closed during the work.
                _log.warning("%s", error)
        except Exception:  # noqa: BLE001 - this thread's boundary: one failure must not end the improving
            _log.exception("Improving failed.")
        else:
            if improved.files:
                self._report(improved)
            return improved.lacking > 0
        return True
