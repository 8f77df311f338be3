"""Update some paths or the whole tree of an open index, and let a complete generation serve.

An update is planned, then carried out batch by batch: files are prepared, new chunks embedded, all of it written.
"""

import gc
import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Lock

from cqm.index.disk.locations import folder_of, note_use
from cqm.index.files import checkout
from cqm.index.generations.current import Lineage
from cqm.index.generations.generation import Generation, generation_name, open_generation
from cqm.index.generations.growing import Growing
from cqm.index.manifest.facts import (
    COMPARED_FACT,
    COMPLETE_FACT,
    DAMAGE_FACT,
    GENERATED_FACT,
    HEAD_FACT,
    LAST_FACT,
    UNAVAILABLE_FACT,
    UPDATED_FACT,
)
from cqm.index.manifest.manifest import Manifest
from cqm.index.manifest.rows import FileRow
from cqm.index.model.errors import DamagedIndexError
from cqm.index.model.options import IndexOptions, StoreOptions
from cqm.index.model.outcomes import Estimate, Improved
from cqm.index.model.progress import Progress, UpdateSummary
from cqm.index.model.query import FileState
from cqm.index.model.status import REBUILD, UPDATE, UPDATE_OF_PATHS, LastUpdate
from cqm.index.remote.deadline import StoppedError
from cqm.index.services import Services
from cqm.index.status.catalogue import make_room
from cqm.index.tracing import note, traced
from cqm.index.update.backfill import Improving
from cqm.index.update.estimate import estimate_update
from cqm.index.update.plan import ROOT_FACT, Plan, identity, plan_update, refuse_another
from cqm.index.update.prepare import Preparation, PreparedFile, prepare_files
from cqm.index.update.tally import Pace, Tally
from cqm.index.update.vectorizer import Vectorizer, lacking, status_facts, wanted_spaces
from cqm.index.update.write import (
    Placement,
    Target,
    delete_points,
    place_files,
    remove_files,
    write_files,
)
from cqm.index.workers import Workers

_REBUILT = {
    DAMAGE_FACT: "The index was damaged and is rebuilt:",
    UNAVAILABLE_FACT: "Another index takes the place of the one that was here:",
}
"""Notes about a complete generation which was begun because another one did not open."""
_OBJECTS = 50_000
"""New objects between two garbage collections during an update, about 5 MB; as in the parsing processes."""

_threshold_lock = Lock()
_thresholds: list[tuple[int, int, int]] = []
"""Thresholds before each running update; the last update to end restores the first."""


