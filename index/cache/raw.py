"""diskcache without pickle: an SQLite file of bytes by name.

By default diskcache pickles values. Anyone able to write to its file can then run code in every program reading it
(CVE-2025-69872). Nothing is unpickled here, whatever the file contains: names are text, values are bytes, both stay
inside SQLite, and every method able to unpickle or follow a file name is replaced. diskcache turns settings in the file
into attributes and pragmas; they are checked first.
"""

import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path

import diskcache  # type: ignore[import-untyped]
from diskcache.core import DBNAME, METADATA, MODE_RAW  # type: ignore[import-untyped]

from cqm.index.cache.base import CacheError

FILE = DBNAME
"""Name of the file in its folder."""
_LOCK_SECONDS = 1.0
"""Seconds to wait for another process's transaction: they take milliseconds."""
_SETTINGS: Mapping[str, int | str] = {
    "statistics": 0,
    "tag_index": 0,
    "eviction_policy": "least-recently-stored",
    "cull_limit": 0,  # not with every value: `cull` runs once a batch
    "disk_min_file_size": 2**40,  # every value inside SQLite
    "disk_pickle_protocol": 0,
    "sqlite_auto_vacuum": 1,  # FULL: removing values shrinks the file
    "sqlite_cache_size": 2**11,
    "sqlite_journal_mode": "wal",
    "sqlite_mmap_size": 2**26,
    # Nothing waits for the disk: damage by a power failure is noticed, and the file replaced by a new one.
    "sqlite_synchronous": 0,
}
_TYPES = {name: "text" if isinstance(value, str) else "integer" for name, value in _SETTINGS.items()} | dict.fromkeys(
    ("size_limit", *METADATA), "integer"
)
"""Types allowed in the file's table of settings."""
_NOT_OURS = object()
"""Stands for a value outside SQLite, or without bytes."""
_PRIMARY_CODE = 0xFF
"""Mask for SQLite's primary error code, without the extended part."""
_FILE_IS_SOUND = frozenset(
    {
        sqlite3.SQLITE_AUTH,
        sqlite3.SQLITE_BUSY,
        sqlite3.SQLITE_CANTOPEN,
        sqlite3.SQLITE_FULL,
        sqlite3.SQLITE_IOERR,
        sqlite3.SQLITE_LOCKED,
        sqlite3.SQLITE_NOMEM,
        sqlite3.SQLITE_PERM,
        sqlite3.SQLITE_PROTOCOL,
        sqlite3.SQLITE_READONLY,
    }
)
"""Errors of the disk, its permissions or other processes. Any other error means a damaged file."""


class DamagedFileError(Exception):
    """diskcache didn't write this file."""


class _RawDisk(diskcache.Disk):  # type: ignore[misc] # diskcache has no types
    """Stores values as bytes in a column."""

    def get(self, key: object, raw: object) -> object:  # noqa: ARG002 - as diskcache calls it
        """Return the name as stored in the file."""
        return key

    def fetch(self, mode: object, filename: object, value: object, read: object) -> object:  # noqa: ARG002 - likewise
        """Return the value if it is bytes."""
        return value if mode == MODE_RAW and isinstance(value, bytes) else _NOT_OURS

    def remove(self, file_path: object) -> None:
        """Do nothing: our values have no files, and others' files are not ours to remove."""


class RawValues(diskcache.Cache):  # type: ignore[misc] # diskcache has no types
    """A `diskcache.Cache` of bytes. Each thread closes its connection after use; the next use opens it again.

    Parameters:
        folder: exists and is used only by us.
        limit_bytes: of the file; `cull` shrinks it to this size.

    Raises:
        DamagedFileError, sqlite3.Error, diskcache.Timeout, OSError: see `translating`.
    """

    def __init__(self, folder: Path, limit_bytes: int) -> None:
        _check(folder / FILE)
        try:
            super().__init__(str(folder), _LOCK_SECONDS, _RawDisk, size_limit=limit_bytes, **_SETTINGS)
        finally:
            self.close()


def _check(file: Path) -> None:
    """Check an existing file for locks and foreign settings: diskcache obeys settings, and waits a minute for locks."""
    if not file.exists():
        return
    with closing(sqlite3.connect(file, timeout=_LOCK_SECONDS, isolation_level=None)) as connection:
        connection.execute("BEGIN IMMEDIATE")
        connection.execute("ROLLBACK")
        if not connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'Settings'").fetchall():
            return
        settings = connection.execute("SELECT key, typeof(value) FROM Settings").fetchall()
        if set(settings) - _TYPES.items():
            raise DamagedFileError


@contextmanager
def translating(folder: Path) -> Iterator[None]:
    """Turn errors of `RawValues` in this folder into `CacheError`.

    Raises:
        DamagedFileError: passed through.
    """
    try:
        yield
    except diskcache.Timeout as error:
        message = f"The cache in {folder} is locked by another process, or cannot be written."
        raise CacheError(message, remedy="Mend its permissions.") from error
    except (ValueError, TypeError) as error:  # from diskcache, which trusts the content of its tables
        raise DamagedFileError from error
    except (sqlite3.Error, OSError) as error:
        first = _first_of(error)
        if "no such table" in str(first) or not folder.is_dir():
            raise CacheError(f"The cache in {folder} was deleted.", pause_seconds=0) from error
        if isinstance(first, sqlite3.Error) and _code(first) not in _FILE_IS_SOUND:
            raise DamagedFileError from error
        remedy = "Free space, mend its permissions, or choose another place with cache.folder."
        raise CacheError(f"The cache in {folder} cannot be used: {first}.", remedy=remedy) from error


def _code(error: sqlite3.Error) -> int:
    """Return SQLite's code; 0 if Python raised the error, as for invalid UTF-8."""
    return getattr(error, "sqlite_errorcode", 0) & _PRIMARY_CODE


def _first_of(error: BaseException) -> BaseException:
    """Return the first error: if SQLite already rolled a transaction back, our rollback fails as well."""
    while isinstance(error.__context__, sqlite3.Error):
        error = error.__context__
    return error
