"""The manifest: every file and chunk of the index, in SQLite. It decides on a chunk's lines.

A file's row is committed after its points are in the store. Before its points change, its path is noted as pending. If
the process dies in between, the next comparison of the whole tree does this file again.
"""

import json
import secrets
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Self

from cqm.index.manifest.database import Database
from cqm.index.manifest.names import StoredNames, replace_names
from cqm.index.manifest.reading import StoredRows
from cqm.index.manifest.rows import ChunkRow, FileRow
from cqm.index.manifest.schema import (
    RECOVERY,
    SCHEMA,
    bring_up_to_date,
    note_format,
    refuse_newer,
)

# By name: columns added by a later release stand last in the tables of earlier ones.
_PUT_FILE = (
    "INSERT OR REPLACE INTO file(path, state, reason, size, mtime_ns, read_at_ns, hash, language, ctime_ns, secrets) "
    "VALUES(?,?,?,?,?,?,?,?,?,?)"
)
_LANGUAGE_OF = "SELECT language FROM file WHERE path = ?"
_INSERT_CHUNK = "INSERT OR REPLACE INTO chunk VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)"
_REVISION = "revision"
_IDENTITY = "identity"
_HELD_SPACES = (
    "SELECT vector_name, name FROM space WHERE EXISTS (SELECT 1 FROM chunk WHERE chunk.space = space.vector_name)"
)
_MOST_CHANGES = 64
"""Commits to remember paths of: after more, reading all paths is as quick."""
_GROW = "INSERT INTO fact VALUES(?, '1') ON CONFLICT(name) DO UPDATE SET value = value + 1"


