"""Bring an index in step with its files before a tool answers from it."""

from collections.abc import Awaitable, Callable
from typing import Any

import anyio
from anyio.to_thread import run_sync
from mcp.server.mcpserver import Context

from cqm.chunkers.errors import CqmError
from cqm.index.model.progress import Progress
from cqm.server.console import one_line
from cqm.server.mcp.allowed_paths import ClientRoots
from cqm.server.mcp.pending_changes import PATIENCE_SECONDS, pending_notes
from cqm.server.mcp.replies import going_on, progress_message
from cqm.server.mcp.scope import Asked, Served
from cqm.server.workspace.workspace import OpenIndex

_GLANCE_SECONDS = 2.0
"""Longest wait of a search for the comparison of a complete older index with the files."""
ToolContext = Context[Served, Any]


def seconds_of(served: Served, wanted: float | None) -> float:
    """Return the seconds a call waits: its own, else those of the settings."""
    return served.settings.server.wait_seconds if wanted is None else wanted


def progress_to(ctx: ToolContext) -> Callable[[Progress], Awaitable[None]]:
    """Return a function reporting progress to a client which asked for it."""

    async def tell(progress: Progress) -> None:
        await ctx.report_progress(progress.done, progress.total or None, progress_message(progress))

    return tell


def settings_note(served: Served, opened: OpenIndex) -> str:
    """Write a note if the settings in force differ from their files; empty otherwise."""
    problem = served.workspace.settings_problem(opened.index.root)
    return f"Note: {one_line(problem)}\n" if problem else ""


async def asked_in_step(
    ctx: ToolContext, path: str | None, named: ClientRoots, wait: float | None = None
) -> list[Asked]:
    """Open the index of a path, or without one those of all open folders, in step with their files."""
    served = ctx.request_context.lifespan_context
    wanted = path if path and path.strip() else None
    opened = [it[0] for it in await run_sync(served.open_all, wanted, named)]
    opened = opened or [await run_sync(served.open, path, named)]
    asked = []
    roots, several = [it.opened.index.root for it in opened], served.names(named)
    for at, name in zip(opened, served.named_roots(roots, named), strict=True):
        note = await bring_in_step(at.opened, served, wait, ctx)
        note += await run_sync(pending_notes, at.opened)
        patience = PATIENCE_SECONDS if wait is None else 0
        above = served.missing_note(path, named)
        asked.append(Asked(name, at, note, patience, at.opened.index.root in several, above))
    return asked


async def bring_in_step(opened: OpenIndex, served: Served, wait: float | None, ctx: ToolContext) -> str:
    """Compare the index with its files unless done before; return notes for the reply.

    The notes say if it is still behind its files, or its settings behind theirs.

    Parameters:
        wait: seconds to wait for changes to be indexed; None to wait only before the first comparison.

    Raises:
        CqmError: there is no index to answer from, and none could be made.
    """
    note = settings_note(served, opened)
    is_done = await run_sync(opened.wait, wait, abandon_on_cancel=True) if wait else opened.is_in_step
    return note if is_done else note + await _compared(opened, served, wait, ctx)


async def _compared(opened: OpenIndex, served: Served, wait: float | None, ctx: ToolContext) -> str:
    """Compare the index with its files; return a note if that failed, or goes on after the wait."""
    complete = opened.is_complete
    seconds = min(served.settings.server.wait_seconds, _GLANCE_SECONDS) if complete and wait is None else wait
    end = anyio.current_time() + seconds_of(served, seconds)
    if opened.is_in_step and (running := opened.running_job()) and running.join():
        # The job may have passed files changed since it began.
        await running.wait(end - anyio.current_time(), progress_to(ctx))
    job = opened.start_or_join()
    # For the index itself: a call given up or timed out by its client leaves its indexing running.
    job.join()
    if not await job.wait(end - anyio.current_time(), progress_to(ctx)):
        so_far = "This answers from the files done so far; ask again later for the rest."
        return f"Note: {going_on(str(opened.index.root), job)} {so_far}\n"
    try:
        job.result()
    except CqmError as error:
        if not complete:
            raise
        return f"Note: the index could not be compared with the files: {one_line(str(error))}\n"
    # The watch begins with a look of its own; the answer is not known to be fresh before its end.
    await run_sync(opened.wait, min(_GLANCE_SECONDS, max(0.0, end - anyio.current_time())), abandon_on_cancel=True)
    return ""
