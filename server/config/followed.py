"""Settings following the files they were read from, while a server or a watch goes on."""

import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from cqm.server.config.settings import Settings
from cqm.server.config.sources import Stamp, stamp_of
from cqm.server.errors import SettingsError

_REST_SECONDS = 0.3
"""Time for files to rest before they are read again: some editors empty a file before they write it."""

_ABOUT_ANSWERS = {"search", "server", "ui", "groups", "trusted_projects"}


class FollowedSettings:
    """Settings as their files are now; as they were before while a file is broken.

    Attributes:
        settings: as they were read last.
        problem: why the files as they are now are not read; empty where they are.
    """

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.problem = ""
        self._read = settings.stamps
        self._seen: tuple[Mapping[Path, Stamp], float] | None = None

    @property
    def is_behind(self) -> bool:
        """Whether a file has changed since it was read."""
        return self._changed() is not None

    def look(self) -> bool:
        """Read the files again if they have changed and rest since; whether they were read or refused by this look."""
        now = self._changed()
        if now is None or self._seen is None or self._seen[0] != now:
            self._seen = None if now is None else (now, time.monotonic())
            return False
        if time.monotonic() - self._seen[1] < _REST_SECONDS:
            return False
        try:
            self.settings = self.settings.read_again()
        except SettingsError as error:
            self._read, self.problem = now, f"{error} Until then, the settings that were read before hold."
        else:
            self._read, self.problem = self.settings.stamps, ""
        return True

    def _changed(self) -> Mapping[Path, Stamp] | None:
        """Return the state of the files if it is another one; None else, and while the folder is away."""
        now = {path: stamp_of(path) for path in self._read}
        return None if now == self._read or _is_away(self.settings.folder) else now


def about_the_index(settings: Settings) -> dict[str, Any]:
    """Return the options for opening and following an index; others only change answers."""
    return settings.model_dump(exclude=_ABOUT_ANSWERS)


def _is_away(folder: Path | None) -> bool:
    """Whether a folder is gone, or an empty one is in its place: an unmounted disk has no cqm.yml."""
    if folder is None:
        return False
    try:
        with os.scandir(folder) as entries:
            return next(entries, None) is None
    except OSError:
        return True
