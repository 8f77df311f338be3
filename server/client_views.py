"""Views of replies inside a client's window (MCP Apps), for clients able to draw them; others see only tools.

The extension is of 2026-01-26: a tool names an HTML page; the client draws it in a sandbox and hands it results.
Results carry their drawing in `_meta`; no model reads that.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from mcp.server.apps import APP_MIME_TYPE, EXTENSION_ID, client_supports_apps
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.resources import FunctionResource

from cqm.index.model.query import Answer, Query
from cqm.index.model.status import IndexStatus

ADDRESSES = {"search": "ui://cqm/search", "index_status": "ui://cqm/health"}
"""The page of a tool."""
_META = {"ui": {"prefersBorder": True}}


@dataclass(frozen=True, slots=True)
class Views:
    """Draws replies.

    Attributes:
        page: writes the page of a tool, by the tool's name.
        answer: draws the results of a question.
        status: draws the health of some indexes.
    """

    page: Callable[[str], str]
    answer: Callable[[Query, Answer], str]
    status: Callable[[Sequence[IndexStatus]], str]


def are_drawn(ctx: Context[Any, Any]) -> bool:
    """Whether the client of a call draws views."""
    return client_supports_apps(ctx)


def add_views(server: MCPServer[Any], views: Views) -> None:
    """Serve the pages, and name them to clients able to draw them."""
    for tool, address in ADDRESSES.items():
        page = FunctionResource(
            uri=address,
            name=f"view of {tool}",
            mime_type=APP_MIME_TYPE,
            meta=_META,
            fn=partial(views.page, tool),
        )
        server.add_resource(page)
    server.middleware.append(_named_to_those_who_draw)


async def _named_to_those_who_draw(ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
    result = await call_next(ctx)
    if not isinstance(result, dict):
        return result
    draws = client_supports_apps(ctx) or (ctx.method == "initialize" and _asks_for_views(ctx.params))
    if draws and isinstance(promised := result.get("capabilities"), dict):
        extensions = {**(promised.get("extensions") or {}), EXTENSION_ID: {}}
        return {**result, "capabilities": {**promised, "extensions": extensions}}
    if draws and ctx.method == "tools/list":
        return {**result, "tools": [_with_view(tool) for tool in result["tools"]]}
    if not draws and ctx.method == "resources/list":
        return {**result, "resources": [it for it in result["resources"] if it["uri"] not in ADDRESSES.values()]}
    return result


def _asks_for_views(params: Mapping[str, Any] | None) -> bool:
    """Whether the first message of a client declares views; the session does not know it yet."""
    capabilities = (params or {}).get("capabilities")
    extensions = capabilities.get("extensions") if isinstance(capabilities, dict) else None
    told = extensions.get(EXTENSION_ID) if isinstance(extensions, dict) else None
    return isinstance(told, dict) and APP_MIME_TYPE in (told.get("mimeTypes") or ())


def _with_view(tool: Mapping[str, Any]) -> dict[str, Any]:
    address = ADDRESSES.get(tool["name"])
    return {**tool, "_meta": {**(tool.get("_meta") or {}), "ui": {"resourceUri": address}}} if address else {**tool}
