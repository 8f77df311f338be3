"""The schema of a manifest. An earlier one serves until a new generation is complete; a later one is refused."""

import sqlite3
from collections.abc import Set as AbstractSet
from pathlib import Path

from cqm.index.disk.beneath import read_small_beneath
from cqm.index.manifest.names import NAMES, fill_names
from cqm.index.model.errors import NewerReleaseError
from cqm.index.model.spaces import parse_space

FORMAT_VERSION = 5
"""Version of all files of a generation. Raise it with every change the previous release could not write to."""
# "User version" in https://www.sqlite.org/fileformat2.html#the_database_header: a big-endian number.
_MAGIC, _VERSION = b"SQLite format 3\0", slice(60, 64)

SCHEMA = f"""
CREATE TABLE IF NOT EXISTS file(
    path TEXT PRIMARY KEY, state TEXT NOT NULL, reason TEXT NOT NULL, size INTEGER NOT NULL, mtime_ns INTEGER NOT NULL,
    read_at_ns INTEGER NOT NULL, hash TEXT NOT NULL, language TEXT NOT NULL,
    ctime_ns INTEGER NOT NULL DEFAULT 0, secrets TEXT NOT NULL DEFAULT '') WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS chunk(
    id TEXT PRIMARY KEY, path TEXT NOT NULL, position INTEGER NOT NULL, language TEXT NOT NULL, kind TEXT NOT NULL,
    symbol TEXT NOT NULL, start_line INTEGER NOT NULL, end_line INTEGER NOT NULL, tokens INTEGER NOT NULL,
    digest TEXT NOT NULL, fingerprint TEXT NOT NULL, defines TEXT NOT NULL, route TEXT NOT NULL, space TEXT NOT NULL,
    embedded TEXT NOT NULL, refused TEXT NOT NULL, note TEXT NOT NULL, lacks_note INTEGER NOT NULL) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS file_of_state ON file(state);
CREATE INDEX IF NOT EXISTS file_generated ON file(path) WHERE state = 'indexed' AND reason <> '';
CREATE INDEX IF NOT EXISTS file_with_secrets ON file(path) WHERE secrets <> '';
CREATE INDEX IF NOT EXISTS chunk_of_path ON chunk(path, position);
CREATE INDEX IF NOT EXISTS chunk_of_space ON chunk(space);
CREATE INDEX IF NOT EXISTS chunk_of_route ON chunk(route, space, refused, path);
CREATE INDEX IF NOT EXISTS chunk_without_note ON chunk(path) WHERE lacks_note;
CREATE TABLE IF NOT EXISTS space(vector_name TEXT PRIMARY KEY, name TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS unsettled(path TEXT PRIMARY KEY, written INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS fact(name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
{";".join(NAMES)};
"""
# Points written but not flushed when the last process died may be restored older from the store's log: a replayed
# deletion can undo a later insertion of the same point. So these files are pending again.
RECOVERY = "UPDATE unsettled SET written = 0;"
_ADDED = {
    "route": "TEXT NOT NULL DEFAULT 'code'",
    "space": "TEXT NOT NULL DEFAULT ''",
    "embedded": "TEXT NOT NULL DEFAULT ''",
    "refused": "TEXT NOT NULL DEFAULT ''",
    "note": "TEXT NOT NULL DEFAULT ''",
    "lacks_note": "INTEGER NOT NULL DEFAULT 0",
}
"""Columns of `chunk` missing in the first format."""


_ADDED_TO_FILES = {"ctime_ns": "INTEGER NOT NULL DEFAULT 0", "secrets": "TEXT NOT NULL DEFAULT ''"}
"""Columns of `file` missing in earlier formats."""


def has_secrets(database: sqlite3.Connection) -> bool:
    """Whether file rows list redacted secrets: from format 4 on; False for an empty file."""
    return "secrets" in _columns(database, "file")


def has_spaces(database: sqlite3.Connection) -> bool:
    """Whether chunk rows name the space of their vector: from format 2 on; False for an empty file."""
    return _ADDED.keys() <= _columns(database)


def refuse_newer_file(path: Path) -> None:
    """Refuse a manifest of a newer release without opening it: opening would change the files beside it.

    Raises:
        NewerReleaseError: a newer release wrote it.
    """
    try:
        header = read_small_beneath(path.parent.parent, f"{path.parent.name}/{path.name}", _VERSION.stop)
    except OSError:
        # Opening it will report the error.
        return
    if header.startswith(_MAGIC):
        _refuse_newer(path, int.from_bytes(header[_VERSION], "big"))


def refuse_newer(path: Path, database: sqlite3.Connection) -> None:
    """Refuse an open manifest of a newer release: its last writes may still be in the log.

    Raises:
        NewerReleaseError: a newer release wrote it.
    """
    _refuse_newer(path, int(database.execute("PRAGMA user_version").fetchone()[0]))


def _refuse_newer(path: Path, version: int) -> None:
    if version > FORMAT_VERSION:
        raise NewerReleaseError(
            f"{path.parent} was written by a newer release of CQM, in format {version}; this one has {FORMAT_VERSION}.",
            remedy="Update CQM to have it back.",
        )


def note_format(database: sqlite3.Connection) -> None:
    """Record the format first, so earlier releases refuse the manifest before it holds anything of this format."""
    if database.execute("PRAGMA user_version").fetchone()[0] != FORMAT_VERSION:
        database.execute(f"PRAGMA user_version={FORMAT_VERSION}")


def bring_up_to_date(database: sqlite3.Connection) -> None:
    """Add the columns and tables missing in an earlier format, all or nothing; harmless for any other."""
    there = _columns(database, "file") or _ADDED_TO_FILES.keys()
    for name in [name for name in _ADDED_TO_FILES if name not in there]:
        database.execute(f"ALTER TABLE file ADD COLUMN {name} {_ADDED_TO_FILES[name]}")
    columns = _columns(database)
    if not columns or (columns >= _ADDED.keys() and _columns(database, "name")):
        return
    with database:
        database.execute("BEGIN IMMEDIATE")
        if missing := _ADDED.keys() - columns:
            _add_spaces(database, missing)
        for statement in NAMES:
            database.execute(statement)
        fill_names(database)


def _add_spaces(database: sqlite3.Connection, missing: AbstractSet[str]) -> None:
    for name in sorted(missing):
        database.execute(f"ALTER TABLE chunk ADD COLUMN {name} {_ADDED[name]}")
    database.execute("CREATE TABLE IF NOT EXISTS space(vector_name TEXT PRIMARY KEY, name TEXT NOT NULL) WITHOUT ROWID")
    # In the first format all vectors were in one space, named by a fact.
    for (name,) in database.execute("SELECT value FROM fact WHERE name = 'space'").fetchall():
        vector_name = parse_space(name).vector_name
        database.execute("INSERT OR REPLACE INTO space VALUES(?, ?)", (vector_name, name))
        database.execute("UPDATE chunk SET space = ?, embedded = 'whole' WHERE fingerprint <> ''", (vector_name,))


def _columns(database: sqlite3.Connection, table: str = "chunk") -> set[str]:
    return {row[1] for row in database.execute(f"PRAGMA table_info({table})")}
