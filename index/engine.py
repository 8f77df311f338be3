"""The index of one root: the object behind the server, the command line and the Python API."""

import math
import threading
import time
from collections.abc import Callable, Iterable
from contextlib import ExitStack, nullcontext
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self

from cqm.index.disk.locations import IndexLock, make_index_folder, note_root, note_use, relative_to_root, resolve_root
from cqm.index.generations import generation as generations
from cqm.index.generations.compact import copy_generation
from cqm.index.generations.current import Lineage, use_order
from cqm.index.generations.generation import Generation
from cqm.index.manifest.facts import COMPLETE_FACT
from cqm.index.model.changes import Changes, ChangesQuery
from cqm.index.model.options import IndexOptions
from cqm.index.model.outcomes import Estimate, Exported, Improved, Published
from cqm.index.model.progress import Progress, UpdateSummary
from cqm.index.model.query import Answer, FileProblem, FileState, Query
from cqm.index.model.secrets import RedactedFile
from cqm.index.model.status import COMPACT, EXPORT, IMPROVE, UPDATE, UPDATE_OF_PATHS, IndexStatus
from cqm.index.model.symbols import Outline, OutlineQuery, Reading, ReadQuery
from cqm.index.model.uses import ReferenceGroup, SymbolUses, UsesQuery
from cqm.index.remote.variables import Variables, process_variables
from cqm.index.search.answer_cache import AnswerCache
from cqm.index.search.fairness import Turns
from cqm.index.search.grep import Grepping, KnownFiles, find_lines
from cqm.index.search.page import Page, answer_of
from cqm.index.search.search import Searching, find
from cqm.index.search.symbols import FreshFiles, Histories, Reader, find_changes, outline
from cqm.index.search.usages import RecentNames, find_usages
from cqm.index.services import Services
from cqm.index.status.running import Runs
from cqm.index.status.status import building_beside, describe, freshness, going_on
from cqm.index.update.plan import count_differing
from cqm.index.update.run import Updating
from cqm.index.update.vectorizer import with_models
from cqm.index.workers import Workers
from cqm.index.workers.forking import Source

if TYPE_CHECKING:
    from cqm.index.snapshots.restore import Restoring

_USE_NOTED_EVERY_SECONDS = 60.0
_READERS_SECONDS = 30.0
"""Time closing waits for readers, in seconds. A slower reader meets an error."""


