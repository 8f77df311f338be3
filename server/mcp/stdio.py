"""MCP over standard input and output: only protocol goes out, and a signal ends it as the client's leaving does."""

import json
import os
import re
import select
import signal
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import anyio
from mcp.server.mcpserver import MCPServer
from mcp.server.stdio import stdio_server
from mcp.shared._stream_protocols import WriteStream
from mcp.shared.message import SessionMessage
from mcp_types import (
    INVALID_REQUEST,
    PARSE_ERROR,
    ErrorData,
    JSONRPCError,
    JSONRPCMessage,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResponse,
    jsonrpc_message_adapter,
)
from pydantic import ValidationError

from cqm.server.mcp.http.bodies import with_whole_characters

_MOST_READ = 1 << 16
"""Bytes read at once: the default size of a pipe on Linux."""
_GLANCE_SECONDS = 0.1
"""Time between checks whether a client without further requests still reads its answers."""
_ODD_ID = re.compile(r'"id"\s*:\s*(?:[^\s"\d-]|-?\d+[.eE])')
"""Matches an id that is neither a string nor a whole number, anywhere in a line."""


def serve_stdio(server: MCPServer[Any]) -> None:
    """Serve one client until it closes the stream, or until SIGINT or SIGTERM."""
    if sys.platform == "win32":
        # While this runs, the SDK points descriptor 1 at standard error and keeps the wire for itself.
        try:
            anyio.run(_serve_by_sdk, server)
        finally:
            # The SDK has given the wire back: output left in libraries' buffers must not follow the protocol.
            os.dup2(2, 1)
        return
    heard, said = os.dup(0), os.dup(1)
    # Only protocol goes over the wire: children and libraries read nothing, and write to standard error.
    with Path(os.devnull).open("rb") as nothing:
        os.dup2(nothing.fileno(), 0)
    os.dup2(2, 1)
    anyio.run(_serve, server, heard, said)


async def _serve(server: MCPServer[Any], heard: int, said: int) -> None:
    lines = _Input(heard)
    wire = _Output(said, lines.end)
    requests = _Requests(wire.is_read)
    answers = _Answers(wire, requests)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_end_by_signal, lines, wire, requests)
        await _run(server, _Messages(_parsed(lines), answers, requests), answers)
        tasks.cancel_scope.cancel()


async def _serve_by_sdk(server: MCPServer[Any]) -> None:
    async with stdio_server() as (lines, wire):
        await _run(server, _Messages(aiter(lines), wire), wire)


async def _run(server: MCPServer[Any], messages: "_Messages", answers: WriteStream[SessionMessage]) -> None:
    # As the SDK's `run_stdio_async`, which drops malformed lines: their senders would wait for ever. Its reading and
    # writing tasks are left out too: both would be woken for each message.
    lowlevel = server._lowlevel_server  # noqa: SLF001
    await lowlevel.run(messages, answers, lowlevel.create_initialization_options())


async def _end_by_signal(lines: "_Input", wire: "_Output", requests: "_Requests") -> None:
    with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
        async for _ in signals:
            lines.end()
            wire.end()
            requests.end()


async def _parsed(lines: "_Input") -> AsyncIterator[SessionMessage | Exception]:
    async for line in lines:
        try:
            yield SessionMessage(jsonrpc_message_adapter.validate_json(with_whole_characters(line), by_name=False))
        except ValidationError as error:
            yield error


