"""What is found already made better: vectors of the preferred model where a fallback stood in, and written contexts.

It goes on beside updates, file by file, and holds them up only while a file is stored: an edit never waits for a model
that writes.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace

from cqm.index.contextual import ContextWriter
from cqm.index.embedding.routes import Route
from cqm.index.manifest import ChunkRow, Manifest
from cqm.index.prepare import Preparation, PreparedFile, prepare_file, with_notes
from cqm.index.scan import scan
from cqm.index.status import LACKING_FACT, space_fact
from cqm.index.storing import NOTHING_STORED, Stored, Target, store_files

_UNKNOWN = "?"
"""No space has this name: with it, every chunk is elsewhere."""


def lacking(manifest: Manifest, wanted: Mapping[Route, str]) -> int:
    """How many chunks wait for a vector of their preferred model or for a written context.

    Parameters:
        wanted: as `Vectorizer.wanted_spaces` gives it.
    """
    count = manifest.without_note()[1]
    for route, space in wanted.items():
        recorded = {name: vector for vector, name in manifest.spaces().items()}.get(manifest.fact(space_fact(route)))
        count += manifest.elsewhere(route, space or recorded or _UNKNOWN)[1]
    return count


@dataclass(frozen=True, slots=True)
class Improving:
    """What improving needs.

    Attributes:
        target: where files go; what is pending there is looked up anew for each file.
        preparation: how they are prepared.
        writer: of contexts; None for those by rules alone.
        lock: held by whoever writes to the target.
        is_open: whether the target is still there, asked with the lock held.
    """

    target: Target
    preparation: Preparation
    writer: ContextWriter | None
    lock: AbstractContextManager[object]
    is_open: Callable[[], bool]

    @property
    def _manifest(self) -> Manifest:
        return self.target.generation.manifest

    def paths(self) -> list[str]:
        """The files that lack something that can be had now."""
        wanted = self.target.vectorizer.wanted_spaces()
        paths: set[str] = set()
        with self.lock:
            for route, space in wanted.items() if self.is_open() else ():
                paths.update(self._manifest.elsewhere(route, space)[0] if space else ())
            if self.is_open() and self.writer and self.writer.is_ready:
                paths.update(self._manifest.without_note()[0])
        return sorted(paths)

    def improve(self, path: str) -> Stored:
        """Store a file anew with all that can be had for it, if it is still what the index holds."""
        with self.lock:
            held = self._manifest.chunks_of(path) if self.is_open() else ()
        found = next(scan(self.preparation.root, self.preparation.scan, below=[path]), None)
        if not held or found is None or found.skip is not None:
            return NOTHING_STORED
        # No lock here: a model may take minutes over it.
        file = _noted(prepare_file((found, ""), self.preparation), held, self.writer, self.preparation.place)
        with self.lock:
            now = self._manifest.files([path]).get(path) if self.is_open() else None
            # Anything newer than what the index holds is an update's to bring.
            if now is None or not file.is_chunked or file.row.hash != now.hash:
                return NOTHING_STORED
            return store_files(replace(self.target, pending=frozenset(self._manifest.pending())), [file])

    def note_lacking(self) -> int:
        """Count the chunks that wait still, and note it for the status."""
        wanted = self.target.vectorizer.wanted_spaces()
        with self.lock:
            if not self.is_open():
                return 0
            waiting = lacking(self._manifest, wanted)
            self._manifest.set_facts({LACKING_FACT: str(waiting)})
            self.target.generation.store.flush_later()
            return waiting


def _noted(file: PreparedFile, held: Sequence[ChunkRow], writer: ContextWriter | None, place: str) -> PreparedFile:
    """A file with contexts written for those of its chunks that lack one."""
    if writer is None or file.source is None:
        return file
    known = {row.id: row.note for row in held if not row.lacks_note}
    chunks = [part for part in file.source.chunks if part.id not in known]
    written = writer.write(file.row.path, file.source.text, chunks)
    pairs = enumerate(zip(chunks, written.notes, strict=True))
    notes = {part.id: note for position, (part, note) in pairs if position not in written.failed}
    return with_notes(file, known | notes, place)
