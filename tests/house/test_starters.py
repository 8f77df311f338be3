"""Few modules start programs, so that few have to be read to know that nothing of a project runs."""

import ast
from pathlib import Path

SOURCES = Path(__file__).parents[2]
STARTERS = {
    "chunkers/extras.py",  # quotes a command for Windows
    "index/files/bounded.py",  # for `git.py` and `setup/checking.py`
    "index/files/git.py",  # and no other starts git
    "index/generations/freezing.py",  # itself, to write what it is given a copy of
    "server/bulk/work.py",  # `cqm export`, a process for each repository
    "server/issues/gh.py",
    "server/owner/__main__.py",
    "server/owner/connect.py",
    "server/setup/checking.py",  # the clients' own `mcp list`
}
"""The modules that may start a program; those of `index/workers` may too."""


def test_only_the_modules_of_a_short_list_start_programs() -> None:
    starters = set()
    for folder in ("chunkers", "index", "server"):
        for path in sorted((SOURCES / folder).rglob("*.py")):
            if _starts_programs(path):
                starters.add(path.relative_to(SOURCES).as_posix())
    assert {path for path in starters if not path.startswith("index/workers/")} <= STARTERS


def test_one_module_names_git_as_a_program() -> None:
    namers = {
        path.relative_to(SOURCES).as_posix()
        for folder in ("chunkers", "index", "server")
        for path in sorted((SOURCES / folder).rglob("*.py"))
        if _starts_programs(path) and _begins_a_list_or_call_with_git(path)
    }
    assert namers == {"index/files/git.py"}


def _begins_a_list_or_call_with_git(path: Path) -> bool:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        firsts = node.elts[:1] if isinstance(node, ast.List) else node.args[:1] if isinstance(node, ast.Call) else []
        if any(isinstance(it, ast.Constant) and it.value in {"git", "git.exe"} for it in firsts):
            return True
    return False


def _starts_programs(path: Path) -> bool:
    calls = ("system", "popen", "posix_spawn", "posix_spawnp", "fork", "forkpty", "startfile")
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import | ast.ImportFrom) else []
        modules = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
        starters = {"subprocess", "multiprocessing", "pty", "pexpect", "run_bounded"}
        if {name.partition(".")[0] for name in names + modules} & starters:
            return True
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            if node.value.id == "os" and (node.attr in calls or node.attr.startswith(("exec", "spawn"))):
                return True
            if node.attr.startswith(("create_subprocess", "run_process", "open_process")):
                return True
    return False
