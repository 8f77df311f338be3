"""What waits for a model, improved beside everything else: in a thread of its own, again until nothing waits."""

import logging
from collections.abc import Callable
from threading import Event, Lock, Thread

from cqm.chunkers.errors import CqmError
from cqm.index.model.progress import Improved, UpdateSummary

_log = logging.getLogger(__name__)

Improve = Callable[[Callable[[], bool]], Improved]
"""Goes over what waits; stops early when the function it is given answers true."""


class Improver:
    """Improves an index after updates that left something waiting, until `stop`.

    Parameters:
        improve: does the work; called from one thread.
        report: told of what became better.
        retry_seconds: time to the next try, while something waits still.
        name: of the thread.
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

    def after(self, summary: UpdateSummary) -> UpdateSummary:
        """Take up what an update left waiting; gives the summary back."""
        with self._lock:
            if summary.lacking and not self._stopped.is_set():
                self._woken.set()
                if not self._thread.is_alive():
                    self._thread.start()
        return summary

    def stop(self) -> None:
        """Begin nothing more. What a model is doing just now is not waited for."""
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
        """Improve once; whether something waits still."""
        try:
            improved = self._improve(self._stopped.is_set)
        except CqmError as error:
            if not self._stopped.is_set():  # Else the index was closed beneath it.
                _log.warning("%s", error)
        except Exception:  # noqa: BLE001 - this thread's boundary: one failure must not end the improving
            _log.exception("Improving failed.")
        else:
            if improved.files:
                self._report(improved)
            return improved.lacking > 0
        return True
