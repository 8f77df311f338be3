"""The quality report of `cqm report`: numbers about a tree's chunks, and problems of quality."""

import re
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path

from cqm.chunkers.quality import Finding, added
from cqm.index.files.scan import scan
from cqm.index.model.options import IndexOptions
from cqm.index.model.progress import Progress
from cqm.index.model.query import FileProblem
from cqm.index.workers import Workers
from cqm.server.report.measure import BREAKDOWNS, FileMeasure, measure

HISTOGRAM = (("0-128", 128), ("128-256", 256), ("256-512", 512))
"""Names and largest sizes of the bars, in tokens; "512+" holds larger chunks."""
OVER = "512+"

STEP = 32
"""Tokens a bar of the fine histogram."""

TINY_TOKENS = 32
_MOST_LISTED = 10
_MOST_EXAMPLES = 3
_NO_LEGACY = ("", "utf-8", "pdf")
_NUMBER = re.compile(r"\d[\d,.]*\d|\d")


@dataclass(frozen=True, slots=True)
class WarningKind:
    """Warnings differing only in their numbers: the number of files with one, and the first few."""

    message: str
    files: int
    examples: tuple[FileProblem, ...]


@dataclass(frozen=True, slots=True)
class SlowFile:
    """A file which took long to chunk, in CPU seconds."""

    path: str
    seconds: float
    size: int


@dataclass(frozen=True, slots=True)
class QualityReport:
    """Numbers about the chunks of a tree.

    Attributes:
        documents: number of chunked files.
        bytes, characters, tokens: of them; tokens are estimated.
        mean_tokens, median_tokens, p95_tokens, largest_tokens: of a chunk.
        histogram: chunks by size, with the names of `HISTOGRAM`.
        sizes: the same in steps of `STEP` tokens, by the largest size of each step.
        tiny_share: share of chunks under 32 tokens, 0 to 1.
        left_out: files and folders not chunked, by reason.
        by: chunks counted by each of `BREAKDOWNS`.
        encodings: documents by encoding.
        warnings: of the chunkers, the commonest first.
        findings: of the quality gates, added up over all documents.
        slowest: files with most CPU time.
        failed: files which couldn't be read or chunked.
        seconds, cpu_seconds: wall time of the whole run, and CPU time of chunking alone.
        mb_per_second: megabytes chunked by one core in a second.
    """

    root: str
    documents: int
    bytes: int
    characters: int
    tokens: int
    chunks: int
    mean_tokens: float
    median_tokens: int
    p95_tokens: int
    largest_tokens: int
    histogram: Mapping[str, int]
    sizes: Mapping[int, int]
    tiny_share: float
    left_out: Mapping[str, int]
    by: Mapping[str, Mapping[str, int]]
    encodings: Mapping[str, int]
    warnings: tuple[WarningKind, ...]
    findings: tuple[Finding, ...]
    slowest: tuple[SlowFile, ...]
    failed: tuple[FileProblem, ...]
    seconds: float
    cpu_seconds: float
    mb_per_second: float

    @property
    def has_errors(self) -> bool:
        """Whether a gate found an error, or a file failed."""
        return bool(self.failed) or any(finding.is_error for finding in self.findings)


def quality_report(
    root: Path, options: IndexOptions, *, report: Callable[[Progress], None] = lambda _: None
) -> QualityReport:
    """Chunk and measure all files an index of the tree would hold; nothing is indexed.

    Raises:
        ScanError: the root can't be read.
    """
    began = time.monotonic()
    report(Progress("scanning"))
    found = list(scan(root, options.scan))
    measured: list[FileMeasure] = []
    chunks = 0
    with Workers(options.workers, root) as workers:
        for batch in measure(found, root, options, workers):
            measured += batch
            chunks += sum(len(it.sizes) for it in batch)
            report(Progress("measuring", len(measured), len(found), batch[-1].path, chunks))
    return _summed(str(root), measured, time.monotonic() - began)


