"""Start workers: fork them from a warm process, or, without fork, start each process from scratch."""

import importlib.util
import json
import os
import socket
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import islice
from pathlib import Path
from typing import Any, Protocol

from cqm.chunkers.extras import how_to_repair
from cqm.chunkers.grammars.bundle import folder_of_bundle
from cqm.index.disk.locations import is_begun
from cqm.index.model.errors import WorkerError
from cqm.index.workers.shared import SharedSource, kept
from cqm.index.workers.wire import END, FORK, LOAD, REPLY, REQUEST

_PATIENCE_SECONDS = 60.0
"""Time for an answer, in seconds. It loads the parsers before the first one."""
_PASSED = ("PATH", "HOME", "LANG", "LC_ALL", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "PYTHONHOME", "SYSTEMROOT", "TZ")
"""Variables passed to a worker. It gets no key."""
_RULES = ("XDG_CACHE_HOME", "LOCALAPPDATA", "KF_RULE_CACHE_DIR")
"""Further ones: they name the folder of the compiled rules for secrets."""
_SYSTEM = ("/usr/lib", "/usr/lib64", "/lib", "/lib64", "/usr/share/zoneinfo", "/etc/ld.so.cache", os.devnull)
_PACKAGES = ("cqm.chunkers", "cqm.index", "cqm.server")
_MANY = 60
"""Entries of folders: a tree with so many surely has something like a secret."""


class Source(Protocol):
    """Gives workers, and ends them. One thread at a time uses it."""

    def new(self) -> tuple[int, socket.socket]:
        """Return the number of a new worker, and the connection to it.

        Raises:
            WorkerError: there can be none.
        """

    def load_rules(self) -> None:
        """From now on, give only workers with the rules for secrets; see `cqm.index.secrets.tokens`.

        Raises:
            WorkerError: they cannot be loaded.
        """

    def end(self, pid: int) -> int:
        """End a worker, and return the signal it died of; 0 for none or an unknown one."""

    def close(self) -> None:
        """End all workers."""


def source_of_workers(*, rules: bool = False, forks: bool = hasattr(os, "fork")) -> Source:
    """Return a source of workers.

    Parameters:
        rules: whether they have the rules for secrets from the beginning: .4 s of processor time, once.
        forks: whether they are forked, in milliseconds, from a process with loaded parsers. All indexes of this process
            share it.

    Raises:
        WorkerError: no process can be started.
    """
    if not forks:
        return StartedAnew(rules=rules)
    return SharedSource(_given_to_workers(), lambda rules: ForkServer(rules=rules), rules=rules)


@contextmanager
def kept_warm() -> Iterator[None]:
    """Keep the process forking the workers until the block ends, even while no index is open.

    For programs opening many indexes in turn: starting that process takes .3 s of a core. It is kept once an index has
    needed it, for the present variables of this process.
    """
    with kept(_given_to_workers()):
        yield


def source_for_first_index(folder: Path, root: Path) -> Source | None:
    """Start a source of workers if all files will be parsed, so that it loads beside the rest; else None.

    Parameters:
        root: the folder or file to index.

    Raises:
        WorkerError: no process can be started.
    """
    if is_begun(folder):
        return None
    # A small tree may need no rules at all; a worker asks for them when it does.
    return source_of_workers(rules=has_many_files(root))


def has_many_files(root: Path) -> bool:
    """Return whether a quick look into a folder finds many entries."""
    count, folders = 0, [os.fspath(root)]
    while folders and count < _MANY:
        with suppress(OSError), os.scandir(folders.pop()) as entries:
            for entry in islice(entries, _MANY - count):
                count += 1
                # A name with a dot in front is seldom a project's own, as Git's folder.
                if not entry.name.startswith(".") and entry.is_dir(follow_symlinks=False):
                    folders.append(entry.path)
    return count >= _MANY


