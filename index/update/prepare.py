"""Files made ready for the store: read, chunked, their terms counted. All of it runs in workers."""

import hashlib
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from cqm.chunkers.model import LATE, Chunk, ChunkOptions, Document, Fact
from cqm.chunkers.quality import check_metadata, is_meaningless
from cqm.chunkers.source_types import PROSE_TYPES
from cqm.index.embedding import sentence_vectors
from cqm.index.files.scan import FoundFile, read_file
from cqm.index.manifest.rows import ChunkRow, FileRow
from cqm.index.model.errors import VanishedFileError
from cqm.index.model.options import ScanOptions
from cqm.index.model.query import FileState, SkipReason
from cqm.index.text.headers import (
    declarations,
    definition_terms,
    dense_text,
    file_terms,
    metadata_fields,
    part_names,
    text_elsewhere,
)
from cqm.index.text.stored_definitions import kinds_in, stored_definitions
from cqm.index.text.terms import SparseTerms, with_labels
from cqm.index.workers import Job, Workers
from cqm.index.workers.limits import MEMORY_BYTES


@dataclass(frozen=True, slots=True)
class PreparedChunk:
    """A chunk ready to embed and store: manifest row, payload, sparse terms, text to embed.

    Its context is from `declarations`, its definitions from `stored_definitions`, its kinds from `kinds_in`.
    """

    row: ChunkRow
    text: str
    content: str
    metadata: Mapping[str, Fact]
    terms: SparseTerms
    dense_text: str
    context: str
    definitions: str
    kinds: tuple[str, ...]

    def dense_text_at(self, path: str, place: str) -> str:
        """Return the text to embed if its file were at another path; see `headers.dense_text`."""
        return text_elsewhere(self.dense_text, len(self.content or self.text), (self.row.path, path), place)


@dataclass(frozen=True, slots=True)
class Source:
    """The text and chunks a file was prepared from."""

    text: str
    chunks: tuple[Chunk, ...]


@dataclass(frozen=True, slots=True)
class Whole:
    """A document whose chunks are embedded together.

    Attributes:
        spans: ids of its chunks, with their characters of the text, in order.
    """

    text: str
    spans: tuple[tuple[str, int, int], ...]


@dataclass(frozen=True, slots=True)
class PreparedFile:
    """A file ready to store.

    Attributes:
        row: its manifest row; the state says whether it was chunked, skipped for its content, or failed.
        chunks: in order; None if the index holds the same bytes.
        file_terms, path_terms: sparse vectors of the file's own point; None unless it was chunked.
        source: kept only where `Preparation.keep_source` asks for it.
        whole: kept only where late chunking embeds the chunks.
    """

    row: FileRow
    chunks: tuple[PreparedChunk, ...] | None = ()
    file_terms: SparseTerms | None = None
    path_terms: SparseTerms | None = None
    source: Source | None = None
    whole: Whole | None = None

    @property
    def is_gone(self) -> bool:
        """Whether the file vanished between the scan and the reading: it counts as deleted."""
        return self.row.reason == SkipReason.VANISHED

    @property
    def is_skipped(self) -> bool:
        """Whether it is left out; also where it is gone."""
        return self.row.state is FileState.SKIPPED

    @property
    def is_chunked(self) -> bool:
        """Whether there are chunks to store; there may be none of them in a blank file."""
        return self.row.state is FileState.INDEXED and self.chunks is not None


@dataclass(frozen=True, slots=True)
class Preparation:
    """Options of preparing a file.

    Attributes:
        root: the indexed root.
        scan, chunk: options of both stages.
        place: where the header stands in an embedded text; see `dense_text`.
        keep_source: keep text and chunks, since notes may be added later.
    """

    root: Path
    scan: ScanOptions
    chunk: ChunkOptions
    place: str = "prefix"
    keep_source: bool = False


_LOST = "not parsed: "

Task = tuple[FoundFile, str]
"""A file to prepare, and the hash under which the index holds it already (empty for none)."""


def prepare_file(task: Task, preparation: Preparation) -> PreparedFile:
    """Read and chunk one file. Never raises: a failure is the prepared file's reason."""
    found, known_hash = task
    read_at = time.time_ns()
    try:
        return _prepare(found, known_hash, read_at, preparation)
    except VanishedFileError:
        return PreparedFile(FileRow(found.path, FileState.SKIPPED, SkipReason.VANISHED))
    except MemoryError:
        return _lost(task, f"parsing it needs more than {MEMORY_BYTES >> 20} MB")
    except Exception as error:  # noqa: BLE001 - one file of many: the rest of the tree goes on, and this is reported
        reason = str(error) or type(error).__name__
        return PreparedFile(replace(_failed(found, reason), read_at_ns=read_at))


