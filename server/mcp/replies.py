"""Replies of the tools, as text for agents; the answer of a search is in render.py."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from mcp_types import CallToolResult, TextContent

from cqm.chunkers.model import Chunk
from cqm.index.model.errors import IndexInUseError
from cqm.index.model.progress import Progress, UpdateSummary
from cqm.index.model.query import FileProblem
from cqm.index.model.status import IndexStatus
from cqm.index.workers import Workers
from cqm.server.answers.budget import most_tokens
from cqm.server.answers.names import path_name
from cqm.server.answers.status_text import pace_text, status_lines, summary_lines
from cqm.server.boundary import explain_mark, new_mark
from cqm.server.config.settings import Settings
from cqm.server.console import number, one_line, plain
from cqm.server.errors import PathRefusedError
from cqm.server.mcp.allowed_paths import BRING_BACK, gone
from cqm.server.mcp.scope import Served
from cqm.server.preview.text import chunk_line, chunk_text, holds_text, options_line, shown, statistics_line
from cqm.server.workspace.jobs import Job
from cqm.server.workspace.workspace import OpenIndex

if TYPE_CHECKING:
    from cqm.server.preview.choice import Choice
    from cqm.server.preview.preview import Preview

_MOST_LISTED = 500
_PREFIX = "cqm/"
_LONGEST_VALUE = 60
_MORE_TOKENS = 30
"""Tokens of the line telling to go on."""


def with_facts(text: str, name: str, facts: object, drawn: str = "") -> CallToolResult:
    """Make a tool's reply: text for the model, and facts for the program around it, as `_meta`.

    The facts aren't structured content: programs show this to the model in place of the text.

    Parameters:
        name: of the facts, below CQM's prefix.
        facts: JSON types or dataclasses.
        drawn: the reply as HTML, for a view of it; empty for none.
    """
    meta = {f"{_PREFIX}{name}": plain(facts)} | ({f"{_PREFIX}view": drawn} if drawn else {})
    return CallToolResult(content=[TextContent(type="text", text=text)], _meta=meta)


def job_reply(root: str, job: Job) -> str:
    """Report the state of an indexing job.

    Raises:
        CqmError: the job failed.
    """
    if not job.is_done:
        return "\n".join(
            [
                going_on(root, job),
                "Search answers from the files done so far. Call index_path again to wait for the rest.",
            ]
        )
    return "\n".join(map(one_line, _summary_lines(root, job.result())))


def going_on(root: str, job: Job) -> str:
    """Describe a running job in one line."""
    progress = job.progress
    if not progress.total:
        return one_line(f"Indexing {root} goes on: looking for files.")
    return one_line(f"Indexing {root} goes on: {pace_text(progress)} after {job.seconds:.0f} s.")


def progress_message(progress: Progress) -> str:
    """Write the text of a progress notification."""
    return one_line(f"{progress.path} ({number(progress.chunks, 'chunk')})") if progress.path else progress.phase


def status_reply(status: IndexStatus, job: Job | None = None, watch: str = "", notice: str = "") -> str:
    """Describe an index, its running job, the watch of its files, and whose settings are in force."""
    lines = [*status_lines(status)]
    if job and not status.running:
        lines.append(f"  {going_on(status.root, job)}")
    if watch:
        lines.append(f"  watch: {watch}")
    if notice:
        lines.append(f"  {one_line(notice)}")
    return "\n".join(map(one_line, lines))


def listing(root: str, what: str, problems: Sequence[FileProblem]) -> str:
    """List failed or skipped files with their reasons, as many as a reply may hold."""
    if not problems:
        return one_line(f"{root}: no file {what}.")
    lines = [f"{root}: {number(len(problems), 'file')} {what}:"]
    lines += [f"{path_name(problem.path)}: {problem.reason}" for problem in problems[:_MOST_LISTED]]
    if len(problems) > _MOST_LISTED:
        lines.append(f"and {len(problems) - _MOST_LISTED:,} more")
    return "\n".join(map(one_line, lines))


def preview_reply(made: "Preview", *, with_text: bool, budget: int, first: int = 0) -> str:
    """List the chunks of a document, a line each or with their text, as many as fit.

    Parameters:
        with_text: show the text of each chunk too.
        budget: tokens of the reply.
        first: number of the first chunk listed, from 0.
    """
    lines = [f"{made.document.path}: {statistics_line(made)}.", f"Strategy: {options_line(made)}"]
    lines += [f"Warning: {warning}" for warning in made.report.warnings]
    lines = [*map(one_line, lines)]
    start = ""
    if with_text and made.report.chunks:
        mark = new_mark([made.document.text])
        lines.append(explain_mark(mark))
        start = f"{mark} "
    left = budget - most_tokens("\n".join(lines)) - _MORE_TOKENS
    for chunk in made.report.chunks[first:]:
        block = f"{start}{_chunk_block(made, chunk, with_text=with_text)}"
        left -= most_tokens(f"{block}\n")
        # A page shows at least one chunk: without it, the reader could not go on.
        if left < 0 and chunk.index > first:
            rest = len(made.report.chunks) - chunk.index
            lines.append(
                f'{start}{rest} more chunks, from line {chunk.start_line}: ask again with cursor "{chunk.index}".'
            )
            break
        lines.append(block)
    return "\n".join(lines)


def _chunk_block(made: "Preview", chunk: Chunk, *, with_text: bool) -> str:
    head = one_line(f"{'  ' * chunk.level}{chunk_line(made, chunk)}{_known(chunk)}")
    has_text = with_text and not holds_text(chunk, made.report.chunks)
    return f"{head}\n{chunk_text(chunk)}" if has_text else head


def _known(chunk: Chunk) -> str:
    """Name further facts of a chunk in a line."""
    about = chunk.metadata
    known: dict[str, object] = {"fqcn": about.fqcn if about.fqcn != chunk.symbol else "", **about.facts}
    if len(chunk.symbols) == 1:
        facts = chunk.symbols[0]
        known |= {"returns": facts.returns, "visibility": facts.visibility, "complexity": facts.complexity}
    parts = (f"{name}={shown(value)[:_LONGEST_VALUE]}" for name, value in known.items() if value)
    return "".join(f"  {part}" for part in parts)


def _summary_lines(root: str, summary: UpdateSummary) -> Iterator[str]:
    yield "Cancelled: files done by then are indexed; call again for the rest." if summary.cancelled else "Indexed."
    yield from summary_lines(root, summary)


def preview_file(root: Path, path: Path, choice: "Choice", settings: Settings, workers: Workers) -> "Preview":
    """Cut a file of a root.

    Raises:
        PathRefusedError: the path is a folder.
        CqmError: the file is never indexed, cannot be read or cannot be cut so.
    """
    from cqm.server.preview.preview import listed_document, preview, warned

    relative = path.relative_to(root).as_posix()
    if not path.is_file():
        named = root.name if path == root else relative
        raise PathRefusedError(f"path {named}: expected a file.", remedy="Give the path of a file.")
    document, warnings = listed_document(root, relative, settings, workers)
    return warned(preview(document, choice, settings, workers), warnings)


def problems_reply(opened: OpenIndex, show: str) -> tuple[str, IndexStatus]:
    """List the failed or skipped files of an index, and return its status."""
    status = opened.index.status()
    problems = opened.index.skipped() if show == "skipped" else status.failed
    return listing(str(opened.index.root), show, problems), status


def root_status(served: Served, root: Path) -> tuple[str, IndexStatus]:
    """Read the status of a root, compared with the disk unless another process has the index.

    Raises:
        PathRefusedError: the root is gone, and its index is not open.
    """
    if not root.exists():
        if (held := served.workspace.opened(root)) is None:
            raise PathRefusedError(gone(root), remedy=BRING_BACK)
        status = held.index.status()
        return status_reply(status, watch=f"{gone(root)} {BRING_BACK}"), status
    status = served.workspace.status(root)
    if not status.exists and served.workspace.opened(root) is None:
        return status_reply(status), status
    try:
        opened = served.workspace.open(root)
    except IndexInUseError as error:
        return status_reply(status, watch=error.message), status
    # Take the job first: it is reported even if it ends during the look, and never missing beside old counts.
    job = opened.running_job()
    # Work under way compares the files itself; a look beside it would hold up the reply for as long again.
    status = opened.index.status(look=not (job or status.running))
    return status_reply(status, job, opened.watch_state(), served.workspace.notice(root)), status
