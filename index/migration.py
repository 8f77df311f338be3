"""Manifests of an earlier form, which serve until a new generation is complete."""

import sqlite3
from collections.abc import Set as AbstractSet

from cqm.index.embedding.base import Space

_ADDED = {
    "route": "TEXT NOT NULL DEFAULT 'code'",
    "space": "TEXT NOT NULL DEFAULT ''",
    "embedded": "TEXT NOT NULL DEFAULT ''",
    "refused": "TEXT NOT NULL DEFAULT ''",
    "note": "TEXT NOT NULL DEFAULT ''",
    "lacks_note": "INTEGER NOT NULL DEFAULT 0",
}
"""Columns of `chunk` that the first form did not have."""


def has_spaces(database: sqlite3.Connection) -> bool:
    """Whether chunks tell the space of their vector; not in the first form, nor in an empty file."""
    return _ADDED.keys() <= _columns(database)


def bring_up_to_date(database: sqlite3.Connection) -> None:
    """Give a manifest of an earlier form what the present one has, all or nothing; harmless for any other."""
    if "ctime_ns" not in (_columns(database, "file") or {"ctime_ns"}):
        database.execute("ALTER TABLE file ADD COLUMN ctime_ns INTEGER NOT NULL DEFAULT 0")
    columns = _columns(database)
    if not columns or columns >= _ADDED.keys():
        return
    with database:
        database.execute("BEGIN IMMEDIATE")
        _add_spaces(database, _ADDED.keys() - columns)


def _add_spaces(database: sqlite3.Connection, missing: AbstractSet[str]) -> None:
    for name in sorted(missing):
        database.execute(f"ALTER TABLE chunk ADD COLUMN {name} {_ADDED[name]}")
    database.execute("CREATE TABLE IF NOT EXISTS space(vector_name TEXT PRIMARY KEY, name TEXT NOT NULL) WITHOUT ROWID")
    # All vectors were of one space, whose name was a fact.
    for (name,) in database.execute("SELECT value FROM fact WHERE name = 'space'").fetchall():
        vector_name = _space(name).vector_name
        database.execute("INSERT OR REPLACE INTO space VALUES(?, ?)", (vector_name, name))
        database.execute("UPDATE chunk SET space = ?, embedded = 'whole' WHERE fingerprint <> ''", (vector_name,))


def _columns(database: sqlite3.Connection, table: str = "chunk") -> set[str]:
    return {row[1] for row in database.execute(f"PRAGMA table_info({table})")}


def _space(name: str) -> Space:
    """A space by its name; see `Space.name`."""
    provider, _, rest = name.partition("/")
    model, _, end = rest.rpartition("/")
    dimensions, _, version = end.partition("@")
    return Space(provider, model, int(dimensions), version)
