"""Requests as the SDK can read them: without halves of surrogate pairs, as of a text cut within an emoji."""

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

_ESCAPES = (rb"\ud", rb"\uD")
_SURROGATE = re.compile(r"(\\[^u]|\\u[dD][89abAB]\w\w\\u[dD][c-fC-F]\w\w)|\\u[dD][89a-fA-F]\w\w")
"""Matches half of a surrogate pair in JSON; other escapes and whole pairs are in its group."""


def with_whole_characters(line: str) -> str:
    """Replace each half of a surrogate pair in JSON by U+FFFD; pydantic refuses the whole line."""
    if r"\ud" not in line and r"\uD" not in line:
        return line
    return _SURROGATE.sub(lambda found: found[1] or r"\ufffd", line)


def whole_characters(app: "ASGIApp", most: int) -> "ASGIApp":
    """Return an app receiving U+FFFD for each half of a surrogate pair; the whole body would be refused otherwise.

    Parameters:
        most: bytes of a body to look into; the app refuses larger ones.
    """

    async def answer(scope: "Scope", receive: "Receive", send: "Send") -> None:
        if scope["type"] != "http" or not 0 < _length(scope) <= most:
            await app(scope, receive, send)
            return
        await app(scope, _replacing(receive, most), send)

    return answer


def _length(scope: "Scope") -> int:
    told = dict(scope["headers"]).get(b"content-length", b"")
    return int(told) if told.isdigit() else 0


def _replacing(receive: "Receive", most: int) -> "Receive":
    """Return a receiver for a whole body, as an escape may span two messages of it; later messages pass unchanged."""
    is_read = False

    async def received() -> "Message":
        nonlocal is_read
        if is_read:
            return await receive()
        is_read = True
        body, has_more = bytearray(), True
        while has_more and len(body) <= most:
            message = await receive()
            if message["type"] != "http.request":
                return message
            body += message.get("body", b"")
            has_more = message.get("more_body", False)
        if any(escape in body for escape in _ESCAPES):
            # Both escapes have six bytes: the length stays.
            body = bytearray(with_whole_characters(body.decode("latin-1")).encode("latin-1"))
        return {"type": "http.request", "body": bytes(body), "more_body": has_more}

    return received
