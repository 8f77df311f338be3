"""The manifest: every file and chunk of the index, in SQLite. It decides on a chunk's lines.

A file's row is committed after its points are in the store. Before its points change, its path is noted as pending. If
the process dies in between, the next comparison of the whole tree does this file again.
"""

import json
import secrets
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import fields, replace
from functools import partial
from operator import attrgetter
from pathlib import Path
from typing import Any, Self

from cqm.index.batched import batched
from cqm.index.manifest.database import Database, translated
from cqm.index.manifest.rows import ChunkRow, FileRow, chunk_values, file_values, findings_of
from cqm.index.manifest.schema import (
    RECOVERY,
    SCHEMA,
    bring_up_to_date,
    has_secrets,
    has_spaces,
    note_format,
    refuse_newer,
)
from cqm.index.model.query import FileProblem, FileState
from cqm.index.model.secrets import RedactedFile

# SQLite allows 32,766 parameters a statement since 3.32, 999 before.
_PARAMETERS = 900

_REASON = "CASE WHEN reason LIKE 'needs pip install %' THEN 'needs the extra pdf' ELSE reason END"
"""Earlier releases stored a command naming somebody else's distribution; `status` must not show it."""

# By name: columns added by a later release stand last in the tables of earlier ones.
_PUT_FILE = (
    "INSERT OR REPLACE INTO file(path, state, reason, size, mtime_ns, read_at_ns, hash, language, ctime_ns, secrets) "
    "VALUES(?,?,?,?,?,?,?,?,?,?)"
)


_LANGUAGE_OF = "SELECT language FROM file WHERE path = ?"


