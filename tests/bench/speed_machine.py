"""Seconds, memory and room on disk of a program with all that it starts. Linux; the standard library only."""

import ctypes
import os
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

_SUBREAPER = 36
"""PR_SET_CHILD_SUBREAPER of prctl(2): orphans of a program come to this process, which counts them."""
_LOOK_SECONDS = 0.05


class Cost(NamedTuple):
    """Figures of a program: seconds, seconds of processor time, bytes, and its standard output."""

    wall: float
    cpu: float
    peak: int
    output: str


def costs_of(command: Sequence[str], environment: Mapping[str, str], *, look: bool = False) -> Cost:
    """Run a program to its end, and that of all it started.

    Parameters:
        command, environment: of the program; variables beside those of this process.
        look: for the peak: the largest sum of the memory of its processes, what they share counted once (Pss), each
            50 ms. That slows it.
    """
    ctypes.CDLL(None).prctl(_SUBREAPER, 1, 0, 0, 0)
    peak, is_over = 0, threading.Event()
    started = time.perf_counter()
    program = subprocess.Popen(command, env={**os.environ, **environment}, stdout=subprocess.PIPE, text=True)

    def watch() -> None:
        nonlocal peak
        while not is_over.wait(_LOOK_SECONDS):
            peak = max(peak, memory_of(program.pid))

    watching = threading.Thread(target=watch)
    if look:
        watching.start()
    output = program.stdout.read() if program.stdout else ""
    _, status, used = os.wait4(program.pid, 0)
    wall = time.perf_counter() - started
    is_over.set()
    if look:
        watching.join()
    # The program is waited for already; Popen must not do it again.
    program.returncode = os.waitstatus_to_exitcode(status)
    if program.returncode:
        sys.exit(f"{command} failed")
    cpu = used.ru_utime + used.ru_stime
    with suppress(ChildProcessError):
        while True:
            _, _, used = os.wait4(-1, 0)
            cpu += used.ru_utime + used.ru_stime
    return Cost(wall, cpu, peak, output)


def processes_of(pid: int) -> list[int]:
    """Return a process and all that it started and that are children still."""
    found = [pid]
    for each in found:
        with suppress(OSError):
            for thread in Path(f"/proc/{each}/task").iterdir():
                found += map(int, (thread / "children").read_text().split())
    return found


def memory_of(pid: int) -> int:
    """Return the bytes in memory of a process and its children: each page's share (Pss)."""
    total = 0
    for each in processes_of(pid):
        with suppress(OSError):
            lines = Path(f"/proc/{each}/smaps_rollup").read_text().splitlines()
            total += sum(int(line.split()[1]) << 10 for line in lines if line.startswith("Pss:"))
    return total


def processor_seconds_of(pid: int) -> float:
    """Return the processor time that a process and its children took so far."""
    ticks = 0
    for each in processes_of(pid):
        with suppress(OSError):
            # The name of the program, in parentheses, may hold blanks.
            fields = Path(f"/proc/{each}/stat").read_text().rpartition(")")[2].split()
            ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def room_of(folder: Path) -> int:
    """Return the bytes that a folder takes on disk; those that a sparse file lacks are not counted."""
    return sum(path.lstat().st_blocks * 512 for path in folder.rglob("*"))
