"""The tools, and the one place turning errors into text for the model."""

import functools
import logging
import time
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Literal, ParamSpec, TypeVar

from anyio.to_thread import run_sync
from mcp.server.mcpserver.exceptions import ToolError
from mcp.shared.exceptions import MCPError
from mcp_types import CallToolResult
from pydantic import Field

from cqm.chunkers.errors import CqmError
from cqm.chunkers.model import Document
from cqm.index.model.changes import Changes, ChangesQuery
from cqm.index.model.errors import NotIndexedError, UnknownNameError
from cqm.index.model.query import LINES_A_PAGE, Answer, Query, SearchMode, page_start
from cqm.index.model.symbols import Outline, OutlineQuery, Reading, ReadQuery
from cqm.index.model.uses import ReferenceGroup, SymbolUses
from cqm.server.answers.as_json import answer_facts, status_facts
from cqm.server.answers.matched_lines import matched_text
from cqm.server.answers.merged import each_answer, joined
from cqm.server.answers.render import render_answer
from cqm.server.answers.symbols.changes import changes_text
from cqm.server.answers.symbols.outline import outline_text
from cqm.server.answers.symbols.reading import reading_text
from cqm.server.answers.symbols.usages import usage_text
from cqm.server.client_views import are_drawn
from cqm.server.console import one_line
from cqm.server.errors import SettingsError
from cqm.server.mcp.client_roots import NamedRoots
from cqm.server.mcp.in_step import ToolContext, asked_in_step, bring_in_step, progress_to, seconds_of, settings_note
from cqm.server.mcp.pending_changes import LACKS, PATIENCE_SECONDS, ask_again
from cqm.server.mcp.replies import (
    job_reply,
    preview_file,
    preview_reply,
    problems_reply,
    root_status,
    with_facts,
)
from cqm.server.mcp.root_queries import query_of_each
from cqm.server.mcp.scope import Asked, in_own_folder, missing_note, split_place
from cqm.server.mcp.tool_call import ToolCall
from cqm.server.times import parse_when
from cqm.server.workspace.workspace import OpenIndex

_log = logging.getLogger(__name__)

_MOST_OUTLINED = 2_000
"""Symbols to choose from; more are on further pages."""

_P = ParamSpec("_P")
_Reply = TypeVar("_Reply", str, CallToolResult)

# `search` describes the arguments shared with other tools.
Wait = Annotated[
    float | None,
    Field(ge=0, le=240, description="Default {wait_seconds}."),
]
WaitForChanges = Annotated[float | None, Field(ge=0, le=240)]
Budget = Annotated[int | None, Field(ge=200, le=24_000, description="Default {token_budget}.")]
PlainValue = str | int | float | bool | list[str]
StrategyName = Literal["auto", "fixed", "sentence", "semantic", "hierarchical", "late", "javadoc"]


def explained(tool: Callable[_P, Awaitable[_Reply]]) -> Callable[_P, Awaitable[_Reply]]:
    """Turn every error of a tool into ToolError: only its text reaches the model."""

    @functools.wraps(tool)
    async def call(*args: _P.args, **kwargs: _P.kwargs) -> _Reply:
        try:
            return await tool(*args, **kwargs)
        except (ToolError, MCPError):
            raise
        except CqmError as error:
            raise ToolError(error_text(error)) from error
        except Exception as error:  # the tool boundary
            _log.exception("%s failed unexpectedly.", tool.__name__)
            message = f"Unexpected {type(error).__name__}: {error}. This is a fault of CQM; its log has the details."
            raise ToolError(one_line(message)) from error

    return call


def error_text(error: CqmError) -> str:
    """Write an error for the model on one line; only errors of settings have several, one a problem."""
    lines = str(error).split("\n") if isinstance(error, SettingsError) else [str(error)]
    return "\n  ".join(map(one_line, lines))


