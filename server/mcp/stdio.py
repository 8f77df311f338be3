"""MCP over standard input and output: only protocol goes out, and a signal ends it as the client's leaving does."""

import os
import select
import signal
import sys
from threading import Thread
from typing import Any

import anyio
from mcp.server.mcpserver import MCPServer

_CHUNK = 1 << 16


def serve_stdio(server: MCPServer[Any]) -> None:
    """Serve one client until it closes the stream, or until SIGINT or SIGTERM."""
    if sys.platform != "win32":
        _end_input_on_signals()
    try:
        # While this runs, the SDK points descriptor 1 at standard error and keeps the wire for itself.
        anyio.run(server.run_stdio_async)
    finally:
        # The SDK has given the wire back: output left in libraries' buffers must not follow the protocol.
        os.dup2(2, 1)


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
