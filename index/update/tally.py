"""Count the work of an update, and its speed."""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from cqm.index.model.progress import Progress, UpdateSummary
from cqm.index.model.query import FileProblem, FileState
from cqm.index.tracing import span
from cqm.index.update.plan import Plan
from cqm.index.update.prepare import PreparedFile
from cqm.index.update.vectorizer import lacking, wanted_spaces
from cqm.index.update.write import Stored, Target


@dataclass(slots=True)
class Tally:
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
            with span(f"cqm.{stage}"):
                yield
        finally:
            self.stages[stage] = self.stages.get(stage, 0.0) + time.monotonic() - started

    def waited(self, batches: Iterator[list[PreparedFile]]) -> Iterator[list[PreparedFile]]:
        """Pass batches on; time spent waiting for them counts as parsing."""
        while True:
            with self.timed("parsing"):
                batch = next(batches, None)
            if batch is None:
                return
            yield batch

    def count(self, stored: Stored, plan: Plan) -> None:
        """Add the counts of a stored batch."""
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

    def summary(self, plan: Plan, target: Target, *, is_stopped: bool) -> UpdateSummary:
        """Return the counts, with those of the index after the update."""
        manifest, routes = target.generation.manifest, target.routes
        return UpdateSummary(
            added=self.added,
            modified=self.modified,
            deleted=len([path for path in plan.vanished if path in plan.known]),
            unchanged=self.unchanged,
            failed=tuple(self.failed),
            skipped=manifest.skipped_by_reason(),
            chunks_written=self.written,
            chunks_deleted=self.deleted,
            chunks_kept=self.kept,
            embedded=self.embedded,
            lacking=lacking(manifest, wanted_spaces(routes, manifest)),
            models=routes.states() if routes else (),
            bytes_read=self.bytes_read,
            cancelled=is_stopped,
            stages=self.stages,
        )


class Pace:
    """The speed of an update in files and bytes, and the time left."""

    def __init__(self, plan: Plan) -> None:
        self._sizes = {found.path: found.size for found, _ in plan.todo}
        self._total_bytes = sum(self._sizes.values())
        self._started = time.monotonic()
        self._bytes = 0
        self.done = 0

    def went(self, batch: Sequence[PreparedFile]) -> None:
        """Note a finished batch."""
        self.done += len(batch)
        self._bytes += sum(self._sizes.get(file.row.path, 0) for file in batch)

    def progress(self, path: str, chunks: int) -> Progress:
        """Return the progress after a file, with the number of chunks."""
        seconds = max(time.monotonic() - self._started, 1e-6)
        remaining = (self._total_bytes - self._bytes) * seconds / self._bytes if self._bytes else None
        return Progress("indexing", self.done, len(self._sizes), path, chunks, self.done / seconds, remaining)
