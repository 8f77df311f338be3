"""The command line in processes of their own that share one start: each is forked from one that has imported it all.

Half of what a short command costs are imports. Its arguments, variables, working folder, streams and exit code are its
own, as when a shell starts it; only what Python itself reads from variables at its start is of the process forked from.
What a command starts with `python -P -m`, the owner of an index and what forks workers, is forked from there as well,
and so is `python -c CODE` for a test that asks for it.

`python tests/servers/forked.py SOCKET REQUESTS ASKING`: runs the commands that are asked for over a socket, until it is
closed, and what they start, asked for at one end of a pair of sockets and heard at the other.
"""

import atexit
import gc
import io
import json
import os
import runpy
import select
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from functools import partial
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

HAS_FORK = hasattr(os, "fork")
IMPORTED = (
    "cqm.server.mcp.app",
    "cqm.server.cli.main",
    "cqm.server.cli.commands",
    "cqm.server.cli.search",
    "cqm.server.cli.symbols",
    "cqm.server.doctor.doctor",
    "cqm.server.cli.indexes",
    "cqm.server.cli.preview",
    "cqm.server.cli.report",
    "cqm.server.owner.client",
    "cqm.server.owner.connection",
    "cqm.server.owner.process",
    "cqm.index.cache.disk",
    "cqm.index.cache.layered",
    "cqm.index.cache.memory",
    "cqm.index.cache.outer",
    "cqm.index.engine",
    "cqm.index.store.edge",
    "cqm.index.workers.worker",
    "anyio._backends._asyncio",
    "charset_normalizer",
    "mdit_py_plugins.front_matter",
    "qdrant_edge",
    "rich.logging",
    "tree_sitter",
)
OF_EXTRAS = ("ollama", "openai", "qdrant_client")
"""Imported where they are installed: the last takes 1 s of a core."""
_START = subprocess.Popen
"""What starts processes anew, also while a test has put another in its place."""
_HIGH = 200
"""Descriptors of ours begin here: a process that is started may want any of the lower numbers."""
_MOST = 32
"""Descriptors that go with a request."""


class Forks:
    """A process that runs commands in forks of itself, one after another.

    Attributes:
        asking: where it is asked for forks of what commands start; see `ForkedPopen`.
    """

    def __init__(self) -> None:
        # Both ends are kept: what outlives that process asks the one that takes its place.
        self._requests, self.asking = socket.socketpair(type=socket.SOCK_DGRAM)
        self._start()

    def _start(self) -> None:
        self._asked, theirs = socket.socketpair()
        passed = [theirs.fileno(), self._requests.fileno(), self.asking.fileno()]
        command = [sys.executable, __file__, *map(str, passed)]
        nothing = subprocess.DEVNULL
        # What forks has one thread.
        alone = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
        with theirs:
            self._parent = _START(
                command,
                env=alone,
                stdin=nothing,
                stdout=nothing,
                pass_fds=passed,
                start_new_session=True,
            )

    def run(
        self,
        command: Sequence[str],
        cwd: Path,
        environment: Mapping[str, str],
        stdin: bytes,
        seconds: float | None = None,
    ) -> "subprocess.CompletedProcess[bytes]":
        """The outcome of one command, which may take some time.

        Raises:
            TimeoutError: it takes more.
        """
        with ExitStack() as opened:
            asked, *streams = (opened.enter_context(TemporaryFile()) for _ in range(4))
            for file, held in (
                (asked, json.dumps([command, str(cwd), dict(environment)]).encode()),
                (streams[0], stdin),
            ):
                file.write(held)
                file.seek(0)
            self._asked.settimeout(seconds)
            socket.send_fds(self._asked, [b"?"], [file.fileno() for file in (asked, *streams)])
            try:
                said = self._asked.recv(4)
            except TimeoutError:
                # What this command says when it ends would be taken for the outcome of the next one.
                os.killpg(self._parent.pid, signal.SIGKILL)
                self._asked.close()
                self._parent.wait()
                self._start()
                raise
            assert said, "the process that forks has ended"
            for file in streams[1:]:
                file.seek(0)
            code = int.from_bytes(said, signed=True)
            return subprocess.CompletedProcess(command, code, streams[1].read(), streams[2].read())

    def start(self, command: Sequence[str], **given: Any) -> "subprocess.Popen[Any]":
        """Start a command, and go on beside it; what is given is as `subprocess.Popen` takes it."""
        return ForkedProgram(command, asking=self.asking, **given)

    def close(self) -> None:
        """End that process."""
        self._asked.close()
        self._parent.wait()
        self._requests.close()
        self.asking.close()


