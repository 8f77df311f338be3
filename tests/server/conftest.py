"""A project to run `cqm` in, as a user does: real processes with a home of their own."""

import json
import os
import shutil
import subprocess
import sysconfig
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from forked import Forks

CQM = shutil.which("cqm", path=sysconfig.get_path("scripts")) or "cqm"
READ_BY_PYTHON = ("LC_", "PYTHON")
"""Variables that are of use only to a process that starts."""

PARSER = '''"""Reading of configuration files."""


class ConfigParser:
    """Reads key = value lines."""

    def parse_line(self, line: str) -> tuple[str, str]:
        """Split a line at its equals sign."""
        key, _, value = line.partition("=")
        return key.strip(), value.strip()
'''
GREETING = '''"""Greetings."""


def greet(name: str) -> str:
    """Say hello to somebody."""
    return f"hello {name}"
'''
GUIDE = """# Guide

## Greeting people

Call greet with a name.

## 設定

設定ファイルの読み込み。
"""


@dataclass(frozen=True, slots=True)
class Cqm:
    """Runs `cqm` in a project, with a home of its own and no embedder.

    Attributes:
        project: the working folder.
        environment: the variables of the processes.
        program: the installed command.
        forks: runs it where processes can be forked.
    """

    project: Path
    environment: dict[str, str]
    program: str = CQM
    forks: Forks | None = None

    def run(self, *arguments: str, stdin: str | bytes = b"", **changes: str) -> "subprocess.CompletedProcess[str]":
        """The outcome of one command; `changes` are further variables."""
        done = self._run(
            [self.program, *arguments],
            self.environment | changes,
            stdin.encode() if isinstance(stdin, str) else stdin,
            anew=any(name.startswith(READ_BY_PYTHON) for name in changes),
        )
        return subprocess.CompletedProcess(
            done.args, done.returncode, done.stdout.decode("utf-8"), done.stderr.decode("utf-8")
        )

    def _run(
        self, command: list[str], environment: dict[str, str], stdin: bytes, *, anew: bool
    ) -> "subprocess.CompletedProcess[bytes]":
        if self.forks and not anew:
            return self.forks.run(command, self.project, environment, stdin)
        return subprocess.run(command, cwd=self.project, env=environment, input=stdin, capture_output=True, check=False)

    def json(self, *arguments: str, code: int = 0, **changes: str) -> Any:
        """Return what one command prints with --json, which is all that it prints."""
        done = self.run(*arguments, "--json", **changes)
        assert done.returncode == code, done.stderr
        return json.loads(done.stdout)

    def paths(self, *arguments: str, **changes: str) -> list[str]:
        """The paths of a search's results, best first."""
        return [result["path"] for result in self.json("search", *arguments, **changes)["results"]]

    def text(self, path: str) -> str:
        """A file of the project."""
        return (self.project / path).read_text(encoding="utf-8")

    def within(self, folder: str) -> "Cqm":
        """The same, with another working folder, relative to the project."""
        return replace(self, project=self.project / folder)

    @contextmanager
    def started(self, *arguments: str) -> Iterator["subprocess.Popen[str]"]:
        """A command that runs on, at most as long as the test."""
        start = self.forks.start if self.forks else subprocess.Popen
        with start(
            [self.program, *arguments],
            cwd=self.project,
            env=self.environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            encoding="utf-8",
        ) as running:
            try:
                yield running
            finally:
                running.kill()


@pytest.fixture
def cqm(tmp_path: Path, forks: Forks | None) -> Cqm:
    project = tmp_path / "project"
    for path, text in {"src/parser.py": PARSER, "src/greeting.py": GREETING, "docs/guide.md": GUIDE}.items():
        (project / path).parent.mkdir(parents=True, exist_ok=True)
        (project / path).write_text(text, encoding="utf-8")
    (project / ".git").mkdir()
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("CQM_", "XDG_"))}
    environment |= {"HOME": str(tmp_path / "home"), "CQM_EMBEDDING_PROVIDER": "none", "CQM_INDEX_SHARED": "0"}
    (tmp_path / "home").mkdir()
    return Cqm(project, environment, forks=forks)


@pytest.fixture
def shared(cqm: Cqm) -> None:
    """Commands go through the owner of the index, as they do unless told otherwise; its start costs a second."""
    del cqm.environment["CQM_INDEX_SHARED"]
