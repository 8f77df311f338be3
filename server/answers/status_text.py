"""Summaries and status in plain words."""

import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from importlib.util import find_spec
from typing import TYPE_CHECKING

from cqm.index.model.freshness import Freshness, FreshState
from cqm.index.model.progress import Progress, UpdateSummary, Usage
from cqm.index.model.query import FileProblem, SkipReason
from cqm.index.model.secrets import RedactedFile
from cqm.server.console import number
from cqm.server.times import ago, duration

if TYPE_CHECKING:
    # Answers to questions take two lines from here, and need none of these.
    from cqm.index.model.outcomes import Cost, Estimate
    from cqm.index.model.status import Building, IndexEntry, IndexStatus, Running

_MOST_LISTED = 10
_KILO = 1024
_LEAST_USD = 0.0001


def summary_lines(root: str, summary: UpdateSummary) -> Iterator[str]:
    """Summarize an update, and name the files which failed."""
    counts = {
        "added": summary.added,
        "modified": summary.modified,
        "deleted": summary.deleted,
        "unchanged": summary.unchanged,
    }
    counted = _counted(counts) if any(counts.values()) else "none"
    yield f"{root}: {number(sum(counts.values()), 'file')} in {summary.seconds:.1f} s, {counted}"
    yield from summary.notes
    chunks = {"written": summary.chunks_written, "deleted": summary.chunks_deleted, "embedded": summary.embedded}
    yield f"chunks: {_counted(chunks)}" + (
        f", {number(summary.cached, 'vector')} from the cache" if summary.cached else ""
    )
    if summary.lacking:
        waiting = number(summary.lacking, "chunk")
        yield f"{waiting} wait for their model; `cqm index`, `cqm watch` and the server try again"
    yield from (f"{model.name} failed: {model.problem}" for model in summary.models if model.problem)
    yield from usage_lines(summary.usage)
    if summary.skipped:
        yield f"{number(sum(summary.skipped.values()), 'file')} skipped: {_counted(summary.skipped)}"
        yield from _pdf_lines(summary.skipped)
    yield from problem_lines("failed", summary.failed)


def usage_lines(usage: Mapping[str, Usage]) -> Iterator[str]:
    """Report the use of services; models in this process cost nothing and are left out."""
    for name, used in usage.items():
        if used.requests:
            written = f", {used.output_tokens:,} written" if used.output_tokens else ""
            price = f", {usd_text(used.usd)}" if used.usd else ""
            taken = f"{number(used.texts, 'text')}, {number(used.tokens, 'token')}{written}"
            yield f"{name}: {taken} in {number(used.requests, 'request')}{price}"


def estimate_lines(root: str, estimate: "Estimate") -> Iterator[str]:
    """Estimate an update: files to read, and the most it would ask of models; texts in the cache are asked once."""
    chunks = number(estimate.chunks, "new or changed chunk")
    yield f"{root}: an update would read {number(estimate.files, 'file')}, with {chunks}"
    costs = [("embed", cost) for cost in estimate.embedding]
    if estimate.contexts:
        costs.append(("write contexts", estimate.contexts))
    yield from (f"  {cost.name} to {task}: {_cost(cost)}" for task, cost in costs)
    known = [cost.usd for _, cost in costs if cost.usd is not None]
    if any(known):
        unknown = "" if len(known) == len(costs) else " and models without a known price"
        yield f"  {usd_text(sum(known))} in all{unknown} at most; texts in the cache cost nothing"


def status_lines(status: "IndexStatus", *, all_failed: bool = False) -> Iterator[str]:
    """Describe an index: contents, freshness, place and the first failed files, or all of them."""
    from cqm.index.model.status import IndexState

    yield status.root
    if status.state is IndexState.ABSENT:
        yield "  not indexed yet; a search indexes it first"
        return
    if status.damage:
        yield f"  damaged; the next update rebuilds it: {status.damage}"
    if status.unavailable:
        yield f"  not used; the next update makes another one: {status.unavailable}"
    yield f"  {_state_line(status)}"
    yield from (f"  {running_line(running)}" for running in status.running)
    if status.stopped:
        yield f"  {_stopped_line(status.stopped)}"
    if status.building:
        yield f"  {_building_line(status.building)}"
    yield from _content_lines(status)
    most = None if all_failed else _MOST_LISTED
    yield from (f"  {line}" for line in problem_lines("failed", status.failed, most=most))
    if status.failed:
        yield "  to try these again: cqm index --retry, or index_path with retry"


