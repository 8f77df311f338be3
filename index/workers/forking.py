"""The process that forks workers, as its parent sees it."""

import importlib.util
import json
import os
import socket
import subprocess
import sys
import sysconfig
from pathlib import Path

from cqm.index.errors import WorkerError
from cqm.index.workers.control import END, FORK, REPLY, REQUEST

_PATIENCE_SECONDS = 60.0
"""How long it may take over an answer; it loads what parses before the first one."""
_PASSED = ("PATH", "HOME", "LANG", "LC_ALL", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "PYTHONHOME", "TZ")
"""Variables that a worker gets. It gets no key."""
_SYSTEM = ("/usr/lib", "/usr/lib64", "/lib", "/lib64", "/usr/share/zoneinfo", "/etc/ld.so.cache", os.devnull)
_PACKAGES = ("cqm.chunkers", "cqm.index", "cqm.server")


class ForkServer:
    """A process that forks workers, started by the constructor. One thread at a time uses it.

    Parameters:
        root: a file or folder that the workers may read; None for none.

    Raises:
        WorkerError: it cannot be started.
    """

    def __init__(self, root: Path | None) -> None:
        self._control, theirs = socket.socketpair()
        readable = json.dumps([*_python_folders(), *([str(root)] if root else [])])
        # -P and "/": nothing is imported from the folder that this process works in, which is a stranger's.
        command = [sys.executable, "-P", "-m", "cqm.index.workers", str(theirs.fileno()), readable]
        nothing = subprocess.DEVNULL
        try:
            with theirs:
                self._process = subprocess.Popen(
                    command, env=_environment(), cwd="/", stdin=nothing, stdout=nothing, pass_fds=[theirs.fileno()]
                )
        except OSError as error:
            self._control.close()
            raise WorkerError(f"No process can be started that parses files: {error}.") from error
        self._control.settimeout(_PATIENCE_SECONDS)

    def fork(self) -> tuple[int, socket.socket]:
        """Return the number of a new worker, and the connection to it.

        Raises:
            WorkerError: the process that forks has ended.
        """
        ours, theirs = socket.socketpair()
        try:
            with theirs:
                socket.send_fds(self._control, [REQUEST.pack(FORK, 0)], [theirs.fileno()])
                return self._reply(), ours
        except OSError as error:
            ours.close()
            message = f"The process that starts workers has ended ({error})."
            raise WorkerError(message, remedy="Run `cqm doctor`; close other programs if memory is short.") from error

    def end(self, pid: int) -> int:
        """End a worker, and return the status with which it ended, as `os.waitpid` gives it; 0 if that is not known."""
        try:
            self._control.sendall(REQUEST.pack(END, pid))
            return self._reply()
        except OSError:
            # It is gone, and its workers with it.
            return 0

    def close(self) -> None:
        """End the process and all workers."""
        self._control.close()
        try:
            self._process.wait(_PATIENCE_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _reply(self) -> int:
        data = self._control.recv(REPLY.size)
        if len(data) < REPLY.size:
            raise ConnectionResetError("it closed its connection")
        (number,) = REPLY.unpack(data)
        return int(number)


def _python_folders() -> list[str]:
    """Folders of Python, of CQM and of the system's libraries, from which a worker may still load modules."""
    found = {*filter(os.path.isabs, sys.path), sysconfig.get_path("stdlib"), sysconfig.get_path("platstdlib"), *_SYSTEM}
    for name in _PACKAGES:
        # Of an editable install the folders are elsewhere.
        spec = importlib.util.find_spec(name)
        found |= set(spec.submodule_search_locations or ()) if spec else set()
    # A script's own folder is among those of `sys.path`; the top of the disk never is.
    return sorted({os.path.realpath(folder) for folder in found if os.path.exists(folder)} - {"/"})  # noqa: PTH110


def _environment() -> dict[str, str]:
    variables = {name: os.environ[name] for name in _PASSED if name in os.environ}
    # An entry that is empty or relative is the working folder, or something in it.
    named = [entry for entry in os.environ.get("PYTHONPATH", "").split(os.pathsep) if os.path.isabs(entry)]  # noqa: PTH117
    return variables | {"PYTHONPATH": os.pathsep.join(named), "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
