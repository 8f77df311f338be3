"""Time the start of commands that an owner answers, by processor time of the command and by the time that passes.

    python tests/bench/start.py FOLDER --cqm before/bin/cqm --cqm after/bin/cqm

Each of the programs asks for FOLDER in a home of its own. They take turns, and the lowest of all rounds counts: other
processes only add to it. The processor time of the owner is not in it.
"""

import argparse
import os
import resource
import subprocess
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

COMMANDS: tuple[Sequence[str], ...] = (
    ("--help",),
    ("search", "where are errors handled"),
    ("usages", "main"),
    ("index",),
    ("status",),
    ("list",),
)


def taken(cqm: Path, arguments: Sequence[str], folder: Path, home: Path) -> tuple[float, float]:
    """Run a command; return its processor time and the time that passed, in milliseconds."""
    environment = {"PATH": os.environ["PATH"], "HOME": str(home), "LANG": "C.UTF-8"}
    before, begun = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run([cqm, *arguments], cwd=folder, env=environment, check=False, capture_output=True)
    passed, after = time.perf_counter() - begun, resource.getrusage(resource.RUSAGE_CHILDREN)
    return 1e3 * (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime), 1e3 * passed


def main() -> None:
    """Measure all commands and print a line for each."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="a project; work on a copy")
    parser.add_argument("--cqm", type=Path, action="append", required=True, help="an installed program; repeatable")
    parser.add_argument("--rounds", type=int, default=15)
    asked = parser.parse_args()
    programs = [program.absolute() for program in asked.cqm]
    with tempfile.TemporaryDirectory() as place:
        homes = [Path(place) / str(number) for number in range(len(programs))]
        for program, home in zip(programs, homes, strict=True):
            home.mkdir()
            taken(program, ("index",), asked.folder, home)
        for command in COMMANDS:
            rounds = [
                [taken(program, command, asked.folder, home) for program, home in zip(programs, homes, strict=True)]
                for _ in range(asked.rounds)
            ]
            told = [
                f"{min(it[0] for it in of):.0f} ms of processor, {min(it[1] for it in of):.0f} passed"
                for of in zip(*rounds, strict=True)
            ]
            print(f"cqm {' '.join(command)}: {'; '.join(told)}", flush=True)
        for program, home in zip(programs, homes, strict=True):
            taken(program, ("remove", "--yes"), asked.folder, home)


if __name__ == "__main__":
    main()