def _content_lines(status: "IndexStatus") -> Iterator[str]:
    """List the contents of an index, the left-out files, and its folder."""
    yield f"  files: {_counted(status.files)}"
    if status.generated_files:
        yield f"  generated: {status.generated_files:,} of the files indexed"
    yield f"  {number(status.chunks, 'chunk')}: {_counted(status.languages)}"
    yield from (f"  {line}" for line in _grammar_lines(status.languages))
    yield f"  vectors: {_vectors(status)}"
    yield from (f"  {line}" for line in _service_lines(status))
    yield f"  commit: {_commits(status)}"
    yield f"  skipped: {_counted(status.skipped)}"
    yield from (f"  {line}" for line in _pdf_lines(status.skipped))
    if status.redacted_secrets:
        yield (
            f"  redacted: {number(status.redacted_secrets, 'secret')} in {number(status.redacted_files, 'file')} "
            "(cqm status --secrets lists them)"
        )
    yield f"  kept in {status.location}, {size_text(status.size_bytes)}"
    if status.server:
        yield f"  its chunks in {status.server}"


def _pdf_lines(skipped: Mapping[str, int]) -> Iterator[str]:
    if SkipReason.PDF_EXTRA in skipped:
        from cqm.chunkers.extras import how_to_add  # start-up time, here and below

        yield f"to read PDFs: {how_to_add('pdf')}"


def _grammar_lines(languages: Iterable[str]) -> Iterator[str]:
    """Name the languages of an index with a grammar in an extra that is not installed."""
    from cqm.chunkers.extras import how_to_add
    from cqm.chunkers.languages.table import BY_NAME  # many modules, which most answers do without

    extras = {row.extra: row.grammar[0] for name in languages if (row := BY_NAME.get(name)) and row.extra}
    for extra, module in extras.items():
        if find_spec(module) is None:
            rows = [BY_NAME[name] for name in languages if name in BY_NAME and BY_NAME[name].extra == extra]
            names = ", ".join(row.name for row in rows)
            yield f"outlined by their lines: {names}; for all symbols: {how_to_add(extra)}, then cqm index --force"


def entry_lines(entry: "IndexEntry") -> Iterator[str]:
    """Describe one of all indexes: its root, and facts known without opening it."""
    yield entry.root + ("" if entry.root_exists else "  (missing)")
    if entry.damage:
        yield f"  damaged; the next update rebuilds it: {entry.damage}"
    elif entry.unavailable:
        yield f"  not used; the next update makes another one: {entry.unavailable}"
    else:
        vectors = f", vectors of {entry.space}" if entry.space else ""
        yield f"  {number(entry.files, 'file')}, {number(entry.chunks, 'chunk')}{vectors}"
    now = time.time()
    moments = f"updated {ago(entry.updated_at, now=now)}, used {ago(entry.used_at, now=now)}"
    yield f"  {size_text(entry.size_bytes)}, {moments}"
    if entry.in_use_by:
        yield f"  in use by {entry.in_use_by}"
    yield f"  kept in {entry.location}"
    if entry.server:
        yield f"  its chunks in {entry.server}"


def secret_lines(files: Iterable[RedactedFile], left_out: Iterable[str]) -> Iterator[str]:
    """List places of redacted secrets, and files left out for theirs; never a value."""
    for file in files:
        for found in file.findings:
            times = f" ({found.count} times)" if found.count > 1 else ""
            yield f"  {file.path}:{found.line}: {found.kind}{times}"
    yield from (f"  {path}: left out whole" for path in left_out)


def problem_lines(what: str, problems: Iterable[FileProblem], *, most: int | None = _MOST_LISTED) -> Iterator[str]:
    """List the first `most` files with their reasons, and count the rest."""
    listed = list(problems)
    if listed:
        yield f"{number(len(listed), 'file')} {what}:"
    yield from (f"  {problem.path}: {problem.reason}" for problem in listed[:most])
    if most is not None and len(listed) > most:
        yield f"  and {len(listed) - most:,} more; the status can list all"


def watch_lines(message: str, paths: tuple[str, ...], summary: UpdateSummary | None) -> Iterator[str]:
    """Report a watcher's problem or news, and its update; an update without changes is left out.

    Parameters:
        message: a sentence, or empty.
        paths: the updated paths; empty for the whole tree.
        summary: of the update, if there was one.
    """
    if message:
        yield message
    if summary and (summary.added or summary.modified or summary.deleted or summary.failed or summary.notes):
        # Files skipped before are no news of an edit.
        shown = replace(summary, skipped={}) if paths else summary
        yield from summary_lines(", ".join(paths[:_MOST_LISTED]) or "whole tree", shown)


def _cost(cost: "Cost") -> str:
    written = f", {cost.output_tokens:,} written" if cost.output_tokens else ""
    price = "price not known" if cost.usd is None else usd_text(cost.usd)
    return f"{number(cost.texts, 'text')}, about {number(cost.tokens, 'token')}{written}, {price}"


def _counted(counts: Mapping[str, int]) -> str:
    """List names with their counts, the largest first."""
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return ", ".join(f"{count:,} {name}" for name, count in ordered if count) or "none"


