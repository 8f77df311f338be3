"""What the tools answer, as text for agents; a search's answer is in render.py."""

from collections.abc import Iterator, Sequence

from cqm.chunkers.model import ChunkReport
from cqm.index.model import FileProblem, IndexStatus, Progress, UpdateSummary
from cqm.server.jobs import Job
from cqm.server.reports import preview_lines, status_lines, summary_lines

_MOST_LISTED = 500


def job_reply(root: str, job: Job) -> str:
    """How an indexing job stands.

    Raises:
        CqmError: the job failed.
    """
    if not job.is_done:
        return "\n".join(
            [going_on(root, job), "Search answers from what is done. Call index_path again to wait for the rest."]
        )
    return "\n".join(_summary_lines(root, job.result()))


def going_on(root: str, job: Job) -> str:
    """A running job in one line."""
    progress = job.progress
    if not progress.total:
        return f"Indexing {root} goes on: looking for files."
    share = 100 * progress.done // progress.total
    rate = progress.done / max(job.seconds, 1e-3)
    return (
        f"Indexing {root} goes on: {share} % ({progress.done:,} of {progress.total:,} files, {rate:,.0f} files/s, "
        f"{progress.chunks:,} chunks) after {job.seconds:.0f} s."
    )


def progress_message(progress: Progress) -> str:
    """A progress notification's text."""
    return f"{progress.path} ({progress.chunks:,} chunks)" if progress.path else progress.phase


def status_reply(status: IndexStatus, job: Job | None = None, watch: str = "") -> str:
    """What an index holds, the job that runs on it, and how its files are followed."""
    lines = [*status_lines(status)]
    if job:
        lines.append(f"  {going_on(status.root, job)}")
    if watch:
        lines.append(f"  watch: {watch}")
    return "\n".join(lines)


def listing(root: str, what: str, problems: Sequence[FileProblem]) -> str:
    """The files that failed or were skipped, with their reasons, as many as a reply may hold."""
    if not problems:
        return f"{root}: no file {what}."
    lines = [f"{root}: {len(problems):,} files {what}:", *(f"{problem.path}: {problem.reason}" for problem in problems)]
    if len(problems) > _MOST_LISTED:
        lines[_MOST_LISTED + 1 :] = [f"and {len(problems) - _MOST_LISTED:,} more"]
    return "\n".join(lines)


def preview_reply(name: str, report: ChunkReport, *, with_text: bool) -> str:
    """The chunks of a document: a line for each, or with its text."""
    found = report.statistics
    sizes = f"{found.min_tokens} to {found.max_tokens} tokens, {found.mean_tokens:.0f} on average"
    lines = [f"{name}: {found.chunks} chunks of {sizes}."]
    lines += [f"Warning: {warning}" for warning in report.warnings]
    lines += preview_lines(report) if with_text else _chunk_lines(report)
    return "\n".join(lines)


def _summary_lines(root: str, summary: UpdateSummary) -> Iterator[str]:
    yield "Cancelled: what was done by then is indexed; call again for the rest." if summary.cancelled else "Indexed."
    yield from summary_lines(root, summary)


def _chunk_lines(report: ChunkReport) -> Iterator[str]:
    for chunk in report.chunks:
        symbol = f"  {chunk.symbol}" if chunk.symbol else ""
        yield f"{chunk.start_line}-{chunk.end_line}{symbol} ({chunk.kind})  {chunk.tokens} tokens"
