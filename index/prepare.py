"""Files made ready for the store: read, chunked, their terms counted. Runs in worker processes on large updates."""

import hashlib
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, replace
from multiprocessing import get_context
from pathlib import Path

from cqm.chunkers.chunking import chunk
from cqm.chunkers.model import Chunk, ChunkOptions, Document
from cqm.index.context import dense_text, file_terms
from cqm.index.lexical import SparseTerms
from cqm.index.manifest import ChunkRow, FileRow
from cqm.index.model import FileState, ScanOptions
from cqm.index.scan import FoundFile, read_file


@dataclass(frozen=True, slots=True)
class PreparedChunk:
    """A chunk ready to embed and store: its manifest row, text and content, its sparse terms and the text to embed."""

    row: ChunkRow
    text: str
    content: str
    terms: SparseTerms
    dense_text: str


@dataclass(frozen=True, slots=True)
class PreparedFile:
    """A file ready to store.

    Attributes:
        row: its manifest row; the state says whether it was chunked, skipped for its content, or failed.
        chunks: in order; None when the bytes are those that the index already holds.
        file_terms, path_terms: sparse vectors of the file's own point; None unless it was chunked.
    """

    row: FileRow
    chunks: tuple[PreparedChunk, ...] | None = ()
    file_terms: SparseTerms | None = None
    path_terms: SparseTerms | None = None

    @property
    def is_chunked(self) -> bool:
        """Whether there are chunks to store; there may be none of them in a blank file."""
        return self.row.state is FileState.INDEXED and self.chunks is not None


@dataclass(frozen=True, slots=True)
class Preparation:
    """What preparing needs beside the file.

    Attributes:
        root: the indexed root.
        scan, chunk: options of both stages.
    """

    root: Path
    scan: ScanOptions
    chunk: ChunkOptions


# A worker takes about half a second of CPU to start; below this many bytes that is not worth it.
_PARALLEL_FROM_BYTES = 4_000_000
_BATCH_BYTES = 500_000
_BATCH_FILES = 100

Task = tuple[FoundFile, str]
"""A file to prepare, and the hash under which the index holds it already (empty for none)."""


def prepare_file(task: Task, preparation: Preparation) -> PreparedFile:
    """Read and chunk one file. Never raises: what goes wrong with the file is the prepared file's reason."""
    found, known_hash = task
    read_at = time.time_ns()
    try:
        return _prepare(found, known_hash, read_at, preparation)
    except Exception as error:  # noqa: BLE001 - one file of many: the rest of the tree goes on, and this is reported
        reason = str(error) or type(error).__name__
        return PreparedFile(FileRow(found.path, FileState.FAILED, reason, found.size, found.mtime_ns, read_at))


def _prepare(found: FoundFile, known_hash: str, read_at: int, preparation: Preparation) -> PreparedFile:
    read = read_file(preparation.root, found.path, preparation.scan)
    row = FileRow(found.path, FileState.INDEXED, "", read.size, read.mtime_ns, read_at, read.content_hash)
    if read.skip is not None:
        return PreparedFile(replace(row, state=FileState.SKIPPED, reason=read.skip.value))
    if read.content_hash == known_hash:
        return PreparedFile(row, None)
    chunks = chunk(Document(found.path, read.text), preparation.chunk).chunks
    terms = file_terms(found.path, chunks)
    language = chunks[0].language if chunks else ""
    prepared = tuple(_prepared_chunk(*pair) for pair in zip(chunks, terms.chunks, strict=True))
    return PreparedFile(replace(row, language=language), prepared, terms.file, terms.path)


def _prepared_chunk(chunk: Chunk, terms: SparseTerms) -> PreparedChunk:
    text = dense_text(chunk)
    # All that the payload, the terms and the vector are made of; how they are made is in the generation's name.
    stored = "\0".join((text, chunk.text, chunk.language, chunk.kind, chunk.symbol, chunk.context, *chunk.defines))
    row = ChunkRow(
        id=chunk.id,
        path=chunk.path,
        position=chunk.index,
        language=chunk.language,
        kind=chunk.kind,
        symbol=chunk.symbol,
        defines=chunk.defines,
        start_line=chunk.start_line,
        end_line=chunk.end_line,
        tokens=chunk.tokens,
        digest=_digest(chunk.text),
        fingerprint=_digest(stored),
    )
    return PreparedChunk(row, chunk.text, chunk.content, terms, text)


def _digest(text: str) -> str:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()


def prepare_files(tasks: Sequence[Task], preparation: Preparation, workers: int) -> Iterator[list[PreparedFile]]:
    """Prepare many files, in batches as they are ready: in this process when they are few, else in `workers` processes.

    A file that kills its worker (a parser that crashes) fails alone.
    """
    batches = list(_batches(tasks))
    if workers == 1 or sum(found.size for found, _ in tasks) < _PARALLEL_FROM_BYTES:
        yield from ([prepare_file(task, preparation) for task in batch] for batch in batches)
        return
    yield from _in_processes(batches, preparation, workers)


def _batches(tasks: Sequence[Task]) -> Iterator[list[Task]]:
    batch: list[Task] = []
    size = 0
    for task in tasks:
        if batch and (len(batch) >= _BATCH_FILES or size + task[0].size > _BATCH_BYTES):
            yield batch
            batch, size = [], 0
        batch.append(task)
        size += task[0].size
    if batch:
        yield batch


def _prepare_batch(batch: list[Task], preparation: Preparation) -> list[PreparedFile]:
    return [prepare_file(task, preparation) for task in batch]


def _in_processes(batches: list[list[Task]], preparation: Preparation, workers: int) -> Iterator[list[PreparedFile]]:
    # "spawn": a forked child of a process with threads (a server's) can hang on a lock that no thread of its own holds.
    pool = ProcessPoolExecutor(workers, mp_context=get_context("spawn"))
    running: list[tuple[list[Task], Future[list[PreparedFile]]]] = []
    waiting = iter(batches)
    try:
        while True:
            # Twice the workers: enough to keep them busy, few enough that results don't pile up in memory.
            while len(running) < 2 * workers and (batch := next(waiting, None)):
                running.append((batch, pool.submit(_prepare_batch, batch, preparation)))
            if not running:
                return
            batch, future = running.pop(0)
            try:
                yield future.result()
            except BrokenProcessPool:
                pool.shutdown(wait=False, cancel_futures=True)
                pool = ProcessPoolExecutor(workers, mp_context=get_context("spawn"))
                lost = [batch, *(other for other, _ in running)]
                running.clear()
                yield from ([_prepare_apart(task, preparation)] for batch in lost for task in batch)
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _prepare_apart(task: Task, preparation: Preparation) -> PreparedFile:
    """Prepare one file in a process of its own, which it may kill."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        try:
            return pool.submit(prepare_file, task, preparation).result()
        except BrokenProcessPool:
            found = task[0]
            reason = "the process that parsed it died; please report the file"
            row = FileRow(found.path, FileState.FAILED, reason, found.size, found.mtime_ns, time.time_ns())
            return PreparedFile(row)
