"""Update some paths or the whole tree of an open index, and let a complete generation serve."""

import json
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from cqm.index.disk.locations import folder_of, note_use
from cqm.index.files import checkout
from cqm.index.generations.compact import what_is_lost
from cqm.index.generations.current import Lineage
from cqm.index.generations.generation import Generation
from cqm.index.manifest.facts import (
    COMPARED_FACT,
    COMPLETE_FACT,
    DAMAGE_FACT,
    HEAD_FACT,
    LAST_FACT,
    UNAVAILABLE_FACT,
    UPDATED_FACT,
)
from cqm.index.model.options import IndexOptions
from cqm.index.model.progress import Estimate, Progress, UpdateSummary
from cqm.index.model.status import REBUILD, UPDATE, UPDATE_OF_PATHS, LastUpdate
from cqm.index.services import Services
from cqm.index.status.catalogue import make_room
from cqm.index.update.collecting import seldom_collected
from cqm.index.update.estimate import estimate_update
from cqm.index.update.plan import ROOT_FACT, identity, plan_update, refuse_another
from cqm.index.update.prepare import Preparation
from cqm.index.update.run import run_update
from cqm.index.update.vectorizer import wanted_spaces
from cqm.index.update.write import Target
from cqm.index.workers import Workers

_REBUILT = {
    DAMAGE_FACT: "The index was damaged and is rebuilt:",
    UNAVAILABLE_FACT: "Another index takes the place of the one that was here:",
}
"""Notes about a complete generation which was begun because another one did not open."""


@dataclass(frozen=True, slots=True)
class Updating:
    """The updates of an open index. Callers hold the index's update lock.

    Attributes:
        root, folder, options: of the index.
        lineage: its generations.
        services: its models.
        workers: parse its files.
    """

    root: Path
    folder: Path
    options: IndexOptions
    lineage: Lineage
    services: Services
    workers: Workers

    def update(
        self,
        target: Generation,
        below: list[str] | None,
        report: Callable[[Progress], None],
        cancelled: Callable[[], bool],
        *,
        anew: bool,
    ) -> UpdateSummary:
        """Bring a generation up to date, and let it serve when it holds every file.

        Parameters:
            target: the generation.
            below: paths relative to the root; None for all.
            report, cancelled, anew: as in `Index.update`.
        """
        started, before, cached = time.monotonic(), self.services.usage(), self.services.cached()
        # Read before the files: a checkout meanwhile is not the compared one.
        head = checkout.head(folder_of(self.root)) or "" if below is None else ""
        seen = {COMPARED_FACT: str(time.time()), HEAD_FACT: head}
        plan = plan_update(self.root, target, self.options, below)
        scanned = time.monotonic() - started
        if not anew:
            refuse_another(self.root, self.lineage.serving.manifest)
        place = replace(self.target_for(target, plan.pending), moved=plan.moved)
        with seldom_collected():
            summary = run_update(plan, place, self.preparation(), self.workers, report=report, cancelled=cancelled)
        summary = replace(summary, stages={"scanning": scanned, **summary.stages})
        is_whole = below is None and not summary.cancelled
        if is_whole and summary.bytes_read:
            files, seconds = summary.added + summary.modified, time.monotonic() - started
            done = LastUpdate(time.time(), seconds, files, summary.chunks_written, summary.stages)
            seen[LAST_FACT] = json.dumps(asdict(done))
        target.manifest.set_facts(
            {UPDATED_FACT: str(time.time()), ROOT_FACT: identity(self.root)}
            | ({COMPLETE_FACT: "1", **seen} if is_whole else {})
        )
        usage, fetched = self.services.used_since(before), self.services.cached() - cached
        summary = replace(summary, usage=usage, cached=fetched, seconds=time.monotonic() - started)
        return self._complete(target, summary, anew=anew) if is_whole else summary

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

    def estimate(self, target: Generation) -> Estimate:
        """Estimate the model calls of an update of the whole tree."""
        plan = plan_update(self.root, target, self.options, None)
        preparation, variables = self.preparation(), self.services.variables
        return estimate_update(plan, target.manifest, preparation, self.options, self.workers, variables)

    def _complete(self, target: Generation, summary: UpdateSummary, *, anew: bool) -> UpdateSummary:
        """Let a complete generation serve, unless files or vectors would be lost; add notes to the summary."""
        wanted = wanted_spaces(self.services.routes, target.manifest)
        if anew and (loss := what_is_lost(self.lineage.serving, target, wanted)):
            return replace(summary, dropped=True, notes=(f"The index stays as it was before: {loss}.",))
        notes = [f"{told} {why}" for fact, told in _REBUILT.items() if (why := target.manifest.fact(fact))]
        if notes:
            target.manifest.set_facts(dict.fromkeys(_REBUILT, ""))
        self.lineage.switch_to(target)
        note_use(self.folder)
        return replace(summary, notes=(*notes, *make_room(self.folder, self.options, self.services.variables)))
