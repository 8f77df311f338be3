"""The names defined in an index, in the manifest: found by their beginning or end, and by pieces in order.

Each name of a file is a row under its key, see `name_key`; the keys of programs' names are there backwards too.
"""

import json
import sqlite3
from collections.abc import Iterable, Mapping, Sequence

from cqm.chunkers.source_types import CODE, source_type_of
from cqm.index.manifest.database import Database
from cqm.index.manifest.rows import ChunkRow
from cqm.index.text.names.parts import dotted, name_key

NAMES = (
    """CREATE TABLE IF NOT EXISTS name(
        key TEXT NOT NULL, name TEXT NOT NULL, file INTEGER NOT NULL, is_code INTEGER NOT NULL,
        PRIMARY KEY(key, name, file)) WITHOUT ROWID""",
    "CREATE TABLE IF NOT EXISTS name_end(backwards TEXT PRIMARY KEY) WITHOUT ROWID",
    "CREATE TABLE IF NOT EXISTS named_file(number INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE)",
)
FILES_DEFINING = """
    SELECT path FROM named_file JOIN name ON file = number WHERE key = ? AND (name = ? OR substr(name, ?) = ?)"""
"""Paths of files with a symbol of a name; values: the key, the name, the length of ".name" below zero, and ".name"."""

_NUMBER = "SELECT number FROM named_file WHERE path = ?"
_DROP = "DELETE FROM name WHERE key = ? AND name = ? AND file = (SELECT number FROM named_file WHERE path = ?)"
_WITH_END = (
    "SELECT backwards FROM name_end WHERE backwards >= ? AND backwards < ? AND length(backwards) BETWEEN ? AND ?"
)
_BELOW = "key >= ? AND key < ?"
_BEHIND = "\U0010ffff"
"""Comes after all letters: the end of names with one beginning."""
_MANY = 1_000
"""Names of one beginning to compare; the shortest come first."""


def replace_names(database: sqlite3.Connection, path: str, chunks: Iterable[ChunkRow]) -> None:
    """Replace the names defined in a file's stored chunks by those of its new chunks.

    Parameters:
        database: in a transaction; its rows of chunks are still the former ones.
    """
    before, after = _stored(database, path), _by_name((row.language, row.defines) for row in chunks)
    if gone := before.keys() - after.keys():
        database.executemany(_DROP, ((name_key(name), name, path) for name in gone))
    _put(database, path, dict(after.items() - before.items()))
    if before and not after:
        database.execute("DELETE FROM named_file WHERE path = ?", (path,))


def fill_names(database: sqlite3.Connection) -> None:
    """Write the names of all stored chunks: an earlier format has none."""
    for (path,) in database.execute("SELECT DISTINCT path FROM chunk").fetchall():
        _put(database, path, _stored(database, path))


def _stored(database: sqlite3.Connection, path: str) -> dict[str, bool]:
    rows = database.execute("SELECT language, defines FROM chunk WHERE path = ?", (path,))
    return _by_name((language, json.loads(defines)) for language, defines in rows)


def _by_name(rows: Iterable[tuple[str, Sequence[str]]]) -> dict[str, bool]:
    """Return whether a program defines each name, from rows of a language and names."""
    found: dict[str, bool] = {}
    for language, names in rows:
        if names:
            is_code = source_type_of(language) == CODE
            found.update((name, is_code or found.get(name, False)) for name in names)
    return found


def _put(database: sqlite3.Connection, path: str, named: Mapping[str, bool]) -> None:
    if not named:
        return
    database.execute("INSERT OR IGNORE INTO named_file(path) VALUES(?)", (path,))
    [(number,)] = database.execute(_NUMBER, (path,)).fetchall()
    keys = {name: name_key(name) for name in named}
    rows = ((keys[name], name, number, is_code) for name, is_code in named.items())
    database.executemany("INSERT OR REPLACE INTO name VALUES(?, ?, ?, ?)", rows)
    # An end stays when its last name goes: it finds nothing then.
    ends = {keys[name][::-1] for name, is_code in named.items() if is_code}
    database.executemany("INSERT OR IGNORE INTO name_end VALUES(?)", ((end,) for end in ends))


class StoredNames:
    """The names of programs in a manifest, each with its key and with "." between its parts.

    Every method raises ManifestError when SQLite refuses.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    def beginning_with(self, key: str) -> list[tuple[str, str]]:
        """Return the names with a key beginning so; the shortest of many."""
        return self._of(f"{_BELOW} ORDER BY length(key) LIMIT {_MANY}", (key, key + _BEHIND))

    def with_pieces(self, pieces: Sequence[str]) -> list[tuple[str, str]]:
        """Return the names with a key of the first piece at its start and the others behind it, in order."""
        return self._of(f"{_BELOW} AND key GLOB ?", (pieces[0], pieces[0] + _BEHIND, "*".join([*pieces, ""])))

    def with_an_end(self, beginning: str, end: str, lengths: range) -> list[tuple[str, str]]:
        """Return the names with a key of this beginning or this end, and of such a length."""
        as_long = (lengths.start, lengths.stop - 1)
        begin = self._of(f"{_BELOW} AND length(key) BETWEEN ? AND ?", (beginning, beginning + _BEHIND, *as_long))
        backwards = end[::-1]
        ends = self._database.look_up(_WITH_END, (backwards, backwards + _BEHIND, *as_long))
        keys = json.dumps([key[::-1] for (key,) in ends])
        return [*begin, *self._of("key IN (SELECT value FROM json_each(?))", (keys,))]

    def _of(self, where: str, values: Sequence[object]) -> list[tuple[str, str]]:
        rows = self._database.look_up(f"SELECT DISTINCT key, name FROM name WHERE is_code AND {where}", values)  # noqa: S608 - constant texts
        return [(key, dotted(name.removeprefix(".").replace("\n", " "))) for key, name in rows]
