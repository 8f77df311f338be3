"""Streamable HTTP: access, limits, start and end of the server."""

import ipaddress
import logging
import os
import signal
import socket
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import anyio
from anyio.to_thread import run_sync
from mcp.server.mcpserver import MCPServer
from mcp.server.transport_security import TransportSecuritySettings

from cqm.chunkers.errors import CqmError
from cqm.server.console import say
from cqm.server.errors import ServeError
from cqm.server.mcp.http.access import access_of
from cqm.server.mcp.http.bodies import whole_characters
from cqm.server.mcp.http.health import METRICS, health, metrics
from cqm.server.mcp.http.rules import LOCAL_NAMES, PATH, only_from, with_token
from cqm.server.mcp.http.sessions import MOST_BUSY_SESSIONS, Sessions

if TYPE_CHECKING:
    import uvicorn
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

_IDLE_SECONDS = 30 * 60
"""A session without requests ends after this time; its client has to begin another."""
_MOST_BODY_BYTES = 4 * 1024 * 1024
_SECONDS_TO_FINISH = 3
_CHATTY_LOGGERS = ("uvicorn.error", "mcp.server")
"""They warn of each bad request, so anybody could fill a log, or a pipe nobody reads."""


ENDING = "cqm.ending"
"""Key of a request's extensions: a function returning whether the server ends. An endless answer stops then."""
Pages = Callable[[str, Sequence[str]], "ASGIApp"]
"""Makes pages for people. They let in holders of a token, and answer only to some names in the Host header."""


def serve_http(
    server: MCPServer[Any],
    address: str,
    pages: Pages | None = None,
    counts: Callable[[], str] | None = None,
    hosts: Sequence[str] = (),
) -> None:
    """Serve over HTTP until SIGINT or SIGTERM.

    Parameters:
        address: HOST:PORT; port 0 takes a free one. Standard error gets the final address and a new token.
        pages: stand at every other path, where only this machine can reach them; None for no pages.
        counts: makes the text of `/metrics`; None for none.
        hosts: further names in the Host header, those of a proxy before an address of this machine.

    Raises:
        ServeError: the address is malformed, in use, or open to other machines without a token.
    """
    host, port = _host_and_port(address)
    with listening(host, port) as listener:
        ip, bound = listener.getsockname()[:2]
        local = ipaddress.ip_address(ip).is_loopback
        access = access_of(os.environ, address, is_local=local, is_proxied=bool(hosts))
        names = (*LOCAL_NAMES, host, *hosts)
        place = f"http://{address.rpartition(':')[0]}:{bound}"
        say(f"CQM serves {place}{PATH}", *access.notices)
        app = _mcp_app(server)
        app = metrics(app, counts) if counts else app
        app = only_from(app, names) if local else app
        app = with_token(app, access.token) if access.token else app
        if local and pages:
            say(f"People open {place}/{'?token=TOKEN, with that token' if access.token else ''}.")
            app = _beside(app, pages(access.token, names))
        run_until_told(health(app), listener)


def _mcp_app(server: MCPServer[Any]) -> "ASGIApp":
    app = server.streamable_http_app(
        streamable_http_path=PATH,
        # Its own check names no remedy.
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
        max_request_body_size=_MOST_BODY_BYTES,
        session_idle_timeout=_IDLE_SECONDS,
        max_sessions=MOST_BUSY_SESSIONS,
    )
    return Sessions(whole_characters(app, _MOST_BODY_BYTES))


def run_until_told(app: "ASGIApp", listener: socket.socket, beside: Callable[[], None] | None = None) -> None:
    """Answer requests until SIGINT or SIGTERM, with bounds on connections.

    Parameters:
        beside: work in a thread, which nobody waits for at the end; if it fails, the server ends.

    Raises:
        CqmError: of the work beside.
    """
    import uvicorn

    from cqm.server.mcp.http.connections import BoundedConnection  # start-up time

    config = uvicorn.Config(
        _ending_answers(app, lambda: server.should_exit),
        http=BoundedConnection,
        ws="none",
        log_config=None,
        access_log=False,
        timeout_graceful_shutdown=_SECONDS_TO_FINISH,
    )
    for name in _CHATTY_LOGGERS:
        logging.getLogger(name).setLevel(logging.ERROR)
    # uvicorn raises the signal again after a clean end, for the handler before its own.
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    server = uvicorn.Server(config)
    anyio.run(_serve_beside, server, listener, beside)


def _ending_answers(app: "ASGIApp", is_ending: Callable[[], bool]) -> "ASGIApp":
    """Tell requests whether the server ends, and finish an answer cut short by that: uvicorn takes it for a fault."""

    async def answer(scope: "Scope", receive: "Receive", send: "Send") -> None:
        known = scope.get("extensions") or {}
        begun, ended = False, scope["type"] != "http"

        async def watched(message: "Message") -> None:
            nonlocal begun, ended
            begun, ended = True, ended or (message["type"] == "http.response.body" and not message.get("more_body"))
            await send(message)

        await app({**scope, "extensions": {**known, ENDING: is_ending}}, receive, watched)
        if is_ending() and not ended:
            if not begun:
                await send({"type": "http.response.start", "status": 503, "headers": []})
            await send({"type": "http.response.body", "body": b""})

    return answer


async def _serve_beside(server: "uvicorn.Server", listener: socket.socket, beside: Callable[[], None] | None) -> None:
    """Answer requests until the server ends, which it does also when the work beside it fails."""
    problems: list[CqmError] = []

    async def work(beside: Callable[[], None]) -> None:
        try:
            await run_sync(beside, abandon_on_cancel=True)
        except CqmError as error:
            problems.append(error)
            server.should_exit = True

    async with anyio.create_task_group() as tasks:
        if beside:
            tasks.start_soon(work, beside)
        await server.serve([listener])
        tasks.cancel_scope.cancel()
    if problems:
        raise problems[0]


def _host_and_port(address: str) -> tuple[str, int]:
    host, _, port = address.rpartition(":")
    if not host or not port.isdecimal():
        raise ServeError(f"--http {address}: expected HOST:PORT.", remedy="Write it like 127.0.0.1:8000.")
    if len(port) > len("65535") or int(port) > 65_535:  # noqa: PLR2004 - the highest port
        raise ServeError(
            f"--http {address}: the port is {port}; expected 0 to 65535.", remedy="Choose one; 0 takes a free one."
        )
    return host.strip("[]"), int(port)


def listening(host: str, port: int) -> socket.socket:
    """Open a listening socket; port 0 takes a free one.

    Raises:
        ServeError: the address is in use or not of this machine.
    """
    try:
        family, _, _, _, target = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        return socket.create_server(target[:2], family=family)
    except OSError as error:
        raise ServeError(
            f"HTTP address {host}:{port} cannot be served: {error}.", remedy="Choose another port or host."
        ) from error


def _beside(app: "ASGIApp", pages: "ASGIApp") -> "ASGIApp":
    """Answer programs at their paths, and people elsewhere."""

    async def choose(scope: "Scope", receive: "Receive", send: "Send") -> None:
        is_for_people = scope["type"] == "http" and scope["path"].rstrip("/") not in {PATH, METRICS}
        await (pages if is_for_people else app)(scope, receive, send)

    return choose