class _Stream:
    """A stream of the SDK over descriptors of the process, which outlive it: to close it does nothing."""

    async def aclose(self) -> None:
        """Do nothing."""

    async def __aenter__(self) -> Self:
        """The stream itself."""
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Do nothing."""


class _Messages(_Stream):
    """The stream of a client's messages. Malformed lines are answered; it ends when all requests have answers.

    Parameters:
        heard: messages, and the errors of malformed lines.
        wire: for the answers to these.
        requests: notes the open requests; None to note nothing.
    """

    def __init__(
        self,
        heard: AsyncIterator[SessionMessage | Exception],
        wire: WriteStream[SessionMessage],
        requests: "_Requests | None" = None,
    ) -> None:
        self._heard = heard
        self._wire = wire
        self._requests = requests

    def __aiter__(self) -> Self:
        """The stream itself."""
        return self

    async def __anext__(self) -> SessionMessage:
        """Return the next message."""
        async for item in self._heard:
            if isinstance(item, SessionMessage):
                if self._requests:
                    self._requests.heard(item.message)
                return item
            if error := _no_message(item):
                await self._wire.send(SessionMessage(error))
        if self._requests:
            # The SDK cancels unanswered requests when the messages end.
            await self._requests.all_answered()
        raise StopAsyncIteration

    async def receive(self) -> SessionMessage:
        """Return the next message.

        Raises:
            anyio.EndOfStream: there is no further one.
        """
        try:
            return await anext(self)
        except StopAsyncIteration:
            raise anyio.EndOfStream from None


class _Requests:
    """Unanswered requests of a client.

    Parameters:
        is_read: whether the client may still read answers.
    """

    def __init__(self, is_read: Callable[[], bool]) -> None:
        self._is_read = is_read
        self._open: set[str] = set()
        self._is_ended = False
        self._changed = anyio.Event()

    def heard(self, message: JSONRPCMessage) -> None:
        """Note a request, or its cancellation: a cancelled one is never answered."""
        if isinstance(message, JSONRPCRequest):
            self._open.add(str(message.id))
        elif isinstance(message, JSONRPCNotification) and message.method == "notifications/cancelled":
            self._open.discard(str((message.params or {}).get("requestId")))

    def said(self, message: JSONRPCMessage) -> None:
        """Note an answer."""
        if isinstance(message, JSONRPCResponse | JSONRPCError):
            self._open.discard(str(message.id))
            self._changed.set()

    def end(self) -> None:
        """Wait for no further answer."""
        self._is_ended = True
        self._changed.set()

    async def all_answered(self) -> None:
        """Wait until every request has its answer, or the client reads no more, or `end` is called."""
        while self._open and not self._is_ended and self._is_read():
            self._changed = anyio.Event()
            with anyio.move_on_after(_GLANCE_SECONDS):
                await self._changed.wait()


class _Answers(_Stream):
    """The stream of messages to a client, one at a time. Answers are noted as they are sent."""

    def __init__(self, wire: "_Output", requests: _Requests) -> None:
        self._wire = wire
        self._requests = requests
        self._sending = anyio.Lock(fast_acquire=True)

    async def send(self, item: SessionMessage, /) -> None:
        """Send a whole message, even if its request is cancelled meanwhile."""
        line = item.message.model_dump_json(by_alias=True, exclude_unset=True)
        with anyio.CancelScope(shield=True):
            async with self._sending:
                await self._wire.write(f"{line}\n")
        self._requests.said(item.message)


def _no_message(error: Exception) -> JSONRPCError | None:
    """Return the answer to a line that is no JSON, or no message; None for a blank one."""
    problems = error.errors(include_url=False) if isinstance(error, ValidationError) else []
    if any(it["type"] == "json_invalid" for it in problems):
        if not str(problems[0]["input"]).strip():
            return None
        return JSONRPCError(jsonrpc="2.0", id=None, error=ErrorData(code=PARSE_ERROR, message="Parse error: no JSON"))
    ids = [it["input"].get("id") for it in problems if isinstance(it["input"], dict)]
    known = next((it for it in ids if isinstance(it, str | int) and not isinstance(it, bool)), None)
    told = ErrorData(code=INVALID_REQUEST, message="Invalid request: no message of JSON-RPC 2.0")
    return JSONRPCError(jsonrpc="2.0", id=known, error=told)


def _refusable(line: str) -> str:
    """Return a line, or an invalid message in place of a request with an invalid id.

    The SDK takes such a request for a notification, and its sender would wait for ever.
    """
    if _ODD_ID.search(line):
        with suppress(ValueError, RecursionError):
            request = json.loads(line)
            if isinstance(request, dict) and {"id", "method"} <= request.keys() and not _is_id(request["id"]):
                return "{}"
    return line


def _is_id(value: object) -> bool:
    if isinstance(value, float):
        return value.is_integer()
    return isinstance(value, str | int) and not isinstance(value, bool)


class _Input:
    """Lines of a client, read by the event loop: no thread has to be woken.

    Parameters:
        wire: descriptor of the client's messages.
    """

    def __init__(self, wire: int) -> None:
        self._wire = wire
        self._waiting = anyio.CancelScope()
        self._is_ended = False

    def end(self) -> None:
        """End the lines at once: a begun one is left out."""
        self._is_ended = True
        self._waiting.cancel()

    async def __aiter__(self) -> AsyncIterator[str]:
        begun: list[bytes] = []
        while data := await self._read():
            *whole, rest = data.split(b"\n")
            for part in whole:
                yield _refusable(b"".join([*begun, part]).decode("utf-8", errors="replace"))
                begun.clear()
            begun.append(rest)
        if any(begun) and not self._is_ended:
            yield _refusable(b"".join(begun).decode("utf-8", errors="replace"))

    async def _read(self) -> bytes:
        with self._waiting:
            # A file can always be read; epoll refuses it, and kqueue never tells its end.
            while not self._is_ended and not select.select([self._wire], [], [], 0)[0]:
                await anyio.wait_readable(self._wire)
        self._waiting = anyio.CancelScope()
        try:
            return b"" if self._is_ended else os.read(self._wire, _MOST_READ)
        except OSError:
            # A socket whose other end died with unread answers.
            return b""


class _Output:
    """Lines to a client: written by the event loop, as `_Input` is read.

    Parameters:
        wire: descriptor of the client's pipe, socket, terminal or file.
        left: called when the client reads no more.
    """

    def __init__(self, wire: int, left: Callable[[], None]) -> None:
        self._wire = wire
        self._left = left
        self._waiting = anyio.CancelScope()
        self._is_ended = False

    def end(self) -> None:
        """Write only what is accepted at once: a client reading nothing cannot delay the end."""
        self._is_ended = True
        self._waiting.cancel()

    def is_read(self) -> bool:
        """Whether anybody can read the output."""
        looked = select.poll()
        looked.register(self._wire, 0)
        return not looked.poll(0)

    async def write(self, text: str) -> None:
        """Write a text whole, up to the end by a signal; others go on while the client reads none of it."""
        data = memoryview(text.encode())
        try:
            while data:
                # A pipe with room takes this many bytes at once: writing them does not block.
                if not select.select([], [self._wire], [], 0)[1]:
                    with self._waiting:
                        await anyio.wait_writable(self._wire)
                    if self._is_ended:
                        return
                    self._waiting = anyio.CancelScope()
                data = data[os.write(self._wire, data[: select.PIPE_BUF]) :]
        except OSError:
            # It reads no more, or its disk is full.
            self._left()
