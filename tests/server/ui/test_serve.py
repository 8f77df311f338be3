"""`cqm ui` as a command: its link comes before the index is open, and a fault ends it."""

import subprocess
import sys
from pathlib import Path

import pytest
from hostile_pages import opened_library


@pytest.mark.processes
def test_the_link_is_printed_before_an_index_that_cannot_be_opened_ends_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tmp_path.resolve() / "tree"
    root.mkdir()
    home = tmp_path / "home"
    for name, value in {"HOME": home, "CQM_INDEX_SHARED": "false", "CQM_INDEX_HOME": home}.items():
        monkeypatch.setenv(name, str(value))
    command = [Path(sys.executable).with_name("cqm"), "ui", root, "--no-open"]
    with opened_library([root], home):
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    link, told = done.stderr.find("/?token="), done.stderr.find("in use")
    assert done.returncode == 1, done.stderr
    assert 0 < link < told
