"""The quality report in plain words."""

from collections.abc import Iterator, Mapping

from cqm.server.console import number
from cqm.server.report.report import QualityReport

TITLES = {
    "source_type": "source type",
    "content_type": "content type",
    "language": "language",
    "strategy": "strategy",
    "kind": "kind",
    "natural_language": "natural language",
}

_BAR_WIDTH = 40
_MOST_NAMES = 12
_MILLISECONDS = 1000
_MOST_SLOW = 5
_MOST_FAILED = 10
_MOST_EXAMPLES = 3


def report_lines(report: QualityReport) -> Iterator[str]:
    """Write the numbers, then the problems."""
    yield report.root
    yield f"  {report.documents:,} documents, {_megabytes(report.bytes)}, in {report.seconds:.1f} s"
    yield f"  {number(report.chunks, 'chunk')}, {report.characters:,} characters, about {report.tokens:,} tokens"
    yield (
        f"  tokens a chunk: mean {report.mean_tokens:.0f}, median {report.median_tokens}, 95 % up to "
        f"{report.p95_tokens}, largest {report.largest_tokens:,}; {report.tiny_share:.1%} under 32"
    )
    yield f"  chunked {report.mb_per_second:.1f} MB/s on one core"
    yield ""
    yield from _histogram_lines(report)
    yield ""
    yield from (f"  {title}: {_named(counts)}" for title, counts in breakdowns(report).items())
    yield f"  encoding of documents: {_named(report.encodings)}"
    yield f"  left out: {_named(report.left_out)}"
    yield from _gate_lines(report)
    yield from _warning_lines(report)
    yield from _slow_lines(report)
    yield from _failed_lines(report)


def breakdowns(report: QualityReport) -> dict[str, Mapping[str, int]]:
    """Counts of chunks for display, without empty and repeated ones."""
    counted = {title: report.by[name] for name, title in TITLES.items() if report.by[name]}
    if report.by["language"] == report.by["content_type"]:
        counted.pop(TITLES["language"], None)
    return counted


def _histogram_lines(report: QualityReport) -> Iterator[str]:
    most = max(report.histogram.values(), default=0) or 1
    for name, count in report.histogram.items():
        bar = "█" * -(-count * _BAR_WIDTH // most)
        share = count / report.chunks if report.chunks else 0
        yield f"  {name:>8} {bar:<{_BAR_WIDTH}} {count:>9,} {share:>6.1%}"


def _gate_lines(report: QualityReport) -> Iterator[str]:
    yield "  quality gates:" if report.findings else "  quality gates: all passed"
    for finding in report.findings:
        degree = "error" if finding.is_error else "note"
        examples = ", ".join(finding.examples[:_MOST_EXAMPLES])
        yield f"    {finding.gate} {degree}: {finding.count:,} {finding.message}, such as {examples}"


def _warning_lines(report: QualityReport) -> Iterator[str]:
    if report.warnings:
        yield "  warnings:"
    for kind in report.warnings:
        yield f"    {number(kind.files, 'file')}: {kind.message}"
        yield from (f"      {example.path}: {example.reason}" for example in kind.examples)


def _slow_lines(report: QualityReport) -> Iterator[str]:
    if report.slowest:
        yield "  slowest:"
    for file in report.slowest[:_MOST_SLOW]:
        yield f"    {file.seconds * _MILLISECONDS:,.0f} ms for {_megabytes(file.size)}: {file.path}"


def _failed_lines(report: QualityReport) -> Iterator[str]:
    if report.failed:
        yield f"  {number(len(report.failed), 'file')} failed:"
    yield from (f"    {problem.path}: {problem.reason}" for problem in report.failed[:_MOST_FAILED])
    if len(report.failed) > _MOST_FAILED:
        yield f"    and {len(report.failed) - _MOST_FAILED:,} more; --json lists all"


def _named(counts: Mapping[str, int]) -> str:
    listed = list(counts.items())
    names = ", ".join(f"{count:,} {name}" for name, count in listed[:_MOST_NAMES]) or "none"
    return names if len(listed) <= _MOST_NAMES else f"{names} and {len(listed) - _MOST_NAMES} more"


def _megabytes(count: int) -> str:
    return f"{count / 1e6:,.2f} MB"
