"""Bring files into a generation: write points, commit rows, delete stale points; a kill may come at any moment.

The order of steps makes this safe. A file's path becomes pending, its points are written, its rows committed, its stale
points deleted. It stays pending until the store is flushed. Whenever the process or the machine dies, search shows the
state committed in the manifest, and the next update mends the rest.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from cqm.index.disk.durable import require_room
from cqm.index.embedding.routes import Route, Routes
from cqm.index.generations.generation import Generation
from cqm.index.manifest.rows import ChunkRow, FileRow
from cqm.index.model.query import FileState
from cqm.index.store.base import FILE_TERMS, PATH_TERMS, TERMS, Point, file_point_id
from cqm.index.text.terms import SparseTerms
from cqm.index.update.prepare import PreparedChunk, PreparedFile, with_notes
from cqm.index.update.vectorizer import CUT, POOLED, TextVector, Vectorizer, note_preferred

_NO_TERMS = SparseTerms((), ())


def chunk_point(part: PreparedChunk, vector: TextVector) -> Point:
    """The point of a chunk with the vector of its text, if there is one."""
    row = part.row
    payload: dict[str, object] = {
        "path": row.path,
        "dirs": folders_of(row.path),
        "language": row.language,
        "kind": list(part.kinds),
        "text": part.text,
    }
    if part.content:
        payload["content"] = part.content
    if part.context:
        payload["context"] = part.context
    if part.definitions:
        payload["definitions"] = part.definitions
    if issues := part.metadata.get("issues"):
        payload["issues"] = list(issues) if isinstance(issues, tuple) else [str(issues)]
    payload["source_type"] = part.metadata.get("source_type", "")
    # The store knows lists alone.
    known = {**part.metadata, **_told(part, vector)}
    payload["metadata"] = {name: list(value) if isinstance(value, tuple) else value for name, value in known.items()}
    return Point(row.id, payload, {TERMS: part.terms}, vector.row, vector.space_name)


def _told(part: PreparedChunk, vector: TextVector) -> dict[str, str]:
    """Changes to a chunk's text before it was embedded: cut, or averaged over parts."""
    shown = {"embedded": vector.embedded} if vector.embedded in {POOLED, CUT} else {}
    return shown | ({"note": part.row.note} if part.row.note else {})


def file_point(file: PreparedFile) -> Point:
    """The point of a file, which carries its evidence as a whole."""
    path = file.row.path
    payload = {"path": path, "dirs": folders_of(path), "language": file.row.language}
    sparse = {FILE_TERMS: file.file_terms or _NO_TERMS, PATH_TERMS: file.path_terms or _NO_TERMS}
    return Point(file_point_id(path), payload, sparse)


def folders_of(path: str) -> list[str]:
    """All folders above a path relative to the root, outermost last: "a/b/c.py" gives "a/b" and "a"."""
    parts = path.split("/")
    return ["/".join(parts[:depth]) for depth in range(len(parts) - 1, 0, -1)]


Rows = tuple[FileRow, tuple[ChunkRow, ...] | None]
"""A file's row and its chunks' rows; None keeps the chunks of before."""


@dataclass(frozen=True, slots=True)
class Target:
    """The destination of files.

    Attributes:
        generation: takes them.
        routes: the models; None for none.
        place: where a header stands in an embedded text; see `dense_text`.
        pending: paths whose points may differ from the manifest; see `Manifest.pending`.
        moved: former paths of contents, by their hashes, of files gone from there. A file with such a content keeps its
            cached vectors, though they contain its former path: embedding a renamed folder again is not worth its cost.
    """

    generation: Generation
    routes: Routes | None
    place: str
    pending: frozenset[str]
    moved: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Stored:
    """Committed rows of some files, and counts of their chunks: written, deleted, kept, embedded."""

    rows: tuple[Rows, ...]
    written: int
    deleted: int
    kept: int
    embedded: int


NOTHING_STORED = Stored((), 0, 0, 0, 0)


