"""Calls to the owner of an index, over kept connections, repeated with the next owner when one dies."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from threading import Event, Lock
from typing import TypeVar

from cqm.index.model.errors import ScanError
from cqm.index.model.progress import Progress
from cqm.server.errors import SharingError
from cqm.server.owner.connect import connect, see_logs
from cqm.server.owner.messages import (
    CANCEL,
    PROGRESS,
    Greeting,
    Reply,
    read_reply,
    reply_in,
    request,
    taken,
)
from cqm.server.owner.wire import Message, Wire

_GLANCE_SECONDS = 0.1
"""Time between a waiting call's looks at its cancellation."""
_MOST_DEATHS = 4
"""Owners one call may outlive. After more deaths, the call itself is to blame."""

Given = TypeVar("Given")
Report = Callable[[Progress], None]
Cancelled = Callable[[], bool]
Noted = Callable[[str], None]
"""Called with a sentence when other options than the client's are in force; with "" when they no longer are."""


class Calls:
    """The calls of one client to the owners of an index, one after another; any thread may call.

    Each running call has a connection of its own, so none waits for another; connections are reused. When the owner
    dies, the call is repeated with the next owner: reads change nothing, and an update does only the rest.

    Parameters:
        noted: called when other options than the client's come into force, and when they no longer are.
    """

    def __init__(self, root: Path, folder: Path, greeting: Greeting, noted: Noted) -> None:
        self._root = root
        self._folder = folder
        self._greeting = greeting
        self._noted = noted
        self._notice = ""
        self._lock = Lock()
        self._idle: list[Wire] = []
        self._busy: set[Wire] = set()
        self._is_retired = False
        self.closed = Event()

    def connect(self) -> None:
        """Connect to the owner, and start one if there is none.

        Raises:
            CqmError: see `connect.connect`.
        """
        self._idle.append(self._connected())

    def close(self) -> None:
        """Leave the owner; harmless when done before. Running calls end with an error."""
        with self._lock:
            self.closed.set()
            idle, self._idle = self._idle, []
            for wire in self._busy:
                wire.hang_up()
        for wire in idle:
            wire.close()

    def retire(self) -> None:
        """Let running and late calls end, and keep no connection: another client of this process takes over.

        Its options hold from now on, and only it tells of others.
        """
        with self._lock:
            self._is_retired = True
            self._greeting = replace(self._greeting, adopts=False)
            self._noted = _say_nothing
            idle, self._idle = self._idle, []
        for wire in idle:
            wire.close()

    @property
    def is_over(self) -> bool:
        """Whether it was closed or retired."""
        return self._is_retired or self.closed.is_set()

    def call(
        self,
        gives: type[Given],
        method: str,
        report: Report | None = None,
        cancelled: Cancelled | None = None,
        **arguments: object,
    ) -> Given:
        """Call a method; return its result.

        Parameters:
            cancelled: asked now and then; true ends the call early.
            arguments: by name.

        Raises:
            CqmError: the method raised it.
            SharingError: owner after owner died.
            ScanError: it is closed.
        """
        wire, reply = self.asked(method, report, cancelled, **arguments)
        self.give_back(wire)
        return self.result(reply_in(gives, reply))

    def asked(
        self, method: str, report: Report | None = None, cancelled: Cancelled | None = None, **arguments: object
    ) -> tuple[Wire, Message]:
        """Call a method; return the reply, and the connection to be given back."""
        message = request(method, arguments)
        for _ in range(_MOST_DEATHS):
            wire = self._taken()
            try:
                wire.send(message)
                reply = _reply(wire, report, cancelled)
            except ConnectionError:
                self._lost(wire)
                continue
            except BaseException:
                # Else the rest of this conversation would be taken for the next one.
                self._lost(wire)
                raise
            return wire, reply
        raise SharingError(
            f"The process owning the index of {self._root} died {_MOST_DEATHS} times during this call.",
            remedy=see_logs(self._folder, self._greeting.options),
        )

    async def call_soon(self, gives: type[Given], method: str, **arguments: object) -> Given | None:
        """Call a method from an event loop, over a kept connection. No thread has to be woken for it.

        Returns:
            The result; None if there is no such connection, or the owner died. Use `call` then.

        Raises:
            CqmError: as `call`.
        """
        self._check_open()
        with self._lock:
            wire = self._idle.pop() if self._idle else None
            if wire is None:
                return None
            self._busy.add(wire)
        try:
            wire.send(request(method, arguments))
            message = await wire.receive_soon()
        except ConnectionError:
            self._lost(wire)
            return None
        except BaseException:
            # As in `asked`: a call is given up when its request is cancelled, also while this is closed.
            self.drop(wire)
            raise
        self.give_back(wire)
        return self.result(read_reply(gives, message))

    def result(self, reply: Reply[Given]) -> Given:
        """Return the result in a reply, and pass its notice on."""
        self._note(reply.notice)
        return reply.result

    def _taken(self) -> Wire:
        """Take an idle connection, or make one."""
        self._check_open()
        with self._lock:
            wire = self._idle.pop() if self._idle else None
        wire = wire or self._connected()
        with self._lock:
            self._busy.add(wire)
        if self.closed.is_set():
            self._lost(wire)
        return wire

    def _connected(self) -> Wire:
        wire, notice = connect(self._folder, self._greeting)
        self._note(notice)
        return wire

    def _note(self, notice: str) -> None:
        """Keep the notice about the options in force; report it once."""
        with self._lock:
            before, self._notice = self._notice, notice
        if bool(before) != bool(notice):
            self._noted(notice)

    def give_back(self, wire: Wire) -> None:
        """Keep a connection for the next call."""
        with self._lock:
            self._busy.discard(wire)
            if not self.is_over:
                self._idle.append(wire)
                return
        wire.close()

    def _lost(self, wire: Wire) -> None:
        """Drop a connection, and go on unless the index is closed."""
        self.drop(wire)
        self._check_open()

    def drop(self, wire: Wire) -> None:
        """Close a connection and all idle ones: their owner is gone, or about to go."""
        with self._lock:
            self._busy.discard(wire)
            lost, self._idle = [wire, *self._idle], []
        for each in lost:
            each.close()

    def _check_open(self) -> None:
        if self.closed.is_set():
            raise ScanError(f"The index of {self._root} is closed.", remedy="Open it again.")


def _say_nothing(_notice: str) -> None:
    """Drop the message."""


def _reply(wire: Wire, report: Report | None, cancelled: Cancelled | None) -> Message:
    """Read the reply to a request; report the progress before it."""
    told = cancelled is None
    while True:
        if cancelled and not told and cancelled():
            wire.send({CANCEL: True})
            told = True
        if wire.is_readable(None if told else _GLANCE_SECONDS):
            message = wire.receive()
            if PROGRESS not in message:
                return message
            if report:
                report(taken(Progress, message[PROGRESS]))
