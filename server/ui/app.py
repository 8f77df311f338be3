"""The pages by their addresses."""

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, ExceptionHandler

from cqm.chunkers.errors import CqmError
from cqm.index.model.errors import NotIndexedError
from cqm.server.errors import OpeningError, PathRefusedError
from cqm.server.mcp.http.rules import LOCAL_NAMES
from cqm.server.mcp.http.serve import ENDING
from cqm.server.page import safe
from cqm.server.preview.style import STYLE
from cqm.server.ui.access import SIZED, STARTED, Gate
from cqm.server.ui.asked_page import asked_page
from cqm.server.ui.chunks_page import chunks_page, cut
from cqm.server.ui.file_page import file_page, mentions, uses_page
from cqm.server.ui.health_page import health_events, health_page, tree
from cqm.server.ui.library import Library
from cqm.server.ui.markup import frame, url
from cqm.server.ui.search_page import as_agent_sees, asked_of, results, search_page

_KEPT = {"Cache-Control": "private, max-age=86400"}
"""Style and script are asked for by their version."""
_AGAIN = {"Refresh": "1"}
_PARTS = frozenset({"/results", "/cut", "/uses", "/mentions", "/treemap"})
"""Addresses of parts of a page."""


def make_app(library: Library, token: str, hosts: Iterable[str] = LOCAL_NAMES, *, start: str = STARTED) -> ASGIApp:
    """Make the pages of a library, behind their gate.

    Parameters:
        token: in the link for a browser.
        hosts: names of this machine in the Host header.
        start: tells visitors without access how to get the link, as HTML.
    """
    routes = [Route(path, endpoint, methods=["GET"]) for path, endpoint in _endpoints(library).items()]
    static = _Kept(directory=Path(__file__).parent / "static")
    handlers: Mapping[object, ExceptionHandler] = {CqmError: partial(_failed, library), HTTPException: _refused}
    pages = Starlette(routes=[*routes, Mount("/static", static)], exception_handlers=handlers)
    return Gate(pages, token, hosts, start)


def _endpoints(library: Library) -> Mapping[str, Callable[[Request], Any]]:
    """Return the endpoint at each address."""

    def page(
        write: Callable[[Library, Mapping[str, str]], str], headers: Mapping[str, str] | None = None
    ) -> Callable[[Request], Response]:
        # A plain function: Starlette calls it in a thread, and an index may take its time.
        return lambda request: HTMLResponse(write(library, request.query_params), headers=headers)

    return {
        "/": page(lambda it, given: search_page(it, asked_of(given))),
        "/results": page(lambda it, given: results(it, asked_of(given))),
        "/agent": partial(_agent, library),
        "/file": page(file_page),
        "/uses": page(uses_page),
        "/mentions": page(mentions),
        "/preview": page(chunks_page, SIZED),
        "/cut": page(cut, SIZED),
        "/static/preview.css": lambda _: Response(STYLE, media_type="text/css", headers=_KEPT),
        "/health": page(health_page),
        "/treemap": page(tree),
        "/asked": page(asked_page),
        "/events": partial(_events, library),
    }


def _agent(library: Library, request: Request) -> Response:
    """Answer with the text an agent gets."""
    only = request.query_params.get("only", "")
    rank = int(only) if only.isdecimal() and len(only) < 4 else None  # noqa: PLR2004 - there are 30
    return PlainTextResponse(as_agent_sees(library, asked_of(request.query_params), rank))


async def _events(library: Library, request: Request) -> Response:
    """Answer with the changes of the health of the indexes, until the page or the server is gone."""
    is_ending = request.scope.get("extensions", {}).get(ENDING, lambda: False)

    async def is_gone() -> bool:
        return is_ending() or await request.is_disconnected()

    return StreamingResponse(health_events(library, is_gone), media_type="text/event-stream")


class _Kept(StaticFiles):
    def file_response(self, *args: Any, **kwargs: Any) -> Response:  # noqa: ANN401 - as Starlette calls it
        """Let the browser keep a file."""
        answer = super().file_response(*args, **kwargs)
        answer.headers.update(_KEPT)
        return answer


def _failed(library: Library, request: Request, error: Exception) -> Response:
    """Tell an error with its remedy: as a part of a page, or as a page, with the form where one was filled in."""
    told = f"<p class='notes' role='alert'>{safe(str(error))}</p>"
    status = 404 if isinstance(error, NotIndexedError | PathRefusedError) else 400
    again = {}
    if isinstance(error, OpeningError):
        # The script asks again by itself; a page without one is loaded again by the browser.
        told, status, again = f"<p class='notes opening' role='status'>{safe(str(error))}</p>", 503, _AGAIN
    path, given = request.url.path, request.query_params
    if path in _PARTS:
        return HTMLResponse(told, status)
    if path == "/":
        return HTMLResponse(search_page(library, asked_of(given), told), status)
    if path == "/preview":
        return HTMLResponse(chunks_page(library, given, told), status, headers=SIZED)
    name = given.get("path", "").rpartition("/")[2]
    further = f"<p><a href='{url('./', q=name)}'>Search for {safe(name)}</a></p>" if name else ""
    title, heading = ("CQM: opening", "One moment") if again else ("CQM: problem", "This did not work")
    return HTMLResponse(
        frame(title, "", [f"<h1>{heading}</h1>", told, "" if again else further]), status, headers=again
    )


def _refused(_request: Request, error: Exception) -> Response:
    """Answer an address without a page in the frame, which leads on."""
    status = error.status_code if isinstance(error, HTTPException) else 500
    told = "<p>This address has no page. <a href='./'>Search</a>, or choose a page above.</p>"
    return HTMLResponse(frame("CQM: no page", "", ["<h1>There is no such page</h1>", told]), status)