@dataclass(frozen=True, slots=True, eq=False)
class _Placed:
    """A prepared chunk, its row in the index, and its new vector.

    Attributes:
        held: None for nothing, or nothing certain.
        vector: None where none was asked for.
    """

    part: PreparedChunk
    held: ChunkRow | None
    vector: TextVector | None = None

    @property
    def is_same(self) -> bool:
        return self.held is not None and self.held.fingerprint == self.part.row.fingerprint

    @property
    def is_to_write(self) -> bool:
        """Whether it is new, or has a better vector now. False if its preferred model failed again."""
        is_better = self.vector is not None and self.vector.space is not None
        return not self.is_same or (is_better and self.held is not None and self.vector_name != self.held.space)

    @property
    def vector_name(self) -> str:
        return self.vector.space_name if self.vector else ""

    @property
    def problem(self) -> str:
        return self.vector.problem if self.vector and self.is_to_write else ""

    def is_settled(self, wanted: Mapping[str, str]) -> bool:
        """Whether the store has it unchanged, with a vector of the space its route wants."""
        space = wanted.get(self.part.row.route, "")
        return self.is_same and self.held is not None and space in {"", self.held.space, self.held.refused}

    def row(self) -> ChunkRow:
        """Its row once it is stored. Without the vector it should have it gets no fingerprint: it is fresh again."""
        row, held, vector = self.part.row, self.held, self.vector or TextVector()
        if held and not self.is_to_write:
            return row.with_vector(held.space, held.embedded, vector.refused or held.refused, row.fingerprint)
        fingerprint = "" if vector.problem else row.fingerprint
        return row.with_vector(vector.space_name, vector.embedded, vector.refused, fingerprint)


@dataclass(frozen=True, slots=True, eq=False)
class Placement:
    """Files with their vectors, ready to be written.

    Attributes:
        files: as they are to be stored.
        held: rows of their chunks before, by path.
        placed: their chunks, by id.
    """

    files: tuple[PreparedFile, ...]
    held: Mapping[str, tuple[ChunkRow, ...]]
    placed: Mapping[str, _Placed]

    @property
    def changes_nothing(self) -> bool:
        """Whether the index has all of it already."""
        rows = {row.id: row for rows in self.held.values() for row in rows}
        return rows.keys() == self.placed.keys() and all(it.row() == rows[name] for name, it in self.placed.items())


def remove_files(target: Target, paths: Sequence[str]) -> int:
    """Take files out of the index; gives the number of their chunks."""
    if not paths:
        return 0
    deleted = delete_points(target, paths)
    target.generation.manifest.remove(paths)
    return deleted


def delete_points(target: Target, paths: Sequence[str]) -> int:
    """Delete the points of files from the store; return the number of chunks. The caller commits the new rows."""
    manifest, store = target.generation.manifest, target.generation.store
    chunks = {path: [row.id for row in manifest.chunks_of(path)] for path in paths}
    manifest.begin(paths)
    # Together: each call looks whether the store's folders have new names, which takes half a millisecond.
    store.delete([it for path in paths for it in (*chunks[path], file_point_id(path), *_orphans(target, path))])
    return sum(map(len, chunks.values()))


def place_files(
    target: Target,
    files: Sequence[PreparedFile],
    held: Mapping[str, tuple[ChunkRow, ...]],
    vectorizer: Vectorizer,
    wanted: Mapping[str, str],
) -> Placement:
    """Compare files with the index, and embed chunks which are new or wait for another vector. Writes nothing.

    Parameters:
        target: where they will go; nothing of it is read.
        held: rows of their chunks in the index, by path; only of chunked files.
        wanted: as `wanted_spaces` gives it.
    """
    files = tuple(
        with_held_notes(file, held[file.row.path], target.place) if file.is_chunked else file for file in files
    )
    known = {row.id: row for path, rows in held.items() if path not in target.pending for row in rows}
    chunks = [_Placed(part, known.get(part.row.id)) for file in files if file.is_chunked for part in file.chunks or ()]
    fresh = [it for it in chunks if not it.is_settled(wanted)]
    moved = _moved_texts(target, files, fresh)
    alone = [it for it in fresh if it.part.row.route != Route.LATE]
    vectors = vectorizer.embed([(it.part.row.route, it.part.dense_text) for it in alone], moved)
    found = {it.part.row.id: vector for it, vector in zip(alone, vectors, strict=True)}
    found |= _pooled(files, {it.part.row.id for it in fresh} - found.keys(), vectorizer)
    placed = {it.part.row.id: it for it in chunks}
    placed |= {it.part.row.id: _Placed(it.part, it.held, found[it.part.row.id]) for it in fresh}
    return Placement(files, held, placed)


