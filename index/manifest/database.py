"""An SQLite file written only by this process, with one connection for writing and one for searches.

The writer holds the file's lock until the data are on disk. Searches neither wait for the writer nor block it.
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
from cqm.index.model.errors import CHECK_DISK, REBUILD, DamagedIndexError, ManifestError, remedy_of_shortage

Rows = list[tuple[Any, ...]]

_DAMAGE = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)


class Database:
    """Use `Database.open`. Its methods may be called from any thread, and raise ManifestError when SQLite refuses.

    Attributes:
        writer: the writing connection; use it while holding `lock` or inside a `transaction`.
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
        """Open the file or create it; its folder exists.

        Parameters:
            path: of the file; its last two parts may not be links.
            prepare: called before the first read, unless read-only; if it raises, the file is closed.
            read_only: only for reading, while another process may be writing.

        Raises:
            DamagedIndexError: something else is in the file's place.
        """
        # SQLite opens each of these by its path.
        for suffix in ("", "-wal", "-shm", "-journal"):
            require_plain_file(path.with_name(f"{path.name}{suffix}"))
        if not read_only:
            _make_private(path)
        address = f"{path.absolute().as_uri()}?mode={'ro' if read_only else 'rwc'}"
        if read_only and _is_at_rest(path):
            address += "&immutable=1"
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
            # 16 MB instead of 2: a search looks up hundreds of chunks all over the table.
            searched.execute("PRAGMA cache_size=-16384")
        return cls(path, writer, searched)

    def check(self) -> None:
        """Check every page of the file.

        Raises:
            DamagedIndexError: SQLite finds the file damaged.
        """
        found = self.read("PRAGMA quick_check(1)")
        if found != [("ok",)]:
            raise DamagedIndexError(f"The manifest {self.path} is damaged: {found[0][0]}.")

    def copy_to(self, path: Path) -> None:
        """Write the committed data to a new file, without the free space left by deleted rows."""
        with self.lock, translated(self.path):
            self.writer.execute("VACUUM INTO ?", (str(path),))
            # SQLite doesn't sync it. Safe while nobody has it open: closing a file drops all POSIX locks of a process.
            sync_file(path)

    def sync(self) -> None:
        """Flush all committed data to disk."""
        with self.lock, suppress(FileNotFoundError):
            # SQLite locks nothing on its log, so closing it here drops no lock.
            sync_file(self.path.with_name(f"{self.path.name}-wal"))

    def close(self) -> None:
        """Close the database; committed work is on disk."""
        with self.lock, self._search_lock, translated(self.path):
            self._searched.close()
            try:
                if not self.read_only:
                    # Also while a status reader has it open: SQLite does so only when the last connection closes.
                    self.writer.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
            finally:
                self.writer.close()

    def read(self, query: str, values: Sequence[object] = ()) -> Rows:
        """Run a query on the writing connection."""
        with self.lock:
            try:
                return self.writer.execute(query, tuple(values)).fetchall()
            except sqlite3.Error as error:
                raise _explained(self.path, error) from error

    def look_up(self, query: str, values: Sequence[object] = ()) -> Rows:
        """Run a query for a search; it sees only committed data."""
        with self._search_lock:
            try:
                return self._searched.execute(query, tuple(values)).fetchall()
            except sqlite3.Error as error:
                raise _explained(self.path, error) from error

    def recall(self, query: str) -> Rows:
        """Run a query common to all searches once; remember its rows until `forget`."""
        rows = None if self.read_only else self._remembered.get(query)
        if rows is None:
            ended = self._ended
            rows = self.look_up(query)
            with self._memory_lock:
                if ended == self._ended:
                    self._remembered[query] = rows
        return rows

    def forget(self) -> None:
        """Forget the rows of `recall` after a commit."""
        with self._memory_lock:
            self._ended += 1
            self._remembered.clear()

    @contextmanager
    def transaction(self, *, is_synced: bool) -> Iterator[None]:
        """Write all or nothing; if it is synced, flush to disk before returning."""
        with self.lock, translated(self.path):
            self.writer.execute(f"PRAGMA synchronous={'FULL' if is_synced else 'NORMAL'}")
            self.writer.execute("BEGIN IMMEDIATE")
            try:
                yield
                self.writer.execute("COMMIT")
            except BaseException:
                # If the disk is full, SQLite has already rolled back.
                if self.writer.in_transaction:
                    self.writer.execute("ROLLBACK")
                raise


def _is_at_rest(path: Path) -> bool:
    """Whether a file is complete and not writable for anybody, as on a read-only mount.

    SQLite makes files beside it otherwise, also to read.
    """
    return not os.access(path.parent, os.W_OK) and not path.with_name(f"{path.name}-wal").exists()


def _make_private(path: Path) -> None:
    """Create a missing file, empty and with mode 0600; SQLite gives this mode to the files beside it."""
    try:
        os.close(open_private(path.parent, path.name, os.O_WRONLY | os.O_CREAT))
    except OSError as error:
        remedy = remedy_of_shortage(error) or CHECK_DISK
        raise ManifestError(f"The manifest {path} cannot be opened: {error}.", remedy=remedy) from error


def _connected(address: str) -> sqlite3.Connection:
    return sqlite3.connect(address, uri=True, check_same_thread=False, isolation_level=None)


@contextmanager
def translated(path: Path) -> Iterator[None]:
    """Turn SQLite's errors into errors of the index."""
    try:
        yield
    except sqlite3.Error as error:
        raise _explained(path, error) from error


def _explained(path: Path, error: sqlite3.Error) -> ManifestError | DamagedIndexError:
    if getattr(error, "sqlite_errorcode", 0) & 0xFF in _DAMAGE:
        return DamagedIndexError(f"The manifest {path} is damaged: {error}.", remedy=REBUILD)
    # SQLite tells no reason of the system's.
    remedy = f"{CHECK_DISK} `ulimit -a` tells the limits."
    return ManifestError(f"The manifest {path} cannot be used: {error}.", remedy=remedy)
