"""One update of an index: what was planned is prepared, embedded, stored and committed."""

import time
from collections.abc import Callable, Iterable, Sequence
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
from cqm.index.update.vectorizer import wanted_spaces
from cqm.index.update.write import Rows, Stored, Target, delete_points, remove_files, store_files
from cqm.index.workers import Workers


@dataclass(frozen=True, slots=True)
class Work:
    """How an update is done.

    Attributes:
        target: where files go.
        preparation: how they are prepared.
        workers: prepare them.
    """

    target: Target
    preparation: Preparation
    workers: Workers


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

    def count(self, stored: Stored) -> None:
        self.written += stored.written
        self.deleted += stored.deleted
        self.kept += stored.kept
        self.embedded += stored.embedded


class _Pace:
    """How fast an update goes on, by files and by bytes, and so how long it will take still."""

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
    plan: Plan, work: Work, *, report: Callable[[Progress], None], cancelled: Callable[[], bool]
) -> UpdateSummary:
    """Carry out a plan; the index is consistent after every file.

    Parameters:
        plan: what there is to do.
        work: how it is done.
        report: called after each batch of files.
        cancelled: asked between batches, and while a service works; the update stops early when it answers true.

    Raises:
        StoreError, ManifestError: the index cannot be written; what was committed stays.
    """
    tally = _Tally(unchanged=plan.unchanged, failed=list(plan.given_up))
    target, manifest = work.target, work.target.generation.manifest
    tally.deleted += remove_files(target, plan.vanished)
    tally.deleted += _skip(target, plan, plan.skipped)
    stopped = _store_all(work, plan, tally, report, cancelled)
    waiting = lacking(manifest, wanted_spaces(target.routes, manifest))
    manifest.set_facts({LACKING_FACT: str(waiting), PROBLEMS_FACT: problems_of(target.routes)})
    # What was committed after the last write has to be settled by a flush of its own.
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
        cancelled=stopped,
    )


def _store_all(
    work: Work, plan: Plan, tally: _Tally, report: Callable[[Progress], None], cancelled: Callable[[], bool]
) -> bool:
    """Store what is to be read; whether that was stopped early."""
    pace = _Pace(plan)
    if plan.todo:
        report(pace.progress("", 0))
    for batch in prepare_files(plan.todo, work.preparation, work.workers):
        tally.deleted += _take_out(work.target, plan, batch)
        try:
            stored = store_files(work.target, [file for file in batch if not file.is_skipped], cancelled)
        except StoppedError:
            return True
        tally.count(stored)
        _count_files(stored.rows, plan, tally)
        pace.went(batch)
        report(pace.progress(batch[-1].row.path, tally.written))
        if cancelled():
            return pace.done < len(plan.todo)
    return False


def _take_out(target: Target, plan: Plan, batch: Sequence[PreparedFile]) -> int:
    """Take out what the index holds of files that are gone or not to be indexed; gives the number of their chunks."""
    gone = [file.row.path for file in batch if file.is_gone and plan.may_hold(file.row.path)]
    skipped = [file.row for file in batch if file.is_skipped and not file.is_gone]
    return remove_files(target, gone) + _skip(target, plan, skipped)


def _skip(target: Target, plan: Plan, rows: Sequence[FileRow]) -> int:
    """Record files that are left out, and take out what the index held of them; gives the number of their chunks.

    Their rows are replaced: at no moment does the index know nothing of a file that is there.
    """
    deleted = delete_points(target, [row.path for row in rows if plan.may_hold_chunks(row.path)])
    if rows:
        target.generation.manifest.commit([(row, ()) for row in rows])
    return deleted


def _count_files(rows: Iterable[Rows], plan: Plan, tally: _Tally) -> None:
    for row, chunks in rows:
        if row.state is FileState.FAILED:
            tally.failed.append(FileProblem(row.path, row.reason))
        elif row.state is FileState.INDEXED and chunks is None:
            tally.unchanged += 1
        elif row.state is FileState.INDEXED:
            _count_indexed(row, plan.known.get(row.path), tally)


def _count_indexed(row: FileRow, before: FileRow | None, tally: _Tally) -> None:
    if before is None or before.state is FileState.SKIPPED:
        tally.added += 1
    else:
        tally.modified += 1
    tally.bytes_read += row.size
