"""A stranger's repository as it comes to a victim, and the victim: `cqm` as it is installed, in a home of its own.

Where processes can be forked, commands are forks of one that has imported CQM. Tests of imports have none of these.
"""

import json
import os
import shutil
import socket
import subprocess
import sysconfig
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from forked import Forks

CQM = shutil.which("cqm", path=sysconfig.get_path("scripts")) or "cqm"

INNOCENT = 'def innocent_marker(value):\n    """A function that every search must find."""\n    return value\n'


@dataclass(frozen=True, slots=True)
class Victim:
    """Somebody who runs `cqm` in a copy of a stranger's repository.

    Attributes:
        project: the copy; commands run in it.
        home: the victim's own folder.
        environment: of the processes, without any variable of ours that is not named here.
        forks: runs the commands; None where each is a process started anew.
    """

    project: Path
    home: Path
    environment: dict[str, str]
    forks: Forks | None = None

    def run(
        self, *arguments: str, stdin: str = "", seconds: float = 120, **changes: str
    ) -> "subprocess.CompletedProcess[str]":
        """The outcome of one command; `changes` are further variables."""
        command, environment, asked = [CQM, *arguments], self.environment | changes, stdin.encode()
        if self.forks:
            done = self.forks.run(command, self.project, environment, asked, seconds)
        else:
            done = subprocess.run(
                command,
                cwd=self.project,
                env=environment,
                input=asked,
                capture_output=True,
                check=False,
                timeout=seconds,
            )
        return subprocess.CompletedProcess(command, done.returncode, done.stdout.decode(), done.stderr.decode())

    def json(self, *arguments: str, code: int = 0, **changes: str) -> Any:
        """Return what one command prints with --json."""
        done = self.run(*arguments, "--json", **changes)
        assert done.returncode == code, done.stderr
        return json.loads(done.stdout)

    def paths(self, *arguments: str, **changes: str) -> list[str]:
        """The paths of a search's results, best first."""
        return [result["path"] for result in self.json("search", *arguments, **changes)["results"]]

    def within(self, folder: str) -> "Victim":
        """The same, in a folder of the project."""
        return replace(self, project=self.project / folder)


@pytest.fixture
def stranger(tmp_path: Path) -> Path:
    """The folder in which a test builds the stranger's repository: one innocent file so far."""
    folder = tmp_path / "stranger"
    folder.mkdir()
    (folder / "innocent.py").write_text(INNOCENT)
    return folder


@pytest.fixture
def victim_of(tmp_path: Path, forks: Forks | None) -> Callable[[Path, str], Victim]:
    """Deliver the stranger's folder to a victim: by "git clone", "cp -r" or "archive" (tar)."""

    def deliver(stranger: Path, way: str) -> Victim:
        home, project = tmp_path / "home", tmp_path / "victim" / "project"
        home.mkdir(exist_ok=True)
        project.parent.mkdir(exist_ok=True)
        if way == "git clone":
            bare = tmp_path / "published.git"
            git(stranger, "init", "-q", "-b", "main")
            git(stranger, "add", "-A", "-f")
            git(stranger, "commit", "-q", "-m", "published")
            git(tmp_path, "clone", "-q", "--bare", str(stranger), str(bare))
            git(tmp_path, "clone", "-q", str(bare), str(project))
        elif way == "cp -r":
            subprocess.run(["cp", "-a", str(stranger), str(project)], check=True)
        else:
            project.mkdir()
            packed = subprocess.run(["tar", "-C", str(stranger), "-cf", "-", "."], check=True, capture_output=True)
            subprocess.run(["tar", "-C", str(project), "-xf", "-"], check=True, input=packed.stdout)
        environment = {key: value for key, value in os.environ.items() if not key.startswith(("CQM_", "XDG_", "GIT_"))}
        environment |= {"HOME": str(home), "CQM_INDEX_IDLE_SECONDS": "1"}
        return Victim(project.resolve(), home, environment, forks)

    return deliver


@pytest.fixture(params=["git clone", "cp -r"])
def delivered(request: pytest.FixtureRequest, victim_of: Callable[[Path, str], Victim]) -> Callable[[Path], Victim]:
    """Deliver the stranger's folder as a clone and as a copy, a test for each. An archive brings the same as a copy."""
    way: str = request.param
    return lambda stranger: victim_of(stranger, way)


def git(folder: Path, *arguments: str) -> None:
    """Run git as a stranger, without settings of this machine."""
    who = ["-c", "user.name=stranger", "-c", "user.email=stranger@example.invalid", "-c", "commit.gpgsign=false"]
    environment = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
    environment |= {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    subprocess.run(["git", *who, *arguments], cwd=folder, check=True, capture_output=True, env=environment)


@contextmanager
def heard_by(listener: socket.socket) -> Iterator[list[bytes]]:
    """What the connections to a socket begin with, one entry each; the socket is closed at the end."""
    heard: list[bytes] = []

    def listen() -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            with connection:
                connection.settimeout(5)
                heard.append(b"")
                with suppress(OSError):
                    heard[-1] = connection.recv(65536)

    thread = Thread(target=listen, daemon=True)
    thread.start()
    try:
        yield heard
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        thread.join(10)
