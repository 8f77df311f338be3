"""The pages by their addresses."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, ExceptionHandler

from cqm.chunkers.errors import CqmError
from cqm.index.model.errors import NotIndexedError
from cqm.server.errors import PathRefusedError
from cqm.server.page import safe
from cqm.server.ui.access import Gate
from cqm.server.ui.library import Library
from cqm.server.ui.markup import frame
from cqm.server.ui.search_page import as_agent_sees, asked_of, results, search_page

LOCAL_HOSTS = ("127.0.0.1", "localhost", "::1")
_KEPT = {"Cache-Control": "private, max-age=86400"}
"""Style and script are asked for by their version."""


def make_app(library: Library, token: str, hosts: tuple[str, ...] = LOCAL_HOSTS) -> ASGIApp:
    """Make the pages of a library, behind their gate.

    Parameters:
        library: what the pages show.
        token: in the link that lets a browser in.
        hosts: names of this machine in the Host header.
    """

    def page(
        write: Callable[[Library, Mapping[str, str]], str], headers: Mapping[str, str] | None = None
    ) -> Callable[[Request], Response]:
        # A plain function: Starlette calls it in a thread, and an index may take its time.
        def answer(request: Request) -> Response:
            return HTMLResponse(write(library, request.query_params), headers=headers)

        return answer

    def agent(request: Request) -> Response:
        only = request.query_params.get("only", "")
        rank = int(only) if only.isdecimal() and len(only) < 4 else None  # noqa: PLR2004 - there are 50
        return PlainTextResponse(as_agent_sees(library, asked_of(request.query_params), rank))

    rows: Mapping[str, Callable[[Request], Response]] = {
        "/": page(lambda it, given: search_page(it, asked_of(given))),
        "/results": page(lambda it, given: results(it, asked_of(given))),
        "/agent": agent,
    }
    routes = [Route(path, endpoint, methods=["GET"]) for path, endpoint in rows.items()]
    static = _Kept(directory=Path(__file__).parent / "static")
    handlers: Mapping[object, ExceptionHandler] = {CqmError: _failed}
    pages = Starlette(routes=[*routes, Mount("/static", static)], exception_handlers=handlers)
    return Gate(pages, token, hosts)


class _Kept(StaticFiles):
    def file_response(self, *args: Any, **kwargs: Any) -> Response:  # noqa: ANN401 - as Starlette calls it
        """Let the browser keep a file."""
        answer = super().file_response(*args, **kwargs)
        answer.headers.update(_KEPT)
        return answer


def _failed(request: Request, error: Exception) -> Response:
    """Tell an error with its remedy: as a page, or as a part of one."""
    told = f"<p class='notes' role='alert'>{safe(str(error))}</p>"
    status = 404 if isinstance(error, NotIndexedError | PathRefusedError) else 400
    is_part = request.url.path in {"/results", "/cut", "/uses", "/treemap"}
    return HTMLResponse(told if is_part else frame("CQM: problem", "", ["<h1>This did not work</h1>", told]), status)
