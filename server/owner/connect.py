"""Connect a client to the owner of an index; start one if there is none."""

import json
import os
import signal
import sys
import time
from contextlib import suppress
from pathlib import Path
from threading import Event, Timer
from typing import IO, TYPE_CHECKING, Any

from cqm.index.disk.locations import (
    LOG_FILE,
    OWNER_LOCK,
    STARTING_LOCK,
    make_private_folder,
    owner_folder,
    untaken_lock,
)
from cqm.index.disk.private import append_private
from cqm.index.model.errors import IndexInUseError, StoreError
from cqm.index.model.options import IndexOptions
from cqm.server.errors import SharingError
from cqm.server.owner.address import dial, read_address
from cqm.server.owner.messages import (
    ASKS,
    DISMISSES,
    FAILURE,
    FOLDER,
    LEAVING,
    NOTICE,
    OWNS,
    ROOT,
    USERS,
    WELCOME,
    Failure,
    Greeting,
    error_of,
    taken,
    this_build,
    written,
)
from cqm.server.owner.wire import Message, Wire

if TYPE_CHECKING:
    import subprocess

START_SECONDS = 60.0
"""Longest start of an owner, also of one started by another client."""
_WELCOME_SECONDS = 120.0
"""Longest opening of an index by an owner: it replays writes not flushed before a crash."""
_LEAVING_SECONDS = 60.0
"""Longest wait of a client of another build for an owner to make way."""
_GLANCE_SECONDS = 0.05
_MOST_DEATHS = 5
_NOBODY = object()
"""In place of a failure: no process can be asked."""


def connect(folder: Path, greeting: Greeting) -> tuple[Wire, str]:
    """Connect to the owner of an index; return the connection, ready for requests, and a notice for the client.

    Parameters:
        folder: of the index; exists.

    Raises:
        SharingError: no owner can be started, or it doesn't answer.
        IndexInUseError: others use the index with another build of CQM, or for long work.
        CqmError: the index can't be opened.
    """
    deadline, deaths = time.monotonic() + _LEAVING_SECONDS, 0
    while deaths < _MOST_DEATHS:
        wire = _reach(folder) or _start(folder, greeting)
        if wire is None:
            deaths += 1
            continue
        try:
            reply = _told(wire, folder, written(greeting))
        except ConnectionError:
            wire.close()
            deaths += 1
            continue
        except BaseException:
            wire.close()
            raise
        if WELCOME in reply:
            return wire, reply.get(NOTICE, "")
        wire.close()
        if FAILURE in reply:
            raise error_of(taken(Failure, reply[FAILURE]))
        _wait_for_leaving(reply, folder, deadline)
    raise SharingError(
        f"The process owning the index in {folder} ends as soon as it is started.",
        remedy=_see_log(folder, greeting.options),
    )


def dismiss(folder: Path) -> None:
    """Ask an idle owner to leave; harmless where there is none.

    Raises:
        IndexInUseError: somebody uses the index.
        SharingError: the owner doesn't answer.
    """
    from cqm.index.disk.lock import Timeout, lock_in  # start-up time, here and below

    reply = _asked(folder, DISMISSES)
    if FAILURE in reply:
        raise error_of(taken(Failure, reply[FAILURE]))
    try:
        with lock_in(folder, OWNER_LOCK, _LEAVING_SECONDS):
            return
    except Timeout as error:
        message = f"The owner of {folder} does not leave."
        raise SharingError(message, remedy="End it, and try again.", retryable=True) from error


def _see_log(folder: Path, options: IndexOptions | None = None) -> str:
    return f"{see_logs(folder, options)} Or set index.shared to false to do without it."


def see_logs(folder: Path, options: IndexOptions | None = None) -> str:
    """Tell where the owner of an index logs: a process of several indexes does so in its own folder."""
    places = [folder, *([owner_folder(options)] if options else [])]
    return f"Look for the reason in {' or '.join(str(place / LOG_FILE) for place in places)}."


def users(folder: Path) -> str | None:
    """Name the users of an index through its owner; None without an owner.

    Raises:
        SharingError: the owner doesn't answer.
    """
    return _asked(folder, USERS).get(USERS)


def _asked(folder: Path, what: str) -> Message:
    """Ask an owner something; return its reply, or an empty one without an owner."""
    wire = _reach(folder)
    if wire is None:
        return {}
    try:
        return _told(wire, folder, {"build": written(this_build()), ASKS: what})
    except ConnectionError:
        return {}
    finally:
        wire.close()


def _reach(folder: Path) -> Wire | None:
    """Connect to the present owner; None without one."""
    address = read_address(folder)
    try:
        connection = dial(address) if address else None
    except OSError as error:
        message = f"The owner of {folder} cannot be reached: {error}."
        raise SharingError(message, remedy=_see_log(folder), retryable=True) from error
    return Wire(connection) if connection else None


def _told(wire: Wire, folder: Path, greeting: Message) -> Message:
    """Send a greeting, and return the owner's reply."""
    address = read_address(folder)
    wire.send(greeting | {"token": address.token if address else ""})
    if not wire.is_readable(_WELCOME_SECONDS):
        wire.close()
        raise SharingError(
            f"Process {address.pid if address else '?'}, which owns the index in {folder}, does not answer.",
            remedy="End it, and try again.",
            retryable=True,
        )
    return wire.receive()


