"""Bounds of a worker: memory, processor time, and access.

A worker parses a stranger's files, with parsers in C. So it may read the project and Python's own folders, write
nothing, start nothing, and open no socket. The kernel enforces this: resource limits on every Unix, of memory if /proc
tells its use; on Linux also seccomp (connections, programs) and, from 5.13 on, Landlock (files; see landlock(7)). A
bound missing in the kernel is left out; `confine` returns those in force.
"""

import ctypes
import os
import signal
import struct
import sys
from collections.abc import Sequence
from pathlib import Path

from cqm.index.workers.seccomp import filter_calls

if sys.platform != "win32":
    import resource

MEMORY_BYTES = 400 << 20
"""Most address space added by parsing to a worker's own. A megabyte of JavaScript takes 70 MB, measured."""
_SECONDS = 3.0
_SECONDS_OF_FIRST_MEGABYTE = 1.5
_SECONDS_PER_MEGABYTE = 1.5
"""For each further megabyte: pages, XML and data take about 1 s, PDFs .3 s."""
WAIT_SECONDS = 60.0
"""A worker silent for so much longer than its processor time is ended, whatever it waits for."""
_MOST_DESCRIPTORS = 256

_PR_SET_PDEATHSIG, _PR_SET_NO_NEW_PRIVS = 1, 38

_LANDLOCK_CREATE, _LANDLOCK_ADD, _LANDLOCK_RESTRICT = 444, 445, 446
_LANDLOCK_RULE_PATH_BENEATH = 1
_FS_READ_FILE, _FS_READ_DIR, _FS_EXECUTE = 1 << 2, 1 << 3, 1 << 0
_FS_RIGHTS_BY_ABI = {1: 13, 2: 14, 3: 15, 4: 15, 5: 16}
"""Number of file rights an ABI knows. All are denied unless a rule grants them."""
_NET_ABI, _SCOPE_ABI = 4, 6


def seconds_for(size: int) -> float:
    """Return the processor time allowed for a file: 3 s for a small one, 4.5 s at a megabyte, 1.5 s for each more.

    A grammar may take 1 s and 2 s a megabyte (`syntax.parse`); then cutting the file at its lines takes its time.

    Parameters:
        size: of the file in bytes.
    """
    megabytes = size / 1_000_000
    return _SECONDS + _SECONDS_OF_FIRST_MEGABYTE * min(megabytes, 1.0) + _SECONDS_PER_MEGABYTE * max(megabytes - 1, 0.0)


def patience(size: int) -> float:
    """Return the time allowed for an answer about a file: its processor time, and a worker's waiting time."""
    return seconds_for(size) + WAIT_SECONDS


def begin_timer(seconds: float) -> None:
    """Have the system end this process after so much more processor time; 0 stops the timer.

    The default action of SIGPROF ends a process even during C code that never returns to Python.
    """
    if sys.platform != "win32":
        signal.setitimer(signal.ITIMER_PROF, seconds)


def confine(readable: Sequence[str], *, is_forked: bool) -> tuple[str, ...]:
    """Bound this process for good.

    Parameters:
        readable: files and folders it may still read.
        is_forked: whether its parent is a process of one thread; this process ends with it then.

    Returns:
        The names of the bounds in force: "limits", "seccomp", "landlock".
    """
    held: list[str] = []
    if sys.platform != "win32":
        _limit()
        held.append("limits")
    if sys.platform == "linux":
        libc = ctypes.CDLL(None, use_errno=True)
        if is_forked:
            # Linux sends this when the creating thread ends: one of many threads may end long before its process.
            libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        if libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0:
            held += ["landlock"] * _restrict_files(libc, readable)
            held += ["seccomp"] * filter_calls(libc)
    return tuple(held)


def _limit() -> None:
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    bounds = [(resource.RLIMIT_NOFILE, _MOST_DESCRIPTORS)]
    if in_use := _address_space():
        bounds.append((resource.RLIMIT_AS, in_use + MEMORY_BYTES))
    for kind, most in bounds:
        _, hard = resource.getrlimit(kind)
        bound = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(kind, (bound, bound))


def _address_space() -> int:
    """Return the bytes of address space in use; 0 if unknown, as on macOS, which refuses a bound below it."""
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    except OSError:
        return 0
    return pages * resource.getpagesize()


def _restrict_files(libc: ctypes.CDLL, readable: Sequence[str]) -> bool:
    """Deny all access to files but reading some; whether the kernel can."""
    abi = libc.syscall(_LANDLOCK_CREATE, None, 0, 1)
    if abi < 1:
        return False
    handled = (1 << _FS_RIGHTS_BY_ABI.get(abi, 16)) - 1
    network = 0b11 if abi >= _NET_ABI else 0
    scoped = 0b11 if abi >= _SCOPE_ABI else 0
    attributes = struct.pack("<QQQ", handled, network, scoped)
    size = 24 if abi >= _SCOPE_ABI else 16 if abi >= _NET_ABI else 8
    ruleset = libc.syscall(_LANDLOCK_CREATE, attributes, size, 0)
    if ruleset < 0:
        return False
    try:
        for path in readable:
            _allow_reading(libc, ruleset, path)
        return bool(libc.syscall(_LANDLOCK_RESTRICT, ruleset, 0) == 0)
    finally:
        os.close(ruleset)


def _allow_reading(libc: ctypes.CDLL, ruleset: int, path: str) -> None:
    try:
        opened = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return
    try:
        is_folder = os.path.isdir(path)  # noqa: PTH112 - one call
        rights = _FS_READ_FILE | (_FS_READ_DIR | _FS_EXECUTE if is_folder else 0)
        rule = struct.pack("<Qi", rights, opened)
        libc.syscall(_LANDLOCK_ADD, ruleset, _LANDLOCK_RULE_PATH_BENEATH, rule, 0)
    finally:
        os.close(opened)
