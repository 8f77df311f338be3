"""The command line in processes of their own that share one start: each is forked from one that has imported it all.

Half of what a short command costs are imports. Its arguments, variables, working folder, streams and exit code are its
own, as when a shell starts it; only what Python itself reads from variables at its start is of the process forked from.

`python tests/servers/forked.py SOCKET`: runs the commands that are asked for over a socket, until it is closed.
"""

import gc
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryFile

HAS_FORK = hasattr(os, "fork")
IMPORTED = (
    "cqm.server.mcp.app",
    "cqm.server.cli.main",
    "cqm.server.cli.commands",
    "cqm.server.cli.search",
    "cqm.server.cli.telling",
    "cqm.server.doctor.doctor",
    "cqm.server.cli.indexes",
    "cqm.server.cli.preview",
    "cqm.server.cli.report",
    "cqm.server.owner.client",
    "cqm.index.engine",
    "cqm.index.store.edge",
)


class Forks:
    """A process that runs commands in forks of itself, one after another."""

    def __init__(self) -> None:
        self._start()

    def _start(self) -> None:
        self._asked, theirs = socket.socketpair()
        command = [sys.executable, __file__, str(theirs.fileno())]
        nothing = subprocess.DEVNULL
        # What forks has one thread.
        alone = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
        with theirs:
            self._parent = subprocess.Popen(
                command,
                env=alone,
                stdin=nothing,
                stdout=nothing,
                pass_fds=[theirs.fileno()],
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
                self.close()
                self._start()
                raise
            assert said, "the process that forks has ended"
            for file in streams[1:]:
                file.seek(0)
            code = int.from_bytes(said, signed=True)
            return subprocess.CompletedProcess(command, code, streams[1].read(), streams[2].read())

    def close(self) -> None:
        """End that process."""
        self._asked.close()
        self._parent.wait()


def fork_for_each(asked: socket.socket) -> bool:
    """Fork for each command that is asked for; False in the parent, at its end, and True in a child, made ready."""
    while True:
        said, received, *_ = socket.recv_fds(asked, 1, 4)
        if not said:
            return False
        child = os.fork()
        if child == 0:
            asked.close()
            _become(*received)
            return True
        for descriptor in received:
            os.close(descriptor)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        asked.send(code.to_bytes(4, signed=True))


def _become(asked: int, *streams: int) -> None:
    with open(asked, encoding="utf-8") as file:
        sys.argv, folder, environment = json.load(file)
    for number, descriptor in enumerate(streams):
        os.dup2(descriptor, number)
        os.close(descriptor)
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    time.tzset()


if __name__ == "__main__":
    for name in IMPORTED:
        import_module(name)
    # At its end a process would look at each object of its own, and so copy them all.
    gc.freeze()
    with socket.socket(fileno=int(sys.argv[1])) as connection:
        if not fork_for_each(connection):
            sys.exit()
    from cqm.server.cli.main import main

    main()