class ForkServer:
    """A process forking workers, started by the constructor; see `cqm.index.workers.__main__`.

    One thread at a time uses it.

    Parameters:
        rules: as in `source_of_workers`.

    Raises:
        WorkerError: it cannot be started.
    """

    def __init__(self, *, rules: bool = False) -> None:
        self._control, theirs = socket.socketpair()
        try:
            self._process = _started("fork", theirs, rules=rules)
        except WorkerError:
            self._control.close()
            raise
        self._control.settimeout(_PATIENCE_SECONDS)
        self._loads = False

    def new(self) -> tuple[int, socket.socket]:
        """See `Source.new`."""
        ours, theirs = socket.socketpair()
        try:
            with theirs:
                socket.send_fds(self._control, [REQUEST.pack(FORK, 0)], [theirs.fileno()])
                return self._reply(), ours
        except OSError as error:
            ours.close()
            # A late answer would be taken for the answer to the next request.
            self._control.close()
            message = f"The process that starts workers has ended ({error})."
            raise WorkerError(message, remedy="Run `cqm doctor`; close other programs if memory is short.") from error

    def begin_loading_rules(self) -> None:
        """Load the rules for secrets without waiting; the next answer follows theirs."""
        # If the process has ended, the next request for a worker shows it.
        with suppress(OSError):
            self._control.sendall(REQUEST.pack(LOAD, 0))
            self._loads = True

    def load_rules(self) -> None:
        """See `Source.load_rules`."""
        try:
            self._control.sendall(REQUEST.pack(LOAD, 0))
            self._reply()
        except OSError as error:
            self._control.close()
            message = f"The rules that find secrets cannot be loaded ({error})."
            raise WorkerError(message, remedy=f"Run `cqm doctor`, or install CQM again: {how_to_repair()}.") from error

    def end(self, pid: int) -> int:
        """See `Source.end`."""
        try:
            self._control.sendall(REQUEST.pack(END, pid))
            return max(0, -os.waitstatus_to_exitcode(self._reply()))
        except OSError:
            # It is gone, and its workers with it.
            self._control.close()
            return 0

    def close(self) -> None:
        """See `Source.close`."""
        self._control.close()
        try:
            self._process.wait(_PATIENCE_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _reply(self) -> int:
        if self._loads:
            self._loads = False
            self._reply()
        data = self._control.recv(REPLY.size)
        if len(data) < REPLY.size:
            raise ConnectionResetError("it closed its connection")
        (number,) = REPLY.unpack(data)
        return int(number)


class StartedAnew:
    """A `Source` where there is no fork, as on Windows: each worker loads the parsers for itself, which takes .3 s.

    Parameters:
        rules: as in `source_of_workers`.
    """

    def __init__(self, *, rules: bool = False) -> None:
        self._processes: dict[int, subprocess.Popen[bytes]] = {}
        self._has_rules = rules

    def new(self) -> tuple[int, socket.socket]:
        """See `Source.new`."""
        ours, theirs = socket.socketpair()
        try:
            process = _started("work", theirs, rules=self._has_rules)
        except WorkerError:
            ours.close()
            raise
        self._processes[process.pid] = process
        return process.pid, ours

    def load_rules(self) -> None:
        """See `Source.load_rules`."""
        self._has_rules = True

    def end(self, pid: int) -> int:
        """See `Source.end`."""
        process = self._processes.pop(pid, None)
        if process is None:
            return 0
        process.kill()
        return max(0, -process.wait())

    def close(self) -> None:
        """See `Source.close`."""
        for pid in [*self._processes]:
            self.end(pid)


def _started(what: str, theirs: socket.socket, *, rules: bool) -> "subprocess.Popen[bytes]":
    """Start a process that forks workers, or is one, and hand it its end of a connection; close that end here."""
    readable, when = json.dumps(_python_folders()), "now" if rules else "later"
    # -P and another folder: nothing is imported from this process's working folder, a stranger's.
    command = [sys.executable, "-P", "-m", "cqm.index.workers", what, when, str(theirs.fileno()), readable]
    given: dict[str, Any] = {"stdin": subprocess.PIPE} if sys.platform == "win32" else {"pass_fds": [theirs.fileno()]}
    try:
        with theirs:
            process = subprocess.Popen(
                command, env=child_environment(), cwd=Path(sys.executable).anchor, stdout=subprocess.DEVNULL, **given
            )
            if sys.platform == "win32" and process.stdin:
                with process.stdin:
                    process.stdin.write(theirs.share(process.pid))
    except OSError as error:
        message = f"No process can be started that parses files: {error}."
        raise WorkerError(message, remedy="Close other programs, or run `cqm doctor`.") from error
    return process


def _given_to_workers() -> str:
    """Return everything workers get from this process."""
    return json.dumps([child_environment(), _python_folders()], sort_keys=True)


def _python_folders() -> list[str]:
    """Return the folders a worker may load from: of Python, CQM, grammars and the system's libraries."""
    grammars = folder_of_bundle()
    found = {
        *map(os.fspath, filter(None, [grammars])),
        *filter(os.path.isabs, sys.path),
        sysconfig.get_path("stdlib"),
        sysconfig.get_path("platstdlib"),
        *_SYSTEM,
    }
    for name in _PACKAGES:
        # An editable install has its folders elsewhere.
        spec = importlib.util.find_spec(name)
        found |= set(spec.submodule_search_locations or ()) if spec else set()
    # A script's own folder is among those of `sys.path`; the top of the disk never is.
    # Grammars may be unpacked later, by the process started with this.
    there = {os.path.realpath(folder) for folder in found if folder == str(grammars) or os.path.exists(folder)}  # noqa: PTH110
    return sorted(there - {"/"})


def child_environment() -> dict[str, str]:
    """Return the variables for a process of ours: those needed by Python and CQM, and no keys."""
    variables = {name: os.environ[name] for name in (*_PASSED, *_RULES) if name in os.environ}
    # An empty or relative entry is the working folder, or something in it.
    named = [entry for entry in os.environ.get("PYTHONPATH", "").split(os.pathsep) if os.path.isabs(entry)]  # noqa: PTH117
    return variables | {"PYTHONPATH": os.pathsep.join(named), "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
