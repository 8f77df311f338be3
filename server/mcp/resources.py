"""Files and their lines as resources, by the rules of `read`, and completion of their addresses.

A file is served if indexing would read it, without its secrets. Ignored files, files of secrets and links out of the
folder are not there.
"""

import functools
from pathlib import Path
from typing import Any

from anyio.to_thread import run_sync
from mcp.server.context import ServerRequestContext
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ResourceError, ResourceNotFoundError
from mcp_types import CompleteRequestParams, CompleteResult, Completion, InputRequiredResult

from cqm.chunkers.errors import CqmError
from cqm.index.model.errors import NotIndexedError, QueryError, UnknownNameError
from cqm.index.model.symbols import OutlineQuery, ReadQuery
from cqm.server.console import one_line, visible
from cqm.server.errors import PathRefusedError
from cqm.server.mcp.allowed_paths import ClientRoots
from cqm.server.mcp.client_roots import roots_or_question
from cqm.server.mcp.in_step import ToolContext, bring_in_step
from cqm.server.mcp.pending_changes import ask_again
from cqm.server.mcp.scope import OpenPath, Served, split_place
from cqm.server.mcp.tools import error_text

FILE, CHUNK = "cqm://file/{+path}", "cqm://chunk/{+place}"

_PAGE_TOKENS = 50_000
_MOST_PAGES = 32
"""Pages of a file: some 5 MB."""
_MOST_OFFERED = 100
"""The protocol allows no more."""
_PLAIN = "text/plain"
_TYPES = {"markdown": "text/markdown", "json": "application/json"}
"""A page of HTML is plain text: nobody should draw a stranger's."""


def add_resources(server: MCPServer[Served]) -> None:
    """Add both templates, and completion for their arguments and those of prompts."""
    server.resource(
        FILE, name="file", title="A file", description="An indexed file as it is now, its secrets redacted."
    )(_file)
    server.resource(
        CHUNK,
        name="chunk",
        title="A symbol, or lines of a file",
        description="The lines of a place such as src/app.py:40-61, or of a symbol such as Client.get_url.",
    )(_chunk)
    # The decorator of the SDK hides the session, which has the index.
    server._lowlevel_server.add_request_handler("completion/complete", CompleteRequestParams, _complete)  # noqa: SLF001


def mime_type(uri: str) -> str:
    """Return the type of a resource by its file's name: code of a language, Markdown, JSON or plain text."""
    name = split_place(uri)[0].rpartition("/")[2]
    from cqm.chunkers.detect import language_of  # start-up time: it knows all languages
    from cqm.chunkers.source_types import CODE, source_type_of

    language = language_of(name, "") if "." in name else ""
    if language in _TYPES:
        return _TYPES[language]
    return f"text/x-{language}" if source_type_of(language) == CODE else _PLAIN


async def _file(path: str, ctx: ToolContext) -> str | InputRequiredResult:
    return await _lines(path, ctx, is_whole=True)


async def _chunk(place: str, ctx: ToolContext) -> str | InputRequiredResult:
    return await _lines(place, ctx, is_whole=False)


async def _lines(what: str, ctx: ToolContext, *, is_whole: bool) -> str | InputRequiredResult:
    served: Served = ctx.request_context.lifespan_context
    path, lines = (what, "") if is_whole else split_place(what)
    # A symbol is looked for in all open folders.
    asked = path if lines or is_whole else None
    named = await roots_or_question(ctx, asked)
    if isinstance(named, InputRequiredResult):
        return named
    try:
        if asked is None:
            return await _symbol(what, ctx, named)
        at = await run_sync(served.open, asked, named)
        return await run_sync(_read, at, what, lines, is_whole)
    except (NotIndexedError, PathRefusedError, QueryError) as error:
        raise ResourceNotFoundError(error_text(error)) from error
    except CqmError as error:
        raise ResourceError(error_text(error)) from error


