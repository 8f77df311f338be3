"""Read the rows of files and chunks from the database of a manifest."""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import fields
from operator import attrgetter
from typing import Any

from cqm.index.batched import batched
from cqm.index.manifest.database import Database, translated
from cqm.index.manifest.names import FILES_DEFINING
from cqm.index.manifest.rows import ChunkRow, FileRow
from cqm.index.manifest.schema import has_secrets, has_spaces
from cqm.index.model.query import FileProblem, FileState
from cqm.index.model.secrets import RedactedFile, SecretFinding
from cqm.index.text.names.parts import name_key

# SQLite allows 32,766 parameters a statement since 3.32, 999 before.
_PARAMETERS = 900
_REASON = "CASE WHEN reason LIKE 'needs pip install %' THEN 'needs the extra pdf' ELSE reason END"
"""Earlier releases stored a command naming somebody else's distribution; `status` must not show it."""
_OF_FILE = ", ".join(field.name for field in fields(FileRow))
_OF_CHUNK = tuple(field.name for field in fields(ChunkRow))
_LATEST = 9e9
"""Seconds since the epoch: SQLite's integers end in 2262, in nanoseconds."""
_COVERAGE = "SELECT space, count(*) FROM chunk GROUP BY space"

# Two index ranges: "<>" would read every chunk.
_ELSEWHERE = " UNION ALL ".join(
    f"SELECT path, count(*) FROM chunk WHERE route = ? AND space {side} ? AND refused <> ? GROUP BY path"  # noqa: S608 - constant texts
    for side in "<>"
)