def _vectors(status: "IndexStatus") -> str:
    """Count the vectors in each space, and the chunks without one."""
    held = {space: count for space, count in status.coverage.items() if space}
    if not held:
        return "none, lexical search only"
    without = status.coverage.get("", 0)
    counts = [f"{count:,} in {space}" for space, count in sorted(held.items(), key=lambda item: -item[1])]
    return ", ".join([*counts, *([f"{number(without, 'chunk')} without"] if without else [])])


def _service_lines(status: "IndexStatus") -> Iterator[str]:
    """Report waiting chunks, failing models with their reasons, and the hits of the cache."""
    if status.lacking:
        yield f"{number(status.lacking, 'chunk')} wait for their preferred model or a written context"
    for model in status.models:
        if model.problem:
            yield f"{model.name} failed: {model.problem}"
    for layer in status.cache:
        asked = layer.hits + layer.misses
        if asked or layer.problem:
            share = f"{100 * layer.hits / asked:.0f} % of {asked:,} found" if asked else "not asked"
            yield f"cache in {layer.name}: {share}" + (f"; {layer.problem}" if layer.problem else "")


def freshness_text(freshness: Freshness) -> str:
    """State in a word or two how far an index is in step with its files."""
    if freshness.state is not FreshState.STALE or not freshness.pending:
        return freshness.state.value if freshness.state is not FreshState.UNKNOWN else "freshness unknown"
    return f"stale by {number(freshness.pending, 'file')}" + _age(freshness)


def stale_lines(freshness: Freshness) -> Iterator[str]:
    """Name known gaps of the index, a sentence each."""
    if freshness.pending:
        are = "is" if freshness.pending == 1 else "are"
        yield f"{number(freshness.pending, 'changed file')} {are} not indexed yet{_age(freshness)}."
    if freshness.is_moved and freshness.indexed_head and freshness.pending is None:
        # If the files are followed, a commit without changes to them leaves the index as fresh as before.
        yield f"the index is of commit {freshness.indexed_head[:10]}, HEAD is {(freshness.git_head or '')[:10]}."


def pace_text(progress: "Progress | Running") -> str:
    """Report progress and speed of work, with an estimate of the time left."""
    if not progress.total:
        return "looking for files"
    parts = [f"{progress.done:,} of {number(progress.total, 'file')}"]
    if progress.done:
        parts.append(f"{progress.rate:,.1f} files/s")
    parts.append(number(progress.chunks, "chunk"))
    if progress.remaining_seconds is not None:
        parts.append(f"about {duration(progress.remaining_seconds)} left")
    return f"{100 * progress.done // progress.total} % ({', '.join(parts)})"


def running_line(running: "Running") -> str:
    """Describe running work."""
    return f"{running.task} goes on: {pace_text(running)} after {duration(time.time() - running.started_at)}"


def _age(freshness: Freshness) -> str:
    since = freshness.pending_since
    return f", the first changed {duration(time.time() - since)} ago" if since else ""


def _state_line(status: "IndexStatus") -> str:
    words = [status.state.value, f"updated {ago(status.updated_at, now=time.time())}"]
    words += [] if status.complete else ["not complete"]
    words.append(freshness_text(status.freshness))
    if status.pending is not None:
        words.append(
            f"{number(status.pending, 'file')} {'differs' if status.pending == 1 else 'differ'} from the disk now"
        )
    return ", ".join(words)


def _stopped_line(stopped: "Running") -> str:
    far = f"after {stopped.done:,} of {number(stopped.total, 'file')}" if stopped.total else "while it looked for files"
    return f"the last {stopped.task} was stopped {far}; the next one does the rest"


def _building_line(building: "Building") -> str:
    count = f"{building.files:,} of {building.total:,}" if building.total else f"{building.files:,}"
    rest = "" if building.total else ", the next update does the rest"
    why = f" because {building.why}" if building.why else ""
    return f"generation {building.name} is built{why}: {count} files; this one serves meanwhile{rest}"


def _commits(status: "IndexStatus") -> str:
    if status.freshness.git_head is None:
        return f"indexed {status.indexed_head[:10] or 'none'}, HEAD can't be read"
    if not status.git_head:
        return "none: outside of git, or before the first commit"
    indexed = status.indexed_head[:10] or "none"
    if status.indexed_head == status.git_head:
        return indexed
    behind = f", {number(status.commits_behind, 'commit')} behind" if status.commits_behind else ""
    return f"{indexed}, HEAD is {status.git_head[:10]}{behind}"


def usd_text(usd: float) -> str:
    """Format US dollars for people."""
    if not usd:
        return "free"
    return f"${usd:,.4f}" if usd >= _LEAST_USD else f"under ${_LEAST_USD}"


def size_text(count: float) -> str:
    """Format a number of bytes for people."""
    for unit in ("bytes", "KiB", "MiB"):
        if count < _KILO:
            return f"{count:.0f} {unit}"
        count /= _KILO
    return f"{count:.1f} GiB"