def _wait_for_leaving(reply: Message, folder: Path, deadline: float) -> None:
    if LEAVING not in reply:
        message = f"The owner of {folder} did not answer with a welcome."
        raise SharingError(message, remedy=_see_log(folder))
    if time.monotonic() > deadline:
        raise IndexInUseError(
            f"The index in {folder} is in use by another version of CQM, which still has work to do.",
            remedy="Try again later.",
            retryable=True,
        )
    time.sleep(_GLANCE_SECONDS)


def _start(folder: Path, greeting: Greeting) -> Wire | None:
    """Connect to an owner begun here, or by another client meanwhile; None when it died at once."""
    from cqm.index.disk.lock import Timeout, lock_in

    # It is missing if deleted under an owner. A lock would create one open to others, where no owner is found.
    make_private_folder(folder)
    try:
        with lock_in(folder, STARTING_LOCK, START_SECONDS):
            return _reach(folder) or _begun(folder, greeting)
    except Timeout as error:
        message = f"The start of an owner of {folder} takes too long."
        raise SharingError(message, remedy=_see_log(folder), retryable=True) from error
    except OSError as error:
        raise untaken_lock(folder, error) from error


def _begun(folder: Path, greeting: Greeting) -> Wire | None:
    """Have the process owning this user's other indexes own this one too; start one if there is none."""
    from cqm.index.disk.lock import lock_in

    host = owner_folder(greeting.options)
    try:
        make_private_folder(host)
        failure = _hosted(host, folder, greeting.root)
        if failure is _NOBODY:
            with lock_in(host, STARTING_LOCK, START_SECONDS):
                # Another client may have started it meanwhile.
                failure = _hosted(host, folder, greeting.root)
                if failure is _NOBODY:
                    failure = _started(folder, greeting.root, host)
    except StoreError:
        # Without a place for all indexes, as in a read-only home, each has a process of its own.
        failure = _started(folder, greeting.root, None)
    if failure is not None:
        raise error_of(taken(Failure, failure))
    return _reach(folder)


def _hosted(host: Path, folder: Path, root: str) -> object:
    """Ask the user's owner for an index; return the failure or None, or `_NOBODY` without one of this build."""
    wire = _reach(host)
    if wire is None:
        return _NOBODY
    asked = {"build": written(this_build()), ASKS: OWNS, FOLDER: os.fspath(folder.absolute()), ROOT: root}
    try:
        reply = _told(wire, host, asked)
    except ConnectionError:
        return _NOBODY
    finally:
        wire.close()
    return _NOBODY if LEAVING in reply else reply.get(FAILURE)


def _started(folder: Path, root: str, host: Path | None) -> object:
    """Start an owner; return its reported failure, or None when it listens or died at once."""
    said = _spawned(folder, root, host)
    return json.loads(said) if said.endswith(b"\n") else None


def _spawned(folder: Path, root: str, host: Path | None) -> bytes:
    """Start an owner; return the line it writes when it listens."""
    import subprocess  # start-up time of those who find one

    # -P and the working folder: nothing is imported from where the client happens to run.
    command = [sys.executable, "-P", "-m", "cqm.server.owner", os.fspath(folder.absolute()), root]
    command += [os.fspath(host.absolute())] if host else []
    # The reader's products are small: on a busy machine, several threads for one take twenty times as long.
    variables = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"} | os.environ
    detached: dict[str, Any] = {"start_new_session": True}
    if sys.platform == "win32":
        detached = {"creationflags": subprocess.DETACHED_PROCESS | subprocess.CREATE_NEW_PROCESS_GROUP}
    given: dict[str, Any] = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "env": variables}
    try:
        with os.fdopen(append_private(folder, LOG_FILE), "ab") as log:
            process = subprocess.Popen(command, stderr=log, cwd=folder.anchor or None, **given, **detached)
    except OSError as error:
        message = f"The process to own the index in {folder} cannot be started: {error}."
        raise SharingError(message, remedy="Close other programs, or run `cqm doctor`.") from error
    with process.stdout or log as announced:
        said = _announced(announced, process, folder)
    if sys.platform != "win32":
        # The owner has forked; this is its parent.
        process.wait()
    return said


def _announced(announced: IO[bytes], process: "subprocess.Popen[bytes]", folder: Path) -> bytes:
    """Read the line of a starting owner; end a hanging one, since others wait to start it meanwhile."""
    late = Event()

    def end() -> None:
        late.set()
        if sys.platform == "win32":
            process.kill()
        else:
            # Its child owns the index, in the session begun with it.
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)

    timer = Timer(START_SECONDS, end)
    timer.daemon = True
    timer.start()
    try:
        # In this thread, so that Ctrl-C ends it: the pipe can't be closed while another thread reads.
        said = announced.readline()
    finally:
        timer.cancel()
    if late.is_set() and not said:
        process.wait()
        message = f"The process to own the index in {folder} did not start within {START_SECONDS:g} s."
        raise SharingError(message, remedy=_see_log(folder), retryable=True)
    return said
