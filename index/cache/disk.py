"""Store shared by one user's processes: a folder with one SQLite file."""

import shutil
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from threading import Lock
from typing import TypeVar

from cqm.index.cache.base import CacheError, Frame
from cqm.index.cache.raw import FILE, DamagedFileError, RawValues, translating
from cqm.index.disk.locations import make_private_folder
from cqm.index.model.errors import StoreError

Result = TypeVar("Result")

_FOLDER = "values"
_DAMAGED_FOLDER = "values-damaged"


class DiskStore:
    """A `Store` in a folder, usable by any number of processes at once. Touches nothing yet.

    Over the limit, the oldest stored values go first. A connection lasts for one batch, at a cost of about 0.1 ms. So a
    file replaced by another process is noticed, and ended threads leave no open connection.

    Parameters:
        folder: a folder below it is used, readable only by its owner.
    """

    def __init__(self, folder: Path, limit_bytes: int) -> None:
        self._folder = folder / _FOLDER
        self._limit = limit_bytes
        self._lock = Lock()
        self._values: RawValues | None = None

    def read(self, names: Sequence[str]) -> Mapping[str, object]:
        """See `Store.read`."""
        return self._attempt(lambda values: {name: found for name in names if (found := values.get(name)) is not None})

    def write(self, frames: Mapping[str, Frame]) -> None:
        """See `Store.write`; one transaction."""
        self._attempt(lambda values: _write(values, frames))

    def extent(self) -> tuple[int, int]:
        """See `Store.extent`."""
        return self._attempt(lambda values: (len(values), values.volume()))

    def close(self) -> None:
        """See `Store.close`."""
        with self._lock:
            self._values = None

    def _attempt(self, action: Callable[[RawValues], Result]) -> Result:
        with self._lock:
            before = self._identity()
            try:
                with translating(self._folder), closing(self._opened()) as values:
                    return action(values)
            except CacheError:
                self._values = None
                raise
            except DamagedFileError as error:
                self._values = None
                # Another process may have moved it aside in between.
                if before == self._identity():
                    self._move_aside()
                message = f"The cache in {self._folder} was damaged: it is moved aside and begun anew."
                raise CacheError(message, pause_seconds=0) from error

    def _opened(self) -> RawValues:
        if self._values is None:
            try:
                make_private_folder(self._folder)
            except StoreError as error:
                message = f"The cache in {self._folder} cannot be used: {error.__cause__ or error.message}."
                remedy = "Free space, mend its permissions, or choose another place with cache.folder."
                raise CacheError(message, remedy=remedy) from error
            self._values = RawValues(self._folder, self._limit)
        return self._values

    def _identity(self) -> tuple[int, int]:
        """Return the file's device and inode; zeros if it is missing."""
        try:
            found = (self._folder / FILE).stat()
        except OSError:
            return 0, 0
        return found.st_dev, found.st_ino

    def _move_aside(self) -> None:
        aside = self._folder.with_name(_DAMAGED_FOLDER)
        with translating(self._folder):
            shutil.rmtree(aside, ignore_errors=True)
            self._folder.rename(aside)


def _write(values: RawValues, frames: Mapping[str, Frame]) -> None:
    with values.transact():
        for name, (data, seconds) in frames.items():
            values.set(name, data, expire=seconds)
    values.cull()
