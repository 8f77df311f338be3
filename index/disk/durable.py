"""Durable writes: contents of files and names in folders survive a power cut.

A new, renamed or deleted file survives a power cut only once its folder is synced as well (POSIX's fsync; ext4 and
other journaling file systems do so by themselves soon after, in order).
"""

import os
import shutil
import stat
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

if sys.platform == "darwin":
    import fcntl

from cqm.index.disk.beneath import FILE_FLAGS
from cqm.index.disk.private import names_in
from cqm.index.model.errors import CHECK_DISK, MORE_THREADS, StoreError, remedy_of_shortage

_MEGABYTE = 1_000_000
_SPARE_BYTES = 48 * _MEGABYTE
"""Kept free: several times the space of a batch of files (500 kB of text) with its log and its flush."""


def require_room(folder: Path, needed: int = 0) -> None:
    """Check a folder's disk for free space.

    Edge maps files with holes: if the disk is full when a hole is filled, the system sends SIGBUS. This can still
    happen with a quota the system doesn't report.

    Parameters:
        folder: exists.
        needed: bytes, in addition to the space kept free.

    Raises:
        StoreError: too little is free.
    """
    try:
        free = shutil.disk_usage(folder).free
    except OSError as error:
        raise StoreError(f"{folder} cannot be read: {error}.", remedy="Check that it is still there.") from error
    if free < needed + _SPARE_BYTES:
        wanted = (needed + _SPARE_BYTES) / _MEGABYTE
        message = f"The disk of {folder} is full: {free / _MEGABYTE:,.0f} MB are free, {wanted:,.0f} are needed."
        raise StoreError(message, remedy="Free space, or choose another place with index.home.", retryable=True)


_CAN_SYNC_FOLDERS = hasattr(os, "O_DIRECTORY")
"""False on Windows, which has no such call and keeps names in a journal."""
_NOT_THROUGH_LINKS = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
_AT_ONCE = 16


class Tree:
    """A folder tree; syncs the files and folders new since the last sync.

    A grown file counts as new; other changes inside a file are synced by the writer. Each sync makes the disk flush its
    own cache: some milliseconds even without changes.
    """

    def __init__(self, place: Path) -> None:
        self._place = place
        # By paths as text: there are hundreds, and each update looks at them all.
        self._synced: dict[str, _Version] = {}
        # A few dozen of them are folders, and each update looks at these several times.
        self._folders: dict[str, int] = {}
        self._lock = threading.Lock()

    def note(self) -> None:
        """Treat everything present as synced."""
        self._keep(dict(self._versions()))

    def sync(self) -> None:
        """Flush new files and folders to disk, each folder after its content.

        Raises:
            StoreError: the disk fails.
        """
        with self._lock:
            there = dict(self._versions())
            new = [path for path, version in there.items() if self._synced.get(path) != version]
            _sync_each(sync_file, [path for path in new if not there[path].is_folder])
            _sync_each(sync_folder, [path for path in new if there[path].is_folder])
            self._keep(there)

    def _keep(self, there: "dict[str, _Version]") -> None:
        self._folders = {path: version.changed for path, version in there.items() if version.is_folder}
        self._synced = there

    def sync_names(self) -> None:
        """Sync if names have come or gone, or nothing was synced yet; otherwise takes a fraction of a millisecond."""
        if not self._synced or self._has_other_names():
            self.sync()

    def _has_other_names(self) -> bool:
        try:
            for path, before in self._folders.items():
                if os.stat(path).st_mtime_ns != before:  # noqa: PTH116 - text, as above
                    return True
        except FileNotFoundError:
            return True
        return False

    def _versions(self) -> Iterator[tuple[str, "_Version"]]:
        for folder, folders, names in os.walk(str(self._place), topdown=False):
            # Edge has short-lived files and folders.
            for name in names:
                path = f"{folder}{os.sep}{name}"
                with suppress(FileNotFoundError):
                    status = os.lstat(path)
                    yield path, _Version(status.st_ino, status.st_size)
            with suppress(FileNotFoundError):
                status = os.stat(folder)  # noqa: PTH116 - text, as above
                # Names added within one tick of the clock leave the time unchanged.
                yield folder, _Version(status.st_ino, status.st_mtime_ns, len(folders) + len(names))


