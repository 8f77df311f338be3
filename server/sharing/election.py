"""How a client comes to the owner of an index: the one that there is, or one that it starts."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from filelock import Timeout

from cqm.index.errors import IndexInUseError, StoreError
from cqm.index.home import LOG_FILE, OWNER_LOCK, STARTING_LOCK
from cqm.index.private import append_private, lock_in
from cqm.server.errors import SharingError
from cqm.server.sharing.messages import (
    ASKS,
    DISMISSES,
    FAILURE,
    LEAVING,
    NOTICE,
    USERS,
    WELCOME,
    Build,
    Failure,
    Greeting,
    error_of,
    read,
    this_build,
    written,
)
from cqm.server.sharing.place import dial, read_address
from cqm.server.sharing.wire import Message, Wire

_START_SECONDS = 60.0
"""How long the start of an owner may take; also that by another client."""
_WELCOME_SECONDS = 120.0
"""How long an owner may take to open its index: what was not flushed at a crash is replayed."""
_LEAVING_SECONDS = 60.0
"""How long a client of another build waits for an owner to make way."""
_GLANCE_SECONDS = 0.05
_MOST_DEATHS = 5


def connect(folder: Path, greeting: Greeting) -> tuple[Wire, str]:
    """A connection to the owner of an index, on which requests can be made, and what its client is to be told.

    Parameters:
        folder: of the index; exists.
        greeting: who wants what.

    Raises:
        SharingError: no owner can be started, or it does not answer.
        IndexInUseError: others use the index with another build of CQM, or for something that takes long.
        CqmError: the index cannot be opened.
    """
    deadline, deaths = time.monotonic() + _LEAVING_SECONDS, 0
    while deaths < _MOST_DEATHS:
        wire = _reach(folder) or _start(folder, greeting.root)
        if wire is None:
            deaths += 1
            continue
        try:
            reply = _told(wire, folder, written(Greeting, greeting))
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
            raise error_of(read(Failure, reply[FAILURE]))
        _wait_for_leaving(reply, folder, deadline)
    raise SharingError(
        f"The process that owns the index in {folder} ends as soon as it is started.",
        remedy=f"{folder / LOG_FILE} may tell why. With index.shared false there is no such process.",
    )


def dismiss(folder: Path) -> None:
    """Have the owner of an index leave that stays only for the next client; harmless where there is none.

    Parameters:
        folder: of the index.

    Raises:
        IndexInUseError: somebody uses the index.
        SharingError: the owner does not answer.
    """
    reply = _asked(folder, DISMISSES)
    if FAILURE in reply:
        raise error_of(read(Failure, reply[FAILURE]))
    try:
        with lock_in(folder, OWNER_LOCK, _LEAVING_SECONDS):
            return
    except Timeout as error:
        raise SharingError(f"The owner of {folder} does not leave.", retryable=True) from error


def users(folder: Path) -> str | None:
    """Who uses an index through its owner, in words; None without an owner.

    Parameters:
        folder: of the index.

    Raises:
        SharingError: the owner does not answer.
    """
    return _asked(folder, USERS).get(USERS)


def _asked(folder: Path, what: str) -> Message:
    """What an owner answers that is asked something; nothing without one."""
    wire = _reach(folder)
    if wire is None:
        return {}
    try:
        return _told(wire, folder, {"build": written(Build, this_build()), ASKS: what})
    except ConnectionError:
        return {}
    finally:
        wire.close()


def _reach(folder: Path) -> Wire | None:
    """A connection to the owner that there is; None without one."""
    address = read_address(folder)
    try:
        connection = dial(address) if address else None
    except OSError as error:
        raise SharingError(f"The owner of {folder} cannot be reached: {error}.", retryable=True) from error
    return Wire(connection) if connection else None


def _told(wire: Wire, folder: Path, greeting: Message) -> Message:
    """What an owner answers to a greeting."""
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
        raise SharingError(f"The owner of {folder} answers with something else than a welcome.")
    if time.monotonic() > deadline:
        raise IndexInUseError(
            f"The index in {folder} is in use by another version of CQM, which still has work to do.",
            remedy="Try again later.",
            retryable=True,
        )
    time.sleep(_GLANCE_SECONDS)


def _start(folder: Path, root: str) -> Wire | None:
    """A connection to an owner that this client starts, or another has started meanwhile; None when it died at once."""
    try:
        with lock_in(folder, STARTING_LOCK, _START_SECONDS):
            return _reach(folder) or _started(folder, root)
    except Timeout as error:
        raise SharingError(f"The start of an owner of {folder} takes too long.", retryable=True) from error
    except OSError as error:
        raise StoreError(f"The lock in {folder} cannot be taken: {error}.") from error


def _started(folder: Path, root: str) -> Wire | None:
    said = _spawned(folder, root)
    failure = json.loads(said) if said.endswith(b"\n") else None
    if failure is not None:
        raise error_of(read(Failure, failure))
    return _reach(folder)


def _spawned(folder: Path, root: str) -> bytes:
    """Start an owner; what it says once it listens."""
    # -P, and another folder to work in: nothing is imported from where the client happens to be.
    command = [sys.executable, "-P", "-m", "cqm.server.sharing", os.fspath(folder.absolute()), root]
    detached: dict[str, Any] = {"start_new_session": True}
    if sys.platform == "win32":
        detached = {"creationflags": subprocess.DETACHED_PROCESS | subprocess.CREATE_NEW_PROCESS_GROUP}
    pipes: dict[str, Any] = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE}
    try:
        with os.fdopen(append_private(folder, LOG_FILE), "ab") as log:
            process = subprocess.Popen(command, stderr=log, cwd=folder.anchor or None, **pipes, **detached)
    except OSError as error:
        raise SharingError(f"No process can be started that owns the index in {folder}: {error}.") from error
    with process.stdout or log as announced:
        said = announced.readline()
    if sys.platform != "win32":
        # It has put a child of its own in its place.
        process.wait()
    return said
