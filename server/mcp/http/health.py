"""`/healthz` and `/metrics` beside the MCP server over HTTP, for its operators.

`/healthz` tells anybody that the process answers, and nothing else. `/metrics` has the rules of `/mcp`, on the loopback
address too: another user of the machine could ask there.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

from anyio.to_thread import run_sync
from starlette.responses import PlainTextResponse, Response

from cqm.server.operations.metrics import CONTENT_TYPE

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

HEALTH, METRICS = "/healthz", "/metrics"


def health(app: "ASGIApp") -> "ASGIApp":
    """Answer `/healthz` without a token, and leave everything else to an app."""

    async def answer(scope: "Scope", receive: "Receive", send: "Send") -> None:
        if scope["type"] != "http" or scope["path"] != HEALTH:
            await app(scope, receive, send)
            return
        await Response(status_code=_refused(scope) or 200)(scope, receive, send)

    return answer


def metrics(app: "ASGIApp", text: Callable[[], str]) -> "ASGIApp":
    """Answer `/metrics`, and leave everything else to an app.

    Parameters:
        text: makes the answer; called in a thread, as it asks the open indexes.
    """

    async def answer(scope: "Scope", receive: "Receive", send: "Send") -> None:
        if scope["type"] != "http" or scope["path"] != METRICS:
            await app(scope, receive, send)
            return
        refused = _refused(scope)
        response = (
            Response(status_code=refused)
            if refused
            else PlainTextResponse(await run_sync(text), media_type=CONTENT_TYPE)
        )
        await response(scope, receive, send)

    return answer


def _refused(scope: "Scope") -> int:
    """Return the status for refusing a request other than a read; 0 for a read."""
    return 0 if scope["method"] in {"GET", "HEAD"} else 405
