"""Run a program and cut it off from its disk: what may be left is kept at chosen moments, while the program goes on.

The program is stopped before each call that syncs, renames, deletes, cuts a file or writes at a position, and after
each that makes a file or folder, below one folder; a library between it and the C library (`power_cut.c`) does that,
so that the recording is of real calls of CQM, SQLite and Edge. Writes through mapped memory, and calls that a program
makes without the C library, stop nothing, and are seen at the next stop. Wants Linux and a C compiler.
"""

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random
from typing import NamedTuple

from disk_model import Disk

_SHIM = Path(__file__).with_name("power_cut.c")
_KEPT = (0.0, 0.0, 0.5, 0.9)


class Cut(NamedTuple):
    """All that may be left after a cut.

    Attributes:
        number: of the call before which it was.
        call: which, and of what.
        place: a folder with `disk`, what is left of the recorded one, and a copy of each folder that was to be kept.
    """

    number: int
    call: str
    place: Path


def build_shim(folder: Path) -> Path | None:
    """The compiled library; None without a compiler, or elsewhere than on Linux."""
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if compiler is None or not sys.platform.startswith("linux"):
        return None
    built = folder / "power_cut.so"
    subprocess.run([compiler, "-O1", "-shared", "-fPIC", "-o", built, _SHIM, "-ldl"], check=True, capture_output=True)
    return built


def record(
    command: Sequence[str], shim: Path, disk: Path, beside: Sequence[Path], into: Path, chosen: Random, every: float
) -> Iterator[Cut]:
    """Run a command to its end and cut it now and then.

    Parameters:
        command: the program.
        shim: from `build_shim`.
        disk: the folder that is cut off.
        beside: folders and files that are copied whole at each cut.
        into: where cuts are put.
        chosen: decides where to cut and what is left.
        every: how many calls there are to a cut, on average.

    Raises:
        subprocess.CalledProcessError: the program failed.
    """
    model = Disk(disk)
    for number, (call, start, length, path) in enumerate(_calls(command, shim, disk)):
        if call == "made":
            # An inode may have been another file's before.
            model.forget(path)
        if chosen.random() < 1 / every:
            model.look()
            place = into / f"{number:06}"
            place.mkdir(parents=True)
            model.write(place / "disk", chosen, chosen.choice(_KEPT))
            for kept in beside:
                copy = shutil.copytree if kept.is_dir() else shutil.copy2
                copy(kept, place / kept.name)
            yield Cut(number, f"{call} {path.relative_to(disk)}", place)
        _apply(model, call, start, length, path)


def _apply(model: Disk, call: str, start: int, length: int, path: Path) -> None:
    if call == "sync" and path.exists():
        model.sync(path, start, length)
    elif call in {"unlink", "replace"}:
        model.forget(path)


def _calls(command: Sequence[str], shim: Path, disk: Path) -> Iterator[tuple[str, int, int, Path]]:
    """The calls of a program, which stands still before each of them until the next is asked for."""
    read, write = os.pipe()
    environment = os.environ | {"LD_PRELOAD": str(shim), "RECORD_UNDER": f"{disk}/", "RECORD_TO": str(write)}
    process = subprocess.Popen(command, env=environment, pass_fds=[write], stderr=subprocess.PIPE)
    os.close(write)
    try:
        with os.fdopen(read, encoding="utf-8", errors="surrogateescape") as lines:
            while _is_stopped(process):
                call, start, length, path = lines.readline().rstrip("\n").split("\t")
                yield call, int(start), int(length), Path(path)
                process.send_signal(signal.SIGCONT)
    finally:
        process.kill()
        errors = process.communicate()[1]
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command, stderr=errors)


def _is_stopped(process: "subprocess.Popen[bytes]") -> bool:
    """Wait until a program is stopped; whether it is, and has not ended."""
    _, status = os.waitpid(process.pid, os.WUNTRACED)
    if os.WIFSTOPPED(status):
        return True
    process.returncode = os.waitstatus_to_exitcode(status)
    return False
