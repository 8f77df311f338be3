"""Steps to take once nothing has been used for a while."""

import time
from collections.abc import Callable, Sequence
from threading import Event, Lock, Thread


class Rest:
    """Takes steps, each when its seconds have passed since the last use; a later use begins anew.

    A thread waits for that from the first use until the last step is taken.

    Parameters:
        steps: seconds, least first, each with what is done then.
    """

    def __init__(self, steps: Sequence[tuple[float, Callable[[], None]]]) -> None:
        self._steps = steps
        self._lock = Lock()
        self._used_at = 0.0
        self._is_waiting = False
        self._is_over = Event()

    def used(self) -> None:
        """Note a use now."""
        with self._lock:
            self._used_at = time.monotonic()
            if self._is_waiting or self._is_over.is_set():
                return
            self._is_waiting = True
        Thread(target=self._wait, name="rest", daemon=True).start()

    def end(self) -> None:
        """Take no step any more."""
        self._is_over.set()

    def _wait(self) -> None:
        taken, since = 0, self._used_at
        while not self._is_over.is_set():
            with self._lock:
                if self._used_at != since:
                    taken, since = 0, self._used_at
                if taken == len(self._steps):
                    self._is_waiting = False
                    return
            seconds, step = self._steps[taken]
            left = since + seconds - time.monotonic()
            if left > 0:
                self._is_over.wait(left)
            else:
                step()
                taken += 1
