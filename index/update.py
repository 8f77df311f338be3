"""One update of an index: scan, compare with the manifest, prepare, embed, store, commit.

A file's order is that of promise 2: its path becomes pending, new points are written, stale points deleted, its rows
committed; it stays pending until the store is flushed. Whenever the process dies, or the machine, what search shows is
what the manifest has committed, and the next update mends the rest.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath

from cqm.index.generation import Generation
from cqm.index.manifest import ChunkRow, FileRow, Manifest
from cqm.index.model import FileProblem, FileState, Progress, UpdateSummary
from cqm.index.options import IndexOptions
from cqm.index.points import chunk_points, file_point, file_point_id
from cqm.index.prepare import Preparation, PreparedChunk, PreparedFile, Task, prepare_files
from cqm.index.scan import FoundFile, scan
from cqm.index.store import EdgeStore
from cqm.index.vectors import Vectors

# A write within this time of the reading may leave the same size and time stamp behind: such a file is read again,
# as git does with racily clean entries. Two seconds is the coarsest time stamp in use (FAT).
_RACY_NS = 2_000_000_000

Embed = Callable[[Sequence[str]], Vectors]
"""Texts to vectors; never raises for a provider's failure, which it reports in the result."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What an update has to do.

    Attributes:
        todo: files to read, each with the hash the index holds.
        skipped: manifest rows of files that are left out without being read.
        vanished: paths in the index that are no longer there or no longer in scope.
        unchanged: number of files that need nothing.
        known: the manifest's rows of the paths in question.
        pending: paths whose points may not be what the manifest says; see `Manifest.pending`.
    """

    todo: tuple[Task, ...]
    skipped: tuple[FileRow, ...]
    vanished: tuple[str, ...]
    unchanged: int
    known: Mapping[str, FileRow]
    pending: frozenset[str]

    @property
    def differing(self) -> int:
        """How many files differ from the index by their size or time, are new, or have vanished."""
        return len(self.vanished) + sum(not _is_same(found, self.known.get(found.path)) for found, _ in self.todo)

    def may_hold(self, path: str) -> bool:
        """Whether the index may hold something of a path."""
        return path in self.known or path in self.pending


def plan_update(root: Path, generation: Generation, options: IndexOptions, below: Sequence[str] | None) -> Plan:
    """Compare the tree with the manifest, by size and modification time.

    Parameters:
        below: paths relative to the root to look at, files or folders; they are read whatever their time stamp says.
            None for the whole tree.

    Raises:
        ScanError: the root cannot be walked.
    """
    known = generation.manifest.files(below)
    pending = frozenset(generation.manifest.pending())
    todo: list[Task] = []
    skipped: list[FileRow] = []
    seen: set[str] = set()
    unchanged = 0
    for found in scan(root, options.scan, below=below):
        seen.add(found.path)
        row = known.get(found.path)
        if found.skip is not None:
            skip = FileRow(found.path, FileState.SKIPPED, found.skip.value, found.size, found.mtime_ns)
            if row is None or found.path in pending or (row.state, row.reason) != (skip.state, skip.reason):
                skipped.append(skip)
        elif row and below is None and found.path not in pending and _is_unchanged(found, row):
            unchanged += row.state is FileState.INDEXED
        else:
            held = row.hash if row and row.state is FileState.INDEXED and found.path not in pending else ""
            todo.append((found, held))
    gone = (known.keys() | (pending if below is None else set())) - seen
    closed = {found.path for found, _ in todo if not found.size and (root / found.path).is_dir()}
    vanished = [path for path in gone if not any(str(above) in closed for above in PurePosixPath(path).parents)]
    return Plan(tuple(todo), tuple(skipped), tuple(sorted(vanished)), unchanged, known, pending)


def _is_unchanged(found: FoundFile, row: FileRow) -> bool:
    settled = row.state is not FileState.FAILED and row.mtime_ns < row.read_at_ns - _RACY_NS
    return settled and _is_same(found, row)


def _is_same(found: FoundFile, row: FileRow | None) -> bool:
    return row is not None and (found.size, found.mtime_ns) == (row.size, row.mtime_ns)


@dataclass(slots=True)
class _Tally:
    """The counters of a running update."""

    added: int = 0
    modified: int = 0
    unchanged: int = 0
    written: int = 0
    deleted: int = 0
    kept: int = 0
    embedded: int = 0
    bytes_read: int = 0
    failed: list[FileProblem] = field(default_factory=list)


def run_update(
    generation: Generation,
    preparation: Preparation,
    plan: Plan,
    *,
    embed: Embed,
    workers: int,
    report: Callable[[Progress], None],
    cancelled: Callable[[], bool],
) -> UpdateSummary:
    """Carry out a plan; the index is consistent after every file.

    Parameters:
        generation: what is updated.
        preparation: how files are prepared.
        embed: texts to vectors.
        workers: processes that prepare.
        report: called after each batch of files.
        cancelled: asked between batches; the update stops early when it answers true.

    Raises:
        StoreError, ManifestError: the index cannot be written; what was committed stays.
    """
    tally = _Tally(unchanged=plan.unchanged)
    stopped = False
    tally.deleted += _remove(generation, plan.vanished, plan)
    _skip(generation, plan, tally)
    done = 0
    for batch in prepare_files(plan.todo, preparation, workers):
        _store(generation, batch, plan, embed, tally)
        done += len(batch)
        report(Progress("indexing", done, len(plan.todo), batch[-1].row.path, tally.written))
        if cancelled():
            stopped = done < len(plan.todo)
            break
    # What was committed after the last write has to be settled by a flush of its own.
    generation.store.flush_later()
    return UpdateSummary(
        added=tally.added,
        modified=tally.modified,
        deleted=len([path for path in plan.vanished if path in plan.known]),
        unchanged=tally.unchanged,
        failed=tuple(tally.failed),
        skipped=generation.manifest.skipped_by_reason(),
        chunks_written=tally.written,
        chunks_deleted=tally.deleted,
        chunks_kept=tally.kept,
        embedded=tally.embedded,
        bytes_read=tally.bytes_read,
        cancelled=stopped,
    )


def _remove(generation: Generation, paths: Sequence[str], plan: Plan) -> int:
    """Take files out of the index; gives the number of their chunks."""
    if not paths:
        return 0
    manifest, store = generation.manifest, generation.store
    chunks = {path: [row.id for row in manifest.chunks_of(path)] for path in paths}
    manifest.begin(paths)
    for path, ids in chunks.items():
        store.delete([*ids, file_point_id(path), *_orphans(store, path, plan)])
    manifest.remove(paths)
    return sum(map(len, chunks.values()))


def _orphans(store: EdgeStore, path: str, plan: Plan) -> set[str]:
    """Points that an update wrote for a path and died before it could commit them."""
    return store.ids_of_path(path) if path in plan.pending else set()


def _skip(generation: Generation, plan: Plan, tally: _Tally) -> None:
    """Record files that are now left out, and take out what the index held of them."""
    held = [row.path for row in plan.skipped if plan.may_hold(row.path)]
    tally.deleted += _remove(generation, held, plan)
    generation.manifest.commit([(row, ()) for row in plan.skipped])


def _store(generation: Generation, batch: Sequence[PreparedFile], plan: Plan, embed: Embed, tally: _Tally) -> None:
    """Bring a batch of prepared files into the index."""
    manifest, store = generation.manifest, generation.store
    changed = [file for file in batch if file.is_chunked]
    manifest.begin([file.row.path for file in changed])
    old = {file.row.path: _held(manifest, file.row.path, plan) for file in changed}
    fresh = [part for file in changed for part in file.chunks or () if _is_fresh(part, old)]
    vectors = embed([part.dense_text for part in fresh])
    store.upsert([*chunk_points(fresh, vectors), *map(file_point, changed)], vectors.space)
    for file in changed:
        path, kept = file.row.path, {part.row.id for part in file.chunks or ()}
        stale = old[path].keys() | _orphans(store, path, plan)
        store.delete(sorted(stale - kept - {file_point_id(path)}))
    problems = {part.row.id: why for part, why in zip(fresh, vectors.problems, strict=True) if why}
    _commit(generation, batch, plan, problems, tally)
    tally.embedded += vectors.embedded
    tally.written += len(fresh)
    for file in changed:
        _count_chunks(file, old[file.row.path], tally)


def _held(manifest: Manifest, path: str, plan: Plan) -> dict[str, str]:
    """The fingerprints of a file's chunks by id; empty ones of what the store may not hold as the manifest says."""
    return {row.id: "" if path in plan.pending else row.fingerprint for row in manifest.chunks_of(path)}