async def _symbol(what: str, ctx: ToolContext, named: ClientRoots) -> str:
    """Read a symbol of the only open folder with it.

    Raises:
        QueryError: none has it, or several have.
    """
    if not what.strip():
        raise QueryError("No place is given.", remedy="Name one, as cqm://chunk/src/app.py:40-61.")
    served: Served = ctx.request_context.lifespan_context
    opened = [group[0] for group in await run_sync(served.open_all, None, named)]
    names = served.named_roots([at.opened.index.root for at in opened], named)
    found, errors = dict[str, str](), list[UnknownNameError]()
    for name, at in zip(names, opened, strict=True):
        await bring_in_step(at.opened, served, None, ctx)
        try:
            found[name] = await run_sync(_read, at, what, "", False)  # noqa: FBT003 - by position in a thread
        except UnknownNameError as error:
            errors.append(error)
    if not found:
        raise errors[0]
    if len(found) > 1:
        raise QueryError(f"{what} is in {', '.join(found)}.", remedy="Name the place in one of them.")
    return next(iter(found.values()))


def _read(at: OpenPath, what: str, lines: str, is_whole: bool) -> str:  # noqa: FBT001 - called by position in a thread
    """Read all lines of a file, a place or a symbol, made visible, each with a line end."""
    if (is_whole or lines) and not at.file:
        raise NotIndexedError(f"{what} is a folder.", remedy="Name a file in it.")
    asked = f"{at.file}{lines}" if at.file else what
    text, cursor, first = "", "", None
    for _ in range(_MOST_PAGES):
        query = ReadQuery(asked, tokens=_PAGE_TOKENS, cursor=cursor)
        page, _ = ask_again(at.opened, functools.partial(at.opened.index.read, query))
        first = first or page
        if not page.path:
            places = ", ".join(f"{it.path}:{it.line}" for it in page.definitions)
            raise QueryError(f"{what} may be any of {places}.", remedy="Name one of these places.")
        if at.file and page.path != at.file:
            raise NotIndexedError(f"{what} is not indexed.")
        if page.hash != first.hash:
            raise QueryError(f"{what} changed while it was read.", remedy="Read it again.", retryable=True)
        text = f"{text[:-1] if page.column else text}{page.text}\n"
        cursor = page.next_cursor
        if not cursor:
            # A host puts it into the context of its model as it is.
            return visible(text)
    raise QueryError(f"{what} is too large for a resource.", remedy="Read some of its lines.")


async def _complete(ctx: ServerRequestContext[Served, Any], params: CompleteRequestParams) -> CompleteResult:
    """Offer paths of indexed files, and after a colon the places of that file's symbols. This makes no index."""
    text = params.argument.value
    offered: list[str] = []
    if params.argument.name in {"path", "place"} and text.isprintable():
        try:
            offered = await run_sync(_offered, ctx.lifespan_context, text, params.argument.name == "place")
        except CqmError:
            # With nothing open, or too much, nothing is offered: reading an address gives the reason.
            offered = []
    shown = offered[:_MOST_OFFERED]
    return CompleteResult(completion=Completion(values=shown, has_more=len(offered) > len(shown)))


def _offered(served: Served, text: str, has_lines: bool) -> list[str]:  # noqa: FBT001 - called by position in a thread
    named = served.client.roots
    roots = served.names(named)
    if not roots:
        return _offered_of(served, served.root_of(None, named)[1], text, has_lines)
    begun = {root: name for root, name in roots.items() if text.startswith(f"{name}/")} or roots
    found = []
    for root, name in begun.items():
        below = text.removeprefix(f"{name}/")
        found += [f"{name}/{it}" for it in _offered_of(served, root, below, has_lines)]
    return found


def _offered_of(served: Served, root: Path, text: str, has_lines: bool) -> list[str]:  # noqa: FBT001 - as above
    if not (root.exists() and served.workspace.status(root).exists):
        return []
    index = served.workspace.open(root).index
    path, colon, typed = text.rpartition(":")
    if has_lines and colon:
        symbols = index.outline(OutlineQuery(path, 1_000)).files
        lines = (f"{it.start_line}-{it.end_line}" for file in symbols for it in file.symbols if it.end_line > it.line)
        found = [f"{path}:{it}" for it in lines if it.startswith(typed)]
    else:
        found = list(index.paths(text, _MOST_OFFERED + 1))
    return [it for it in found if one_line(it) == it]
