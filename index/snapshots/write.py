"""Write a generation to a snapshot."""

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from importlib.metadata import version
from pathlib import Path

from cqm.chunkers.extras import DISTRIBUTION
from cqm.index.embedding.routes import Route
from cqm.index.generations.generation import Generation, generation_name
from cqm.index.generations.recipe import shape_text
from cqm.index.manifest.facts import COMPLETE_FACT, HEAD_FACT, ORDER_FACT, SPACE_FACT
from cqm.index.manifest.rows import ChunkRow, FileRow
from cqm.index.model.errors import DamagedIndexError, SnapshotError
from cqm.index.model.options import IndexOptions
from cqm.index.model.outcomes import Exported
from cqm.index.model.query import FileState
from cqm.index.snapshots.archive import Packed, write_archive
from cqm.index.snapshots.records import chunk_line, file_line
from cqm.index.snapshots.snapshot import BASE_FORMAT, FORMAT, Snapshot, portable
from cqm.index.store.base import Point, file_point_id

_FILES_AT_ONCE = 32
"""Files to read points of together: some MB."""


def write_snapshot(generation: Generation, options: IndexOptions, file: Path) -> Exported:
    """Write all indexed files of a generation to a snapshot. Nothing may change the generation meanwhile.

    Skipped and failed files are left out: an import looks at them again.

    Raises:
        SnapshotError: it cannot be written, or the generation is not complete with these options.
        StoreError, ManifestError: the generation cannot be read.
    """
    manifest, rows = generation.manifest, rows_to_carry(generation, options)
    tally = _Tally()
    about = partial(_about, FORMAT, generation, options, len(rows), tally)
    digest = write_archive(file, _lines(generation, rows, tally), about)
    return Exported(str(file), file.stat().st_size, digest, manifest.fact(HEAD_FACT), len(rows), tally.chunks)


def write_without_points(
    generation: Generation, options: IndexOptions, file: Path, lines: Iterator[bytes], held: tuple[int, int]
) -> None:
    """Write the rows of a generation with its points elsewhere.

    Parameters:
        generation, options, file: as in `write_snapshot`.
        lines: of frequencies, then of files, each before those of its chunks.
        held: numbers of these files and chunks.

    Raises:
        SnapshotError, ManifestError: as `write_snapshot`.
    """
    files, chunks = held
    write_archive(file, lines, partial(_about, BASE_FORMAT, generation, options, files, _Tally(chunks)))


def rows_to_carry(generation: Generation, options: IndexOptions) -> list[FileRow]:
    """Return the rows of all indexed files of a generation, by path.

    Raises:
        SnapshotError: the generation is not complete with these options.
    """
    if not generation.manifest.fact(COMPLETE_FACT) or generation.recipe != generation_name(options):
        raise SnapshotError("The index is not complete with these options.", remedy="Run `cqm index` first.")
    rows = generation.manifest.files().values()
    return sorted((row for row in rows if row.state is FileState.INDEXED), key=lambda it: it.path)


def _about(
    form: int, generation: Generation, options: IndexOptions, files: int, tally: "_Tally", records: Packed
) -> bytes:
    """Return the manifest of a snapshot after its lines are written."""
    manifest, here = generation.manifest, portable(options)
    preferred = {route.value: manifest.fact(f"{SPACE_FACT}{route}") for route in Route}
    made = Snapshot(
        form,
        version(DISTRIBUTION),
        generation_name(here),
        shape_text(here),
        manifest.fact(HEAD_FACT),
        time.time(),
        files,
        tally.chunks,
        tuple(sorted(manifest.spaces().values())),
        {route: space for route, space in preferred.items() if space},
        manifest.fact(ORDER_FACT),
        records,
    )
    return json.dumps(asdict(made), indent=1).encode()


@dataclass(slots=True)
class _Tally:
    """Chunks written so far."""

    chunks: int = 0


def _lines(generation: Generation, rows: Sequence[FileRow], tally: _Tally) -> Iterator[bytes]:
    """Yield the records of files, each before its chunks."""
    for some, chunks, points in points_to_carry(generation, rows):
        for row in some:
            yield file_line(row, len(chunks[row.path]), points[file_point_id(row.path)])
            yield from (chunk_line(it, points[it.id]) for it in chunks[row.path])
            tally.chunks += len(chunks[row.path])


def points_to_carry(
    generation: Generation, rows: Sequence[FileRow]
) -> Iterator[tuple[Sequence[FileRow], Mapping[str, Sequence[ChunkRow]], Mapping[str, Point]]]:
    """Yield some files at a time with the rows of their chunks, by path, and with their points, by id.

    Raises:
        DamagedIndexError: a point is gone.
    """
    for start in range(0, len(rows), _FILES_AT_ONCE):
        some = rows[start : start + _FILES_AT_ONCE]
        chunks = {row.path: generation.manifest.chunks_of(row.path) for row in some}
        ids = [*(file_point_id(row.path) for row in some), *(it.id for found in chunks.values() for it in found)]
        points = {point.id: point for point in generation.store.points(ids)}
        if missing := set(ids) - points.keys():
            raise DamagedIndexError(f"{generation.place} has lost {len(missing):,} of its points.")
        yield some, chunks, points
