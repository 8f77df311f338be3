"""The index of one root: the one object that the server and the command line talk to."""

import os
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Self

from cqm.index import generation as generations
from cqm.index.embedding import open_embedder
from cqm.index.errors import EmbeddingError, ScanError
from cqm.index.generation import Generation
from cqm.index.home import IndexLock, index_folder, make_private_folder, resolve_root
from cqm.index.model import Answer, FileProblem, FileState, IndexStatus, Progress, Query, SymbolUses, UpdateSummary
from cqm.index.options import IndexOptions
from cqm.index.prepare import Preparation
from cqm.index.search import find
from cqm.index.status import COMPLETE_FACT, HEAD_FACT, UPDATED_FACT, describe, git_head
from cqm.index.update import plan_update, run_update
from cqm.index.usages import find_usages
from cqm.index.vectors import Vectorizer


class Index:
    """An opened index. One process has it at a time; its methods may be called from any thread.

    Use `Index.open`, and close it or use it in a `with` block.
    """

    def __init__(self, root: Path, options: IndexOptions, folder: Path) -> None:
        self.root = root
        self.options = options
        self.folder = folder
        self._lock = IndexLock(folder)
        self._updating = threading.Lock()
        self._embedder = open_embedder(options.embedding)
        self._serving: Generation | None = None
        self._building: Generation | None = None
        self._retired: list[Generation] = []

    @classmethod
    def open(cls, root: Path, options: IndexOptions | None = None) -> Self:
        """Open the index of a folder or file, or begin it; nothing is indexed by this.

        Raises:
            ScanError: the root does not exist.
            IndexInUseError: another process has the index open.
            StoreError, ManifestError: it cannot be read or made.
        """
        options = options or IndexOptions()
        root = resolve_root(root)
        folder = index_folder(root, options)
        make_private_folder(folder)
        index = cls(root, options, folder)
        index._lock.acquire()
        try:
            (folder / "root").write_text(str(root), encoding="utf-8", errors="surrogateescape")
            name = generations.current_name(folder) or index._wanted()
            index._serving = generations.open_generation(folder, name)
        except BaseException:
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
        """Flush and release everything; harmless when it is closed already. Waits for a running update."""
        with self._updating:
            opened = [*self._retired, *filter(None, [self._building, self._serving])]
            obsolete = self._building is None and self._serving is not None
            self._retired, self._building, self._serving = [], None, None
            try:
                for generation in opened:
                    generation.close()
                if obsolete:
                    generations.remove_others(self.folder)
            finally:
                if self._embedder:
                    self._embedder.close()
                self._lock.release()

    def update(
        self,
        paths: Iterable[str | Path] | None = None,
        *,
        report: Callable[[Progress], None] = lambda _: None,
        cancelled: Callable[[], bool] = lambda: False,
    ) -> UpdateSummary:
        """Bring the index up to date with the files; searches go on meanwhile.

        Updates of several threads run one after the other. After a change of chunker, model or options the whole tree
        is indexed into a new generation, while the old one serves until the new one is complete.

        Parameters:
            paths: files or folders that changed, relative to the root or absolute, also vanished ones; None compares
                the whole tree.
            report: called as the update goes on.
            cancelled: asked between batches; the update stops early when it answers true, and what is done stays.

        Raises:
            ScanError: the root cannot be walked, or a path is outside of it.
            StoreError, ManifestError: the index cannot be written.
        """
        with self._updating:
            below = None if paths is None else sorted({self._relative(path) for path in paths})
            target = self._target()
            if below and ("" in below or target is not self._serving or not target.manifest.fact(COMPLETE_FACT)):
                below = None
            report(Progress("scanning"))
            summary = self._update(target, below, report, cancelled)
            if below is None and not summary.cancelled:
                target.manifest.set_facts({COMPLETE_FACT: "1", HEAD_FACT: git_head(self.root)})
                self._switch(target)
            report(Progress("done", chunks=summary.chunks_written))
            return summary

    def _update(
        self,
        target: Generation,
        below: list[str] | None,
        report: Callable[[Progress], None],
        cancelled: Callable[[], bool],
    ) -> UpdateSummary:
        started = time.monotonic()
        plan = plan_update(self.root, target, self.options, below)
        summary = run_update(
            target,
            Preparation(self.root, self.options.scan, self.options.chunk),
            plan,
            embed=Vectorizer(self._embedder, target).embed,
            workers=self.options.workers or os.cpu_count() or 1,
            report=report,
            cancelled=cancelled,
        )
        target.manifest.set_facts({UPDATED_FACT: str(time.time())})
        return replace(summary, seconds=time.monotonic() - started)

    def search(self, query: Query) -> Answer:
        """Answer a query from what the index holds now.

        Raises:
            QueryError: a parameter of the query is not valid.
            StoreError, ManifestError: the index cannot be read.
        """
        serving = self._opened()
        page = find(serving, query, self._embedder)
        manifest = serving.manifest
        files = manifest.counts("state")
        return Answer(
            hits=page.hits,
            next_cursor=page.next_cursor,
            mode=page.mode,
            degraded=page.degraded,
            files=files.get(FileState.INDEXED, 0),
            chunks=manifest.chunk_count(),
            complete=bool(manifest.fact(COMPLETE_FACT)),
            failed_files=files.get(FileState.FAILED, 0),
            updated_at=float(manifest.fact(UPDATED_FACT) or 0),
        )

    def usages(self, name: str, limit: int = 20) -> SymbolUses:
        """Tell of a symbol: where it is defined, where it is called, what it calls; see `usages.find_usages`.

        Raises:
            QueryError: the name is no symbol's, or the limit is out of range.
            StoreError, ManifestError: the index cannot be read.
        """
        return find_usages(self._opened(), name, limit)

    def status(self, *, look: bool = False) -> IndexStatus:
        """What the index holds.

        Parameters:
            look: compare with the files on disk, which costs a scan.
        """
        serving = self._opened()
        pending = None
        if look:
            pending = plan_update(self.root, serving, self.options, None).differing
        return describe(self.root, self.folder, serving.manifest, pending)

    def skipped(self) -> tuple[FileProblem, ...]:
        """The files and folders that are left out, with their reasons."""
        return self._opened().manifest.problems(FileState.SKIPPED)

    def _opened(self) -> Generation:
        if self._serving is None:
            raise ScanError(f"The index of {self.root} is closed.")
        return self._serving

    def _target(self) -> Generation:
        """The generation that the options ask for: the one that serves, or one that is built beside it."""
        serving, wanted = self._opened(), self._wanted()
        if serving.name == wanted:
            return serving
        if self._building is None or self._building.name != wanted:
            self._retired += filter(None, [self._building])
            self._building = generations.open_generation(self.folder, wanted)
        return self._building

    def _wanted(self) -> str:
        """The name of the generation that the options and the embedder's space ask for."""
        try:
            space = self._embedder.space().name if self._embedder else ""
        except EmbeddingError:
            # Its service is down. What serves goes on; each file that needs a vector will tell the reason.
            if self._serving:
                return self._serving.name
            space = ""
        return generations.generation_name(self.options.chunk, space)

    def _switch(self, target: Generation) -> None:
        """Let a complete generation serve."""
        if generations.current_name(self.folder) != target.name:
            generations.switch_to(self.folder, target.name)
        if self._serving is not target:
            # Searches may still be reading the old one: it stays open, and on disk, until the index closes.
            self._retired += filter(None, [self._serving])
            self._serving, self._building = target, None

    def _relative(self, path: str | Path) -> str:
        """A path below the root as scan names it; the root itself is ""."""
        # Only the parents are resolved: the last part may be a link or may have vanished.
        absolute = Path(os.path.normpath(self.root / path))
        for candidate in (absolute, absolute.parent.resolve() / absolute.name):
            if candidate.is_relative_to(self.root):
                relative = candidate.relative_to(self.root).as_posix()
                return "" if relative == "." else relative
        raise ScanError(f"{path} is outside of {self.root}.", remedy="Index that folder on its own.")
