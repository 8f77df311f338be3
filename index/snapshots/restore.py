"""Fill a new generation from a snapshot; the update after it brings in the differences of this machine's files."""

import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path

from cqm.index.disk.durable import require_room
from cqm.index.embedding.routes import Route
from cqm.index.generations.generation import Generation
from cqm.index.generations.growing import Growing
from cqm.index.manifest.facts import ORDER_FACT, SPACE_FACT
from cqm.index.manifest.rows import ChunkRow, FileRow
from cqm.index.model.options import IndexOptions
from cqm.index.model.progress import Progress, UpdateSummary
from cqm.index.snapshots.archive import Archive, damaged, opened_archive
from cqm.index.snapshots.records import RecordError, read_chunk, read_file
from cqm.index.snapshots.snapshot import Snapshot, dimensions_of, read_manifest
from cqm.index.store.base import Point

_AT_ONCE = 4 << 20
"""Bytes of records written and committed together: about 1,000 chunks."""
_MOST_OF_FILE = 256 << 20
"""Bytes of records of one file, which are held in memory; of the files read by default, none has a tenth."""
_ROOM = 2
"""Free bytes asked for to a byte of records: an estimate, and high. A full disk stops the import all the same."""


class Restoring:
    """A fitting, undamaged snapshot, ready to fill a generation. Use `opened_snapshot`."""

    def __init__(self, archive: Archive, snapshot: Snapshot) -> None:
        self._archive = archive
        self._records = archive.lines(snapshot.records)
        self._seconds = 0.0
        self.snapshot = snapshot

    def fill(self, target: Generation, report: Callable[[Progress], None], cancelled: Callable[[], bool]) -> bool:
        """Write everything to an empty generation; return whether it is done, and not cancelled.

        The files' times are left out, so the next update compares the contents of all files.

        Raises:
            SnapshotError: a record is malformed.
            StoreError, ManifestError: the generation cannot be written.
        """
        started = time.monotonic()
        require_room(target.place, self.snapshot.records.bytes * _ROOM)
        done = chunks = 0
        try:
            dimensions = self._make_spaces(target)
            with closing(Growing(target, cancelled)) as growing:
                for files, points in self._batches(dimensions):
                    if cancelled():
                        return False
                    if points:
                        target.store.upsert(points)
                    target.manifest.commit(files)
                    growing.wrote(len(points))
                    done, chunks = done + len(files), chunks + sum(len(rows) for _, rows in files)
                    report(Progress("importing", done, self.snapshot.files, files[-1][0].path, chunks))
                growing.finish()
        except RecordError as error:
            raise damaged(self._archive.file, str(error)) from error
        # Each once: a repeated path or id replaces its row.
        held = (len(target.manifest.files()), target.manifest.chunk_count())
        if not held == (done, chunks) == (self.snapshot.files, self.snapshot.chunks):
            raise damaged(self._archive.file, "it does not hold what its manifest counts")
        self._seconds = time.monotonic() - started
        return True

    def told(self, summary: UpdateSummary) -> UpdateSummary:
        """Return the summary of the following update, with a note on the snapshot and its time."""
        found = self.snapshot
        held = f"{found.chunks:,} chunk{'s' * (found.chunks != 1)} of {found.files:,} file{'s' * (found.files != 1)}"
        commit = f" of commit {found.commit[:12]}" if found.commit else ""
        notes = (f"{self._took()} {held}{commit}, made by CQM {found.build}.", *summary.notes)
        return replace(summary, notes=notes, stages={"importing": self._seconds, **summary.stages})

    def _took(self) -> str:
        return "Imported"

    def _make_spaces(self, target: Generation) -> dict[str, int]:
        """Make the spaces of the snapshot; give their dimensions by the names of their vectors."""
        spaces = dimensions_of(self.snapshot)
        for vector_name, (name, dimensions) in spaces.items():
            target.store.ensure_space(vector_name, dimensions)
            target.manifest.add_space(vector_name, name)
        preferred = {route: self.snapshot.preferred.get(route, "") for route in Route}
        if not {name for name in preferred.values() if name} <= {name for name, _ in spaces.values()}:
            raise RecordError("it prefers a space that it has not")
        facts = {f"{SPACE_FACT}{route}": name for route, name in preferred.items() if name}
        target.manifest.set_facts(facts | {ORDER_FACT: self.snapshot.order})
        return {vector_name: dimensions for vector_name, (_, dimensions) in spaces.items()}

    def _batches(
        self, dimensions: dict[str, int]
    ) -> Iterator[tuple[list[tuple[FileRow, list[ChunkRow]]], list[Point]]]:
        """Yield some whole files at a time: their rows, and their points with those of their chunks."""
        files: list[tuple[FileRow, list[ChunkRow]]] = []
        points: list[Point] = []
        size = 0
        for line in self._records:
            row, chunks, of_itself = read_file(line)
            rows: list[ChunkRow] = []
            points += self._carried(of_itself)
            of_file = 0
            for _ in range(chunks):
                of_chunk = next(self._records, b"")
                of_file += len(of_chunk)
                if of_file > _MOST_OF_FILE:
                    raise RecordError(f"the chunks of {row.path} are too large")
                least = rows[-1].position + 1 if rows else 0
                found, carried = self._chunk(of_chunk, row.path, least, dimensions)
                rows.append(found)
                points += carried
            files.append((row, rows))
            size += of_file
            if size >= _AT_ONCE:
                yield files, points
                files, points, size = [], [], 0
        if files:
            yield files, points

    def _carried(self, point: Point) -> list[Point]:
        """Return the points to write for a file."""
        return [point]

    def _chunk(self, line: bytes, path: str, least: int, dimensions: dict[str, int]) -> tuple[ChunkRow, list[Point]]:
        """Read a chunk with the points to write; see `read_chunk`."""
        row, point = read_chunk(line, path, least, dimensions)
        return row, [point]


@contextmanager
def opened_snapshot(file: Path, options: IndexOptions) -> Iterator[Restoring]:
    """Open a snapshot while a block runs, and verify it.

    Raises:
        SnapshotError: it cannot be read, is damaged, or does not fit the options.
    """
    with opened_archive(file) as archive:
        yield Restoring(archive, read_manifest(archive, options))