def _pooled(files: Sequence[PreparedFile], fresh: Collection[str], vectorizer: Vectorizer) -> dict[str, TextVector]:
    """Embed fresh chunks of files with a rule for late chunking, a whole document at a time; by id."""
    found: dict[str, TextVector] = {}
    for whole in (file.whole for file in files if file.whole and fresh):
        parts = {name: (start, end) for name, start, end in whole.spans if name in fresh}
        if parts:
            found |= zip(parts, vectorizer.embed_parts(whole.text, [*parts.values()]), strict=True)
    return found


def _moved_texts(target: Target, files: Sequence[PreparedFile], fresh: Sequence[_Placed]) -> dict[str, str]:
    """Map texts of moved files to the texts embedded for them at their former path."""
    former = {file.row.path: target.moved[file.row.hash] for file in files if file.row.hash in target.moved}
    parts = (it.part for it in fresh if it.part.row.path in former)
    return {part.dense_text: part.dense_text_at(former[part.row.path], target.place) for part in parts}


def write_files(target: Target, placement: Placement) -> Stored:
    """Write a placement and commit it.

    Raises:
        StoreError, ManifestError: it cannot be written; earlier commits stay.
    """
    manifest, store = target.generation.manifest, target.generation.store
    require_room(target.generation.place)
    changed = [file for file in placement.files if file.is_chunked]
    written = [it for it in placement.placed.values() if it.is_to_write]
    vectors = [(it.part.row.route, it.vector) for it in written if it.vector]
    manifest.begin([file.row.path for file in changed])
    _create_spaces(target, vectors)
    store.upsert([*(chunk_point(it.part, it.vector or TextVector()) for it in written), *map(file_point, changed)])
    rows = tuple(_rows(file, placement.placed) for file in placement.files)
    # Stale points go after the commit: else a search in between finds neither old nor new chunks of these files.
    manifest.commit(rows, are_pending=True)
    deleted = sum(_delete_stale(target, file.row.path, placement) for file in changed)
    manifest.note_written([row.path for row, chunks in rows if chunks is not None])
    embedded = sum(vector.row is not None for _, vector in vectors)
    return Stored(rows, len(written), deleted, sum(it.is_same for it in placement.placed.values()), embedded)


def _create_spaces(target: Target, vectors: Sequence[tuple[str, TextVector]]) -> None:
    """Create missing vector spaces, and note them in the manifest."""
    manifest, store = target.generation.manifest, target.generation.store
    known = manifest.all_spaces()
    for space in {vector.space.name: vector.space for _, vector in vectors if vector.space}.values():
        if space.vector_name not in known:
            store.ensure_space(space.vector_name, space.dimensions)
            # Edge notes a space on disk before it makes it. A shard with the note alone does not open.
            if manifest.chunk_count():
                target.generation.settle()
            manifest.add_space(space.vector_name, space.name)
    note_preferred(manifest, target.routes, vectors)


def with_held_notes(file: PreparedFile, held: Sequence[ChunkRow], place: str) -> PreparedFile:
    """Return a file with the notes of its chunks: from the index, or newly written.

    A note stays as long as its chunk does, even if the document changed around it: writing all notes of a document
    again for each edit is not worth its cost.
    """
    if file.source is None:
        return file
    written = {part.row.id: part.row.note for part in file.chunks or () if not part.row.lacks_note}
    return with_notes(file, {row.id: row.note for row in held if not row.lacks_note} | written, place)


def _delete_stale(target: Target, path: str, placement: Placement) -> int:
    """Delete stale chunks of a file, and points a dead update left; return the number of stale chunks."""
    stale = {row.id for row in placement.held[path] if row.id not in placement.placed}
    orphans = {name for name in _orphans(target, path) if name not in placement.placed} - {file_point_id(path)}
    target.generation.store.delete(sorted(stale | orphans))
    return len(stale)


def _orphans(target: Target, path: str) -> set[str]:
    """Return ids of points which a dead update wrote for a path and never committed."""
    return target.generation.store.ids_of_path(path) if path in target.pending else set()


def _rows(file: PreparedFile, placed: Mapping[str, _Placed]) -> Rows:
    """Return the manifest rows of a file; it is failed if chunks lack a vector they should have."""
    if not file.is_chunked:
        # A failed file keeps its chunks: the last known good.
        return file.row, None
    chunks = [placed[part.row.id] for part in file.chunks or ()]
    rows = tuple(it.row() for it in chunks)
    reasons = [it.problem for it in chunks if it.problem]
    if not reasons:
        return file.row, rows
    reason = f"{len(reasons)} of {len(rows)} chunks have no vector: {reasons[0]}"
    return replace(file.row, state=FileState.FAILED, reason=reason), rows
