"""One connection of an owner, from the greeting to the end: requests are answered one after the other."""

import logging
from collections.abc import Callable, Mapping
from hmac import compare_digest
from typing import Any

from cqm.index.model import Improved, IndexStatus, Progress, UpdateSummary
from cqm.server.errors import SharingError
from cqm.server.sharing.messages import (
    ASKS,
    CANCEL,
    DISMISSES,
    FAILURE,
    LEAVING,
    METHODS,
    PROGRESS,
    RESULT,
    USERS,
    WELCOME,
    Build,
    Failure,
    Greeting,
    failure_of,
    read,
    read_build,
    read_request,
    written,
)
from cqm.server.sharing.place import Address
from cqm.server.sharing.runs import Line
from cqm.server.sharing.tenancy import LeavingError, Opened, Tenancy
from cqm.server.sharing.wire import Message, Wire

_log = logging.getLogger(__name__)

_GREETING_SECONDS = 10.0
"""How long a client may take to say who it is."""

_GIVEN_UP: dict[str, Callable[[IndexStatus], object]] = {
    "update": lambda now: UpdateSummary(
        failed=now.failed, skipped=now.skipped, lacking=now.lacking, models=now.models, cancelled=True
    ),
    "improve": lambda now: Improved(lacking=now.lacking),
}
"""What a run gives a client that gave it up while others go on with it, by what the index holds."""


def serve(wire: Wire, tenancy: Tenancy, build: Build, address: Address) -> None:
    """Serve a client until it goes, or the owner does.

    Parameters:
        wire: connected; closed by this.
        tenancy: of the index.
        build: what the owner runs.
        address: where it listens.
    """
    try:
        greeting = _greeted(wire, tenancy, build, address)
        if greeting:
            _serve(wire, tenancy, greeting)
    except (LeavingError, ConnectionError):
        # The client is gone, or asks the next owner when it sees that this one has gone.
        _log.debug("A connection ended.")
    except SharingError as error:
        _log.warning("%s", error)
    finally:
        wire.close()


def _greeted(wire: Wire, tenancy: Tenancy, build: Build, address: Address) -> Greeting | None:
    """The greeting of a client of this build; None for whoever asks something else, and is answered."""
    message = wire.receive(_GREETING_SECONDS)
    token = message.get("token")
    if not compare_digest(token.encode() if isinstance(token, str) else b"", address.token.encode()):
        raise SharingError("A client came that does not know the token.")
    theirs, asked = read_build(message), message.get(ASKS)
    if asked == USERS:
        wire.send({USERS: tenancy.users()})
        return None
    if theirs == build and asked is None:
        greeting: Greeting = read(Greeting, message)
        return greeting
    try:
        tenancy.dismiss() if asked == DISMISSES else tenancy.make_way(theirs)
    except Exception as error:  # noqa: BLE001 - the client's to raise
        _send_failure(wire, error)
    else:
        wire.send({LEAVING: True})
    return None


def _serve(wire: Wire, tenancy: Tenancy, greeting: Greeting) -> None:
    with tenancy.present(greeting):
        try:
            tenancy.open_for(greeting)
        except Exception as error:  # noqa: BLE001 - the client's to raise
            _send_failure(wire, error)
            return
        wire.send({WELCOME: written(Build, greeting.build)})
        while True:
            _answer(wire, tenancy, wire.receive())


def _answer(wire: Wire, tenancy: Tenancy, message: Message) -> None:
    if CANCEL in message:
        # It crossed the result of what it was to cancel.
        return
    method, arguments = read_request(message)
    try:
        result = _result(wire, tenancy, method, arguments)
    except (LeavingError, ConnectionError, SharingError):
        raise
    except Exception as error:  # noqa: BLE001 - the client's to raise
        _send_failure(wire, error)
    else:
        wire.send({RESULT: written(METHODS[method].gives, result)})


def _result(wire: Wire, tenancy: Tenancy, method: str, arguments: Mapping[str, Any]) -> object:
    is_run = METHODS[method].is_run
    with tenancy.call(is_run=is_run) as opened:
        if not is_run:
            return getattr(opened.index, method)(**arguments)
        result = _run(wire, opened, method, arguments)
        if opened.is_ending:
            # Stopped by the owner's end, not by the client: the next owner goes on with it.
            raise LeavingError
        return result


def _run(wire: Wire, opened: Opened, method: str, arguments: Mapping[str, Any]) -> object:
    paths = arguments.get("paths")
    wish = None if paths is None else frozenset(paths)
    result = _attended(wire, opened.line(method, arguments), wish)
    return _GIVEN_UP[method](opened.index.status()) if result is None else result


def _attended(wire: Wire, line: Line[Any], wish: frozenset[str] | None) -> Any:  # noqa: ANN401 - any line's
    cancelled = False

    def tell(progress: Progress) -> None:
        wire.send({PROGRESS: written(Progress, progress)})

    def is_wanted() -> bool:
        nonlocal cancelled
        # Reading also notices that the client is gone.
        cancelled = cancelled or (wire.is_readable(0) and CANCEL in wire.receive())
        return not cancelled

    return line.call(wish, tell, is_wanted)


def _send_failure(wire: Wire, error: Exception) -> None:
    failure = failure_of(error)
    if failure.kind == SharingError.__name__:
        _log.error("A call failed.", exc_info=error)
    wire.send({FAILURE: written(Failure, failure)})