@explained
async def index_path(
    ctx: ToolContext,
    named: NamedRoots,
    path: str | None = None,
    force: Annotated[bool, Field(description="Rebuild it.")] = False,  # noqa: FBT002
    retry: Annotated[bool, Field(description="Only retry failed files.")] = False,  # noqa: FBT002
    wait_seconds: Wait = None,
) -> str:
    """Start or join the job updating the index of a path, and wait a while for it."""
    served = ctx.request_context.lifespan_context
    opened = (await run_sync(served.open, path, named)).opened
    # The caller may have just repaired a service.
    await run_sync(opened.index.retry_models)
    job = opened.start_or_join(anew=force, retry=retry and not force)
    await job.wait(seconds_of(served, wait_seconds), progress_to(ctx))
    return settings_note(served, opened) + job_reply(str(opened.index.root), job)


@explained
async def search(  # noqa: PLR0913, PLR0917 - a filter is a parameter
    ctx: ToolContext,
    named: NamedRoots,
    query: Annotated[str, Field(description="Question, symbol, path, message or trace.")] = "",
    like: Annotated[str, Field(description="Find chunks like these: src/app.py:40-61.")] = "",
    path: Annotated[str | list[str] | None, Field(description="Files or folders; default: all open ones.")] = None,
    limit: Annotated[int | None, Field(ge=1, le=100, description="Default 10.")] = None,
    mode: Annotated[
        Literal["hybrid", "semantic", "lexical", "exact", "regex"] | None,
        Field(description="exact, regex: as grep."),
    ] = None,
    language: Annotated[list[str] | None, Field(description='["python", "go"]')] = None,
    kind: Annotated[list[str] | None, Field(description='["function", "class", "section"]')] = None,
    source: list[Literal["code", "documentation", "config", "data", "issue"]] | None = None,
    include: Annotated[list[str] | None, Field(description='Globs below `path`: ["src/**", "*.py"].')] = None,
    exclude: Annotated[list[str] | None, Field(description='["tests/**"]')] = None,
    changed_since: Annotated[str | None, Field(description="2d, 12h or 2026-03-01.")] = None,
    cursor: Annotated[str, Field(description="Of the page before.")] = "",
    token_budget: Budget = None,
    format: Annotated[Literal["full", "compact"] | None, Field(description="compact: a line each.")] = None,  # noqa: A002
    explain: Annotated[bool, Field(description="Name parts of scores.")] = False,  # noqa: FBT002
    wait_seconds: Annotated[
        float | None,
        Field(ge=0, le=240, description="For changes to be indexed; for a first index {wait_seconds}."),
    ] = None,
) -> CallToolResult:
    """Answer a question from the indexes of some paths; make an index first when there is none."""
    served = ctx.request_context.lifespan_context
    # Most calls name no path, and the indexes are open: another thread would take longer than the check.
    known = served.opened(named) if path is None else []
    groups = known or await run_sync(served.open_all, path, named)
    settings = groups[0][0].opened.settings
    wanted = SearchMode(mode or settings.search.mode)
    asked = Query(
        text=query,
        like=like,
        limit=limit or (LINES_A_PAGE if wanted.is_of_lines else settings.search.limit),
        cursor=cursor,
        mode=wanted,
        languages=tuple(name.lower() for name in language or ()),
        kinds=tuple(name.lower() for name in kind or ()),
        sources=tuple(source or ()),
        include=tuple(include or ()),
        exclude=tuple(exclude or ()),
        changed_since=parse_when(changed_since, now=time.time(), option="changed_since") if changed_since else None,
    )
    roots = [group[0].opened.index.root for group in groups]
    note = served.missing_note(path or like, named, roots)
    queries = query_of_each(asked, groups, served.named_roots(roots, named), has_names=bool(served.names(named)))
    asks = dict[str, Callable[[], Answer]]()
    for name, (opened, query_here) in queries.items():
        note += missing_note(opened.index.root)
        note += await bring_in_step(opened, served, wait_seconds, ctx)
        asks[name] = functools.partial(_searched, opened, query_here, note, wait_seconds)
    # A single root is shown with its own query, several with the common one.
    shown = asked if len(groups) > 1 else next(iter(queries.values()))[1]
    answer = await _searched_soon(groups[0][0].opened, shown) if len(groups) == 1 else None
    if answer is None:
        answers = await run_sync(each_answer, asks)
        answer = joined(asked, answers) if len(groups) > 1 else next(iter(answers.values()))
    budget, root = groups[0][0].tokens_left(token_budget, note), ", ".join(map(str, roots))
    compact = format == "compact" if format else None
    text = _written(shown, answer, budget, root, explain=explain, compact=compact)
    drawn = served.views.answer(shown, answer) if served.views and are_drawn(ctx) else ""
    return with_facts(note + text, "answer", answer_facts(answer), drawn)


