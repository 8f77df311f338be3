"""Nothing that we ship recommends the distribution `cqm`, which is somebody else's."""

import re
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("chunkers", "index", "server", "tests", "training", "packaging", ".ci", ".github", ".claude-plugin")

NOT_OURS = re.compile(
    r"(?<![\w.-])cqm\[[a-z]"  # an extra
    r"|\b(?:install|inject|download|upgrade|add|--with|--from|--spec|uvx|pipx run)\b[^\n|&;`]*?[\s'\"`=]"
    r"cqm(?![\w-]|\s--|\s*/)(?=[\s'\"`<>=!~,.;)]|$)"
)
COMMAND = re.compile(r"\b(?:pip|pipx|uv|uvx)\b")


def recommendations(text: str) -> list[str]:
    """The lines that install the other distribution."""
    lines = [line for line in text.splitlines() if "cqm" in line]
    named = [re.sub(r"(--from|--spec)[ =]('[^']*'|\S+) cqm\b", r"\1 \2", line) for line in lines]
    return [line for line in named if (match := NOT_OURS.search(line)) and ("[" in match[0] or COMMAND.search(line))]


@pytest.mark.parametrize(
    "text",
    [
        "Run pip install 'NAME[pdf]' to read it.",
        "Install CQM again: pip install --force-reinstall NAME",
        "pip install -U NAME",
        "`uvx NAME serve`",
        "uvx --from NAME NAME",
        "uv tool install NAME.",
        "pipx install NAME==1.0",
        "pipx run NAME",
        "uv add NAME",
    ],
)
def test_a_recommendation_of_the_other_name_is_found(text: str) -> None:
    assert recommendations(text.replace("NAME", "cqm"))


@pytest.mark.parametrize(
    "text",
    [
        "pip install 'cqm-mcp[pdf]'",
        "uvx --from 'cqm-mcp[pdf]' cqm search question",
        "pip install -q . && .venv/bin/cqm search 'a question'",
        "pip uninstall cqm",
        "claude mcp add cqm -- /path/to/cqm serve",
    ],
)
def test_our_own_name_and_command_are_no_such_recommendation(text: str) -> None:
    assert recommendations(text) == []


def test_no_file_recommends_the_other_name() -> None:
    files = [path for folder in FOLDERS for path in (ROOT / folder).rglob("*")] + [*ROOT.glob("*.*")]
    found = {}
    for path in files:
        if path.is_file() and path != Path(__file__) and "__pycache__" not in path.parts:
            text = path.read_bytes().decode("utf-8", errors="ignore")
            if lines := recommendations(text):
                found[str(path.relative_to(ROOT))] = lines
    assert found == {}


@pytest.mark.processes
@pytest.mark.parametrize("name", ["cqm", "cqm-mcp"])
def test_both_commands_are_the_same_program(name: str) -> None:
    suffix = ".exe" if sys.platform == "win32" else ""
    command = Path(sysconfig.get_path("scripts")) / f"{name}{suffix}"
    done = subprocess.run([command, "--version"], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("cqm 0.")


def test_no_file_asks_for_the_metadata_of_the_other_name() -> None:
    asked = re.compile(r"(?:version|distribution|metadata|requires|files)\(['\"]cqm['\"]\)")
    files = [path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py")]
    assert [path.name for path in files if asked.search(path.read_text(encoding="utf-8"))] == []
