"""Improve searchable chunks: replace a fallback model's vectors by the preferred model's, and write contexts.

It runs beside updates, file by file. Updates wait only while a file is stored: an edit never waits for a writing model.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from functools import partial

from cqm.index.contextual import ContextWriter
from cqm.index.files.scan import scan
from cqm.index.manifest.manifest import Manifest
from cqm.index.manifest.rows import ChunkRow
from cqm.index.model.progress import Progress
from cqm.index.remote.deadline import StoppedError, unless
from cqm.index.update.prepare import Preparation, PreparedFile, prepare_files, with_notes
from cqm.index.update.vectorizer import Vectorizer, lacking, status_facts
from cqm.index.update.write import NOTHING_STORED, Placement, Stored, Target, place_files, write_files
from cqm.index.workers import Workers


class ModelGoneError(Exception):
    """A model needed for the rest failed."""


@dataclass(frozen=True, slots=True)
class Improving:
    """A backfill of one generation.

    Attributes:
        target: takes the files; its pending paths are read again for each.
        preparation: how they are prepared.
        writer: of contexts; None for those by rules alone.
        lock: held while writing to the target.
        is_open: whether the target is still there, asked with the lock held.
        wanted: as `wanted_spaces` gives it.
        cancelled: asked while a service works; true stops the backfill.
    """

    target: Target
    preparation: Preparation
    workers: Workers
    writer: ContextWriter | None
    lock: AbstractContextManager[object]
    is_open: Callable[[], bool]
    wanted: Mapping[str, str]
    cancelled: Callable[[], bool]

    @property
    def _manifest(self) -> Manifest:
        return self.target.generation.manifest

    def tasks(self) -> list[tuple[str, bool]]:
        """Return files which lack a vector or context available now; true marks a context."""
        with self.lock:
            if not self.is_open():
                return []
            homeless = {path for route, space in self.wanted.items() if space for path in self._elsewhere(route, space)}
            unnoted = self._manifest.without_note()[0] if self.writer and self.writer.is_ready else []
        return [*((path, False) for path in sorted(homeless)), *((path, True) for path in sorted(unnoted))]

    def _elsewhere(self, route: str, space: str) -> list[str]:
        return self._manifest.elsewhere(route, space)[0]

    def improve_all(self, tasks: Sequence[tuple[str, bool]], report: Callable[[Progress], None]) -> tuple[int, int]:
        """Improve files until a model is gone or it is to stop; how many, and their new vectors.

        Parameters:
            tasks: as `tasks` gives them.
            report: called after each file.
        """
        started, done, embedded = time.monotonic(), 0, 0
        for path, writes in tasks:
            try:
                embedded += self.improve(path, writes=writes).embedded
            except (ModelGoneError, StoppedError):
                break
            done += 1
            rate = done / max(time.monotonic() - started, 1e-6)
            report(Progress("improving", done, len(tasks), path, 0, rate, (len(tasks) - done) / rate))
            if not self.is_open() or self.cancelled():
                break
        return done, embedded

    def improve(self, path: str, *, writes: bool) -> Stored:
        """Store a file again with all available vectors and contexts, if the index still holds the same content.

        Parameters:
            writes: whether contexts are written for it.

        Raises:
            ModelGoneError: there is no point in going on.
            StoppedError: it was cancelled.
        """
        with self.lock:
            held = self._manifest.chunks_of(path) if self.is_open() else ()
        found = next(scan(self.preparation.root, self.preparation.scan, below=[path]), None) if held else None
        if found is None or found.skip is not None:
            return NOTHING_STORED
        # No lock from here on: models may take minutes.
        [[file]] = prepare_files([(found, "")], self.preparation, self.workers)
        if not file.is_chunked:
            return NOTHING_STORED
        file = self._noted(file, held) if writes else file
        vectorizer = Vectorizer(self.target.routes, self.cancelled, fallbacks=False)
        placement = place_files(self.target, [file], {path: held}, vectorizer, self.wanted)
        if vectorizer.failed:
            raise ModelGoneError
        return self._stored(path, placement)

    def _stored(self, path: str, placement: Placement) -> Stored:
        """Write a placement, unless an update came first or nothing changes."""
        [file] = placement.files
        with self.lock:
            if not self.is_open() or placement.changes_nothing:
                return NOTHING_STORED
            now = self._manifest.files([path]).get(path)
            is_same = now is not None and now.hash == file.row.hash
            if not is_same or self._manifest.chunks_of(path) != placement.held[path]:
                return NOTHING_STORED
            return write_files(replace(self.target, pending=frozenset(self._manifest.pending())), placement)

    def note_lacking(self, otherwise: int) -> int:
        """Count the chunks still waiting, and note it for the status.

        Parameters:
            otherwise: returned if the generation is gone: another one may lack as much.
        """
        with self.lock:
            if not self.is_open():
                return otherwise
            waiting = lacking(self._manifest, self.wanted)
            told = status_facts(waiting, self.target.routes.states() if self.target.routes else ())
            if any(self._manifest.fact(name) != value for name, value in told.items()):
                self._manifest.set_facts(told)
            self.target.generation.store.flush_later()
            return waiting

    def _noted(self, file: PreparedFile, held: Sequence[ChunkRow]) -> PreparedFile:
        """Return a file with contexts written for chunks which lack one."""
        if self.writer is None or file.source is None:
            return file
        if not self.writer.is_ready:
            raise ModelGoneError
        known = {row.id: row.note for row in held if not row.lacks_note}
        chunks = [part for part in file.source.chunks if part.id not in known]
        written = unless(self.cancelled, partial(self.writer.write, file.row.path, file.source.text, chunks))
        pairs = enumerate(zip(chunks, written.notes, strict=True))
        notes = {part.id: note for position, (part, note) in pairs if position not in written.failed}
        return with_notes(file, known | notes, self.preparation.place)
