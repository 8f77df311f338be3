"""Bound the open sessions of the HTTP server: the longest idle one makes room for a new one.

Many clients never end a session. A bound alone would shut everybody out once a few hundred of them had come and gone.
"""

import logging
from typing import TYPE_CHECKING

from starlette.datastructures import Headers

from cqm.server.mcp.http.rules import refusal

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

MOST_SESSIONS = 256
"""Sessions kept open; beyond them, the longest idle one ends for each new one."""
MOST_BUSY_SESSIONS = MOST_SESSIONS + 32
"""Most sessions where none can end, as each has a request or a stream open."""

_log = logging.getLogger(__name__)

_SESSION, _LAST_EVENT = "mcp-session-id", b"last-event-id"
_FULL, _GONE = 503, 404
_WAIT_SECONDS = 10


class Sessions:
    """Count the sessions of an app, and end idle ones.

    Parameters:
        app: the server of the SDK, which refuses one above `MOST_BUSY_SESSIONS`.
    """

    def __init__(self, app: "ASGIApp") -> None:
        self._app = app
        # Open requests by session, the last used at the end.
        self._requests: dict[str, int] = {}

    async def __call__(self, scope: "Scope", receive: "Receive", send: "Send") -> None:
        """Answer a request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        # No event is kept to resume from: such a stream starts over, as the protocol allows.
        scope = {**scope, "headers": [pair for pair in scope["headers"] if pair[0] != _LAST_EVENT]}
        known = Headers(scope=scope).get(_SESSION, "")
        if known:
            await self._asked(known, scope, receive, send)
        else:
            await self._begun(scope, receive, send)

    async def _asked(self, session: str, scope: "Scope", receive: "Receive", send: "Send") -> None:
        """Answer a request of a session."""
        status = 0

        async def watched(message: "Message") -> None:
            nonlocal status
            status = message.get("status", status)
            await send(message)

        if session in self._requests:
            self._requests[session] += 1
        try:
            await self._app(scope, receive, watched)
        finally:
            is_over = status == _GONE or (scope["method"] == "DELETE" and status < 400)  # noqa: PLR2004 - an error
            self._finished(session, is_over=is_over)

    async def _begun(self, scope: "Scope", receive: "Receive", send: "Send") -> None:
        """Answer a request without a session, which may begin one."""
        session, is_full = "", False

        async def watched(message: "Message") -> None:
            nonlocal session, is_full
            if message["type"] == "http.response.start":
                is_full = message["status"] == _FULL
                session = Headers(raw=message["headers"]).get(_SESSION, "")
                if session and message["status"] < 400:  # noqa: PLR2004 - no error
                    self._requests[session] = 1
                    await self._make_room(session, scope)
            if not is_full:
                await send(message)

        try:
            await self._app(scope, receive, watched)
        finally:
            self._finished(session)
        if is_full:
            told = (
                f"{len(self._requests)} sessions are open, each with a request or stream of its client. "
                "Close clients that are not used, or try again soon."
            )
            _log.warning("A client was refused (%d): %s", _FULL, told)
            await refusal(scope, _FULL, told, {"Retry-After": str(_WAIT_SECONDS)})(scope, receive, send)

    def _finished(self, session: str, *, is_over: bool = False) -> None:
        requests = self._requests.pop(session, 0)
        if requests and not is_over:
            self._requests[session] = requests - 1

    async def _make_room(self, new: str, scope: "Scope") -> None:
        """End the longest idle sessions while there are too many, by the request a client would send."""
        idle = [session for session, requests in self._requests.items() if not requests and session != new]
        for session in idle[: max(len(self._requests) - MOST_SESSIONS, 0)]:
            headers = [(_SESSION.encode(), session.encode())]
            del self._requests[session]
            await self._app({**scope, "method": "DELETE", "headers": headers}, _empty, _unread)


async def _empty() -> "Message":
    return {"type": "http.request", "body": b"", "more_body": False}


async def _unread(_message: "Message") -> None:
    return
