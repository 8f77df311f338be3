"""`cqm completion`, in the shells themselves: what Tab makes of a line."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.processes, pytest.mark.skipif(sys.platform == "win32", reason="no such shells on Windows")]

LINES = {
    "cqm sea": "cqm search ",
    "cqm search x --mode e": "cqm search x --mode exact ",
    "cqm search x --mode=e": "cqm search x --mode=exact ",
    "cqm setup --client=ze": "cqm setup --client=zed ",
    "cqm search x --set=search.l": "cqm search x --set=search.limit=",
    "cqm setup --root=fold": "cqm setup --root=folder/",
    "cqm read fold": "cqm read folder/",
    "cqm preview folder/a\\ ": "cqm preview folder/a\\ file.py ",
}
"""Lines, and what they are after Tab."""
START = {
    "bash": (
        ["bash", "--norc", "-i"],
        ('bind -x \'"\\C-x": echo "<$READLINE_LINE>"; READLINE_LINE=\'', 'eval "$(cqm completion bash)"'),
    ),
    "zsh": (
        ["zsh", "-f", "-i"],
        (
            "shown() { print -r -- \"<$BUFFER>\"; BUFFER=; zle .accept-line }; zle -N shown; bindkey '^X' shown",
            'eval "$(cqm completion zsh)"',
        ),
    ),
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder/a file.py").touch()
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("TERM", "dumb")
    return tmp_path


def wanted(shell: str) -> str:
    if not shutil.which(shell):
        pytest.skip(f"{shell} is not installed here")
    return shell


@pytest.mark.parametrize("shell", START)
def test_tab_completes_commands_options_values_and_paths(shell: str, folder: Path) -> None:
    import pty  # Windows has none

    program, start = START[wanted(shell)]
    ours, theirs = pty.openpty()
    it = subprocess.Popen(program, stdin=theirs, stdout=theirs, stderr=theirs, cwd=folder, start_new_session=True)
    os.close(theirs)
    try:
        typed(ours, *start, "echo '<beg'un'>'", "")
        # Keys that come before the shell has completed wait for it.
        after = {line: typed(ours, f"{line}\t\x18") for line in LINES}
    finally:
        it.kill()
        it.wait()
        os.close(ours)
    assert after == LINES


def typed(terminal: int, *lines: str) -> str:
    """Type into a shell, and return what it then shows between angle brackets."""
    os.write(terminal, "\n".join(lines).encode())
    shown = ""
    while not (found := re.search("<([^<>]*)>\r", shown)):
        shown += os.read(terminal, 65_536).decode(errors="replace")
    return found[1]


def test_fish_offers_whole_words_with_the_whole_help(folder: Path) -> None:
    script = "cqm completion fish | source; for line in $argv; complete -C $line; end"
    done = subprocess.run(
        [wanted("fish"), "-c", script, *LINES, "cqm read"], cwd=folder, capture_output=True, text=True, check=True
    )
    offered = dict.fromkeys(line.partition("\t")[0] for line in done.stdout.splitlines())
    last = {line.rstrip().split(" ", 1)[1].split(" ")[-1] for line in LINES.values()} - {"file.py"}
    assert last <= {*offered}
    assert "folder/a file.py" in offered
    assert "read\tPrint a symbol, lines or a file as it is now." in done.stdout.splitlines()