class Manifest:
    """The SQLite file of one generation of an index. Use `Manifest.open`; methods may be called from any thread.

    Every method raises ManifestError when SQLite refuses.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._db = database.writer
        self._commits = 0
        self._ended_commits = 0
        self._written_at: dict[str, int] = {}
        self._changed: dict[str, int] = {}
        self._chunk_count: int | None = None
        self._change = 0
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
        """Paths whose chunks this process, the only writer, wrote or removed, with the number of the last commit.

        The dictionary may grow while it is read.
        """
        return self._written_at

    def files(self, below: Sequence[str] | None = None) -> dict[str, FileRow]:
        """Return rows by path: all, or those of the given paths and everything below them."""
        if below is None:
            return {row.path: row for row in self._file_rows("", ())}
        rows: dict[str, FileRow] = {}
        for path in below:
            # '0' is the character after '/': the range holds exactly the paths beginning with "path/".
            where, values = "WHERE path = ? OR (path > ? AND path < ?)", (path, f"{path}/", f"{path}0")
            rows.update((row.path, row) for row in self._file_rows(where, values))
        return rows

    def paths(self) -> list[str]:
        """Sorted paths of all files with chunks in the index."""
        return [row[0] for row in self._database.look_up("SELECT DISTINCT path FROM chunk ORDER BY path")]

    def languages(self) -> dict[str, str]:
        """Languages of all files with chunks, by path."""
        return dict(self._database.look_up("SELECT path, min(language) FROM chunk GROUP BY path"))

    def file_paths(self) -> list[str]:
        """Paths of all known files, in no order."""
        return [row[0] for row in self._database.look_up("SELECT path FROM file")]

    def paths_with(self, part: str, limit: int) -> list[str]:
        """Paths of indexed files with a text in any case of ASCII: those that begin with it first, then by name."""
        query = (
            "SELECT path, instr(lower(path), lower(?)) AS at FROM file WHERE state = ? AND at > 0 "
            "ORDER BY at > 1, path LIMIT ?"
        )
        return [row[0] for row in self._database.look_up(query, (part, FileState.INDEXED, limit))]

    def problems(self, state: FileState) -> tuple[FileProblem, ...]:
        """Files in a state with their reasons, by path."""
        query = f"SELECT path, {_REASON} FROM file WHERE state = ? ORDER BY path"  # noqa: S608 - our own text
        rows = self._database.read(query, (state,))
        return tuple(FileProblem(path, reason) for path, reason in rows)

    def secrets(self) -> tuple[RedactedFile, ...]:
        """Files with redacted secrets, by path."""
        with self._database.lock, translated(self._database.path):
            is_of_this_form = has_secrets(self._db)
        query = "SELECT path, secrets FROM file WHERE secrets <> '' ORDER BY path"
        rows = self._database.read(query) if is_of_this_form else ()
        return tuple(RedactedFile(path, findings_of(secrets)) for path, secrets in rows)

    def chunks_of(self, path: str) -> tuple[ChunkRow, ...]:
        """Chunks of a file in order."""
        return tuple(sorted(self._chunk_rows("WHERE path = ?", (path,)), key=attrgetter("position")))

    def chunks(self, ids: Iterable[str]) -> dict[str, ChunkRow]:
        """Chunks by id; ids without a committed file are left out."""
        return {row.id: row for marks, part in _marked(ids) for row in self._chunk_rows(f"WHERE id IN ({marks})", part)}

    def columns_of(self, ids: Iterable[str], columns: Sequence[str]) -> list[list[Any]]:
        """Chosen columns of chunks by id; ids without a committed file are left out."""
        return [row for marks, part in _marked(ids) for row in self._columns(columns, f"WHERE id IN ({marks})", part)]

    def columns_below(self, folder: str, columns: Sequence[str]) -> list[list[Any]]:
        """Chosen columns of all chunks below a folder, "" for the root, in any order."""
        # As in `files`.
        values = (f"{folder}/", f"{folder}0") if folder else ("", "\U0010ffff")
        return self._columns(columns, "WHERE path > ? AND path < ?", values)

    def columns_near(self, path: str, positions: range, columns: Sequence[str]) -> list[list[Any]]:
        """Chosen columns of a file's chunks at some positions, in any order."""
        where = "WHERE path = ? AND position >= ? AND position < ?"
        return self._columns(columns, where, (path, positions.start, positions.stop))

    def defined_before(self, places: Sequence[tuple[str, int, str]], columns: Sequence[str]) -> list[list[Any] | None]:
        """Chosen columns of the last chunk of a file before a position that defines a name; None where none does.

        Parameters:
            places: path, position and name of each.
            columns: of the chunks.
        """
        where = " OR ".join(["path = ? AND position < ? AND instr(defines, ?)"] * len(places))
        values = [it for path, at, name in places for it in (path, at, json.dumps(name)[1:-1])]
        rows = sorted(self._columns(("position", "path", "defines", *columns), f"WHERE {where}", values))
        found: dict[tuple[str, int, str], list[Any]] = {}
        for position, path, defines, *wanted in rows:
            found |= {it: wanted for it in places if it[0] == path and position < it[1] and it[2] in defines}
        return [found.get(place) for place in places]

    def defining(self, name: str) -> tuple[ChunkRow, ...]:
        """Chunks defining a symbol with this name or with this last part."""
        where = "WHERE EXISTS (SELECT 1 FROM json_each(chunk.defines) WHERE value = ? OR substr(value, ?) = ?)"
        as_stored = json.dumps(name)[1:-1]
        found = self._chunk_rows(f"{where} AND instr(defines, ?)", (name, -len(name) - 1, f".{name}", as_stored))
        return tuple(found)

    def counts(self, column: str) -> dict[str, int]:
        """Files counted by "state", or chunks counted by "language" or "kind"."""
        table = {"state": "file", "language": "chunk", "kind": "chunk"}[column]
        query = f"SELECT {column}, count(*) FROM {table} GROUP BY 1 ORDER BY 2 DESC, 1"  # noqa: S608 - our own names
        return dict(self._database.recall(query))

    def chunk_count(self) -> int:
        """Number of chunks. Every search asks for it, and it costs a fraction of `counts`."""
        if self._chunk_count is None or self._database.read_only:
            with self._database.lock:
                self._chunk_count = int(self._database.read("SELECT count(*) FROM chunk")[0][0])
        return self._chunk_count

    def skipped_by_reason(self) -> dict[str, int]:
        """Skipped files counted by reason."""
        query = f"SELECT {_REASON}, count(*) FROM file WHERE state = 'skipped' GROUP BY 1 ORDER BY 2 DESC, 1"  # noqa: S608 - our own text
        return dict(self._database.read(query))

    def changed_since(self, mtime_ns: int) -> tuple[str, ...]:
        """Indexed paths modified at or after the given time."""
        rows = self._database.look_up("SELECT path FROM file WHERE state <> 'skipped' AND mtime_ns >= ?", (mtime_ns,))
        return tuple(row[0] for row in rows)

    def settled_chunks(self) -> dict[str, str]:
        """Paths by chunk id of all files with flushed points."""
        return dict(self._database.read("SELECT id, path FROM chunk WHERE path NOT IN (SELECT path FROM unsettled)"))

    def settled_vectors(self) -> dict[str, int]:
        """Chunks of these files with a vector, counted by vector name."""
        where = "space <> '' AND path NOT IN (SELECT path FROM unsettled)"
        return dict(self._database.read(f"SELECT space, count(*) FROM chunk WHERE {where} GROUP BY space"))  # noqa: S608 - constant texts

    def pending(self) -> tuple[str, ...]:
        """Paths begun by an update and not committed, or not flushed when their process died.

        Their points are written anew, whatever the fingerprints of their chunks say.
        """
        return tuple(row[0] for row in self._database.read("SELECT path FROM unsettled WHERE written = 0"))

    def spaces(self) -> dict[str, str]:
        """Names of the spaces holding vectors, by vector name."""
        return dict(self._database.read(_HELD_SPACES) if self._database.read_only else self._held_spaces)

    def all_spaces(self) -> dict[str, str]:
        """Names of all spaces ever holding vectors here, by vector name."""
        return dict(self._database.read("SELECT vector_name, name FROM space"))

    def add_space(self, vector_name: str, name: str) -> None:
        """Record a space."""
        with self._transaction():
            self._db.execute("INSERT OR REPLACE INTO space VALUES(?, ?)", (vector_name, name))

    def coverage(self) -> dict[str, int]:
        """Chunks counted by the name of their vector's space; "" for those without a vector."""
        with self._database.lock, translated(self._database.path):
            is_of_this_form = has_spaces(self._db)
        if not is_of_this_form:
            return {}
        names = self.all_spaces()
        return {names.get(space, ""): count for space, count in self._database.read(_COVERAGE)}

    def elsewhere(self, route: str, space: str) -> tuple[list[str], int]:
        """Paths with chunks of a route whose vector is in another space, and the number of these chunks.

        Leaves out chunks refused by the space's model: it would refuse them again.
        """
        rows = self._database.read(_ELSEWHERE, (route, space, space) * 2)
        return list(dict.fromkeys(path for path, _ in rows)), sum(count for _, count in rows)

    def without_note(self) -> tuple[list[str], int]:
        """Paths of chunks lacking a written context, and the number of these chunks."""
        rows = self._database.read("SELECT path, count(*) FROM chunk WHERE lacks_note GROUP BY path")
        return [path for path, _ in rows], sum(count for _, count in rows)

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
        """Note on disk the files whose points are about to change."""
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
                self._db.execute(_PUT_FILE, file_values(row))
                if chunks is not None:
                    self._change -= self._db.execute("DELETE FROM chunk WHERE path = ?", (row.path,)).rowcount
                    self._change += self._db.executemany(_INSERT_CHUNK, map(chunk_values, chunks)).rowcount
            self._note_change([row.path for row, chunks in files if chunks is not None], are_pending=are_pending)

    def note_written(self, paths: Sequence[str]) -> None:
        """Note committed files as completely written. The next flush settles them."""
        with self._transaction(is_seen=False):
            self._note_written(paths)

    def remove(self, paths: Sequence[str]) -> None:
        """Delete files and their chunks, all or none. The next flush settles them."""
        with self._transaction():
            of_paths = [(path,) for path in paths]
            self._db.executemany("DELETE FROM file WHERE path = ?", of_paths)
            self._change -= self._db.executemany("DELETE FROM chunk WHERE path = ?", of_paths).rowcount
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

    def _file_rows(self, where: str, values: Sequence[object]) -> Iterator[FileRow]:
        for path, state, *rest, found in self._database.read(f"SELECT {_OF_FILE} FROM file {where}", values):  # noqa: S608 - constant texts
            yield FileRow(path, FileState(state), *[*rest, findings_of(found)])

    def _chunk_rows(self, where: str, values: Sequence[object]) -> Iterator[ChunkRow]:
        for row in self._columns(_OF_CHUNK, where, values):
            *head, defines, route, space, embedded, refused, note, lacks_note = row
            yield ChunkRow(*[*head, tuple(defines), route, space, embedded, refused, note, bool(lacks_note)])

    def _columns(self, columns: Sequence[str], where: str, values: Sequence[object]) -> list[list[Any]]:
        """Read chunk columns, in any order, as one JSON text: rows each release and retake the interpreter lock."""
        wanted = ", ".join(["json(defines)" if column == "defines" else column for column in columns])
        query = f"SELECT json_group_array(json_array({wanted})) FROM chunk {where}"  # noqa: S608 - constant texts
        rows: list[list[Any]] = json.loads(self._database.look_up(query, values)[0][0])
        return rows

    def _what_all_ask(self) -> tuple[dict[str, str], dict[str, str]]:
        """Return facts and held spaces. They stay in memory: every search and update asks for them ten times."""
        facts = self._database.read("SELECT name, value FROM fact")
        return {name: str(value) for name, value in facts}, dict(self._database.read(_HELD_SPACES))

    @contextmanager
    def _transaction(self, *, is_synced: bool = False, is_seen: bool = True) -> Iterator[None]:
        """Write all or nothing.

        Parameters:
            is_synced: flush to disk before returning.
            is_seen: whether it may change data that searches ask for.
        """
        with self._database.lock:
            try:
                with self._database.transaction(is_synced=is_synced):
                    yield
                    seen = self._what_all_ask() if is_seen else None
                self._written_at.update(self._changed)
                if self._chunk_count is not None:
                    self._chunk_count += self._change
                self._ended_commits = self._commits
                # Do it before `state` changes: otherwise remembered rows would be kept as answers of the new state.
                if seen:
                    self._database.forget()
                    self._facts, self._held_spaces = seen
            finally:
                self._changed, self._change = {}, 0


