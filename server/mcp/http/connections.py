"""Bound the number of connections of the HTTP server, and the time of a request."""

import asyncio
import socket
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

MOST_CONNECTIONS = 384
"""More than sessions, as each may have a stream open. A client without room gets a message."""
SECONDS_TO_SEND = 10.0
"""Longest time for sending a whole request, from its first byte, or from the connection for the first one."""
SECONDS_TO_READ = 60.0
"""Longest pause in reading an answer."""


class BoundedConnection(H11Protocol):
    """An HTTP connection which cuts off slow clients.

    uvicorn itself only limits the time between two requests. With too many connections, the oldest one without a
    running answer makes room: nobody shuts others out by opening connections.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401 - as uvicorn calls it
        super().__init__(*args, **kwargs)
        self._opened_at = self.loop.time()
        self._sending: asyncio.TimerHandle | None = None
        self._reading: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Take a connection, and cut another off if there are too many."""
        super().connection_made(transport)
        # Without it the second part of an answer waits 40 ms for the first one's acknowledgement. asyncio sets it only
        # where a listener names its protocol.
        transport.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._limit_sending()
        found = [it for it in self.connections if isinstance(it, BoundedConnection) and not it.transport.is_closing()]
        if len(found) > MOST_CONNECTIONS:
            idle = (it for it in found if not it.is_answered)
            min(idle, key=lambda it: it._opened_at).cut_off()  # noqa: SLF001 - of the same class

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget a connection."""
        self._stop_timers()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Take a part of a request; the first part has started its time."""
        super().data_received(data)
        self._limit_sending()

    def on_response_complete(self) -> None:
        """Begin with the next request."""
        if self._sending is not None:
            self._sending.cancel()
            self._sending = None
        super().on_response_complete()
        self._limit_sending()

    def pause_writing(self) -> None:
        """Wait a while for a client which doesn't read."""
        super().pause_writing()
        self._reading = self.loop.call_later(SECONDS_TO_READ, self.cut_off)

    def resume_writing(self) -> None:
        """Go on with a client which reads again."""
        super().resume_writing()
        if self._reading is not None:
            self._reading.cancel()
            self._reading = None

    @property
    def is_answered(self) -> bool:
        """Whether a whole request is here and its answer isn't finished."""
        return self._has_request and self.cycle is not None and not self.cycle.response_complete

    @property
    def _has_request(self) -> bool:
        return self.conn.their_state not in {h11.IDLE, h11.SEND_BODY}

    def cut_off(self) -> None:
        """Close the connection now, and drop unsent data."""
        self._stop_timers()
        self.transport.abort()

    def _limit_sending(self) -> None:
        if self.transport.is_closing():
            return
        if not self._has_request:
            self._sending = self._sending or self.loop.call_later(SECONDS_TO_SEND, self.cut_off)
        elif self._sending is not None:
            self._sending.cancel()
            self._sending = None

    def _stop_timers(self) -> None:
        for timer in (self._sending, self._reading):
            if timer is not None:
                timer.cancel()
        self._sending = self._reading = None
