"""The index of one root: the object behind the server, the command line and the Python API."""

import threading
from collections.abc import Callable, Iterable
from contextlib import ExitStack, nullcontext, suppress
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self

from cqm.index.answering import AnsweringIndex
from cqm.index.disk.locations import IndexLock, make_index_folder, note_root, relative_to_root, resolve_root
from cqm.index.generations import generation as generations
from cqm.index.generations.compact import copy_generation
from cqm.index.generations.current import Lineage, use_order
from cqm.index.generations.freezing import GRAPH_FROM, can_be_frozen, copy_source, freeze_copy
from cqm.index.manifest.facts import COMPLETE_FACT
from cqm.index.model.options import IndexOptions
from cqm.index.model.outcomes import Estimate, Exported, Improved, Published
from cqm.index.model.progress import Progress, UpdateSummary
from cqm.index.model.status import COMPACT, EXPORT, IMPROVE, UPDATE, UPDATE_OF_PATHS
from cqm.index.remote.deadline import StoppedError
from cqm.index.remote.variables import Variables, process_variables
from cqm.index.services import Services
from cqm.index.update.run import Updating
from cqm.index.workers import Workers
from cqm.index.workers.forking import Source

if TYPE_CHECKING:
    from cqm.index.snapshots.restore import Restoring

_READERS_SECONDS = 30.0
"""Time closing waits for readers, in seconds. A slower reader meets an error."""


