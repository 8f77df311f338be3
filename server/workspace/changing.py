"""Settings changing while their index is open: they are looked for every second, and put in force."""

import logging
import time
from collections.abc import Callable
from threading import Condition, Event, Thread

from cqm.chunkers.errors import CqmError
from cqm.server.config.followed import FollowedSettings
from cqm.server.config.settings import Settings

_log = logging.getLogger(__name__)

_LOOK_SECONDS, _HASTE_SECONDS = 1.0, 0.1
"""Time between two looks at the files of settings, and while a known change doesn't hold yet."""
_PATIENCE_SECONDS = 2.0
"""Longest wait of a call for settings just changed."""
_RETRY_SECONDS = 30.0
"""Time to the next try where an index is in use for long work."""
_FROM_THE_START = ("roots", "http", "hosts", "log_format")
"""Options of the server read when it starts."""


class Changing:
    """The settings of one open index, as their files change."""

    def __init__(self, settings: Settings, put_in_force: Callable[[Settings], None]) -> None:
        self._followed = FollowedSettings(settings)
        self._put_in_force = put_in_force
        self._refused = ""
        self._due: float | None = None

    @property
    def is_behind(self) -> bool:
        """Whether the files have changed, and will apply soon but don't yet."""
        return self._followed.is_behind or (self._due is not None and not self._refused)

    @property
    def problem(self) -> str:
        """Sentences telling why the settings in force differ from the files; empty if they don't."""
        if known := self._followed.problem or self._refused:
            return known
        return "The settings were changed a moment ago, and don't hold yet; ask again soon." if self.is_behind else ""

    def look(self) -> None:
        """Put the settings of the files in force, if they have changed."""
        if self._followed.look():
            self._refused, self._due = "", None if self._followed.problem else time.monotonic()
            if self._followed.problem:
                _log.warning("%s", self._followed.problem)
        if self._due is not None and time.monotonic() >= self._due:
            self._take()

    def _take(self) -> None:
        try:
            self._put_in_force(self._followed.settings)
        except CqmError as error:
            again = " CQM tries again." if error.retryable else ""
            self._refused = f"The changed settings are not in force: {error}{again}"
            self._due = time.monotonic() + _RETRY_SECONDS if error.retryable else None
            _log.warning("%s", self._refused)
        else:
            self._refused, self._due = "", None
            _log.info("The changed settings of %s are in force.", self._followed.settings.folder)


class Looks:
    """Looks again and again, in a thread of its own, from `begin` to `end`.

    Parameters:
        look: looks once; whether to look again soon.
    """

    def __init__(self, look: Callable[[], bool]) -> None:
        self._look = look
        self._hurry, self._ended = Event(), Event()
        self._looked = Condition()
        self._thread = Thread(target=self._run, name="settings", daemon=True)

    def begin(self) -> None:
        """Start the thread; harmless when done before."""
        with self._looked:
            if not (self._thread.is_alive() or self._ended.is_set()):
                self._thread.start()

    def end(self) -> None:
        """Look no more; a look under way is not awaited."""
        self._ended.set()
        self._hurry.set()

    def wait_for(self, is_done: Callable[[], bool]) -> None:
        """Wait a moment until looks have brought something about."""
        self._hurry.set()
        with self._looked:
            self._looked.wait_for(lambda: is_done() or self._ended.is_set(), _PATIENCE_SECONDS)

    def _run(self) -> None:
        is_soon = False
        while not self._ended.is_set():
            if is_soon:
                self._ended.wait(_HASTE_SECONDS)
            else:
                self._hurry.wait(_LOOK_SECONDS)
            self._hurry.clear()
            try:
                is_soon = not self._ended.is_set() and self._look()
            except Exception:  # noqa: BLE001 - this thread's boundary: one failed look must not end the others
                _log.exception("Changed settings could not be looked for.")
            with self._looked:
                self._looked.notify_all()


def from_the_start(started: Settings, now: Settings) -> str:
    """Tell which changed options hold only from the next start of a server; empty for none."""
    names = [f"server.{it}" for it in _FROM_THE_START if getattr(started.server, it) != getattr(now.server, it)]
    return f"Start this server again for {', '.join(names)} of your cqm.yml." if names else ""
