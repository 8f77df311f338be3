"""Run a program and its children for a bounded time."""

import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO

_MOST_OUTPUT = 1 << 20


def run_bounded(
    command: Sequence[str], seconds: float, *, cwd: Path | None = None, env: Mapping[str, str] | None = None
) -> "subprocess.CompletedProcess[bytes]":
    """Run a program without input; return its exit code and the end of its output. Its children are killed with it.

    The output goes to files: a child outliving the program would hold its pipes open. Nobody waits for that child.

    Parameters:
        seconds: longest time; then it is killed.
        cwd: folder to run it in; None for the working folder.
        env: its environment; None for this process's own.

    Raises:
        subprocess.TimeoutExpired: it was killed.
        OSError: it can't be run.
    """
    with TemporaryFile() as out, TemporaryFile() as err:
        process = subprocess.Popen(
            command, cwd=cwd, env=env, stdin=subprocess.DEVNULL, stdout=out, stderr=err, start_new_session=True
        )
        try:
            code = process.wait(seconds)
        except BaseException:
            if sys.platform == "win32":
                process.kill()
            else:
                # Its session: git's helpers would go on writing.
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            raise
        return subprocess.CompletedProcess(command, code, _end_of(out), _end_of(err))


def _end_of(file: IO[bytes]) -> bytes:
    file.seek(max(0, file.seek(0, os.SEEK_END) - _MOST_OUTPUT))
    return file.read()