class Index:
    """An opened index. One process has it at a time; its methods may be called from any thread.

    Use `Index.open`, and close it or use it in a `with` block.
    """

    def __init__(
        self, root: Path, options: IndexOptions, folder: Path, source: Source | None, variables: Variables
    ) -> None:
        self.root = root
        self.options = options
        self.folder = folder
        self._variables = variables
        self._lock = IndexLock(folder)
        self._updating = threading.Lock()
        self._closing = threading.Lock()
        self._runs = Runs(folder)
        self._services = Services(options, variables)
        self._answers = AnswerCache(self._services.cache, options)
        self._recent = RecentNames()
        self._lineage = Lineage(folder, options, variables)
        self._turns = Turns()
        self._workers = Workers(options.workers, root, source)
        self._updates = Updating(root, folder, options, self._lineage, self._services, self._workers)
        self._known = KnownFiles()
        self._fresh = FreshFiles(root, options.scan, options.chunk)
        self._used_at = -math.inf

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
            root: the folder or file.
            options: of the index.
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
                # All files will be parsed: the process that forks workers loads beside the rest.
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
        """Start the parsing workers ahead of an update, which is then .8 s quicker."""
        self._workers.warm()

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
            anew: read and embed everything again, into a generation of its own. The old one stays, and the new one is
                dropped, when that fails, is cancelled, or would lose files or vectors that the old one has.
            report: called as the update goes on.
            cancelled: asked between batches, and while a service works; when it answers true the update stops early,
                and finished work stays.

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
        """Take the index from a snapshot, and bring it up to date with the files: what is the same is not read anew.

        The index as it is serves until that is done, and stays if it fails or is cancelled.

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
        """Take a base of the team: its points stay on the server, and what differs here comes into a layer over them.

        The index as it is serves until that is done, and stays if it fails or is cancelled.

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
        """Write the index to the configured server as a base, which `take` takes; updates wait.

        Parameters:
            name: of the base; another one of this name stays for machines that have taken it.
            keep: so many of them stay, with the new one.

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
        """Rewrite the index without the space of deleted chunks; searches go on meanwhile.

        Meanwhile it takes up to twice its room on disk.

        Raises:
            StoreError, ManifestError: it cannot be read or written, or was never completed; it is as it was then.
        """
        with self._updating, self._runs.run(COMPACT):
            self._lock.require()
            compacted = copy_generation(self._lineage.serving, self.options, self._variables)
            self._lineage.switch_to(compacted)

    def improve(
        self,
        *,
        report: Callable[[Progress], None] = lambda _: None,
        cancelled: Callable[[], bool] = lambda: False,
    ) -> Improved:
        """Backfill: get vectors of the preferred model and written contexts which an update left for later.

        Updates and searches go on meanwhile. It ends early when a model that is needed fails, and when the index is
        closed; a later call goes on from there.

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

    def search(self, query: Query) -> Answer:
        """Answer a query from the index as it is now.

        Raises:
            QueryError: a parameter of the query is not valid.
            StoreError, ManifestError: the index cannot be read.
        """
        self._note_use()
        with self._lineage.reading() as serving:
            # The files decide, and may differ from the index at any time: nothing of such an answer is kept.
            key = "" if query.mode.is_of_lines else self._answers.key(serving, query)
            answer = self._answers.get(key) if key else None
            if answer is None:
                page = self._lines(serving, query) if query.mode.is_of_lines else self._best(serving, query)
                answer = answer_of(page, serving.manifest)
                if key:
                    self._answers.put(key, answer)
            return replace(answer, freshness=freshness(self.root, serving.manifest))

    def _best(self, serving: Generation, query: Query) -> Page:
        models, reranker = self._services.questions.of(serving), self._services.reranker
        # A server's searches cost this processor little, and may hang.
        turns = self._turns if serving.store.in_folder else None
        return find(Searching(serving, models, reranker, self.options.rerank, turns, str(self.root)), query)

    def _lines(self, serving: Generation, query: Query) -> Page:
        return find_lines(Grepping(serving, self.root, self.options.scan, self._workers, self._known), query)

    def usages(
        self, name: str, limit: int = 50, cursor: str = "", groups: tuple[ReferenceGroup, ...] = (), depth: int = 1
    ) -> SymbolUses:
        """Return the definitions of a symbol and every line with its name; for the parameters see `UsesQuery`.

        Raises:
            QueryError: the name is no symbol's, its place has none, or another parameter is out of range.
            StoreError, ManifestError: the index cannot be read.
        """
        self._note_use()
        with self._lineage.reading() as serving:
            query = UsesQuery(name, limit, cursor, groups, depth)
            return find_usages(serving, self._workers, query, self._recent, str(self.root))

    def outline(self, query: OutlineQuery) -> Outline:
        """List the symbols of a file, or the most used symbols of a folder.

        Raises:
            QueryError: the limit or the cursor is out of range.
            NotIndexedError: the path is left out of the index; the message has the reason.
            StoreError, ManifestError: the index cannot be read.
        """
        self._note_use()
        with self._lineage.reading() as serving:
            return outline(serving, self.root, self.options.scan, query)

    def paths(self, part: str, limit: int = 100) -> tuple[str, ...]:
        """List indexed files whose path has a text, in any case of ASCII; those that begin with it come first.

        Raises:
            ManifestError: the index cannot be read.
        """
        self._note_use()
        with self._lineage.reading() as serving:
            return tuple(serving.manifest.paths_with(part, limit))

    def read(self, query: ReadQuery) -> Reading:
        """Read a symbol, lines or a file as it is now; see `Reader.read` for the errors."""
        self._note_use()
        with self._lineage.reading() as serving:
            return Reader(serving, self._workers, self._fresh).read(query)

    def changes(self, query: ChangesQuery) -> Changes:
        """Find the commits that a question means, and the lines of the first as they are now; see `find_changes`."""
        self._note_use()
        with self._lineage.reading() as serving:
            return find_changes(Histories(serving, self._workers, self._fresh), query)

    def status(self, *, look: bool = False) -> IndexStatus:
        """Return the state of the index: files, chunks, freshness, models, running work.

        Parameters:
            look: compare with the files on disk, which costs a scan.
        """
        with self._lineage.reading() as serving:
            return self._status(serving, look=look)

    def _status(self, serving: Generation, *, look: bool) -> IndexStatus:
        # First: work which ends during the counting then shows beside old counts, instead of missing beside them.
        running, stopped = self._runs.running(), self._runs.stopped()
        pending = count_differing(self.root, serving, self.options) if look else None
        found = describe(self.root, self.folder, serving.manifest, pending, self._answers.statistics(serving))
        found = with_models(found, self._services.routes, serving.manifest)
        found = replace(found, cache=self._services.cache.layers())
        building = building_beside(self.folder, serving.name, self._lineage.building, running, self.options)
        return going_on(found, running, stopped, building)

    def secrets(self) -> tuple[RedactedFile, ...]:
        """Return the files with redacted secrets: line and kind of each, never its value."""
        with self._lineage.reading() as serving:
            return serving.manifest.secrets()

    def skipped(self) -> tuple[FileProblem, ...]:
        """Return skipped files and folders with their reasons."""
        with self._lineage.reading() as serving:
            return serving.manifest.problems(FileState.SKIPPED)

    def _note_use(self) -> None:
        """Note the use of the index for `make_room`, at most once a minute: it costs a write."""
        now = time.monotonic()
        if now - self._used_at > _USE_NOTED_EVERY_SECONDS:
            self._used_at = now
            note_use(self.folder)