@explained
async def usages(  # noqa: PLR0913, PLR0917 - as above
    ctx: ToolContext,
    named: NamedRoots,
    name: Annotated[str, Field(description="get_url, Client.get_url or src/app.py:40")],
    path: str | None = None,
    kind: Annotated[
        list[Literal["calls", "uses", "tests", "documentation"]] | None, Field(description="Only these.")
    ] = None,
    limit: Annotated[int, Field(ge=1, le=1000, description="References a page.")] = 50,
    cursor: str = "",
    depth: Annotated[int, Field(ge=1, le=5, description="2 adds the callers of callers.")] = 1,
    wait_seconds: WaitForChanges = None,
) -> str:
    """List the definitions of a symbol and every line with its name, from the index of a path."""
    asked, names = in_own_folder(name, path, await asked_in_step(ctx, path, named, wait_seconds))
    groups = tuple(map(ReferenceGroup, kind or ()))

    def ask(it: Asked, _: int) -> SymbolUses:
        return it.at.opened.index.usages(names.get(it.name, name), limit, cursor, groups, depth)

    def write(found: SymbolUses, _: Asked, tokens: int, mark: str) -> str:
        return usage_text(found, tokens, start=int(cursor or 0), mark=mark)

    def is_there(found: SymbolUses) -> bool:
        return bool(found.definitions or found.namesakes or any(found.totals.values()))

    def is_near(found: SymbolUses) -> bool:
        return bool(found.near)

    return await run_sync(ToolCall(ask, write, is_there, cursor, is_near=is_near).answered, asked)


@explained
async def outline(
    ctx: ToolContext,
    named: NamedRoots,
    path: str | None = None,
    cursor: str = "",
    token_budget: Budget = None,
) -> str:
    """List the symbols of a file, or the most used ones of a folder, from the index of a path."""
    asked = await asked_in_step(ctx, path, named)

    def ask(it: Asked, _: int) -> Outline:
        return it.at.opened.index.outline(OutlineQuery(it.at.relative, _MOST_OUTLINED, cursor))

    def write(found: Outline, it: Asked, tokens: int, mark: str) -> str:
        return outline_text(found, tokens, root=str(it.at.opened.index.root), mark=mark)

    return await run_sync(ToolCall(ask, write, bool, cursor, token_budget).answered, asked)


@explained
async def read(
    ctx: ToolContext,
    named: NamedRoots,
    what: Annotated[str, Field(description="Client.get_url, src/app.py:10-40 or src/app.py")] = "",
    path: str | None = None,
    cursor: str = "",
    token_budget: Budget = None,
) -> str:
    """Read a symbol, lines or a file as it is now, if the index of a path has it."""
    file, lines = split_place(what or path or "")
    if not what or (path is None and Path(file).is_absolute()):
        # The root is the file's.
        path = file
    asked, names = in_own_folder(what, path, await asked_in_step(ctx, path, named))

    def ask(it: Asked, tokens: int) -> Reading:
        wanted = names.get(it.name) or what or f"{it.at.file}{lines}"
        return it.at.opened.index.read(ReadQuery(wanted, it.at.relative, max(1, tokens), cursor))

    def write(found: Reading, _: Asked, tokens: int, mark: str) -> str:
        return reading_text(found, tokens, mark=mark)

    try:
        return await run_sync(ToolCall(ask, write, bool, cursor, token_budget).answered, asked)
    except UnknownNameError:
        if folder := next((it.name for it in asked if it.name == what.strip().rstrip("/")), ""):
            remedy = "Name a file in it; `outline` lists them."
            raise NotIndexedError(f"{folder} is a folder that is open.", remedy=remedy) from None
        raise


