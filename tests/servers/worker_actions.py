"""Actions that tests have workers do: a worker can only call what it can import."""

import ctypes
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from cqm.chunkers.errors import ChunkOptionError
from cqm.index.secrets.tokens import token_matches
from cqm.index.workers.worker import ask_parent


class Task(NamedTuple):
    name: str
    argument: str = ""


def work(task: Task) -> str:
    result = _ACTIONS[task.name](task.argument)
    return result if isinstance(result, str) else str(result)


def _killed(number: str) -> None:
    os.kill(os.getpid(), int(number)) if number == "0" else signal.raise_signal(int(number))


def _spun(_: str) -> None:
    while True:
        pass


def _refused(_: str) -> None:
    raise ChunkOptionError("a message", remedy="A remedy.")


def _limited(pid: str) -> object:
    import resource

    return resource.prlimit(int(pid), resource.RLIMIT_NOFILE, (64, 64))


def _owned(pid: str) -> object:
    import fcntl

    return fcntl.fcntl(0, fcntl.F_SETOWN, int(pid))


def _signalled(pid: str) -> None:
    if ctypes.CDLL(None, use_errno=True).tgkill(int(pid), int(pid), signal.SIGTERM):
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


class _Forged(str):
    """Unpickled without care it would run a function."""

    __slots__ = ()

    def __reduce__(self) -> tuple[object, ...]:
        return os.getpid, ()


_ACTIONS: dict[str, Callable[[str], object]] = {
    "say": str,
    "die": _killed,
    "spin": _spun,
    "allocate": lambda size: len(bytearray(int(size))),
    "refuse": _refused,
    "connect": lambda _: socket.create_connection(("127.0.0.1", 9), timeout=1),
    "socket": lambda _: socket.socket(),
    "run": lambda program: subprocess.run([program], check=True),
    "fork": lambda _: os.fork(),
    "read": lambda path: Path(path).read_text(),
    "list": lambda path: [*Path(path).iterdir()],
    "write": lambda path: Path(path).write_text("written"),
    "remove": lambda path: Path(path).unlink(),
    "mode": lambda path: os.fchmod(os.open(path, os.O_RDONLY), 0o666),
    "mark": lambda path: os.setxattr(path, "user.was-here", b"1"),
    "touch": os.utime,
    "own": lambda path: os.lchown(path, -1, -1),
    "kill parent": lambda pid: os.kill(int(pid), signal.SIGTERM),
    "limit": _limited,
    "signal": _signalled,
    "pin": lambda pid: os.sched_setaffinity(int(pid), {0}),
    "be owned": _owned,
    "import": lambda name: __import__(name).__name__,
    "key": lambda name: os.environ.get(name, "none"),
    "where": lambda _: f"{Path.cwd()} {'' in sys.path or str(Path.cwd()) in sys.path}",
    "forge": lambda _: _Forged(),
    "ask": ask_parent,
    "sleep": lambda _: time.sleep(1000),
    "pause": lambda seconds: time.sleep(float(seconds)),
    "pid": lambda _: os.getpid(),
    "parent": lambda _: os.getppid(),
    "find": lambda text: len([*token_matches(text)]),
}
