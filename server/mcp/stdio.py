"""MCP over standard input and output: only protocol goes out, and a signal ends it as the client's leaving does."""

import os
import select
import signal
import sys
from contextlib import suppress
from threading import Thread
from typing import Any

import anyio
from anyio.streams.memory import MemoryObjectSendStream
from mcp.server.mcpserver import MCPServer
from mcp.server.stdio import stdio_server
from mcp.shared._stream_protocols import ReadStream, WriteStream
from mcp.shared.message import SessionMessage
from mcp_types import INVALID_REQUEST, PARSE_ERROR, ErrorData, JSONRPCError
from pydantic import ValidationError

_CHUNK = 1 << 16


def serve_stdio(server: MCPServer[Any]) -> None:
    """Serve one client until it closes the stream, or until SIGINT or SIGTERM."""
    if sys.platform != "win32":
        _end_input_on_signals()
    try:
        # While this runs, the SDK points descriptor 1 at standard error and keeps the wire for itself.
        anyio.run(_serve, server)
    finally:
        # The SDK has given the wire back: output left in libraries' buffers must not follow the protocol.
        os.dup2(2, 1)


async def _serve(server: MCPServer[Any]) -> None:
    # As `run_stdio_async` of the SDK, which drops lines that are no messages: their senders wait for ever.
    lowlevel = server._lowlevel_server  # noqa: SLF001
    async with stdio_server() as (lines, wire), anyio.create_task_group() as tasks:
        passed_on, messages = anyio.create_memory_object_stream[SessionMessage | Exception](0)
        tasks.start_soon(_pass_on, lines, passed_on, wire)
        async with messages:
            await lowlevel.run(messages, wire, lowlevel.create_initialization_options())
        tasks.cancel_scope.cancel()


async def _pass_on(
    lines: ReadStream[SessionMessage | Exception],
    messages: MemoryObjectSendStream[SessionMessage | Exception],
    wire: WriteStream[SessionMessage],
) -> None:
    """Pass on messages, and answer lines that are none."""
    with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
        async with messages:
            async for item in lines:
                if isinstance(item, SessionMessage):
                    await messages.send(item)
                elif error := _no_message(item):
                    await wire.send(SessionMessage(error))


def _no_message(error: Exception) -> JSONRPCError | None:
    """Return the answer to a line that is no JSON, or no message; None where it is blank."""
    problems = error.errors(include_url=False) if isinstance(error, ValidationError) else []
    if any(it["type"] == "json_invalid" for it in problems):
        if not str(problems[0]["input"]).strip():
            return None
        return JSONRPCError(jsonrpc="2.0", id=None, error=ErrorData(code=PARSE_ERROR, message="Parse error: no JSON"))
    ids = [it["input"].get("id") for it in problems if isinstance(it["input"], dict)]
    known = next((it for it in ids if isinstance(it, str | int) and not isinstance(it, bool)), None)
    told = ErrorData(code=INVALID_REQUEST, message="Invalid request: no message of JSON-RPC 2.0")
    return JSONRPCError(jsonrpc="2.0", id=known, error=told)


def _end_input_on_signals() -> None:
    """Put a relay in front of standard input, so signals can end it.

    The SDK reads standard input in a thread nothing can interrupt. With the relay, a signal looks like the client's
    leaving, and everything is closed in order.
    """
    wire = os.dup(0)
    relayed, relay = os.pipe()
    woken, wake = os.pipe()
    os.dup2(relayed, 0)
    os.close(relayed)
    Thread(target=_relay, args=(wire, relay, woken), name="standard input", daemon=True).start()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: os.write(wake, b"!"))


def _relay(wire: int, relay: int, woken: int) -> None:
    try:
        while True:
            ready, _, _ = select.select([wire, woken], [], [])
            data = b"" if woken in ready else os.read(wire, _CHUNK)
            if not data:
                return
            while data:
                data = data[os.write(relay, data) :]
    except BrokenPipeError:
        return
    finally:
        os.close(relay)
