"""Connections of the HTTP server: how many there are, and how long a request may be on its way."""

import asyncio
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

MOST_CONNECTIONS = 256
SECONDS_TO_SEND = 10.0
"""For a client to send a whole request, from its first byte, or from the connection for the first one."""
SECONDS_TO_READ = 60.0
"""For a client to read on while an answer waits for it."""


class BoundedConnection(H11Protocol):
    """An HTTP connection that is cut off when its client is slow.

    uvicorn itself only limits the time between two requests. Where there are too many connections, the oldest one that
    is not being answered makes room: nobody shuts others out by opening connections.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401 - as uvicorn calls it
        super().__init__(*args, **kwargs)
        self._opened_at = self.loop.time()
        self._sending: asyncio.TimerHandle | None = None
        self._reading: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Take a connection, and cut another off if there are too many."""
        super().connection_made(transport)
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
        """Take a part of a request; the time for it began with its first part."""
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
        """Wait for a client that does not read, for a while."""
        super().pause_writing()
        self._reading = self.loop.call_later(SECONDS_TO_READ, self.cut_off)

    def resume_writing(self) -> None:
        """Go on with a client that reads again."""
        super().resume_writing()
        if self._reading is not None:
            self._reading.cancel()
            self._reading = None

    @property
    def is_answered(self) -> bool:
        """Whether a whole request is here and its answer is not finished."""
        return self._has_request and self.cycle is not None and not self.cycle.response_complete

    @property
    def _has_request(self) -> bool:
        return self.conn.their_state not in {h11.IDLE, h11.SEND_BODY}

    def cut_off(self) -> None:
        """Close the connection now, and drop what was not sent yet."""
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
