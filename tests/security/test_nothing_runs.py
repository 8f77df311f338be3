"""Modules at the top of a stranger's repository are never imported, and nothing is started but git and our workers."""

import ast
import importlib.util
import os
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters

CQM = shutil.which("cqm", path=sysconfig.get_path("scripts")) or "cqm"

CANARY = 'import os, pathlib\npathlib.Path(os.environ["CANARY"]).write_text(__name__)\nraise SystemExit("ran")\n'
DEPENDENCIES = (
    "numpy",
    "tree_sitter",
    "tree_sitter_python",
    "markdown_it",
    "qdrant_edge",
    "openai",
    "yaml",
    "mcp",
    "cqm",
)
NOT_SHARED = {"CQM_INDEX_SHARED": "0", "CQM_EMBEDDING_PROVIDER": "none"}


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def forks() -> None:
    """Each command is a process that imports all for itself."""


def loaded_by(*arguments: str) -> frozenset[str]:
    """The modules that Python has loaded before our own code has a say."""
    said = subprocess.run([sys.executable, *arguments], check=True, capture_output=True, text=True).stdout
    return frozenset(name.partition(".")[0] for name in said.split())


@pytest.fixture
def shadowed(stranger: Path) -> Path:
    """A repository with a module for each of Python's own names, and of what CQM depends on."""
    for name in {*sys.stdlib_module_names, *DEPENDENCIES, "sitecustomize", "usercustomize"}:
        (stranger / f"{name}.py").write_text(CANARY)
    (stranger / "multiprocessing").mkdir()
    (stranger / "multiprocessing" / "__init__.py").write_text(CANARY)
    return stranger


COMMANDS = (
    ("index", "--json"),
    ("search", "innocent_marker", "--json"),
    ("usages", "innocent_marker"),
    ("read", "innocent_marker"),
    ("report", "--json"),
    ("preview", "innocent.py", "--json"),
    ("status", "--json"),
)


@pytest.mark.parametrize(("way", "commands"), [("git clone", COMMANDS), ("cp -r", COMMANDS[:2])])
def test_c3_no_module_of_the_project_is_imported(
    shadowed: Path,
    victim_of: Callable[[Path, str], Any],
    tmp_path: Path,
    way: str,
    commands: tuple[tuple[str, ...], ...],
) -> None:
    victim, canary = victim_of(shadowed, way), tmp_path / "canary"
    for arguments in commands:
        done = victim.run(*arguments, **NOT_SHARED, CANARY=str(canary))
        assert done.returncode == 0, done.stderr
        assert not canary.exists(), canary.read_text()


@pytest.mark.anyio
async def test_c3_no_module_of_the_project_is_imported_by_a_server(
    shadowed: Path, victim_of: Callable[[Path, str], Any], tmp_path: Path
) -> None:
    victim = victim_of(shadowed, "cp -r")
    canary = tmp_path / "canary"
    environment = victim.environment | {"CQM_EMBEDDING_PROVIDER": "none", "CANARY": str(canary)}
    server = StdioServerParameters(command=CQM, args=["serve"], env=environment, cwd=victim.project)
    async with Client(server) as client:
        found = await client.call_tool("search", {"query": "innocent_marker"})
        shown = await client.call_tool("chunk_preview", {"path": "innocent.py"})
    assert not found.is_error
    assert not shown.is_error
    assert not canary.exists()


def test_c3_started_with_the_project_on_its_path_cqm_imports_nothing_of_the_project_later(
    stranger: Path, victim_of: Callable[[Path, str], Any], tmp_path: Path
) -> None:
    # What Python loads before our first line is not ours to choose; all that comes later is. It also asks for modules
    # of other systems, which are missing here.
    early = loaded_by("-c", "import cqm.server.cli.main, sys; print(*sys.modules)")
    for name in {*sys.stdlib_module_names, *DEPENDENCIES} - early:
        if importlib.util.find_spec(name):
            (stranger / f"{name}.py").write_text(CANARY)
    victim, canary = victim_of(stranger, "cp -r"), tmp_path / "canary"
    done = subprocess.run(
        [sys.executable, "-c", "from cqm.server.cli.main import main; main()", "report", "--json"],
        cwd=victim.project,
        env=victim.environment | NOT_SHARED | {"CANARY": str(canary), "PYTHONPATH": os.pathsep.join(["", "."])},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert not canary.exists(), canary.read_text()


def test_nothing_is_started_but_git_and_workers_and_nothing_is_connected_to_but_our_own_socket(
    shadowed: Path, victim_of: Callable[[Path, str], Any], tmp_path: Path
) -> None:
    hooks = tmp_path / "hooks"
    hooks.mkdir()
    (hooks / "sitecustomize.py").write_text((Path(__file__).parent / "recorded.py").read_text())
    victim, log = victim_of(shadowed, "git clone"), tmp_path / "recorded"
    for arguments in (("index",), ("search", "innocent_marker"), ("status",)):
        done = victim.run(
            *arguments, CQM_EMBEDDING_PROVIDER="none", PYTHONPATH=str(hooks), RECORD_TO=str(log), CANARY=str(log)
        )
        assert done.returncode == 0, done.stderr
    events = [line.partition(" ") for line in log.read_text().splitlines()]
    started = [ast.literal_eval(given)[1] for event, _, given in events if event == "subprocess.Popen"]
    programs = {Path(command[0]).name if Path(command[0]).name == "git" else command[3] for command in started}
    assert programs <= {"git", "cqm.index.workers", "cqm.server.owner"}
    assert "cqm.index.workers" in programs, "the recording works"
    assert {event for event, _, _ in events} <= {"subprocess.Popen", "socket.connect", "socket.bind"}
    for event, _, given in events:
        if event.startswith("socket"):
            assert "AF_UNIX" in given or "family=1" in given, given
