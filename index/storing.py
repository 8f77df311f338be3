"""Files brought into a generation: points written, stale ones deleted, rows committed, in an order that a kill may cut.

A file's order is that of promise 2: its path becomes pending, new points are written, stale points deleted, its rows
committed; it stays pending until the store is flushed. Whenever the process dies, or the machine, what search shows is
what the manifest has committed, and the next update mends the rest.
"""

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from cqm.index.generation import Generation
from cqm.index.manifest import ChunkRow, FileRow
from cqm.index.model import FileState
from cqm.index.points import chunk_point, file_point, file_point_id
from cqm.index.prepare import PreparedChunk, PreparedFile, with_notes
from cqm.index.vectors import TextVector, Vectorizer

Rows = tuple[FileRow, tuple[ChunkRow, ...] | None]
"""A file's row and its chunks' rows; None where the index keeps the chunks that it has."""


@dataclass(frozen=True, slots=True)
class Target:
    """Where files go.

    Attributes:
        generation: that takes them.
        vectorizer: embeds their chunks.
        place: where a header stands in an embedded text; see `dense_text`.
        pending: paths whose points may not be what the manifest says; see `Manifest.pending`.
    """

    generation: Generation
    vectorizer: Vectorizer
    place: str
    pending: frozenset[str]


@dataclass(frozen=True, slots=True)
class Stored:
    """What storing some files did: their rows as committed, and chunks by what became of them."""

    rows: tuple[Rows, ...]
    written: int
    deleted: int
    kept: int
    embedded: int


NOTHING_STORED = Stored((), 0, 0, 0, 0)


@dataclass(frozen=True, slots=True)
class _Placed:
    """A prepared chunk beside what the index holds of it: None for nothing, or nothing certain."""

    part: PreparedChunk
    held: ChunkRow | None

    @property
    def is_same(self) -> bool:
        return self.held is not None and self.held.fingerprint == self.part.row.fingerprint

    def is_settled(self, wanted: Mapping[str, str]) -> bool:
        """Whether the store has it as it is, with a vector of the space that its route wants (empty for any)."""
        return self.is_same and self.held is not None and wanted[self.part.row.route] in {"", self.held.space}

    def row_with(self, vector: TextVector | None) -> ChunkRow:
        """Its row once stored with a vector, or left as it is held.

        Without the vector that it should have it gets no fingerprint: it is tried again.
        """
        row = self.part.row
        if vector is None:
            return replace(row, space=self.held.space, embedded=self.held.embedded) if self.held else row
        fingerprint = "" if vector.problem else row.fingerprint
        return replace(row, space=vector.space, embedded=vector.embedded, fingerprint=fingerprint)


def remove_files(target: Target, paths: Sequence[str]) -> int:
    """Take files out of the index; gives the number of their chunks."""
    if not paths:
        return 0
    manifest, store = target.generation.manifest, target.generation.store
    chunks = {path: [row.id for row in manifest.chunks_of(path)] for path in paths}
    manifest.begin(paths)
    for path, ids in chunks.items():
        store.delete([*ids, file_point_id(path), *_orphans(target, path)])
    manifest.remove(paths)
    return sum(map(len, chunks.values()))


def store_files(target: Target, files: Sequence[PreparedFile]) -> Stored:
    """Bring prepared files into the index; chunks that it has already are not written again."""
    manifest, store = target.generation.manifest, target.generation.store
    paths = [file.row.path for file in files if file.is_chunked]
    manifest.begin(paths)
    held = {path: _held(target, path) for path in paths}
    files = [_with_held_notes(file, held[file.row.path], target.place) if file.is_chunked else file for file in files]
    placed = {
        part.row.id: _Placed(part, held[file.row.path].get(part.row.id))
        for file in files
        for part in (file.chunks or () if file.is_chunked else ())
    }
    vectors = _new_vectors(target.vectorizer, placed.values())
    points = [chunk_point(placed[name].part, vector) for name, vector in vectors.items()]
    store.upsert([*points, *(file_point(file) for file in files if file.is_chunked)])
    deleted = sum(_delete_stale(target, path, held[path], placed) for path in paths)
    rows = tuple(_rows(file, placed, vectors) for file in files)
    manifest.commit(rows)
    embedded = sum(vector.row is not None for vector in vectors.values())
    return Stored(rows, len(vectors), deleted, sum(it.is_same for it in placed.values()), embedded)


def _held(target: Target, path: str) -> dict[str, ChunkRow]:
    """What the index holds of a file's chunks by id; without a fingerprint where the store may say otherwise."""
    rows = target.generation.manifest.chunks_of(path)
    return {row.id: replace(row, fingerprint="") if path in target.pending else row for row in rows}


def _with_held_notes(file: PreparedFile, held: Mapping[str, ChunkRow], place: str) -> PreparedFile:
    """A file with the notes that the index has of its chunks, or that were written just now."""
    if file.source is None:
        return file
    written = {part.row.id: part.row.note for part in file.chunks or () if not part.row.lacks_note}
    return with_notes(file, {row.id: row.note for row in held.values() if not row.lacks_note} | written, place)


def _new_vectors(vectorizer: Vectorizer, chunks: Iterable[_Placed]) -> dict[str, TextVector]:
    """The vectors to write, by chunk id: of what is new, and of what gets one of a better space than it has."""
    wanted = {route: vectorizer.wanted(route) for route in {it.part.row.route for it in chunks}}
    fresh = [it for it in chunks if not it.is_settled(wanted)]
    found = vectorizer.embed([(it.part.row.route, it.part.dense_text) for it in fresh])
    return {it.part.row.id: vector for it, vector in zip(fresh, found, strict=True) if not _is_no_better(it, vector)}


def _is_no_better(chunk: _Placed, vector: TextVector) -> bool:
    """Whether a chunk that is stored already gains nothing: the wanted model failed after all."""
    return chunk.is_same and chunk.held is not None and vector.space in {"", chunk.held.space}


def _delete_stale(target: Target, path: str, held: Iterable[str], placed: Container[str]) -> int:
    """Delete what a file no longer has, and what a dead update left behind; gives how many chunks of the first."""
    stale = {name for name in held if name not in placed}
    orphans = {name for name in _orphans(target, path) if name not in placed} - {file_point_id(path)}
    target.generation.store.delete(sorted(stale | orphans))
    return len(stale)


def _orphans(target: Target, path: str) -> set[str]:
    """Points that an update wrote for a path and died before it could commit them."""
    return target.generation.store.ids_of_path(path) if path in target.pending else set()


def _rows(file: PreparedFile, placed: Mapping[str, _Placed], vectors: Mapping[str, TextVector]) -> Rows:
    """The manifest rows of a file; it failed when chunks lack the vector that they should have."""
    if not file.is_chunked:
        # A file that failed keeps the chunks it had: they are the last known good.
        return file.row, () if file.row.state is FileState.SKIPPED else None
    ids = [part.row.id for part in file.chunks or ()]
    rows = tuple(placed[name].row_with(vectors.get(name)) for name in ids)
    reasons = [vectors[name].problem for name in ids if name in vectors and vectors[name].problem]
    if not reasons:
        return file.row, rows
    reason = f"{len(reasons)} of {len(rows)} chunks have no vector: {reasons[0]}"
    return replace(file.row, state=FileState.FAILED, reason=reason), rows