class Manifest(StoredRows):
    """The SQLite file of one generation of an index. Use `Manifest.open`; methods may be called from any thread.

    Every method raises ManifestError when SQLite refuses.
    """

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self.names = StoredNames(database)
        self._db = database.writer
        self._commits = 0
        self._ended_commits = 0
        self._written_at: dict[str, int] = {}
        self._changed: dict[str, int] = {}
        self._touched: list[str] = []
        self._changes: tuple[tuple[int, tuple[str, ...]], ...] = ()
        self._forgotten_until = 0
        self._chunk_count: int | None = None
        self._added_chunks = 0
        self._facts: dict[str, str] = {}
        self._held_spaces: dict[str, str] = {}

    @classmethod
    def open(cls, path: Path, *, read_only: bool = False) -> Self:
        """Open the database file or create it; its folder exists.

        Parameters:
            read_only: only for reading, while another process may be writing.

        Raises:
            NewerReleaseError: a newer release wrote it; not checked when read-only.
        """
        manifest = cls(Database.open(path, partial(_prepare, path), read_only=read_only))
        if not read_only:
            manifest._facts, manifest._held_spaces = manifest._what_all_ask()
        return manifest

    def check(self) -> None:
        """Check every page of the file.

        Raises:
            DamagedIndexError: SQLite finds the file damaged.
        """
        self._database.check()

    def copy_to(self, path: Path) -> None:
        """Write the committed data to a new file, without the free space left by deleted rows."""
        self._database.copy_to(path)

    def sync(self) -> None:
        """Flush all committed data to disk."""
        self._database.sync()

    def close(self) -> None:
        """Close the database; committed work is on disk."""
        self._database.close()

    @property
    def commits(self) -> int:
        """Number of finished commits of this process; later reads see at least these."""
        return self._ended_commits

    @property
    def written_at(self) -> dict[str, int]:
        """Paths with chunks written or removed by this process, the only writer, with the number of the last commit.

        The dictionary may grow while it is read.
        """
        return self._written_at

    def changed_after(self, commits: int) -> set[str] | None:
        """Return the paths added, changed or removed after a former value of `commits`; None if too long ago."""
        forgotten_until, changes = self._forgotten_until, self._changes
        return None if commits < forgotten_until else {path for at, paths in changes if at > commits for path in paths}

    def chunk_count(self) -> int:
        """Return the number of chunks. Every search asks for it, and it costs a fraction of `counts`."""
        if self._chunk_count is None or self._database.read_only:
            with self._database.lock:
                self._chunk_count = int(self._database.read("SELECT count(*) FROM chunk")[0][0])
        return self._chunk_count

    def spaces(self) -> dict[str, str]:
        """Return the names of the spaces holding vectors, by vector name."""
        return dict(self._database.read(_HELD_SPACES) if self._database.read_only else self._held_spaces)

    def add_space(self, vector_name: str, name: str) -> None:
        """Record a space."""
        with self._transaction():
            self._db.execute("INSERT OR REPLACE INTO space VALUES(?, ?)", (vector_name, name))

    def state(self) -> str:
        """Identify this manifest at its current commit; no other manifest or commit has the same text."""
        return f"{self.fact(_IDENTITY)} {self.fact(_REVISION)}"

    def become_another(self) -> None:
        """Take a new identity: after a power cut, different commits may lead to the same number."""
        self.set_facts({_IDENTITY: secrets.token_hex(8)})

    def fact(self, name: str) -> str:
        """Return a named value; empty if never set."""
        if self._database.read_only:
            rows = self._database.read("SELECT value FROM fact WHERE name = ?", (name,))
            return str(rows[0][0]) if rows else ""
        return self._facts.get(name, "")

    def set_facts(self, facts: Mapping[str, str]) -> None:
        """Store named values, all or none."""
        with self._transaction():
            self._db.executemany("INSERT OR REPLACE INTO fact VALUES(?, ?)", facts.items())
            self._db.execute(_GROW, (_REVISION,))

    def begin(self, paths: Sequence[str]) -> None:
        """Note on disk the files with points about to change."""
        if not paths:
            return
        with self._transaction(is_synced=True, is_seen=False):
            self._db.executemany("INSERT OR REPLACE INTO unsettled VALUES(?, 0)", ((path,) for path in paths))

    def commit(self, files: Sequence[tuple[FileRow, Sequence[ChunkRow] | None]], *, are_pending: bool = False) -> None:
        """Replace the rows of these files and their chunks, all or none. The next flush settles them.

        Parameters:
            files: each with its chunks in order. None leaves the file's chunks, and whether it is pending, unchanged.
            are_pending: the files stay pending until `note_written`, as some of their points are still to be deleted.
        """
        with self._transaction():
            for row, chunks in files:
                if chunks is None and not row.language:
                    # Read again without a change, and not chunked: the language is as it was.
                    [(language,)] = self._db.execute(_LANGUAGE_OF, (row.path,)).fetchall() or [("",)]
                    row = replace(row, language=language)  # noqa: PLW2901 - the row that is stored
                self._db.execute(_PUT_FILE, _file_values(row))
                self._touched.append(row.path)
                if chunks is not None:
                    replace_names(self._db, row.path, chunks)
                    self._added_chunks -= self._db.execute("DELETE FROM chunk WHERE path = ?", (row.path,)).rowcount
                    self._added_chunks += self._db.executemany(_INSERT_CHUNK, map(_chunk_values, chunks)).rowcount
            self._note_change([row.path for row, chunks in files if chunks is not None], are_pending=are_pending)

    def note_written(self, paths: Sequence[str]) -> None:
        """Note committed files as completely written. The next flush settles them."""
        with self._transaction(is_seen=False):
            self._note_written(paths)

    def remove(self, paths: Sequence[str]) -> None:
        """Delete files and their chunks, all or none. The next flush settles them."""
        with self._transaction():
            for path in paths:
                replace_names(self._db, path, ())
            of_paths = [(path,) for path in paths]
            self._db.executemany("DELETE FROM file WHERE path = ?", of_paths)
            self._added_chunks -= self._db.executemany("DELETE FROM chunk WHERE path = ?", of_paths).rowcount
            self._touched += paths
            self._note_change(paths)

    @contextmanager
    def settling(self) -> Iterator[None]:
        """Wrap a flush of the store: if it succeeds, files committed before it began are no longer pending."""
        until = self._commits
        yield
        with self._transaction(is_seen=False):
            self._db.execute("DELETE FROM unsettled WHERE written BETWEEN 1 AND ?", (until,))

    def _note_change(self, paths: Sequence[str], *, are_pending: bool = False) -> None:
        self._commits += 1
        self._db.execute(_GROW, (_REVISION,))
        self._changed = dict.fromkeys(paths, self._commits)
        if not are_pending:
            self._note_written(paths)

    def _note_written(self, paths: Sequence[str]) -> None:
        self._commits += 1
        rows = ((self._commits, path) for path in paths)
        self._db.executemany("UPDATE unsettled SET written = ? WHERE path = ?", rows)

    def _what_all_ask(self) -> tuple[dict[str, str], dict[str, str]]:
        """Return facts and held spaces. They stay in memory: every search and update asks for them ten times."""
        facts = self._database.read("SELECT name, value FROM fact")
        return {name: str(value) for name, value in facts}, dict(self._database.read(_HELD_SPACES))

    @contextmanager
    def _transaction(self, *, is_synced: bool = False, is_seen: bool = True) -> Iterator[None]:
        """Write all or nothing.

        Parameters:
            is_synced: flush to disk before returning.
            is_seen: whether it may change data asked for by searches.
        """
        with self._database.lock:
            try:
                with self._database.transaction(is_synced=is_synced):
                    yield
                    seen = self._what_all_ask() if is_seen else None
                self._written_at.update(self._changed)
                if self._chunk_count is not None:
                    self._chunk_count += self._added_chunks
                self._remember_changes()
                self._ended_commits = self._commits
                # Do it before `state` changes: otherwise remembered rows would be kept as answers of the new state.
                if seen:
                    self._database.forget()
                    self._facts, self._held_spaces = seen
            finally:
                self._changed, self._added_chunks, self._touched = {}, 0, []

    def _remember_changes(self) -> None:
        """Remember the paths of a commit. Readers take the forgotten ones first, so none goes unseen."""
        if not self._touched:
            return
        changes = (*self._changes, (self._commits, tuple(self._touched)))
        if len(changes) > _MOST_CHANGES:
            self._forgotten_until = changes[0][0]
        self._changes = changes[-_MOST_CHANGES:]


