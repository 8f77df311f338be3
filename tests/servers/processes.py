"""Processes that outlive the script that starts them, and are ended only while they are still the same."""

import os
import select
import signal
import socket
import subprocess
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import NamedTuple

_GRACE_SECONDS = 10


class Process(NamedTuple):
    """A process that was started; another one that gets its number later began at another time.

    Attributes:
        pid: its number, which is also that of its group.
        began: in clock ticks since the machine's start.
        name: of the server that it is.
    """

    pid: int
    began: int
    name: str


def launch(folder: Path, name: str, command: Sequence[str], environment: Mapping[str, str]) -> Process:
    """Start a process in a group of its own, so that it hears no Ctrl-C, and note it in `folder`/pids."""
    with (folder / f"{name}.log").open("wb") as log:
        started = subprocess.Popen(
            command,
            env={**os.environ, **environment},
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    process = Process(started.pid, _beginning(started.pid) or 0, name)
    with (folder / "pids").open("a") as pids:
        pids.write(f"{process.pid} {process.began} {name}\n")
    return process


def is_running(process: Process) -> bool:
    """Whether it is, and is no other one with the same number."""
    return _beginning(process.pid) == process.began


def end_all(folder: Path) -> None:
    """End those in `folder`/pids that run, with what they started, politely first; forget how they were reached."""
    running = [process for process in _noted(folder) if is_running(process)]
    for number in (signal.SIGTERM, signal.SIGKILL):
        for process in running:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, number)
        deadline = time.monotonic() + _GRACE_SECONDS
        for process in running:
            _wait_for_end(process, deadline - time.monotonic())
        running = [process for process in running if is_running(process)]
    (folder / "pids").unlink(missing_ok=True)
    (folder / "env").unlink(missing_ok=True)


def _wait_for_end(process: Process, seconds: float) -> None:
    with suppress(ProcessLookupError):
        ended = os.pidfd_open(process.pid)
        try:
            if is_running(process):
                select.select([ended], [], [], max(0.0, seconds))
        finally:
            os.close(ended)


def _noted(folder: Path) -> list[Process]:
    pids = folder / "pids"
    lines = pids.read_text().splitlines() if pids.exists() else []
    return [Process(int(pid), int(began), name) for pid, began, name in map(str.split, lines)]


def _beginning(pid: int) -> int | None:
    """When a process began, by the 22nd field of proc(5); None when there is none, or only its exit status."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return None
    return None if fields[0] == "Z" else int(fields[19])


def free_ports(count: int) -> list[int]:
    """Ports of loopback on which nothing listens now."""
    with ExitStack() as opened:
        sockets = [opened.enter_context(socket.socket()) for _ in range(count)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]


def has_answered(port: int, path: str) -> bool:
    """Whether a server on loopback grants a GET request; without a path, whether it listens."""
    connection = HTTPConnection("127.0.0.1", port, timeout=2)
    try:
        connection.connect()
        if path:
            connection.request("GET", path)
        return not path or connection.getresponse().status == 200
    except (OSError, HTTPException):
        return False
    finally:
        connection.close()