def _prepare(path: Path, database: sqlite3.Connection) -> None:
    """Create or migrate the schema."""
    refuse_newer(path, database)
    note_format(database)
    # Every commit survives kill -9 at once. A power cut may undo the last ones, each whole, back to the last synced
    # one: `begin`, called before the store is written.
    database.execute("PRAGMA journal_mode=WAL")
    database.execute("PRAGMA synchronous=NORMAL")
    # Of macOS: to the disk itself, see `sync_opened`.
    database.execute("PRAGMA fullfsync=ON")
    bring_up_to_date(database)
    database.executescript(SCHEMA + RECOVERY)
    database.execute("INSERT OR IGNORE INTO fact VALUES(?, ?)", (_IDENTITY, secrets.token_hex(8)))


_OF_FILE = ", ".join(field.name for field in fields(FileRow))
_OF_CHUNK = tuple(field.name for field in fields(ChunkRow))
_INSERT_CHUNK = "INSERT OR REPLACE INTO chunk VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)"
_REVISION = "revision"
_IDENTITY = "identity"
_COVERAGE = "SELECT space, count(*) FROM chunk GROUP BY space"
# Two index ranges: "<>" would read every chunk.
_ELSEWHERE = " UNION ALL ".join(
    f"SELECT path, count(*) FROM chunk WHERE route = ? AND space {side} ? AND refused <> ? GROUP BY path"  # noqa: S608 - constant texts
    for side in "<>"
)
_HELD_SPACES = (
    "SELECT vector_name, name FROM space WHERE EXISTS (SELECT 1 FROM chunk WHERE chunk.space = space.vector_name)"
)
_GROW = "INSERT INTO fact VALUES(?, '1') ON CONFLICT(name) DO UPDATE SET value = value + 1"


def _marked(ids: Iterable[str]) -> Iterator[tuple[str, list[str]]]:
    """Split ids into parts small enough for one statement; each comes with its parameter marks."""
    for part in batched(ids, _PARAMETERS):
        yield ",".join("?" * len(part)), part
