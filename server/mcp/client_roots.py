"""Ask a client for its roots, in the way of its protocol revision."""

import logging
from pathlib import Path
from typing import Annotated, Any

from anyio.to_thread import run_sync
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.resolve import ListRoots, Resolve
from mcp.shared.exceptions import MCPError
from mcp.shared.message import ServerMessageMetadata
from mcp_types import InputRequiredResult, ListRootsRequest, ListRootsResult
from mcp_types.version import is_version_at_least

from cqm.server.mcp.allowed_paths import folders_of_uris
from cqm.server.mcp.scope import Served

_log = logging.getLogger(__name__)

# From this revision on a server can't send requests: its question is a call's result, and the client calls again.
_QUESTIONS_AS_RESULTS = "2026-07-28"
_ANSWER_WITHIN_SECONDS = 5.0
_QUESTION = "roots"


async def ask_for_roots(ctx: Context[Served, Any], path: str | None) -> ListRoots | ListRootsResult | None:
    """Return the client's roots, or the question for them; None where they don't count or the client has none."""
    capabilities = ctx.client_capabilities
    if capabilities is None or capabilities.roots is None:
        return None
    if ctx.request_context.lifespan_context.guard.decides_alone(path):
        return None
    if is_version_at_least(ctx.request_context.protocol_version, _QUESTIONS_AS_RESULTS):
        return ListRoots()
    try:
        answer: ListRootsResult = await ctx.session.send_request(
            ListRootsRequest(),
            ListRootsResult,
            request_read_timeout_seconds=_ANSWER_WITHIN_SECONDS,
            metadata=ServerMessageMetadata(related_request_id=ctx.request_context.request_id),
        )
    except MCPError as error:
        _log.warning("The client declares roots but does not tell them: %s", error)
        return None
    return answer


async def folders_of_roots(listed: Annotated[ListRootsResult | None, Resolve(ask_for_roots)]) -> tuple[Path, ...]:
    """List the folders among the client's roots."""
    # Most clients name none: another thread would take longer than to see it.
    return await run_sync(folders_of_uris, [str(root.uri) for root in listed.roots]) if listed else ()


NamedRoots = Annotated[tuple[Path, ...], Resolve(folders_of_roots)]
"""Parameter of a tool for the folders named by the client as its roots."""


async def roots_or_question(ctx: Context[Served, Any], path: str | None) -> tuple[Path, ...] | InputRequiredResult:
    """Return the folders named by the client for a prompt or resource, or the question for them, which is its result.

    Only tools have the parameter above.
    """
    listed = await ask_for_roots(ctx, path)
    if isinstance(listed, ListRoots):
        answer = (ctx.input_responses or {}).get(_QUESTION)
        if answer is None:
            return InputRequiredResult(input_requests={_QUESTION: ListRootsRequest()})
        listed = answer if isinstance(answer, ListRootsResult) else None
    return await folders_of_roots(listed)
