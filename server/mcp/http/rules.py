"""Access rules over HTTP: the names in Host and Origin, and the token. A refusal names the remedy."""

import hmac
import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from mcp_types import INVALID_REQUEST, ErrorData, JSONRPCError
from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse, Response

from cqm.server.console import one_line

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

PATH = "/mcp"
LOCAL_NAMES = ("127.0.0.1", "localhost", "::1")
"""Names of this machine in a Host header."""
_HOST = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[^\s:/@\[\]]+)(:[0-9]{1,5})?")
_ORIGIN = re.compile(r"https?://", re.IGNORECASE)
_MOST_SHOWN = 100
_WHERE = (
    "`cqm serve --http` printed it when it started, or it is in CQM_HTTP_TOKEN or in the file of CQM_HTTP_TOKEN_FILE "
    "there. A token that it printed is new at each start."
)
_ALLOW = "list its host in `server.hosts` of your own cqm.yml where the server runs, or add `--set server.hosts=NAME`."


def host_name(host: str) -> str:
    """Return the name of a Host header in lower case, without its port; empty for a malformed one.

    host_name("LOCALHOST:8000")  # "localhost"
    host_name("[::1]")  # "::1"
    """
    found = _HOST.fullmatch(host)
    return found[1].strip("[]").lower() if found else ""


def refusal(scope: "Scope", status: int, sentence: str, headers: Mapping[str, str] | None = None) -> Response:
    """Refuse a request with a sentence: as a JSON-RPC error to MCP clients, which show its message, else as text."""
    if scope["path"].rstrip("/") != PATH:
        return PlainTextResponse(f"{sentence}\n", status, headers)
    error = JSONRPCError(jsonrpc="2.0", id=None, error=ErrorData(code=INVALID_REQUEST, message=sentence))
    text = error.model_dump_json(by_alias=True, exclude_unset=True)
    return Response(text, status, headers, media_type="application/json")


def only_from(app: "ASGIApp", names: Iterable[str]) -> "ASGIApp":
    """Refuse requests of a web page through a browser on this machine (DNS rebinding).

    Parameters:
        names: of hosts for a request to name as its own, or as the origin of its page.
    """
    known = frozenset(name.lower() for name in names)

    async def check(scope: "Scope", receive: "Receive", send: "Send") -> None:
        answer = _strange(scope, known) if scope["type"] == "http" else None
        await (answer or app)(scope, receive, send)

    return check


def _strange(scope: "Scope", known: frozenset[str]) -> Response | None:
    headers = Headers(scope=scope)
    host, origin = headers.get("host", ""), headers.get("origin", "")
    if host_name(host) not in known:
        told = f"Host {one_line(host)[:_MOST_SHOWN]!r} is no name of this server. Behind a proxy, {_ALLOW}"
        return refusal(scope, 421, told)
    start = _ORIGIN.match(origin)
    if origin and (start is None or host_name(origin[start.end() :]) not in known):
        told = f"A page of {one_line(origin)[:_MOST_SHOWN]!r} may not ask this server. If it is yours, {_ALLOW}"
        return refusal(scope, 403, told)
    return None


def with_token(app: "ASGIApp", token: str) -> "ASGIApp":
    """Let only requests with the token through."""
    wanted = token.encode()

    async def check(scope: "Scope", receive: "Receive", send: "Send") -> None:
        answer = _unknown(scope, wanted) if scope["type"] == "http" else None
        await (answer or app)(scope, receive, send)

    return check


def _unknown(scope: "Scope", wanted: bytes) -> Response | None:
    given = Headers(scope=scope).get("authorization", "").encode("latin-1")
    scheme, _, token = given.partition(b" ")
    if scheme.lower() != b"bearer":
        told = f"This server needs its token: send the header `Authorization: Bearer TOKEN`. {_WHERE}"
        return refusal(scope, 401, told, {"WWW-Authenticate": "Bearer"})
    if not hmac.compare_digest(token.strip(b" "), wanted):
        told = f"The token of this request is not the server's. {_WHERE}"
        return refusal(scope, 401, told, {"WWW-Authenticate": 'Bearer error="invalid_token"'})
    return None