def _is_fresh(part: PreparedChunk, old: Mapping[str, Mapping[str, str]]) -> bool:
    return old[part.row.path].get(part.row.id) != part.row.fingerprint


def _commit(
    generation: Generation, batch: Sequence[PreparedFile], plan: Plan, problems: Mapping[str, str], tally: _Tally
) -> None:
    """Commit the rows of a batch; files without points of their own lose what the index held of them."""
    skipped = [file.row.path for file in batch if file.row.state is FileState.SKIPPED]
    tally.deleted += _remove(generation, [path for path in skipped if plan.may_hold(path)], plan)
    rows = [_rows(file, problems) for file in batch]
    generation.manifest.commit(rows)
    for row, chunks in rows:
        _count_file(row, chunks, plan, tally)


def _rows(file: PreparedFile, problems: Mapping[str, str]) -> tuple[FileRow, tuple[ChunkRow, ...] | None]:
    """The manifest rows of a file. A chunk without the vector it should have gets no fingerprint: it is tried again."""
    if not file.is_chunked:
        # A file that failed keeps the chunks it had: they are the last known good.
        return file.row, () if file.row.state is FileState.SKIPPED else None
    parts = file.chunks or ()
    rows = tuple(replace(part.row, fingerprint="") if part.row.id in problems else part.row for part in parts)
    reasons = [problems[row.id] for row in rows if row.id in problems]
    if not reasons:
        return file.row, rows
    reason = f"{len(reasons)} of {len(rows)} chunks have no vector: {reasons[0]}"
    return replace(file.row, state=FileState.FAILED, reason=reason), rows


def _count_file(row: FileRow, chunks: Sequence[ChunkRow] | None, plan: Plan, tally: _Tally) -> None:
    if row.state is FileState.FAILED:
        tally.failed.append(FileProblem(row.path, row.reason))
    elif row.state is FileState.INDEXED and chunks is None:
        tally.unchanged += 1
    elif row.state is FileState.INDEXED:
        before = plan.known.get(row.path)
        if before is None or before.state is FileState.SKIPPED:
            tally.added += 1
        else:
            tally.modified += 1
        tally.bytes_read += row.size


def _count_chunks(file: PreparedFile, old: Mapping[str, str], tally: _Tally) -> None:
    parts = file.chunks or ()
    tally.kept += sum(old.get(part.row.id) == part.row.fingerprint for part in parts)
    tally.deleted += len(old.keys() - {part.row.id for part in parts})