@explained
async def changes(
    ctx: ToolContext,
    named: NamedRoots,
    what: Annotated[str, Field(description="Words of its message, id, branch or A..B; default: newest.")] = "",
    path: str | None = None,
    cursor: str = "",
    token_budget: Budget = None,
) -> str:
    """Find a commit by words of its message, its id or a path, with the lines that it changed as they are now."""
    asked, names = in_own_folder(what, path, await asked_in_step(ctx, path, named))
    # Commits are read from git, which no index is behind.
    asked = [replace(it, patience=0) for it in asked]

    def ask(it: Asked, _: int) -> Changes:
        return it.at.opened.index.changes(ChangesQuery(names.get(it.name, what), it.at.relative, cursor=cursor))

    def write(found: Changes, _: Asked, tokens: int, mark: str) -> str:
        return changes_text(found, tokens, start=int(cursor or 0), mark=mark)

    def is_there(found: Changes) -> bool:
        return found.is_found or not what

    return await run_sync(ToolCall(ask, write, is_there, cursor, token_budget).answered, asked)


@explained
async def chunk_preview(  # noqa: PLR0913, PLR0917 - as above
    ctx: ToolContext,
    named: NamedRoots,
    path: Annotated[str | None, Field(description="A file.")] = None,
    text: Annotated[str | None, Field(description="In place of a file.")] = None,
    name: Annotated[str, Field(description="Tells the language of `text`.")] = "text.txt",
    with_text: Annotated[bool, Field(description="Show the texts too.")] = False,  # noqa: FBT002
    strategy: Annotated[StrategyName, Field(description="Way to cut.")] = "auto",
    options: Annotated[
        dict[str, PlainValue] | None,
        Field(description='{"target_tokens": 256}'),
    ] = None,
    cursor: str = "",
) -> str:
    """Show how a file or a text is chunked; needs no index, and an embedder only for semantic and late."""
    # Chunkers are loaded on first use: most servers never need them.
    from cqm.server.preview.choice import Choice
    from cqm.server.preview.preview import preview

    if (path is None) == (text is None):
        raise ToolError("path and text: expected exactly one of them.")
    first = page_start(cursor)
    served = ctx.request_context.lifespan_context
    choice = Choice(strategy, options or {})
    if text is not None:
        settings = served.settings
        made = await run_sync(preview, Document(name, text), choice, settings, served.workers)
    else:
        real, root = await run_sync(served.root_of, path, named)
        settings = served.settings.for_root(root)
        made = await run_sync(preview_file, root, real, choice, settings, served.workers)
    return preview_reply(made, with_text=with_text, budget=settings.server.token_budget, first=first)


@explained
async def index_status(
    ctx: ToolContext,
    named: NamedRoots,
    path: str | None = None,
    show: Annotated[
        Literal["summary", "failed", "skipped"],
        Field(description="Or these files with their reasons."),
    ] = "summary",
) -> CallToolResult:
    """Report contents, freshness, failed and skipped files, and running work of an index."""
    served = ctx.request_context.lifespan_context
    if show != "summary":
        at = await run_sync(served.open, path, named)
        text, status = await run_sync(problems_reply, at.opened, show)
        return with_facts(text, "status", [status_facts(status)])
    roots = await run_sync(served.roots_of, path, named)
    told = [await run_sync(root_status, served, root) for root in roots]
    text = served.missing_note(path, named, roots) + "\n\n".join(text for text, _ in told)
    drawn = served.views.status([status for _, status in told]) if served.views and are_drawn(ctx) else ""
    return with_facts(text, "status", [status_facts(status) for _, status in told], drawn)


async def _searched_soon(opened: OpenIndex, query: Query) -> Answer | None:
    """Ask without another thread; None if a thread is needed to ask, or to wait for a missing name."""
    try:
        return await opened.index.search_soon(query)
    except LACKS:
        return None


def _searched(opened: OpenIndex, query: Query, note: str, wait: float | None) -> Answer:
    patience = PATIENCE_SECONDS if wait is None else 0
    return ask_again(opened, lambda: opened.index.search(query), notes=note, patience=patience)[0]


def _written(query: Query, answer: Answer, budget: int, root: str, *, explain: bool, compact: bool | None) -> str:
    if query.mode.is_of_lines:
        return matched_text(query, answer, budget, root=root)
    return render_answer(query, answer, budget, root=root, explain=explain, compact=compact)