class StoredRows:
    """The files and chunks in a manifest's database, as they are committed; methods may be called from any thread.

    Every method raises ManifestError when SQLite refuses.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

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

    def paths(self, among: Iterable[str] | None = None) -> list[str]:
        """Sorted paths of all files with chunks in the index, or of those among some."""
        if among is None:
            return [row[0] for row in self._database.look_up("SELECT DISTINCT path FROM chunk ORDER BY path")]
        return sorted(self._among("SELECT DISTINCT path FROM chunk", among))

    def languages(self) -> dict[str, str]:
        """Languages of all files with chunks, by path."""
        return dict(self._database.look_up("SELECT path, min(language) FROM chunk GROUP BY path"))

    def sizes(self) -> list[list[Any]]:
        """Path, bytes and language of each indexed file, in any order."""
        # One text, as in `_columns`.
        query = "SELECT json_group_array(json_array(path, size, language)) FROM file WHERE state = 'indexed'"
        rows: list[list[Any]] = json.loads(self._database.look_up(query)[0][0])
        return rows

    def file_paths(self, among: Iterable[str] | None = None) -> list[str]:
        """Sorted paths of all known files, or of those among some."""
        if among is None:
            return [row[0] for row in self._database.look_up("SELECT path FROM file ORDER BY path")]
        return sorted(self._among("SELECT path FROM file", among))

    def _among(self, query: str, paths: Iterable[str]) -> Iterator[str]:
        for marks, part in _marked(paths):
            yield from (row[0] for row in self._database.look_up(f"{query} WHERE path IN ({marks})", part))

    def paths_with(self, part: str, limit: int) -> list[str]:
        """Return the indexed paths with a text in any case of ASCII; those beginning with it first, then by name."""
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
            is_of_this_form = has_secrets(self._database.writer)
        query = "SELECT path, secrets FROM file WHERE secrets <> '' ORDER BY path"
        rows = self._database.read(query) if is_of_this_form else ()
        return tuple(RedactedFile(path, _findings_of(secrets)) for path, secrets in rows)

    def generated(self) -> frozenset[str]:
        """Return the paths of generated files in the index."""
        query = "SELECT path FROM file WHERE state = 'indexed' AND reason <> ''"
        return frozenset(row[0] for row in self._database.look_up(query))

    def chunks_of(self, path: str) -> tuple[ChunkRow, ...]:
        """Return the chunks of a file in order."""
        return tuple(sorted(self._chunk_rows("WHERE path = ?", (path,)), key=attrgetter("position")))

    def chunks(self, ids: Iterable[str]) -> dict[str, ChunkRow]:
        """Return the chunks by id; ids without a committed file are left out."""
        return {row.id: row for marks, part in _marked(ids) for row in self._chunk_rows(f"WHERE id IN ({marks})", part)}

    def columns_of(self, ids: Iterable[str], columns: Sequence[str]) -> list[list[Any]]:
        """Chosen columns of chunks by id; ids without a committed file are left out."""
        return [row for marks, part in _marked(ids) for row in self._columns(columns, f"WHERE id IN ({marks})", part)]

    def columns_below(self, folder: str, columns: Sequence[str]) -> list[list[Any]]:
        """Chosen columns of all chunks below a folder, "" for the root, in any order."""
        # As in `files`. Rows of the whole tree in the order of their paths would take twice the time.
        where, values = ("WHERE path > ? AND path < ?", (f"{folder}/", f"{folder}0")) if folder else ("", ())
        return self._columns(columns, where, values)

    def columns_near(self, path: str, positions: range, columns: Sequence[str]) -> list[list[Any]]:
        """Chosen columns of a file's chunks at some positions, in any order."""
        where = "WHERE path = ? AND position >= ? AND position < ?"
        return self._columns(columns, where, (path, positions.start, positions.stop))

    def defined_before(self, places: Sequence[tuple[str, int, str]], columns: Sequence[str]) -> list[list[Any] | None]:
        """Return columns of a file's last chunk before a position that defines a name; None without one.

        Parameters:
            places: path, position and name of each.
        """
        where = " OR ".join(["path = ? AND position < ? AND instr(defines, ?)"] * len(places))
        values = [it for path, at, name in places for it in (path, at, json.dumps(name)[1:-1])]
        rows = sorted(self._columns(("position", "path", "defines", *columns), f"WHERE {where}", values))
        found: dict[tuple[str, int, str], list[Any]] = {}
        for position, path, defines, *wanted in rows:
            found |= {it: wanted for it in places if it[0] == path and position < it[1] and it[2] in defines}
        return [found.get(place) for place in places]

    def defining(self, name: str) -> tuple[ChunkRow, ...]:
        """Return the chunks defining a symbol with this name or with this last part."""
        is_so = "EXISTS (SELECT 1 FROM json_each(chunk.defines) WHERE value = ? OR substr(value, ?) = ?)"
        whole_or_end = (name, -len(name) - 1, f".{name}")
        where = f"WHERE path IN ({FILES_DEFINING}) AND instr(defines, ?) AND {is_so}"
        values = (name_key(name), *whole_or_end, json.dumps(name)[1:-1], *whole_or_end)
        return tuple(self._chunk_rows(where, values))

    def counts(self, column: str) -> dict[str, int]:
        """Files counted by "state", or chunks counted by "language" or "kind"."""
        table = {"state": "file", "language": "chunk", "kind": "chunk"}[column]
        query = f"SELECT {column}, count(*) FROM {table} GROUP BY 1 ORDER BY 2 DESC, 1"  # noqa: S608 - our own names
        return dict(self._database.recall(query))

    def skipped_by_reason(self) -> dict[str, int]:
        """Skipped files counted by reason."""
        query = f"SELECT {_REASON}, count(*) FROM file WHERE state = 'skipped' GROUP BY 1 ORDER BY 2 DESC, 1"  # noqa: S608 - our own text
        return dict(self._database.read(query))

    def changed_since(self, moment: float) -> tuple[str, ...]:
        """Indexed paths modified at or after a moment, in seconds since the epoch."""
        mtime_ns = int(max(-_LATEST, min(moment, _LATEST)) * 1e9)
        rows = self._database.look_up("SELECT path FROM file WHERE state <> 'skipped' AND mtime_ns >= ?", (mtime_ns,))
        return tuple(row[0] for row in rows)

    def settled_chunks(self) -> dict[str, str]:
        """Return the paths by chunk id of all files with flushed points."""
        return dict(self._database.read("SELECT id, path FROM chunk WHERE path NOT IN (SELECT path FROM unsettled)"))

    def settled_vectors(self) -> dict[str, int]:
        """Return the chunks of these files with a vector, counted by vector name."""
        where = "space <> '' AND path NOT IN (SELECT path FROM unsettled)"
        return dict(self._database.read(f"SELECT space, count(*) FROM chunk WHERE {where} GROUP BY space"))  # noqa: S608 - constant texts

    def pending(self) -> tuple[str, ...]:
        """Return the paths begun by an update and not committed, or not flushed when their process died.

        Their points are written again, whatever the fingerprints of their chunks say.
        """
        return tuple(row[0] for row in self._database.read("SELECT path FROM unsettled WHERE written = 0"))

    def all_spaces(self) -> dict[str, str]:
        """Return the names of all spaces ever holding vectors here, by vector name."""
        return dict(self._database.read("SELECT vector_name, name FROM space"))

    def coverage(self) -> dict[str, int]:
        """Return the chunks counted by the name of their vector's space; "" for those without a vector."""
        with self._database.lock, translated(self._database.path):
            is_of_this_form = has_spaces(self._database.writer)
        if not is_of_this_form:
            return {}
        names = self.all_spaces()
        return {names.get(space, ""): count for space, count in self._database.read(_COVERAGE)}

    def elsewhere(self, route: str, space: str) -> tuple[list[str], int]:
        """Return the paths with chunks of a route that have a vector in another space, and the number of these chunks.

        Leaves out chunks refused by the space's model: it would refuse them again.
        """
        rows = self._database.read(_ELSEWHERE, (route, space, space) * 2)
        return list(dict.fromkeys(path for path, _ in rows)), sum(count for _, count in rows)

    def without_note(self) -> tuple[list[str], int]:
        """Return the paths of chunks lacking a written context, and the number of these chunks."""
        rows = self._database.read("SELECT path, count(*) FROM chunk WHERE lacks_note GROUP BY path")
        return [path for path, _ in rows], sum(count for _, count in rows)

    def _file_rows(self, where: str, values: Sequence[object]) -> Iterator[FileRow]:
        for path, state, *rest, found in self._database.read(f"SELECT {_OF_FILE} FROM file {where}", values):  # noqa: S608 - constant texts
            yield FileRow(path, FileState(state), *[*rest, _findings_of(found)])

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


def _marked(ids: Iterable[str]) -> Iterator[tuple[str, list[str]]]:
    """Split ids into parts small enough for one statement; each comes with its parameter marks."""
    for part in batched(ids, _PARAMETERS):
        yield ",".join("?" * len(part)), part


def _findings_of(text: str) -> tuple[SecretFinding, ...]:
    """Parse the column "secrets" of a file."""
    return tuple(SecretFinding(*found) for found in json.loads(text)) if text else ()
