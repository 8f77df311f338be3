"""Measure the chunks of a tree's files: nothing is indexed, and only counts are kept."""

import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from cqm.chunkers.chunking import chunk
from cqm.chunkers.errors import CqmError
from cqm.chunkers.model import Chunk, ChunkOptions, Document
from cqm.chunkers.quality import Finding, gates
from cqm.index.embedding import sentence_vectors
from cqm.index.files.scan import FoundFile, ReadFile, read_file
from cqm.index.model.options import IndexOptions, ScanOptions
from cqm.index.workers import Job, Workers

BREAKDOWNS: Mapping[str, Callable[[Chunk], str]] = {
    "source_type": lambda chunk: chunk.metadata.source_type,
    "content_type": lambda chunk: chunk.metadata.content_type,
    "language": lambda chunk: chunk.language,
    "strategy": lambda chunk: chunk.strategy,
    "kind": lambda chunk: chunk.kind,
    "natural_language": lambda chunk: chunk.metadata.natural_language,
}
"""Values to count chunks by; a chunk without a value isn't counted."""


@dataclass(frozen=True, slots=True)
class FileMeasure:
    """Measures of chunking one file.

    Attributes:
        path: relative to the root.
        size: in bytes.
        left_out: reason for not chunking it; empty when it was chunked.
        failed: whether the reason is a failure, such as a lack of permission.
        encoding: of the file, in the spelling of Python's codecs.
        seconds: CPU time of chunking.
        sizes: estimated tokens of each chunk.
        counts: of chunks, by the names of `BREAKDOWNS` and then by value.
    """

    path: str
    size: int
    left_out: str = ""
    failed: bool = False
    encoding: str = ""
    seconds: float = 0.0
    sizes: tuple[int, ...] = ()
    characters: int = 0
    counts: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = ()


def measure(
    found: Sequence[FoundFile], root: Path, options: IndexOptions, workers: Workers
) -> Iterator[list[FileMeasure]]:
    """Chunk the files of a scan and measure the result, in batches as they are ready."""
    work = partial(_measure, root=root, scan=options.scan, chunking=options.chunk)
    yield from workers.run(Job(work, FileMeasure, _size, _lost), found)


def _size(found: FoundFile) -> int:
    return 0 if found.skip else found.size


def _lost(found: FoundFile, reason: str) -> FileMeasure:
    return FileMeasure(found.path, found.size, f"not parsed: {reason}", failed=True)


def _measure(found: FoundFile, root: Path, scan: ScanOptions, chunking: ChunkOptions) -> FileMeasure:
    if found.skip:
        return FileMeasure(found.path, found.size, found.skip.value)
    try:
        read = read_file(root, found.path, scan)
        return (
            FileMeasure(found.path, read.size, read.skip.value) if read.skip else _chunked(found.path, read, chunking)
        )
    except CqmError as error:
        return FileMeasure(found.path, found.size, error.message, failed=True)
    except Exception as error:  # noqa: BLE001 - one file of many: what is wrong with it is what the report is for
        return FileMeasure(found.path, found.size, f"{type(error).__name__}: {error}", failed=True)


def _chunked(path: str, read: ReadFile, options: ChunkOptions) -> FileMeasure:
    began = time.process_time()
    report = chunk(Document(path, read.text), options, sentence_vectors)
    seconds = time.process_time() - began
    # An index has no chunks around others.
    report = replace(report, chunks=tuple(part for part in report.chunks if not part.children))
    chunks = report.chunks
    return FileMeasure(
        path,
        read.size,
        encoding=read.encoding,
        seconds=seconds,
        sizes=tuple(part.tokens for part in chunks),
        characters=sum(len(part.text) for part in chunks),
        counts={name: Counter(filter(None, map(value_of, chunks))) for name, value_of in BREAKDOWNS.items()},
        warnings=report.warnings,
        findings=gates(report, options),
    )