class ForkedPopen(subprocess.Popen[Any]):
    """Starts `python -P -m MODULE` by a fork of the process that `Forks` started, and all else as ever."""

    asking: socket.socket
    """Of the `Forks`."""
    _child_created: bool
    """Set by `subprocess`: it started the program."""
    modules: tuple[str, ...] = ("cqm.index.workers", "cqm.server.owner")

    def __init__(self, args: Any, **given: Any) -> None:
        if not self._is_forked([*map(os.fspath, args)]):
            super().__init__(args, **given)
            return
        self.args, self.returncode = args, None
        self.stdin = self.stdout = self.stderr = None
        # What `communicate` reads of itself.
        self.encoding, self.errors = given.get("encoding"), given.get("errors")
        self.text_mode = bool(given.get("text") or self.encoding)
        self._communication_started, self._input = False, None
        passed = list(given.get("pass_fds", ()))
        command, folder = [*map(os.fspath, args)], given.get("cwd") or os.getcwd()  # noqa: PTH109
        wanted = [command, str(folder), dict(given.get("env") or os.environ), passed]
        with ExitStack() as opened:
            file = opened.enter_context(TemporaryFile())
            file.write(json.dumps([*wanted, given.get("start_new_session", False)]).encode())
            file.seek(0)
            streams = [self._stream(name, number, given, opened) for number, name in enumerate(_STREAMS)]
            self._told, theirs = socket.socketpair()
            with theirs:
                descriptors = [theirs.fileno(), file.fileno(), *streams, *passed]
                socket.send_fds(self.asking, [b"?"], descriptors)
        self.pid = int.from_bytes(self._told.recv(4))

    def _is_forked(self, command: list[str]) -> bool:
        return command[:3] == [sys.executable, "-P", "-m"] and command[3] in self.modules

    def _stream(self, name: str, number: int, given: Mapping[str, Any], opened: ExitStack) -> int:
        wanted = given.get(name)
        if wanted is None:
            return number
        if wanted == subprocess.DEVNULL:
            return opened.enter_context(open(os.devnull, "r+b")).fileno()  # noqa: PTH123
        if wanted == subprocess.PIPE:
            reads, writes = os.pipe()
            ours, theirs = (reads, writes) if number else (writes, reads)
            opened.callback(os.close, theirs)
            file: Any = os.fdopen(ours, "rb" if number else "wb")
            if self.text_mode:
                file = io.TextIOWrapper(file, encoding=self.encoding, errors=self.errors, write_through=not number)
            setattr(self, name, file)
            return theirs
        return wanted if isinstance(wanted, int) else int(wanted.fileno())

    def wait(self, timeout: float | None = None) -> int:
        """Wait for its end."""
        if self._child_created:
            return super().wait(timeout)
        if self.returncode is None:
            self._told.settimeout(timeout)
            try:
                said = self._told.recv(4)
            except TimeoutError:
                raise subprocess.TimeoutExpired(self.args, timeout or 0) from None
            # Without a word the process that forks has ended, and nobody knows.
            self.returncode = int.from_bytes(said, signed=True) if said else -signal.SIGKILL
            self._told.close()
        return self.returncode

    def poll(self) -> int | None:
        """The exit code, if it has ended."""
        if self._child_created:
            return super().poll()
        if self.returncode is None and select.select([self._told], [], [], 0)[0]:
            self.wait()
        return self.returncode

    def send_signal(self, sig: int) -> None:
        """Send a signal."""
        if self._child_created:
            super().send_signal(sig)
        elif self.poll() is None:
            # It may end in between, as for `Popen.send_signal` (bpo-40550).
            with suppress(ProcessLookupError):
                os.kill(self.pid, sig)


class ForkedProgram(ForkedPopen):
    """Starts by a fork `cqm`, the owner of an index, `python -c CODE` and `python FILE` too."""

    # What forks workers stays longer than a test, see `cqm.index.workers.kept_warm`.
    modules = ("cqm.server.owner",)

    def __init__(self, args: Any, *, asking: socket.socket | None = None, **given: Any) -> None:
        if asking:
            self.asking = asking
        super().__init__(args, **given)

    def _is_forked(self, command: list[str]) -> bool:
        if command[0] != sys.executable:
            return Path(command[0]).name == "cqm"
        is_code = command[1] == "-c" or command[1:3] == ["-P", "-c"] or not command[1].startswith("-")
        return is_code or super()._is_forked(command)


_STREAMS = ("stdin", "stdout", "stderr")