class Index(AnsweringIndex):
    """An opened index. One process has it at a time; its methods may be called from any thread.

    Use `Index.open`, and close it or use it in a `with` block.
    """

    def __init__(
        self, root: Path, options: IndexOptions, folder: Path, source: Source | None, variables: Variables
    ) -> None:
        lineage, services = Lineage(folder, options, variables), Services(options, variables)
        super().__init__(root, options, folder, lineage, services, Workers(options.workers, root, source))
        self._variables = variables
        self._lock = IndexLock(folder)
        self._updating = threading.Lock()
        self._closing = threading.Lock()
        self._updates = Updating(root, folder, options, lineage, services, self._workers)

    @classmethod
    def open(
        cls,
        root: Path,
        options: IndexOptions | None = None,
        source: Source | None = None,
        variables: Variables | None = None,
    ) -> Self:
        """Open the index of a folder or file, or begin it; nothing is indexed by this.

        Parameters:
            source: a started source of parsing workers; closed with the index.
            variables: of services; by default those of this process, as they are now.

        Raises:
            ScanError: the root does not exist.
            IndexInUseError: another process has the index open.
            StoreError, ManifestError: it cannot be read or made.
            EmbeddingError, ContextError, RerankError: an option of a model is not valid.
        """
        options = options or IndexOptions()
        root = resolve_root(root)
        folder = make_index_folder(root, options)
        index = cls(root, options, folder, source, process_variables() if variables is None else variables)
        index._lock.acquire()
        try:
            note_root(folder, root)
            if not index._lineage.is_begun:
                # All files will be parsed. The process forking the workers loads meanwhile.
                index._workers.warm()
            serving = index._lineage.open()
            use_order(index._services.routes, serving)
            if not serving.manifest.fact(COMPLETE_FACT):
                # The same, where an earlier process had begun.
                index._workers.warm()
        except BaseException:
            index._workers.close()
            index._services.close()
            index._lock.release()
            raise
        return index

    def __enter__(self) -> Self:
        """The index itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close it."""
        self.close()

    def close(self) -> None:
        """Flush and release everything; may be called twice. Waits for running calls."""
        with self._closing:
            with self._updating:
                opened, has_obsolete = self._lineage.end()
            self._lineage.wait_for_readers(_READERS_SECONDS)
            is_ours = self._lock.is_held()
            with ExitStack() as closing:
                closing.callback(self._lock.release)
                closing.callback(self._services.close)
                closing.callback(self._workers.close)
                if is_ours and has_obsolete:
                    closing.callback(generations.remove_others, self.folder, self.options, self._variables)
                for generation in opened:
                    closing.callback(generation.close if is_ours else generation.abandon)

    def warm(self) -> None:
        """Start the parsing workers and load the query models early, so that updates and first searches are quicker."""
        self._workers.warm()
        self._asked()

    def retry_models(self) -> None:
        """Let the next update try failed models again at once."""
        self._services.retry_models()

    def update(
        self,
        paths: Iterable[str | Path] | None = None,
        *,
        anew: bool = False,
        report: Callable[[Progress], None] = lambda _: None,
        cancelled: Callable[[], bool] = lambda: False,
    ) -> UpdateSummary:
        """Bring the index up to date with the files; searches go on meanwhile.

        Updates of several threads run one after the other. After a change of chunker, model or options the whole tree
        is indexed into a new generation, while the old one serves until the new one is complete.

        Parameters:
            paths: changed or vanished files or folders, relative to the root or absolute; None compares the whole
                tree.
            anew: read and embed everything again, into a new generation. The old one stays if that fails, is cancelled,
                or would lose files or vectors.
            report: called as the update goes on.
            cancelled: asked between batches and while a service works; true stops the update early. Finished work
                stays.

        Raises:
            ScanError: the root cannot be walked, or a path is outside of it.
            StoreError, ManifestError: the index cannot be written.
        """
        below = None if paths is None else sorted({relative_to_root(self.root, path) for path in paths})
        return self._update(below, report, cancelled, anew=anew)

    def restore(
        self,
        file: str | Path,
        *,
        report: Callable[[Progress], None] = lambda _: None,
        cancelled: Callable[[], bool] = lambda: False,
    ) -> UpdateSummary:
        """Take the index from a snapshot and bring it up to date; unchanged files are not read again.

        The present index serves until then, and stays if this fails or is cancelled.

        Parameters:
            file: written by `export`, on any machine; it need not be trusted.
            report, cancelled: as in `update`.

        Raises:
            SnapshotError: it is damaged, or was made with other options.
            ScanError, StoreError, ManifestError: as in `update`.
        """
        from cqm.index.snapshots.restore import opened_snapshot  # start-up time, here and below

        with opened_snapshot(Path(file), self.options) as snapshot:
            return self._update(None, report, cancelled, anew=True, snapshot=snapshot)

    def export(self, file: str | Path) -> Exported:
        """Write the index to a snapshot, which `restore` takes; searches go on meanwhile, updates wait.

        Parameters:
            file: replaced when the snapshot is complete.

        Raises:
            SnapshotError: it cannot be written, or the index is not complete with these options.
            StoreError, ManifestError: the index cannot be read.
        """
        from cqm.index.snapshots.write import write_snapshot

        with self._updating, self._runs.run(EXPORT):
            return write_snapshot(self._lineage.serving, self.options, Path(file))

    def take(
        self,
        name: str,
        *,
        report: Callable[[Progress], None] = lambda _: None,
        cancelled: Callable[[], bool] = lambda: False,
    ) -> UpdateSummary:
        """Take a base of the team: its points stay on the server, and local differences come into a layer over them.

        The present index serves until then, and stays if this fails or is cancelled.

        Parameters:
            name: of the base, on the configured server.
            report, cancelled: as in `update`.

        Raises:
            SnapshotError: it is damaged, or was made with other options.
            ScanError, StoreError, ManifestError: as in `update`; also, there is no such base or no server.
        """
        from cqm.index.snapshots.base import opened_base

        with opened_base(name, self.options, self._variables) as base:
            return self._update(None, report, cancelled, anew=True, snapshot=base, prepare=base.prepare)

    def publish(self, name: str, *, keep: int = 7) -> Published:
        """Write the index to the configured server as a base for `take`; updates wait.

        Parameters:
            name: of the base; an older one of this name stays for machines using it.
            keep: number of bases to keep, with the new one.

        Raises:
            SnapshotError: the index is not complete with these options.
            StoreError, ManifestError: the index cannot be read or the server refuses, or none is configured.
        """
        from cqm.index.snapshots.base import publish_base

        with self._updating, self._runs.run(EXPORT):
            return publish_base(self._lineage.serving, self.options, self._variables, name, keep)

    def _update(
        self,
        below: list[str] | None,
        report: Callable[[Progress], None],
        cancelled: Callable[[], bool],
        *,
        anew: bool,
        snapshot: "Restoring | None" = None,
        prepare: Callable[[Path], None] | None = None,
    ) -> UpdateSummary:
        self._services.refresh()
        task, first = (UPDATE, nullcontext) if below is None else (UPDATE_OF_PATHS, self._turns.first)
        lineage = self._lineage
        with self._updating, first(), self._runs.run(task) as run:
            self._lock.require()
            tell = run.noting(report)
            with lineage.anew(prepare) if anew else nullcontext(lineage.target(self._services.routes)) as target:
                run.becomes(self._updates.task(target, below))
                if snapshot and not snapshot.fill(target, tell, cancelled):
                    return UpdateSummary(cancelled=True)
                lineage.settle_models(self._services.routes, target)
                if below and not self._updates.is_enough(below, target):
                    below = None
                    run.becomes(self._updates.task(target, below))
                tell(Progress("scanning"))
                summary = self._updates.update(target, below, tell, cancelled, anew=anew)
            run.is_complete = not summary.cancelled
        report(Progress("done", chunks=summary.chunks_written))
        return snapshot.told(summary) if snapshot and not summary.dropped else summary

    def compact(self) -> None:
        """Rewrite the index without the space of deleted chunks; searches go on meanwhile. A large one is frozen.

        Meanwhile it takes up to twice its room on disk; a large one three times.

        Raises:
            StoreError, ManifestError: it cannot be read or written, or was never completed; it is as it was then.
        """
        if can_be_frozen(self._lineage.serving):
            self._freeze(lambda: False)
            return
        with self._updating, self._runs.run(COMPACT):
            self._lock.require()
            compacted = copy_generation(self._lineage.serving, self.options, self._variables)
            self._lineage.switch_to(compacted)

    def _freeze(self, cancelled: Callable[[], bool]) -> None:
        """Put the points of the serving generation into a base mapped from disk; updates and searches go on.

        Changes made meanwhile are updated in the new generation before it serves.

        Parameters:
            cancelled: asked now and then; true leaves everything unchanged.

        Raises:
            StoreError, ManifestError: it cannot be read or written, or was never completed; it stays unchanged then.
        """
        place = self.folder / generations.fresh_name(self.options)
        with suppress(StoppedError), ExitStack() as ending:
            ending.callback(generations.remove, self.folder, place.name, self.options, self._variables)
            with self._runs.run(COMPACT):
                with self._updating:
                    self._lock.require()
                    source = self._lineage.serving
                    spaces = copy_source(source, place)
                freeze_copy(place, spaces, cancelled, has_graph=source.manifest.chunk_count() >= GRAPH_FROM)
            prepare = partial(self._lineage.put_in_place, place, source)
            self._update(None, lambda _: None, cancelled, anew=True, prepare=prepare)

    def improve(
        self,
        *,
        report: Callable[[Progress], None] = lambda _: None,
        cancelled: Callable[[], bool] = lambda: False,
    ) -> Improved:
        """Backfill: get the preferred model's vectors and the written contexts left for later by updates.

        Updates and searches go on meanwhile. It ends early when a needed model fails or the index is closed; a later
        call goes on from there.

        Parameters:
            report: called after each file.
            cancelled: asked after each file, and while a service works; true stops the backfill.

        Raises:
            StoreError, ManifestError: the index cannot be written.
        """
        self._services.refresh()
        with self._runs.run(IMPROVE) as run:
            self._lock.require()
            return self._updates.improve(self._updating, run.noting(report), cancelled)

    def estimate(self) -> Estimate:
        """Estimate the model calls of an update of the whole tree. Asks no model.

        Raises:
            ScanError: the root cannot be walked.
        """
        with self._updating:
            return self._updates.estimate()