@dataclass(frozen=True, slots=True)
class Updating:
    """The updates of an open index. Callers hold the index's update lock.

    Attributes:
        root, folder, options: of the index.
    """

    root: Path
    folder: Path
    options: IndexOptions
    lineage: Lineage
    services: Services
    workers: Workers

    @traced("cqm.update")
    def update(
        self,
        target: Generation,
        below: list[str] | None,
        report: Callable[[Progress], None],
        cancelled: Callable[[], bool],
        *,
        anew: bool,
    ) -> UpdateSummary:
        """Bring a generation up to date, and let it serve once it holds every file.

        Parameters:
            below: paths relative to the root; None for all.
            report, cancelled, anew: as in `Index.update`.
        """
        started, before, cached = time.monotonic(), self.services.usage(), self.services.cached()
        # Read before the files: a checkout meanwhile is not the compared one.
        head = checkout.head(folder_of(self.root)) or "" if below is None else ""
        seen = {COMPARED_FACT: str(time.time()), HEAD_FACT: head}
        seen[GENERATED_FACT] = self.options.scan.include_generated
        plan = plan_update(self.root, target, self.options, below)
        scanned = time.monotonic() - started
        if not anew:
            refuse_another(self.root, self.lineage.serving.manifest)
        place = replace(self.target_for(target, plan.pending), moved=plan.moved)
        with _seldom_collected():
            summary = self._carry_out(plan, place, report, cancelled)
        summary = replace(summary, stages={"scanning": scanned, **summary.stages})
        is_whole = below is None and not summary.cancelled
        if is_whole and summary.bytes_read:
            files, seconds = summary.added + summary.modified, time.monotonic() - started
            done = LastUpdate(time.time(), seconds, files, summary.chunks_written, summary.stages)
            seen[LAST_FACT] = json.dumps(asdict(done))
        target.manifest.set_facts(
            {UPDATED_FACT: str(time.time()), ROOT_FACT: identity(self.root)}
            | status_facts(summary.lacking, summary.models)
            | ({COMPLETE_FACT: "1", **seen} if is_whole else {})
        )
        usage, fetched = self.services.used_since(before), self.services.cached() - cached
        summary = replace(summary, usage=usage, cached=fetched, seconds=time.monotonic() - started)
        note(chunks=summary.chunks_written, files=summary.added + summary.modified, embedded=summary.embedded)
        return self._complete(target, summary, anew=anew) if is_whole else summary

    def _carry_out(
        self, plan: Plan, target: Target, report: Callable[[Progress], None], cancelled: Callable[[], bool]
    ) -> UpdateSummary:
        """Prepare, embed and write the planned files batch by batch. Consistent after every batch.

        Raises:
            StoreError, ManifestError: the index cannot be written; commits so far stay.
        """
        tally, pace, is_stopped = Tally(unchanged=plan.unchanged, failed=list(plan.given_up)), Pace(plan), False
        with tally.timed("writing"):
            tally.deleted += remove_files(target, plan.vanished) + _skip(target, plan, plan.skipped)
        if plan.todo:
            report(pace.progress("", 0))
        with closing(Growing(target.generation, cancelled)) as growing:
            for batch in tally.waited(prepare_files(plan.todo, self.preparation(), self.workers)):
                tally.deleted += _take_out(target, plan, batch)
                try:
                    with tally.timed("embedding"):
                        placement = _placed(target, batch, cancelled)
                except StoppedError:
                    is_stopped = True
                    break
                with tally.timed("writing"):
                    stored = write_files(target, placement)
                    growing.wrote(stored.written)
                tally.count(stored, plan)
                pace.went(batch)
                report(pace.progress(batch[-1].row.path, tally.written))
                if cancelled():
                    is_stopped = pace.done < len(plan.todo)
                    break
            else:
                growing.finish()
        # Commits after the last write still have to be settled.
        target.generation.store.flush_later()
        return tally.summary(plan, target, is_stopped=is_stopped)

    def is_enough(self, below: list[str], target: Generation) -> bool:
        """Whether updating these paths alone keeps the generation complete."""
        return "" not in below and self.lineage.serves(target) and bool(target.manifest.fact(COMPLETE_FACT))

    def task(self, target: Generation, below: list[str] | None) -> str:
        """Name such an update; see `Running.task`."""
        if not self.lineage.serves(target):
            return REBUILD
        return UPDATE if below is None else UPDATE_OF_PATHS

    def target_for(self, generation: Generation, pending: frozenset[str]) -> Target:
        """Return a generation as a target for files."""
        return Target(generation, self.services.routes, self.options.context.place, pending)

    def preparation(self) -> Preparation:
        """Return the options of preparing files."""
        options, has_writer = self.options, self.services.writer is not None
        return Preparation(self.root, options.scan, options.chunk, options.context.place, has_writer)

    def improve(
        self,
        lock: AbstractContextManager[object],
        report: Callable[[Progress], None],
        cancelled: Callable[[], bool],
    ) -> Improved:
        """Backfill the serving generation. Callers don't hold the update lock.

        Parameters:
            report, cancelled: as in `Index.improve`.
        """
        # Not as a reader, as closing would wait for it: it reads with the update lock held, if the index is still open.
        started, before, serving = time.monotonic(), self.services.usage(), self.lineage.serving
        target, writer = self.target_for(serving, frozenset()), self.services.writer
        is_open, wanted = partial(self.lineage.serves, serving), wanted_spaces(self.services.routes, serving.manifest)
        improving = Improving(target, self.preparation(), self.workers, writer, lock, is_open, wanted, cancelled)
        tasks = improving.tasks()
        done, embedded = improving.improve_all(tasks, report)
        waiting = improving.note_lacking(otherwise=len(tasks) - done)
        return Improved(done, embedded, waiting, self.services.used_since(before), time.monotonic() - started)

    def estimate(self) -> Estimate:
        """Estimate the model calls of an update of the whole tree."""
        serving, variables = self.lineage.serving, self.services.variables
        # Only asking a model would show a change of it since.
        if serving.recipe == generation_name(self.options):
            return self._estimate(serving)
        # Another generation would be built: nothing of it is there, and nothing is begun by asking.
        with TemporaryDirectory() as nowhere:
            empty = open_generation(Path(nowhere), "empty", replace(self.options, store=StoreOptions()), variables)
            try:
                return self._estimate(empty)
            finally:
                empty.close()

    def _estimate(self, target: Generation) -> Estimate:
        plan = plan_update(self.root, target, self.options, None)
        preparation, variables = self.preparation(), self.services.variables
        return estimate_update(plan, target.manifest, preparation, self.options, self.workers, variables)

    def _complete(self, target: Generation, summary: UpdateSummary, *, anew: bool) -> UpdateSummary:
        """Let a complete generation serve, unless files or vectors would be lost; add notes to the summary."""
        wanted = wanted_spaces(self.services.routes, target.manifest)
        if anew and (loss := _what_is_lost(self.lineage.serving, target, wanted)):
            return replace(summary, dropped=True, notes=(f"The index stays as it was before: {loss}.",))
        notes = [f"{told} {why}" for fact, told in _REBUILT.items() if (why := target.manifest.fact(fact))]
        if notes:
            target.manifest.set_facts(dict.fromkeys(_REBUILT, ""))
        self.lineage.switch_to(target)
        note_use(self.folder)
        return replace(summary, notes=(*notes, *make_room(self.folder, self.options, self.services.variables)))


