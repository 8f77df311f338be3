"""A home with files of clients, as their documents show them, and `cqm setup` run in it in this process."""

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from cqm.server.cli.main import app


@dataclass(frozen=True, slots=True)
class Home:
    """A user's home with a project in it."""

    home: Path
    project: Path

    def run(self, *arguments: str, stdin: str | None = None) -> Result:
        return CliRunner().invoke(app, ["setup", *arguments], input=stdin)

    def json(self, *arguments: str, code: int = 0) -> Any:
        done = self.run(*arguments, "--json")
        assert done.exit_code == code, done.output
        return json.loads(done.stdout)

    def actions(self, *arguments: str, code: int = 0) -> dict[str, str]:
        """Return what becomes of each file, by its path within the home."""
        changes = self.json(*arguments, code=code)["changes"]
        return {os.path.relpath(change["file"], self.home): change["action"] for change in changes}

    def files(self) -> dict[str, bytes]:
        return {
            path.relative_to(self.home).as_posix(): path.read_bytes()
            for path in sorted(self.home.rglob("*"))
            if path.is_file() and ".git" not in path.parts
        }

    def write(self, files: dict[str, bytes]) -> None:
        for path, data in files.items():
            (self.home / path).parent.mkdir(parents=True, exist_ok=True)
            (self.home / path).write_bytes(data)

    def entry(self, path: str, keys: Sequence[str]) -> Any:
        """A value of a JSON file."""
        value = json.loads((self.home / path).read_text(encoding="utf-8-sig"))
        for key in keys:
            value = value[key]
        return value


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    """Without files of clients, without programs on the path, and without variables of CQM."""
    found = Home(tmp_path / "home", tmp_path / "home" / "project")
    (found.project / ".git").mkdir(parents=True)
    for name in [name for name in os.environ if name.startswith(("CQM_", "XDG_"))]:
        monkeypatch.delenv(name)
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "COPILOT_HOME", "GROK_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(found.home))
    monkeypatch.setenv("USERPROFILE", str(found.home))
    monkeypatch.setenv("PATH", str(tmp_path / "programs"))
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.chdir(found.project)
    return found
