"""Run a program for a bounded time, whatever it leaves behind."""

import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryFile


def run_bounded(
    command: Sequence[str], seconds: float, *, cwd: Path | None = None, env: Mapping[str, str] | None = None
) -> "subprocess.CompletedProcess[bytes]":
    """Run a program without input; return its exit code and output.

    The output goes to files: a child that outlives the program would hold its pipes open, and is not waited for.

    Parameters:
        command: the program with its arguments.
        seconds: longest time; then it is killed.
        cwd: folder to run it in; None for the working folder.
        env: its environment; None for this process's own.

    Raises:
        subprocess.TimeoutExpired: it was killed.
        OSError: it can't be run.
    """
    with TemporaryFile() as out, TemporaryFile() as err:
        given = {"stdin": subprocess.DEVNULL, "stdout": out, "stderr": err}
        done = subprocess.run(command, cwd=cwd, env=env, timeout=seconds, check=False, **given)  # type: ignore[call-overload]
        out.seek(0)
        err.seek(0)
        return subprocess.CompletedProcess(command, done.returncode, out.read(), err.read())