def _prepare(found: FoundFile, known_hash: str, read_at: int, preparation: Preparation) -> PreparedFile:
    read = read_file(preparation.root, found.path, preparation.scan)
    seen = (read.size, read.mtime_ns, read_at, read.content_hash)
    mark = SkipReason.GENERATED.value if read.is_generated else ""
    row = FileRow(found.path, FileState.INDEXED, mark, *seen, ctime_ns=read.ctime_ns, secrets=read.secrets)
    if read.skip is not None:
        return PreparedFile(replace(row, state=FileState.SKIPPED, reason=read.skip.value))
    if read.content_hash == known_hash:
        return PreparedFile(row, None)
    # Loaded by the process forking the workers only: its clients don't parse.
    from cqm.chunkers.chunking import chunk

    report = chunk(Document(found.path, read.text), preparation.chunk, sentence_vectors)
    # Chunks around others repeat their text; `search.whole_symbols` shows these sections.
    chunks = tuple(part for part in report.chunks if not part.children and not is_meaningless(part.text))
    for part in chunks:
        check_metadata(part)
    language = chunks[0].language if chunks else ""
    file = _prepared_file(replace(row, language=language), chunks, preparation.place)
    if chunks and chunks[0].strategy == LATE:
        file = replace(file, whole=Whole(read.text, tuple((part.id, part.start, part.end) for part in chunks)))
    if not preparation.keep_source:
        return file
    return with_notes(replace(file, source=Source(read.text, chunks)), {}, preparation.place)


def with_notes(file: PreparedFile, notes: Mapping[str, str], place: str) -> PreparedFile:
    """Return a file with written notes in the contexts of its chunks, for searching and embedding.

    Parameters:
        file: prepared with its source kept.
        notes: by chunk id; "" if none is needed. A chunk without an entry lacks its note.
        place: as in `Preparation`.
    """
    if file.source is None:
        return file
    chunks = tuple(_noted(part, notes.get(part.id, "")) for part in file.source.chunks)
    noted = _prepared_file(file.row, chunks, place)
    marked = (_marked(*pair, notes) for pair in zip(noted.chunks or (), file.source.chunks, strict=True))
    return replace(noted, chunks=tuple(marked), source=file.source, whole=file.whole)


def _noted(chunk: Chunk, note: str) -> Chunk:
    return replace(chunk, context="\n".join(filter(None, (chunk.context, note)))) if note else chunk


def _marked(part: PreparedChunk, chunk: Chunk, notes: Mapping[str, str]) -> PreparedChunk:
    note = notes.get(part.row.id)
    row = replace(part.row, note=note or "", lacks_note=note is None)
    # A written note is no declaration.
    return replace(part, row=row, context=declarations(chunk))


def _prepared_file(row: FileRow, chunks: tuple[Chunk, ...], place: str) -> PreparedFile:
    terms = file_terms(row.path, chunks)
    prepared = tuple(_prepared_chunk(*pair, place, row.hash) for pair in zip(chunks, terms.chunks, strict=True))
    return PreparedFile(row, prepared, terms.file, terms.path)


def _prepared_chunk(chunk: Chunk, terms: SparseTerms, place: str, content_hash: str) -> PreparedChunk:
    text, is_late = dense_text(chunk, place), chunk.strategy == LATE
    # All inputs of payload, terms and vector; the recipe is in the generation's name.
    known = metadata_fields(chunk)
    told = stored_definitions(chunk)
    defines = tuple(dict.fromkeys((*chunk.defines, *part_names(chunk))))
    stored = "\0".join((text, chunk.text, chunk.language, chunk.kind, chunk.symbol, repr(known), told, *defines))
    # The rest of the document has a part in such a vector.
    stored += content_hash if is_late else ""
    row = ChunkRow(
        id=chunk.id,
        path=chunk.path,
        position=chunk.index,
        language=chunk.language,
        kind=chunk.kind,
        symbol=chunk.symbol,
        defines=defines,
        start_line=chunk.start_line,
        end_line=chunk.end_line,
        tokens=chunk.tokens,
        digest=_digest(chunk.text),
        fingerprint=_digest(stored),
        route=LATE if is_late else "prose" if chunk.metadata.source_type in PROSE_TYPES else "code",
    )
    labelled = with_labels(terms, definition_terms(chunk.language, defines))
    kinds = tuple(kinds_in(chunk.kind, chunk.definitions))
    return PreparedChunk(row, chunk.text, chunk.content, known, labelled, text, declarations(chunk), told, kinds)


def _digest(text: str) -> str:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()


def prepare_files(tasks: Sequence[Task], preparation: Preparation, workers: Workers) -> Iterator[list[PreparedFile]]:
    """Prepare files in workers; yield them in batches as they become ready.

    A file crashing its worker fails alone.

    Raises:
        WorkerError: no worker can be started.
    """
    work = partial(prepare_file, preparation=preparation)
    results = workers.run(Job(work, PreparedFile, lambda task: task[0].size, _lost, _ended), tasks)
    done = iter(tasks)
    for batch in results:
        yield [_of_task(file, next(done)) for file in batch]


def _of_task(file: PreparedFile, task: Task) -> PreparedFile:
    """Return a prepared file if it is the one asked for: a hijacked worker cannot speak for other files."""
    path = task[0].path
    is_own = file.row.path == path and all(part.row.path == path for part in file.chunks or ())
    return file if is_own else _lost(task, "its worker answered for another file")


def is_given_up(row: FileRow) -> bool:
    """Return whether a file's worker did not survive it: it is not tried again until it changes."""
    return row.state is FileState.FAILED and row.reason.startswith(_LOST)


def _lost(task: Task, reason: str) -> PreparedFile:
    found = task[0]
    return PreparedFile(replace(_failed(found, f"{_LOST}{reason}"), read_at_ns=time.time_ns()))


def _ended(task: Task, reason: str) -> PreparedFile:
    return PreparedFile(_failed(task[0], f"{reason}; the next update tries it again"))


def _failed(found: FoundFile, reason: str) -> FileRow:
    return FileRow(found.path, FileState.FAILED, reason, found.size, found.mtime_ns, ctime_ns=found.ctime_ns)