def fork_for_each(asked: socket.socket, requests: socket.socket) -> Callable[[], object] | None:
    """Fork for each process that is asked for; in it, made ready, return its work; None in the parent, at its end."""
    ended, ends = socket.socketpair()
    ends.setblocking(False)
    signal.set_wakeup_fd(ends.fileno(), warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    told: dict[int, socket.socket] = {}
    while True:
        for ready in select.select([asked, requests, ended], [], [])[0]:
            if ready is ended:
                ended.recv(4096)
                _tell_of_ends(told)
                continue
            said, received, *_ = socket.recv_fds(ready, 1, _MOST)
            if not said:
                return None
            tell = asked.dup() if ready is asked else socket.socket(fileno=received.pop(0))
            pid = os.fork()
            if not pid:
                signal.set_wakeup_fd(-1)
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                for other in (asked, requests, ended, ends, tell, *told.values()):
                    other.close()
                return _become(*map(_moved, received))
            told[pid] = tell
            if ready is requests:
                try:
                    tell.send(pid.to_bytes(4))
                except BrokenPipeError:
                    # Who asked has given up, such as a test whose time was over: the others still need this process.
                    os.kill(pid, signal.SIGKILL)
            for descriptor in received:
                os.close(descriptor)


def _tell_of_ends(told: dict[int, socket.socket]) -> None:
    """Tell those who asked for a process of its exit code, if it has ended."""
    for pid in [*told]:
        found, status = os.waitpid(pid, os.WNOHANG)
        if found:
            with told.pop(pid) as tell, suppress(BrokenPipeError):
                tell.send(os.waitstatus_to_exitcode(status).to_bytes(4, signed=True))


def _become(asked: int, *descriptors: int) -> Callable[[], object]:
    with open(asked, encoding="utf-8") as file:
        command, folder, environment, *more = json.load(file)
    numbers, is_leader = more or ([], False)
    for number, descriptor in zip((0, 1, 2, *numbers), descriptors, strict=True):
        os.dup2(descriptor, number)
        os.close(descriptor)
    if is_leader:
        os.setsid()
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    time.tzset()
    subprocess.Popen = ForkedPopen  # type: ignore[misc, assignment]
    # Those of the process forked from write to another kind of file, and remember it.
    for number, (name, mode) in enumerate(zip(_STREAMS, "rww", strict=True)):
        before = getattr(sys, name)
        opened = open(number, mode, number // 2 or -1, before.encoding, before.errors, closefd=False)  # noqa: SIM115
        setattr(sys, name, opened)
        setattr(sys, f"__{name}__", opened)
    sys.argv = command
    if command[0] == sys.executable:
        return partial(_interpret, command)
    from cqm.server.cli.main import main

    return main


def _interpret(command: list[str]) -> None:
    """Do what `python -P -m MODULE`, `python -c CODE` or `python FILE` does."""
    match command[1:]:
        case ["-c", code, *rest] | ["-P", "-c", code, *rest]:
            sys.argv = ["-c", *rest]
            exec(compile(code, "<string>", "exec"), {"__name__": "__main__"})
        case ["-P", "-m", module, *rest]:
            sys.argv = [module, *rest]
            runpy.run_module(module, run_name="__main__")
        case file, *rest:
            sys.argv = [file, *rest]
            runpy.run_path(file, run_name="__main__")


def _run(work: Callable[[], object]) -> None:
    """Run it, and end as Python does, but leave the memory to the system.

    To free each object of the process forked from would copy it first: .09 s of a core for each command.
    """
    code = 0
    try:
        work()
    except SystemExit as ended:
        if not isinstance(ended.code, int | None):
            raise
        code = ended.code or 0
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    # Where nobody reads them any more, the end is Python's own.
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    os._exit(code & 0xFF)


def _high(connection: socket.socket) -> socket.socket:
    """The same connection by a number that no process which is started may want."""
    return socket.socket(fileno=_moved(connection.detach()))


def _moved(descriptor: int) -> int:
    from fcntl import F_DUPFD_CLOEXEC, fcntl  # not on Windows

    with ExitStack() as closed:
        closed.callback(os.close, descriptor)
        return fcntl(descriptor, F_DUPFD_CLOEXEC, _HIGH)


if __name__ == "__main__":
    for name in IMPORTED:
        import_module(name)
    for name in OF_EXTRAS:
        with suppress(ImportError):
            import_module(name)
    # At its end a process would look at each object of its own, and so copy them all.
    gc.freeze()
    asked, requests, ForkedPopen.asking = (_high(socket.socket(fileno=int(number))) for number in sys.argv[1:])
    work = fork_for_each(asked, requests)
    if work:
        _run(work)