class _Version(NamedTuple):
    """Identifies a state of a file by its size, of a folder by its time and its number of names."""

    inode: int
    changed: int
    names: int | None = None

    @property
    def is_folder(self) -> bool:
        return self.names is not None


def _sync_each(sync: Callable[[str], None], paths: Sequence[str]) -> None:
    """Sync paths in parallel, so that a journal can combine them; some may vanish meanwhile.

    Raises:
        StoreError: the disk fails, or no thread can be started.
    """
    from concurrent.futures import ThreadPoolExecutor

    def sync_one(path: str) -> None:
        with suppress(FileNotFoundError):
            sync(path)

    if paths:
        with ThreadPoolExecutor(_AT_ONCE) as threads:
            try:
                synced = threads.map(sync_one, paths)
            except RuntimeError as error:
                raise StoreError(f"Files cannot be synced: {error}.", remedy=MORE_THREADS) from error
            deque(synced, maxlen=0)


def replace_file(path: Path, text: str) -> None:
    """Replace a file's content: it holds the old or the new content whole, and afterwards the new one for good.

    The file has mode 0600. A link in its place is replaced, not followed.

    Raises:
        OSError: it cannot be written and is unchanged.
        StoreError: the disk fails.
    """
    _replace(path, text, is_synced=True)


def is_replaceable(path: Path) -> bool:
    """Return whether a new file may be renamed to a path: it must not be a device, pipe, link or folder."""
    try:
        return stat.S_ISREG(path.lstat().st_mode)
    except (FileNotFoundError, NotADirectoryError):
        return True


def replace_passing_file(path: Path, text: str) -> None:
    """Replace a file without syncing, if only the present process needs it: a power cut may leave any content.

    Raises:
        OSError: it cannot be written and is unchanged.
    """
    _replace(path, text, is_synced=False)


def _replace(path: Path, text: str, *, is_synced: bool) -> None:
    with names_in(path.parent) as (before, descriptor):
        name, new = f"{before}{path.name}", f"{before}{path.name}.new"
        # Left behind by a dead process, or brought by a clone.
        with suppress(FileNotFoundError):
            os.unlink(new, dir_fd=descriptor)
        # Must be a new name in the folder itself, so no link is followed.
        opened = os.open(new, FILE_FLAGS | os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600, dir_fd=descriptor)
        with os.fdopen(opened, "wb") as file:
            file.write(text.encode("utf-8", "surrogateescape"))
            file.flush()
            if is_synced:
                _sync_opened(path, opened)
        os.replace(new, name, src_dir_fd=descriptor, dst_dir_fd=descriptor)
        if is_synced and descriptor is not None:
            _sync_opened(path.parent, descriptor)


def sync_folder(folder: Path | str) -> None:
    """Flush the names in a folder to disk.

    Raises:
        FileNotFoundError: it is gone.
        StoreError: the disk fails.
    """
    if _CAN_SYNC_FOLDERS:
        _sync(folder, os.O_RDONLY | os.O_DIRECTORY)


def sync_file(path: Path | str) -> None:
    """Flush the content of a file to disk.

    Raises:
        FileNotFoundError: it is gone.
        StoreError: the disk fails.
    """
    _sync(path, os.O_RDWR)


def _sync(path: Path | str, flags: int) -> None:
    try:
        opened = os.open(path, flags | _NOT_THROUGH_LINKS)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise _failed(path, error) from error
    try:
        _sync_opened(path, opened)
    finally:
        os.close(opened)


def _sync_opened(path: Path | str, opened: int) -> None:
    try:
        sync_opened(opened)
    except OSError as error:
        raise _failed(path, error) from error


def sync_opened(opened: int) -> None:
    """Write a file's contents to its disk; at fsync, macOS leaves them in the disk's own memory, see its fcntl(2).

    Raises:
        OSError: the disk fails.
    """
    if sys.platform == "darwin":
        # Network file systems know no such flush.
        with suppress(OSError):
            fcntl.fcntl(opened, fcntl.F_FULLFSYNC)
            return
    os.fsync(opened)


def _failed(path: Path | str, error: OSError) -> StoreError:
    return StoreError(f"{path} cannot be synced: {error}.", remedy=remedy_of_shortage(error) or CHECK_DISK)
