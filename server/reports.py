"""Summaries and status in plain words."""

import time
from collections.abc import Iterable, Iterator, Mapping

from cqm.index.model import FileProblem, IndexStatus, UpdateSummary
from cqm.server.times import ago

_MOST_LISTED = 10
_KILO = 1024


def summary_lines(root: str, summary: UpdateSummary) -> Iterator[str]:
    """What an update did, and the files that failed."""
    counts = {
        "added": summary.added,
        "modified": summary.modified,
        "deleted": summary.deleted,
        "unchanged": summary.unchanged,
    }
    yield f"{root}: {_counted(counts)} files in {summary.seconds:.1f} s"
    chunks = {"written": summary.chunks_written, "deleted": summary.chunks_deleted, "embedded": summary.embedded}
    yield f"chunks: {_counted(chunks)}"
    if summary.skipped:
        yield f"{sum(summary.skipped.values()):,} files skipped: {_counted(summary.skipped)}"
    yield from problem_lines("failed", summary.failed)


def status_lines(status: IndexStatus, *, all_failed: bool = False) -> Iterator[str]:
    """What an index holds and how fresh it is.

    Parameters:
        all_failed: list every failed file, not the first few.
    """
    yield status.root
    if not status.exists:
        yield "  not indexed yet; a search indexes it first"
        return
    fresh = f"updated {ago(status.updated_at, now=time.time())}{'' if status.complete else ', not complete'}"
    if status.pending is not None:
        fresh += f", {status.pending:,} files differ from the disk now"
    yield f"  {fresh}"
    yield f"  files: {_counted(status.files)}"
    yield f"  {status.chunks:,} chunks: {_counted(status.languages)}"
    yield f"  vectors: {status.space or 'none, lexical search only'}"
    yield f"  commit: {_commits(status)}"
    yield f"  skipped: {_counted(status.skipped)}"
    yield f"  kept in {status.location}, {_size(status.size_bytes)}"
    most = None if all_failed else _MOST_LISTED
    yield from (f"  {line}" for line in problem_lines("failed", status.failed, most=most))


def problem_lines(what: str, problems: Iterable[FileProblem], *, most: int | None = _MOST_LISTED) -> Iterator[str]:
    """Files with their reasons, the first `most` of them and how many more."""
    listed = list(problems)
    if listed:
        yield f"{len(listed):,} files {what}:"
    yield from (f"  {problem.path}: {problem.reason}" for problem in listed[:most])
    if most is not None and len(listed) > most:
        yield f"  and {len(listed) - most:,} more; the status can list all"


def watch_lines(message: str, paths: tuple[str, ...], summary: UpdateSummary | None) -> Iterator[str]:
    """What a watcher reports: a problem or news, and what an update did; nothing of one that changed nothing.

    Parameters:
        message: a sentence, or empty.
        paths: what was looked at; empty for the whole tree.
        summary: of the update, when there was one.
    """
    if message:
        yield message
    if summary and (summary.added or summary.modified or summary.deleted or summary.failed):
        yield from summary_lines(", ".join(paths[:_MOST_LISTED]) or "whole tree", summary)


def _counted(counts: Mapping[str, int]) -> str:
    """Names with their counts, the largest first."""
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return ", ".join(f"{count:,} {name}" for name, count in ordered if count) or "none"


def _commits(status: IndexStatus) -> str:
    if not status.git_head:
        return "outside of git"
    indexed = status.indexed_head[:10] or "none"
    return indexed if status.indexed_head == status.git_head else f"{indexed}, checked out {status.git_head[:10]}"


def _size(count: float) -> str:
    for unit in ("bytes", "KiB", "MiB"):
        if count < _KILO:
            return f"{count:.0f} {unit}"
        count /= _KILO
    return f"{count:.1f} GiB"
