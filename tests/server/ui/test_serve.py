"""`cqm ui` as a command: its link comes before the index is open, and a fault ends it."""

import subprocess
import sys
from pathlib import Path

import pytest
from hostile_pages import opened_library

from cqm.server.errors import SettingsError
from cqm.server.ui.library import make_library
from cqm.server.ui.serve import open_all


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


@pytest.mark.processes
def test_a_root_that_cannot_be_opened_ends_no_page_of_another(tmp_path: Path) -> None:
    good, bad = (tmp_path.resolve() / name for name in ("good", "bad"))
    for root in (good, bad):
        root.mkdir()
        (root / "app.py").write_text("def begin():\n    return 1\n")
    with opened_library([good], tmp_path / "home") as library:
        (bad / "cqm.yml").write_text("chunk: {max_tokens: many}\n")
        both = make_library([good, bad], library.workspace, library.workers)
        both.opening.set()
        open_all(both)
        assert not both.opening.is_set()
        with pytest.raises(SettingsError, match="max_tokens"):
            open_all(make_library([bad], library.workspace, library.workers))
