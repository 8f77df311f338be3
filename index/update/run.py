"""One update of a generation: prepare the planned files, embed, write, commit."""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from cqm.index.manifest.coverage import lacking
from cqm.index.manifest.facts import LACKING_FACT, PROBLEMS_FACT
from cqm.index.manifest.rows import FileRow
from cqm.index.model.progress import Progress, UpdateSummary
from cqm.index.model.query import FileProblem, FileState
from cqm.index.remote.deadline import StoppedError
from cqm.index.status.status import problems_of
from cqm.index.update.plan import Plan
from cqm.index.update.prepare import Preparation, PreparedFile, prepare_files
from cqm.index.update.vectorizer import Vectorizer, wanted_spaces
from cqm.index.update.write import Stored, Target, delete_points, place_files, remove_files, write_files
from cqm.index.workers import Workers


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
    stages: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def timed(self, stage: str) -> Iterator[None]:
        """Add the wall time of the block to a stage."""
        started = time.monotonic()
        try:
            yield
        finally:
            self.stages[stage] = self.stages.get(stage, 0.0) + time.monotonic() - started

    def waited(self, batches: Iterator[list[PreparedFile]]) -> Iterator[list[PreparedFile]]:
        """Pass batches on; the time they are waited for is that of parsing."""
        while True:
            with self.timed("parsing"):
                batch = next(batches, None)
            if batch is None:
                return
            yield batch

    def count(self, stored: Stored, plan: Plan) -> None:
        self.written += stored.written
        self.deleted += stored.deleted
        self.kept += stored.kept
        self.embedded += stored.embedded
        for row, chunks in stored.rows:
            if row.state is FileState.FAILED:
                self.failed.append(FileProblem(row.path, row.reason))
            elif row.state is FileState.INDEXED and chunks is None:
                self.unchanged += 1
            elif row.state is FileState.INDEXED:
                self.bytes_read += row.size
                before = plan.known.get(row.path)
                is_new = before is None or before.state is FileState.SKIPPED
                self.added += is_new
                self.modified += not is_new


class _Pace:
    """The speed of an update in files and bytes, and the time left."""

    def __init__(self, plan: Plan) -> None:
        self._sizes = {found.path: found.size for found, _ in plan.todo}
        self._total_bytes = sum(self._sizes.values())
        self._started = time.monotonic()
        self._bytes = 0
        self.done = 0

    def went(self, batch: Sequence[PreparedFile]) -> None:
        self.done += len(batch)
        self._bytes += sum(self._sizes.get(file.row.path, 0) for file in batch)

    def progress(self, path: str, chunks: int) -> Progress:
        seconds = max(time.monotonic() - self._started, 1e-6)
        remaining = (self._total_bytes - self._bytes) * seconds / self._bytes if self._bytes else None
        return Progress("indexing", self.done, len(self._sizes), path, chunks, self.done / seconds, remaining)


def run_update(
    plan: Plan,
    target: Target,
    preparation: Preparation,
    workers: Workers,
    *,
    report: Callable[[Progress], None],
    cancelled: Callable[[], bool],
) -> UpdateSummary:
    """Carry out a plan batch by batch: prepare files, embed new chunks, write. Consistent after every batch.

    Parameters:
        plan: made by `plan_update`.
        target: takes the files.
        preparation, workers: read and chunk them.
        report: called after each batch.
        cancelled: asked between batches, and while a service works; true stops the update early.

    Raises:
        StoreError, ManifestError: the index cannot be written; commits so far stay.
    """
    manifest = target.generation.manifest
    tally, pace, is_stopped = _Tally(unchanged=plan.unchanged, failed=list(plan.given_up)), _Pace(plan), False
    with tally.timed("writing"):
        tally.deleted += remove_files(target, plan.vanished)
        tally.deleted += _skip(target, plan, plan.skipped)
    if plan.todo:
        report(pace.progress("", 0))
    for batch in tally.waited(prepare_files(plan.todo, preparation, workers)):
        tally.deleted += _take_out(target, plan, batch)
        files = [file for file in batch if not file.is_skipped]
        held = {file.row.path: manifest.chunks_of(file.row.path) for file in files if file.is_chunked}
        try:
            with tally.timed("embedding"):
                placement = place_files(
                    target, files, held, Vectorizer(target.routes, cancelled), wanted_spaces(target.routes, manifest)
                )
        except StoppedError:
            is_stopped = True
            break
        with tally.timed("writing"):
            tally.count(write_files(target, placement), plan)
        pace.went(batch)
        report(pace.progress(batch[-1].row.path, tally.written))
        if cancelled():
            is_stopped = pace.done < len(plan.todo)
            break
    waiting = lacking(manifest, wanted_spaces(target.routes, manifest))
    manifest.set_facts({LACKING_FACT: str(waiting), PROBLEMS_FACT: problems_of(target.routes)})
    # Commits after the last write still have to be settled.
    target.generation.store.flush_later()
    return UpdateSummary(
        added=tally.added,
        modified=tally.modified,
        deleted=len([path for path in plan.vanished if path in plan.known]),
        unchanged=tally.unchanged,
        failed=tuple(tally.failed),
        skipped=manifest.skipped_by_reason(),
        chunks_written=tally.written,
        chunks_deleted=tally.deleted,
        chunks_kept=tally.kept,
        embedded=tally.embedded,
        lacking=waiting,
        models=target.routes.states() if target.routes else (),
        bytes_read=tally.bytes_read,
        cancelled=is_stopped,
        stages=tally.stages,
    )


def _take_out(target: Target, plan: Plan, batch: Sequence[PreparedFile]) -> int:
    """Remove gone and skipped files from the index; return the number of their chunks."""
    gone = [file.row.path for file in batch if file.is_gone and plan.may_hold(file.row.path)]
    skipped = [file.row for file in batch if file.is_skipped and not file.is_gone]
    return remove_files(target, gone) + _skip(target, plan, skipped)


def _skip(target: Target, plan: Plan, rows: Sequence[FileRow]) -> int:
    """Record skipped files and delete their chunks; return the number of chunks.

    Rows are replaced, so at every moment the index knows of each file.
    """
    deleted = delete_points(target, [row.path for row in rows if plan.may_hold_chunks(row.path)])
    if rows:
        target.generation.manifest.commit([(row, ()) for row in rows])
    return deleted