def _prepare(path: Path, database: sqlite3.Connection) -> None:
    """Create or migrate the schema."""
    refuse_newer(path, database)
    note_format(database)
    # Every commit survives kill -9 at once. A power cut may undo the last ones, each whole, back to the last synced
    # one: `begin`, called before the store is written.
    database.execute("PRAGMA journal_mode=WAL")
    database.execute("PRAGMA synchronous=NORMAL")
    # For macOS: flush to the disk itself, see `sync_opened`.
    database.execute("PRAGMA fullfsync=ON")
    bring_up_to_date(database)
    database.executescript(SCHEMA + RECOVERY)
    database.execute("INSERT OR IGNORE INTO fact VALUES(?, ?)", (_IDENTITY, secrets.token_hex(8)))


def _file_values(row: FileRow) -> tuple[object, ...]:
    """Values of a row in column order."""
    seen = (row.size, row.mtime_ns, row.read_at_ns, row.hash, row.language, row.ctime_ns)
    redacted = [(found.line, found.kind, found.count) for found in row.secrets]
    return (row.path, row.state, row.reason, *seen, json.dumps(redacted) if redacted else "")


def _chunk_values(row: ChunkRow) -> tuple[object, ...]:
    """Values of a row in column order."""
    head = (row.id, row.path, row.position, row.language, row.kind, row.symbol, row.start_line, row.end_line)
    vector = (row.route, row.space, row.embedded, row.refused, row.note, row.lacks_note)
    return (*head, row.tokens, row.digest, row.fingerprint, json.dumps(row.defines), *vector)
