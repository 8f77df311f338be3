"""A SQLite file that this process alone writes: what is written, and what searches read, have a connection each.

Whoever writes holds its lock until the disk has it. Searches wait neither for that, nor in its way.
"""

import os
import sqlite3
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Self

from cqm.index.disk.durable import sync_file
from cqm.index.disk.private import open_private, require_plain_file
from cqm.index.model.errors import REBUILD, DamagedIndexError, ManifestError

Rows = list[tuple[Any, ...]]

_DAMAGE = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)


class Database:
    """Use `Database.open`. Its methods may be called from any thread, and raise ManifestError when SQLite refuses.

    Attributes:
        path: of the file.
        writer: the connection that writes; for those who hold `lock`, or write in a `transaction`.
        read_only: whether it is only looked at.
        lock: of whoever writes.
    """

    def __init__(self, path: Path, writer: sqlite3.Connection, searched: sqlite3.Connection | None) -> None:
        self.path = path
        self.writer = writer
        self.read_only = searched is None
        self.lock = threading.RLock()
        self._searched = searched or writer
        self._search_lock = threading.Lock() if searched else self.lock
        self._remembered: dict[str, Rows] = {}
        self._memory_lock = threading.Lock()
        self._ended = 0

    @classmethod
    def open(cls, path: Path, prepare: Callable[[sqlite3.Connection], None], *, read_only: bool = False) -> Self:
        """Open the file, or make it; its folder exists.

        Parameters:
            path: of the file; its last two parts may not be links.
            prepare: called before anything is read, unless it is only looked at; what that raises closes the file.
            read_only: for looking only, while another process may be writing.

        Raises:
            DamagedIndexError: something else is in the place of the file.
        """
        # SQLite opens all of them by their paths.
        for suffix in ("", "-wal", "-shm", "-journal"):
            require_plain_file(path.with_name(f"{path.name}{suffix}"))
        if not read_only:
            _make_private(path)
        address = f"{path.absolute().as_uri()}?mode={'ro' if read_only else 'rwc'}"
        with translated(path):
            writer = _connected(address)
            if read_only:
                return cls(path, writer, None)
            try:
                prepare(writer)
            except BaseException:
                writer.close()
                raise
            searched = _connected(address)
            searched.execute("PRAGMA query_only=ON")
            # 16 MB in place of 2: a search looks up hundreds of chunks all over the table.
            searched.execute("PRAGMA cache_size=-16384")
        return cls(path, writer, searched)

    def check(self) -> None:
        """Look at every page of the file.

        Raises:
            DamagedIndexError: it is not a database that SQLite wrote.
        """
        found = self.read("PRAGMA quick_check(1)")
        if found != [("ok",)]:
            raise DamagedIndexError(f"The manifest {self.path} is damaged: {found[0][0]}.")

    def copy_to(self, path: Path) -> None:
        """Write what is committed to a new file, without the room that deleted rows have left."""
        with self.lock, translated(self.path):
            self.writer.execute("VACUUM INTO ?", (str(path),))
            # SQLite does not. Nobody has it open yet: POSIX takes all locks of a process on a file that it closes once.
            sync_file(path)

    def sync(self) -> None:
        """Have all that is committed on the disk."""
        with self.lock, suppress(FileNotFoundError):
            # No lock of SQLite is on its log, so that to close it again takes none away.
            sync_file(self.path.with_name(f"{self.path.name}-wal"))

    def close(self) -> None:
        """Close it; committed work is on disk."""
        with self.lock, self._search_lock, translated(self.path):
            self._searched.close()
            try:
                if not self.read_only:
                    # Also while a reader of the status has it open: else SQLite does so only when the last one closes.
                    self.writer.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
            finally:
                self.writer.close()

    def read(self, query: str, values: Sequence[object] = ()) -> Rows:
        """What a query gives to whoever writes."""
        with self.lock, translated(self.path):
            return self.writer.execute(query, tuple(values)).fetchall()

    def look_up(self, query: str, values: Sequence[object] = ()) -> Rows:
        """What a query gives to a search, of what is committed."""
        with self._search_lock, translated(self.path):
            return self._searched.execute(query, tuple(values)).fetchall()

    def recall(self, query: str) -> Rows:
        """The same of a query that every search asks: read once until `forget`."""
        rows = None if self.read_only else self._remembered.get(query)
        if rows is None:
            ended = self._ended
            rows = self.look_up(query)
            with self._memory_lock:
                if ended == self._ended:
                    self._remembered[query] = rows
        return rows

    def forget(self) -> None:
        """Note that something was committed that may change what `recall` gives."""
        with self._memory_lock:
            self._ended += 1
            self._remembered.clear()

    @contextmanager
    def transaction(self, *, is_synced: bool) -> Iterator[None]:
        """Write, all or nothing.

        Parameters:
            is_synced: have it on the disk when this returns.
        """
        with self.lock, translated(self.path):
            self.writer.execute(f"PRAGMA synchronous={'FULL' if is_synced else 'NORMAL'}")
            self.writer.execute("BEGIN IMMEDIATE")
            try:
                yield
                self.writer.execute("COMMIT")
            except BaseException:
                # Where the disk is full SQLite has done so by itself.
                if self.writer.in_transaction:
                    self.writer.execute("ROLLBACK")
                raise


def _make_private(path: Path) -> None:
    """Make the file, empty and with mode 0600, if it is missing; SQLite gives its mode to what it keeps beside it."""
    try:
        os.close(open_private(path.parent, path.name, os.O_WRONLY | os.O_CREAT))
    except OSError as error:
        remedy = "Check free space and permissions."
        raise ManifestError(f"The manifest {path} cannot be opened: {error}.", remedy=remedy) from error


def _connected(address: str) -> sqlite3.Connection:
    return sqlite3.connect(address, uri=True, check_same_thread=False, isolation_level=None)


@contextmanager
def translated(path: Path) -> Iterator[None]:
    """Have what SQLite raises of a file be an error of the index."""
    try:
        yield
    except sqlite3.Error as error:
        if getattr(error, "sqlite_errorcode", 0) & 0xFF in _DAMAGE:
            raise DamagedIndexError(f"The manifest {path} is damaged: {error}.", remedy=REBUILD) from error
        raise ManifestError(
            f"The manifest {path} cannot be used: {error}.",
            remedy="Check free space and permissions.",
        ) from error
