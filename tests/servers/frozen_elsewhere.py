"""The processes that freeze an index, or a part of it."""

import os
import signal
from contextlib import suppress
from pathlib import Path


def kill_freezing(folder: Path) -> None:
    """Kill the processes that freeze something below a folder."""
    for process in Path("/proc").iterdir():
        with suppress(OSError, ValueError):
            said = (process / "cmdline").read_bytes()
            if b"cqm.index.generations.freezing" in said and os.fsencode(folder) in said:
                os.kill(int(process.name), signal.SIGKILL)