def _summed(root: str, measured: Sequence[FileMeasure], seconds: float) -> QualityReport:
    files = [it for it in measured if not it.left_out]
    sizes = Counter(size for it in files for size in it.sizes)
    chunks, tokens = sizes.total(), sum(size * count for size, count in sizes.items())
    total, cpu = sum(it.size for it in files), sum(it.seconds for it in files)
    return QualityReport(
        root=root,
        documents=len(files),
        bytes=total,
        characters=sum(it.characters for it in files),
        tokens=tokens,
        chunks=chunks,
        mean_tokens=round(tokens / chunks, 1) if chunks else 0.0,
        median_tokens=_quantile(sizes, 0.5),
        p95_tokens=_quantile(sizes, 0.95),
        largest_tokens=max(sizes, default=0),
        histogram=_histogram(sizes),
        sizes=_fine_histogram(sizes),
        tiny_share=round(sum(n for size, n in sizes.items() if size < TINY_TOKENS) / chunks, 4) if chunks else 0.0,
        left_out=_largest_first(Counter(it.left_out for it in measured if it.left_out and not it.failed)),
        by={name: _largest_first(_counted(files, name)) for name in BREAKDOWNS},
        encodings=_largest_first(Counter(it.encoding for it in files)),
        warnings=_warning_kinds(files),
        findings=added([*(finding for it in files for finding in it.findings), *_encoding_findings(measured)]),
        slowest=_slowest(files),
        failed=tuple(FileProblem(it.path, it.left_out) for it in measured if it.failed),
        seconds=round(seconds, 3),
        cpu_seconds=round(cpu, 3),
        mb_per_second=round(total / cpu / 1e6, 2) if cpu else 0.0,
    )


def _quantile(sizes: Mapping[int, int], share: float) -> int:
    """Return the smallest size not exceeded by a share of all chunks."""
    ordered = sorted(sizes)
    enough = share * sum(sizes.values())
    sums = accumulate(sizes[size] for size in ordered)
    return next((size for size, below in zip(ordered, sums, strict=True) if below >= enough), 0)


def _histogram(sizes: Mapping[int, int]) -> dict[str, int]:
    bars = dict.fromkeys([*(name for name, _ in HISTOGRAM), OVER], 0)
    for size, count in sizes.items():
        bars[next((name for name, most in HISTOGRAM if size <= most), OVER)] += count
    return bars


def _fine_histogram(sizes: Mapping[int, int]) -> dict[int, int]:
    bars: Counter[int] = Counter()
    for size, count in sizes.items():
        bars[-(-size // STEP) * STEP] += count
    return dict(sorted(bars.items()))


def _counted(files: Iterable[FileMeasure], name: str) -> Counter[str]:
    counts: Counter[str] = Counter()
    for it in files:
        counts.update(it.counts[name])
    return counts


def _largest_first(counts: Mapping[str, int]) -> dict[str, int]:
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


def _warning_kinds(files: Iterable[FileMeasure]) -> tuple[WarningKind, ...]:
    kinds: dict[str, list[FileProblem]] = {}
    for it in files:
        for warning in it.warnings:
            kinds.setdefault(_NUMBER.sub("N", warning), []).append(FileProblem(it.path, warning))
    ordered = sorted(kinds.items(), key=lambda item: (-len(item[1]), item[0]))
    return tuple(WarningKind(kind, len(found), tuple(found[:_MOST_EXAMPLES])) for kind, found in ordered)


def _encoding_findings(measured: Iterable[FileMeasure]) -> Iterator[Finding]:
    # Gate Q5: files which aren't UTF-8 are decoded or left out by the policy of `decode`.
    for it in measured:
        if it.encoding not in _NO_LEGACY:
            yield Finding("Q5", "not UTF-8, decoded", 1, examples=(it.path,))
        elif it.left_out == "undecodable":
            yield Finding("Q5", "in no known encoding, left out", 1, examples=(it.path,))


def _slowest(files: Iterable[FileMeasure]) -> tuple[SlowFile, ...]:
    ordered = sorted(files, key=lambda it: -it.seconds)[:_MOST_LISTED]
    return tuple(SlowFile(it.path, round(it.seconds, 4), it.size) for it in ordered)
