"""One connection of an owner, from the greeting to the end: it answers one request after the other."""

import logging
import time
from collections.abc import Callable, Mapping
from threading import Thread
from typing import Any

from cqm.index import tracing
from cqm.index.model.options import IndexOptions
from cqm.index.model.outcomes import Improved
from cqm.index.model.progress import Progress, UpdateSummary
from cqm.index.model.status import IndexStatus
from cqm.server.config.watch_options import WatchOptions
from cqm.server.errors import SharingError
from cqm.server.owner.address import Address, check_token
from cqm.server.owner.messages import (
    ASKS,
    CANCEL,
    DISMISSES,
    FAILURE,
    LEAVING,
    NOTICE,
    PROGRESS,
    REPORT,
    RESULT,
    USERS,
    WELCOME,
    Build,
    Greeting,
    encoded,
    failure_of,
    methods,
    read,
    read_build,
    read_request,
    written,
)
from cqm.server.owner.session import LeavingError, Session
from cqm.server.owner.shared_runs import Opened, Reports
from cqm.server.owner.wire import Message, Wire

_log = logging.getLogger(__name__)

_GREETING_SECONDS = 10.0
"""Longest wait for a client's greeting."""


def _cut_short(now: IndexStatus) -> UpdateSummary:
    return UpdateSummary(failed=now.failed, skipped=now.skipped, lacking=now.lacking, models=now.models, cancelled=True)


_GIVEN_UP: dict[str, Callable[[IndexStatus], object]] = {
    "update": _cut_short,
    "restore": _cut_short,
    "take": _cut_short,
    "improve": lambda now: Improved(lacking=now.lacking),
}
"""Results for a client which cancelled a run others still want, made from the status of the index."""


def serve(wire: Wire, session: Session, build: Build, address: Address) -> None:
    """Serve a client until it or the owner leaves; then close the connection."""
    try:
        greeting = _greeted(wire, session, build, address)
        if greeting:
            _serve(wire, session, greeting)
    except (LeavingError, ConnectionError):
        # The client is gone, or asks the next owner when it sees this one gone.
        _log.debug("A connection ended.")
    except SharingError as error:
        _log.warning("%s", error)
    finally:
        wire.close()


def _greeted(wire: Wire, session: Session, build: Build, address: Address) -> Greeting | None:
    """Read the greeting of a client of this build; None after answering any other request."""
    message = wire.receive(_GREETING_SECONDS)
    check_token(message.get("token"), address)
    theirs, asked = read_build(message), message.get(ASKS)
    if asked == USERS:
        wire.send({USERS: session.users()})
        return None
    if theirs == build and asked is None:
        greeting: Greeting = read(Greeting, message)
        return greeting
    try:
        session.dismiss() if asked == DISMISSES else session.make_way(theirs)
    except Exception as error:  # noqa: BLE001 - the client's to raise
        _send_failure(wire, error)
    else:
        wire.send({LEAVING: True})
    return None


def _serve(wire: Wire, session: Session, greeting: Greeting) -> None:
    with session.present(greeting):
        try:
            options = session.open_for(greeting)
        except LeavingError:
            raise
        except Exception as error:  # noqa: BLE001 - the client's to raise
            _send_failure(wire, error)
            return
        wire.send({WELCOME: written(greeting.build)} | _noted(session, greeting, options))
        while True:
            _answer(wire, session, greeting, wire.receive())


def _noted(session: Session, greeting: Greeting, options: IndexOptions) -> Message:
    notice = session.notice(greeting, options)
    return {NOTICE: notice} if notice else {}


def _answer(wire: Wire, session: Session, greeting: Greeting, message: Message) -> None:
    if CANCEL in message:
        # The cancellation crossed the result.
        return
    method, arguments, trace = read_request(message)
    try:
        if method == "follow":
            _follow(wire, session, **arguments)
            return
        began = time.time()
        with tracing.continued(trace):
            result, options = _result(wire, session, method, arguments)
        if greeting.remembered:
            session.questions.add(str(greeting.client), method, arguments, result, began)
    except (LeavingError, ConnectionError, SharingError):
        raise
    except Exception as error:  # noqa: BLE001 - the client's to raise
        _send_failure(wire, error)
    else:
        wire.send_encoded(encoded(RESULT, methods()[method].gives, result, _noted(session, greeting, options)))


def _follow(wire: Wire, session: Session, options: WatchOptions) -> None:
    """Follow the files for a client, and send it the reports of the watch, until it leaves."""
    with session.followers.joined(options) as reports:
        wire.send({RESULT: None})
        Thread(target=_send_reports, args=(wire, reports), name="reports", daemon=True).start()
        try:
            wire.wait()
        finally:
            reports.put(None)


def _send_reports(wire: Wire, reports: Reports) -> None:
    try:
        while report := reports.get():
            wire.send({REPORT: written(report)})
    except ConnectionError:
        # It stopped reading, or is gone.
        wire.hang_up()


def _result(wire: Wire, session: Session, method: str, arguments: Mapping[str, Any]) -> tuple[object, IndexOptions]:
    """Answer a call; return its result, and the options in force."""
    if not methods()[method].is_run:
        with session.call(method) as opened:
            # Questions outlive the asked index: another client's options open another one.
            asked = session.questions.all if method == "asked" else getattr(opened.index, method)
            return asked(**arguments), opened.index.options
    caller = _Caller(wire)
    while True:
        with session.call(method) as opened:
            result = _run(caller, opened, method, arguments)
            if caller.gave_up or not opened.is_ending:
                return result, opened.index.options
        # The run was stopped, but not by its client: repeat it when the index is open again, here or at the next owner.


def _run(caller: "_Caller", opened: Opened, method: str, arguments: Mapping[str, Any]) -> object:
    result = opened.line(method, arguments).call(caller.tell, caller.wants)
    return _GIVEN_UP[method](opened.index.status()) if result is None else result


class _Caller:
    """A client waiting for a run."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire
        self.gave_up = False

    def tell(self, progress: Progress) -> None:
        """Send the progress of the run."""
        self._wire.send({PROGRESS: written(progress)})

    def wants(self) -> bool:
        """Whether the client still wants the run; reading also notices its end."""
        self.gave_up = self.gave_up or (self._wire.is_readable(0) and CANCEL in self._wire.receive())
        return not self.gave_up


def _send_failure(wire: Wire, error: Exception) -> None:
    failure = failure_of(error)
    if failure.kind == SharingError.__name__:
        _log.error("A call failed.", exc_info=error)
    wire.send({FAILURE: written(failure)})
