"""MCP over standard input and output: only protocol goes out, and a signal ends it as the client's leaving does."""

import io
import os
import select
import signal
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import anyio
from anyio.streams.memory import MemoryObjectSendStream
from mcp.server.mcpserver import MCPServer
from mcp.server.stdio import stdio_server
from mcp.shared._stream_protocols import ReadStream, WriteStream
from mcp.shared.message import SessionMessage
from mcp_types import INVALID_REQUEST, PARSE_ERROR, ErrorData, JSONRPCError
from pydantic import ValidationError


def serve_stdio(server: MCPServer[Any]) -> None:
    """Serve one client until it closes the stream, or until SIGINT or SIGTERM."""
    if sys.platform == "win32":
        # While this runs, the SDK points descriptor 1 at standard error and keeps the wire for itself.
        try:
            anyio.run(_serve, server, None, None)
        finally:
            # The SDK has given the wire back: output left in libraries' buffers must not follow the protocol.
            os.dup2(2, 1)
        return
    heard, said = os.dup(0), os.dup(1)
    # Only protocol goes over the wire: children and libraries read nothing, and write to standard error.
    with Path(os.devnull).open("rb") as nothing:
        os.dup2(nothing.fileno(), 0)
    os.dup2(2, 1)
    lines = io.TextIOWrapper(io.BufferedReader(_Input(heard, _woken_by_signals())), encoding="utf-8", errors="replace")
    # Neither is closed: a thread may wait in them when the loop has ended.
    wire = open(said, "w", buffering=1, encoding="utf-8", newline="\n", closefd=False)  # noqa: SIM115
    anyio.run(_serve, server, anyio.wrap_file(lines), _Wire(wire))


async def _serve(
    server: MCPServer[Any], lines_in: anyio.AsyncFile[str] | None, wire_out: anyio.AsyncFile[str] | None
) -> None:
    # As `run_stdio_async` of the SDK, which drops lines that are no messages: their senders wait for ever.
    lowlevel = server._lowlevel_server  # noqa: SLF001
    async with stdio_server(lines_in, wire_out) as (lines, wire), anyio.create_task_group() as tasks:
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


class _Input(io.RawIOBase):
    """Standard input that a signal ends, as the client's leaving does: nothing could interrupt its reading.

    Parameters:
        wire: descriptor of the client's messages.
        woken: descriptor that can be read once there was a signal.
    """

    def __init__(self, wire: int, woken: int) -> None:
        self._wire, self._woken = wire, woken

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:  # noqa: ANN401 - as its base has it
        ready, _, _ = select.select([self._wire, self._woken], [], [])
        return 0 if self._woken in ready else os.readv(self._wire, [buffer])


class _Wire(anyio.AsyncFile[str]):
    """A file that each line has left when it is written: to flush it would take another thread's turn."""

    async def flush(self) -> None:
        """Do nothing."""


def _woken_by_signals() -> int:
    """Return a descriptor that can be read after SIGINT or SIGTERM."""
    woken, wake = os.pipe()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: os.write(wake, b"!"))
    return woken
