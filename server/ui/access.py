"""Require the link with the token; answer other requests with a page explaining it."""

import hmac
import secrets
from collections.abc import Iterable, Mapping
from http.cookies import CookieError, SimpleCookie
from typing import TYPE_CHECKING
from urllib.parse import parse_qs

from starlette.responses import HTMLResponse, RedirectResponse, Response

from cqm.server.mcp.http.rules import host_name

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

_COOKIE = "cqm"
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; "
    "base-uri 'none'; frame-ancestors 'none'"
)
_HEADERS = {
    "Content-Security-Policy": _POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
SIZED = {"Content-Security-Policy": f"{_POLICY}; style-src-attr 'unsafe-inline'"}
"""Headers of a page with sizes of elements in attributes; CQM writes these."""

STARTED = """<p>Open the link that <code>cqm ui</code> printed: it ends with a token. The token is new at each
start.</p><p>Lost it? Stop that command with Ctrl-C, and run <code>cqm ui</code> again.</p>"""
SERVED = """<p>Open <code>/?token=TOKEN</code> at this address, with the token of <code>cqm serve --http</code>: it
printed the token when it started, or it is in <code>CQM_HTTP_TOKEN</code> or in the file of
<code>CQM_HTTP_TOKEN_FILE</code> there.</p>"""
OPEN = "<p><a href='/'>Open its first page</a>: links of an earlier start are void.</p>"
"""Ways to get in: by a link, by the token of a server, where no token is wanted."""
_REFUSED = """<!doctype html><html lang='en'><meta charset='utf-8'><title>CQM: no access</title>
<meta name='viewport' content='width=device-width, initial-scale=1'><meta name='color-scheme' content='light dark'>
<main><h1>This page is for the user who started it</h1>
{}</main></html>"""
_STRANGE = (
    "Unknown host. Open the page by the address that CQM printed. Behind a proxy, use `cqm serve --http` and list the "
    "name in `server.hosts` of your own cqm.yml.\n"
)


class Gate:
    """Let visitors with the link through, and add headers keeping a stranger's text harmless.

    The pages stand in a folder of a random name, and the cookie is for that folder only. A browser sends cookies to
    every port of a host: another user's server on this machine would get it otherwise.

    Parameters:
        hosts: names in the Host header, without port; others come from a page tricking the browser (DNS rebinding).
        start: tells others how to get in, as HTML.
    """

    def __init__(self, app: "ASGIApp", token: str, hosts: Iterable[str], start: str) -> None:
        self._app = app
        self._token = token.encode()
        self._hosts = frozenset(name.lower() for name in hosts)
        self._refused = _REFUSED.format(start)
        self._folder = f"/{secrets.token_urlsafe(12)}/"
        self._session = secrets.token_urlsafe(32).encode()

    async def __call__(self, scope: "Scope", receive: "Receive", send: "Send") -> None:
        """Answer a request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def send_with_headers(message: "Message") -> None:
            if message["type"] == "http.response.start":
                known = {name.lower() for name, _ in message["headers"]}
                added = [(name.lower().encode(), value.encode()) for name, value in _HEADERS.items()]
                message["headers"] = [*message["headers"], *(it for it in added if it[0] not in known)]
            await send(message)

        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        if answer := self._refusal_or_welcome(scope, headers):
            await answer(scope, receive, send_with_headers)
            return
        inside = {**scope, "path": scope["path"][len(self._folder) - 1 :], "raw_path": None}
        await self._app(inside, receive, send_with_headers)

    def _refusal_or_welcome(self, scope: "Scope", headers: Mapping[str, str]) -> Response | None:
        """Return a refusal or the welcome page; None if the request may pass."""
        if host_name(headers.get("host", "")) not in self._hosts:
            return Response(_STRANGE, 403, media_type="text/plain")
        if scope["method"] not in {"GET", "HEAD"}:
            return Response("Pages are only read.", 405, media_type="text/plain")
        given = parse_qs(scope["query_string"].decode("latin-1")).get("token", [""])[0]
        is_known = hmac.compare_digest(_cookie(headers), self._session)
        if scope["path"] == "/" and (not self._token or hmac.compare_digest(given.encode(), self._token)):
            return self._welcome()
        if is_known and scope["path"] == "/":
            return RedirectResponse(self._folder, 303)
        if is_known and scope["path"].startswith(self._folder):
            return None
        return HTMLResponse(self._refused, 403)

    def _welcome(self) -> Response:
        """Send on to the pages, with the cookie. After a redirect from a link elsewhere, the browser held it back."""
        page = (
            "<!doctype html><html lang='en'><title>CQM</title>"
            f"<link rel='icon' href='{self._folder}static/icon.svg'><p><a href='{self._folder}'>CQM</a></p></html>"
        )
        answer = HTMLResponse(page, headers={"Refresh": f"0; url={self._folder}"})
        answer.set_cookie(_COOKIE, self._session.decode(), path=self._folder, httponly=True, samesite="strict")
        return answer


def _cookie(headers: Mapping[str, str]) -> bytes:
    try:
        found = SimpleCookie(headers.get("cookie", "")).get(_COOKIE)
    except CookieError:
        return b""
    return found.value.encode() if found else b""
