"""Ask a client for its roots, in the way of its protocol revision."""

import logging
from typing import Annotated, Any

from anyio.to_thread import run_sync
from mcp.server.context import ServerRequestContext
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.resolve import ListRoots, Resolve
from mcp.server.session import ServerSession
from mcp.shared.exceptions import MCPError
from mcp.shared.message import ServerMessageMetadata
from mcp_types import InputRequiredResult, ListRootsRequest, ListRootsResult, NotificationParams
from mcp_types.version import is_version_at_least

from cqm.server.mcp.allowed_paths import NO_ROOTS, ClientRoots
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
    return await _asked(ctx.session, ServerMessageMetadata(related_request_id=ctx.request_context.request_id))


async def _asked(session: ServerSession, metadata: ServerMessageMetadata | None = None) -> ListRootsResult | None:
    try:
        answer: ListRootsResult = await session.send_request(
            ListRootsRequest(),
            ListRootsResult,
            request_read_timeout_seconds=_ANSWER_WITHIN_SECONDS,
            metadata=metadata,
        )
    except MCPError as error:
        _log.warning("The client declares roots but does not tell them: %s", error)
        return None
    return answer


async def taken_roots(
    ctx: Context[Served, Any], listed: Annotated[ListRootsResult | None, Resolve(ask_for_roots)]
) -> ClientRoots:
    """Take the client's roots as it lists them; the former ones, if it lists none now."""
    return await _taken(ctx.request_context.lifespan_context, listed)


NamedRoots = Annotated[ClientRoots, Resolve(taken_roots)]
"""Parameter of a tool for the folders named by the client as its roots."""


async def _taken(served: Served, listed: ListRootsResult | None) -> ClientRoots:
    if listed is None or (not listed.roots and served.client.roots == NO_ROOTS):
        # Most clients name none: another thread would take longer than to see it.
        return served.client.roots
    return await run_sync(served.take_roots, [str(root.uri) for root in listed.roots])


async def take_changed_roots(ctx: ServerRequestContext[Served, Any], _: NotificationParams) -> None:
    """Ask a client for its roots when it says they changed: closed ones are indexed no further."""
    if not ctx.lifespan_context.guard.decides_alone(None):
        await _taken(ctx.lifespan_context, await _asked(ctx.session))


async def roots_or_question(ctx: Context[Served, Any], path: str | None) -> ClientRoots | InputRequiredResult:
    """Return the folders named by the client for a prompt or resource, or the question for them, which is its result.

    Only tools have the parameter above.
    """
    listed = await ask_for_roots(ctx, path)
    if isinstance(listed, ListRoots):
        answer = (ctx.input_responses or {}).get(_QUESTION)
        if answer is None:
            return InputRequiredResult(input_requests={_QUESTION: ListRootsRequest()})
        listed = answer if isinstance(answer, ListRootsResult) else None
    return await _taken(ctx.request_context.lifespan_context, listed)