def _placed(target: Target, batch: Sequence[PreparedFile], cancelled: Callable[[], bool]) -> Placement:
    """Compare a batch with the index, and embed its new chunks.

    Raises:
        StoppedError: it was cancelled.
    """
    manifest = target.generation.manifest
    files = [file for file in batch if not file.is_skipped]
    held = {file.row.path: manifest.chunks_of(file.row.path) for file in files if file.is_chunked}
    vectorizer, wanted = Vectorizer(target.routes, cancelled), wanted_spaces(target.routes, manifest)
    return place_files(target, files, held, vectorizer, wanted)


def _take_out(target: Target, plan: Plan, batch: Sequence[PreparedFile]) -> int:
    """Remove gone and skipped files from the index; return the number of their chunks."""
    gone = [file.row.path for file in batch if file.is_gone and plan.may_hold(file.row.path)]
    skipped = [file.row for file in batch if file.is_skipped and not file.is_gone]
    return remove_files(target, gone) + _skip(target, plan, skipped)


def _skip(target: Target, plan: Plan, rows: Sequence[FileRow]) -> int:
    """Record skipped files and delete their chunks; return the number of chunks.

    Rows are replaced, so at every moment the index knows of each file.
    """
    if not rows:
        return 0
    deleted = delete_points(target, [row.path for row in rows if plan.may_hold_chunks(row.path)])
    target.generation.manifest.commit([(row, ()) for row in rows])
    return deleted


def _what_is_lost(old: Generation, new: Generation, wanted: Mapping[str, str]) -> str:
    """Say which data a rebuilt generation lacks compared with the old one; empty if nothing.

    Parameters:
        wanted: from `wanted_spaces`.
    """
    try:
        held = {path for path, row in old.manifest.files().items() if row.state is FileState.INDEXED}
        had = _without_vector(old.manifest, wanted)
    except DamagedIndexError:
        return ""
    failed = [problem for problem in new.manifest.problems(FileState.FAILED) if problem.path in held]
    if failed:
        return f"{len(failed):,} files failed that it holds, {failed[0].path} first: {failed[0].reason}"
    worse = _without_vector(new.manifest, wanted) - had
    return f"the preferred model could not be had for {worse:,} chunks" if worse > 0 else ""


def _without_vector(manifest: Manifest, wanted: Mapping[str, str]) -> int:
    """Count the chunks waiting for a vector of their preferred model."""
    return lacking(manifest, wanted) - manifest.without_note()[1]


@contextmanager
def _seldom_collected() -> Iterator[None]:
    """Have Python look seldom for cycles, in this whole process: it took a fifth of an update's time."""
    with _threshold_lock:
        _thresholds.append(_thresholds[0] if _thresholds else gc.get_threshold())
        # A process may look even more seldom, as ours do.
        gc.set_threshold(max(_OBJECTS, gc.get_threshold()[0]), *_thresholds[0][1:])
    try:
        yield
    finally:
        with _threshold_lock:
            threshold = _thresholds.pop()
            if not _thresholds:
                gc.set_threshold(*threshold)
