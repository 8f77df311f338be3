"""Without the extra "pdf" the stored reason is the same everywhere; the command is made when it is shown."""

import os
import shlex
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.processes, pytest.mark.usefixtures("forked_programs")]

# As where it is not installed: its import fails.
WITHOUT = "import sys; sys.modules['pypdfium2'] = None; from cqm.server.cli.main import main; main()"
COMMAND = f"to read PDFs: {shlex.quote(sys.executable)} -m pip install 'cqm-mcp[pdf]'"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "manual.pdf").write_bytes(b"%PDF-1.7\n")
    (folder / "a.py").write_text("value = 1\n")
    return folder


def said(project: Path, *arguments: str) -> str:
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("CQM_", "XDG_"))}
    environment |= {"HOME": str(project.parent), "CQM_EMBEDDING_PROVIDER": "none", "CQM_INDEX_SHARED": "0"}
    command = [sys.executable, "-P", "-c", WITHOUT, *arguments]
    return subprocess.run(command, cwd=project, env=environment, check=True, capture_output=True, text=True).stdout


def test_indexing_and_status_show_the_command_for_this_installation(project: Path) -> None:
    assert COMMAND in said(project, "index")
    assert COMMAND in said(project, "status")
    assert "manual.pdf: needs the extra pdf" in said(project, "status", "--skipped")
    stored = [path for path in project.parent.rglob("*") if path.is_file() and b"pip install" in path.read_bytes()]
    assert stored == []


def test_a_command_that_an_earlier_release_stored_is_not_shown(project: Path) -> None:
    said(project, "index")
    (manifest,) = project.parent.rglob("manifest.db")
    (manifest.parent / "seal.json").unlink()  # It would tell of the change.
    database = sqlite3.connect(manifest)
    with database:
        database.execute("UPDATE file SET reason = 'needs pip install ''old[pdf]''' WHERE path = 'manual.pdf'")
    database.close()
    shown = said(project, "status", "--skipped")
    assert COMMAND in shown
    assert "manual.pdf: needs the extra pdf" in shown
    assert "old[pdf]" not in shown
