"""Publish a generation as a base of a team, and take one: its points stay on the server, its rows come here."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile
from typing import IO

from cqm.index.generations.generation import Generation
from cqm.index.manifest.facts import HEAD_FACT
from cqm.index.manifest.rows import ChunkRow, FileRow
from cqm.index.model.errors import DamagedIndexError, NewerSnapshotError, SnapshotError, StoreError
from cqm.index.model.options import IndexOptions
from cqm.index.model.outcomes import Published
from cqm.index.remote.variables import Variables
from cqm.index.snapshots.archive import Archive, damaged, opened_archive
from cqm.index.snapshots.records import RecordError, file_line, read_row, row_line
from cqm.index.snapshots.restore import Restoring
from cqm.index.snapshots.snapshot import BASE_FORMAT, Snapshot, dimensions_of, read_manifest
from cqm.index.snapshots.write import points_to_carry, rows_to_carry, write_without_points
from cqm.index.store.base import Point
from cqm.index.store.bases import MARKS, SharedBase, parts, put_parts
from cqm.index.store.collection import FREQUENCIES_FILE, BaseNote, write_note
from cqm.index.store.frequencies import Counting, TermCounts, frequency_lines, read_frequencies, write_frequencies
from cqm.index.store.qdrant import QdrantStore
from cqm.index.store.qdrant_reader import QdrantReader

_FILE = "base.cqm"


def publish_base(
    generation: Generation, options: IndexOptions, variables: Variables, name: str, keep: int
) -> Published:
    """Write all indexed files of a generation to a server as a base. Nothing may change the generation meanwhile.

    Parameters:
        generation, options: as in `write_snapshot`.
        keep: number of collections of the base to keep, with the new one.

    Raises:
        SnapshotError, StoreError, ManifestError: as in `Index.publish`.
    """
    manifest = generation.manifest
    with closing(SharedBase(name, options.store, variables)) as base, TemporaryDirectory() as folder:
        file, rows = Path(folder) / _FILE, rows_to_carry(generation, options)
        with base.making() as store, TemporaryFile(dir=folder) as kept:
            for vector_name, dimensions in generation.dimensions().items():
                store.ensure_space(vector_name, dimensions)
            counted, chunks = _put_points(generation, rows, store, kept)
            kept.seek(0)
            lines = chain(frequency_lines(counted), (line.removesuffix(b"\n") for line in kept))
            write_without_points(generation, options, file, lines, (len(rows), chunks))
            with file.open("rb") as written:
                put_parts(store, written)
        size, deleted = file.stat().st_size, base.delete_older(keep)
        return Published(name, store.name, manifest.fact(HEAD_FACT), len(rows), chunks, size, tuple(deleted))


def _put_points(
    generation: Generation, rows: Sequence[FileRow], store: QdrantStore, kept: IO[bytes]
) -> tuple[Mapping[str, TermCounts], int]:
    """Write the points of files to a store and their rows to a file, since the frequencies of all words come first.

    Returns:
        The frequencies, and the number of chunks.
    """
    counting, count = Counting(), 0
    for some, chunks, points in points_to_carry(generation, rows):
        counting.add(points.values())
        store.upsert([*points.values()])
        for row in some:
            own = chunks[row.path]
            kept.writelines(line + b"\n" for line in (file_line(row, len(own), None), *map(row_line, own)))
            count += len(own)
    return counting.counted(), count


class Taking(Restoring):
    """A fitting, undamaged base, ready to take. Use `opened_base`.

    Parameters:
        archive, snapshot: of its rows.
    """

    def __init__(self, archive: Archive, snapshot: Snapshot, note: BaseNote) -> None:
        super().__init__(archive, snapshot)
        self._note = note

    def prepare(self, place: Path) -> None:
        """Note the base of a new generation in its folder.

        Raises:
            SnapshotError: the base's frequencies of words are damaged.
            StoreError: the folder cannot be written.
        """
        try:
            counted = read_frequencies(self._records)
        except ValueError as error:
            raise damaged(self._archive.file, str(error)) from error
        try:
            write_frequencies(place / FREQUENCIES_FILE, counted)
        except OSError as error:
            raise StoreError(f"{place} cannot be written: {error}.", remedy="Free space.") from error
        write_note(place, self._note)

    def _took(self) -> str:
        return f"Took the base {self._note.name}:"

    def _carried(self, point: Point) -> list[Point]:  # noqa: ARG002 - the server has it
        return []

    def _chunk(self, line: bytes, path: str, least: int, dimensions: dict[str, int]) -> tuple[ChunkRow, list[Point]]:
        return read_row(line, path, least, dimensions), []


@contextmanager
def opened_base(name: str, options: IndexOptions, variables: Variables) -> Iterator[Taking]:
    """Read the rows of a base while a block runs, and verify them.

    Raises:
        SnapshotError: it is damaged, or does not fit the options.
        StoreError: there is none, or the server cannot be reached.
    """
    try:
        with closing(SharedBase(name, options.store, variables)) as base, TemporaryDirectory() as folder:
            file, collection = Path(folder) / _FILE, base.find()
            reader = base.reader(collection)
            told = f"The base {name} at {options.store.url}"
            others = _fetch(reader, file, told) + MARKS
            with opened_archive(file, told) as archive:
                snapshot = read_manifest(archive, options, BASE_FORMAT)
                note = _note(name, collection, options, snapshot, others)
                if missing := note.missing(reader.count()):
                    raise damaged(told, f"{missing:,} of its points are gone")
                yield Taking(archive, snapshot, note)
    except NewerSnapshotError:
        raise
    except SnapshotError as error:
        remedy = f"Publish it anew with the release of CQM and the options of here: `cqm publish {name}`."
        raise SnapshotError(error.message, remedy=remedy) from error


def _fetch(reader: QdrantReader, file: Path, told: str) -> int:
    """Write the file in a base; give the number of its parts."""
    count = 0
    try:
        with file.open("wb") as out:
            for part in parts(reader):
                out.write(part)
                count += 1
    except DamagedIndexError as error:
        raise StoreError(f"{told} was deleted meanwhile.", remedy="Run it again.", retryable=True) from error
    except ValueError as error:
        raise damaged(told, str(error)) from error
    except OSError as error:
        raise StoreError(f"{file} cannot be written: {error}.", remedy="Free space.") from error
    return count


def _note(name: str, collection: str, options: IndexOptions, snapshot: Snapshot, others: int) -> BaseNote:
    url = options.store.url
    try:
        spaces = tuple(dimensions_of(snapshot))
    except RecordError as error:
        raise damaged(f"The base {name} at {url}", str(error)) from error
    return BaseNote(url, name, collection, spaces, snapshot.files + snapshot.chunks, others)
