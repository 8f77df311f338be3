"""Continuous integration can be green on all systems, and nothing is published that it has not tested."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parents[2]
WORKFLOWS = ROOT / ".github/workflows"


def read(file: Path) -> Any:
    return yaml.load(file.read_text(encoding="utf-8"), yaml.BaseLoader)  # `on` stays a word


def run_at_import(tree: ast.AST) -> Iterator[ast.AST]:
    """The expressions that Python evaluates as it imports a module: no bodies of functions."""
    for child in ast.iter_child_nodes(tree):
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
            yield from child.decorator_list
        elif isinstance(child, ast.ClassDef):
            yield from child.decorator_list
            yield from run_at_import(child)
        elif not isinstance(child, ast.Lambda):
            yield child


def unguarded(text: str) -> list[str]:
    """Calls of `os.get*uid` at import without a look whether this system has it."""
    parts = (ast.unparse(part) for part in run_at_import(ast.parse(text)))
    return [
        part
        for part in parts
        if re.search(r"\bos\.get\w*uid\(", part) and not re.search(r"hasattr\(os|sys\.platform", part)
    ]


def test_no_test_asks_windows_for_a_user_id_as_it_is_collected() -> None:
    assert unguarded("@skipif(os.geteuid() == 0)\ndef test(): pass")
    assert not unguarded("def test(): os.geteuid()")
    found = {file.name: unguarded(file.read_text(encoding="utf-8")) for file in (ROOT / "tests").rglob("*.py")}
    assert {name: calls for name, calls in found.items() if calls} == {}


def test_tests_that_only_root_can_run_are_run_by_root_too() -> None:
    pattern = re.compile(r'reason="only root can [^"]*"\)\n(?:@.*\n)*def (\w+)')
    tests = [
        f"{file.relative_to(ROOT).as_posix()}::{name}"
        for file in (ROOT / "tests").rglob("test_*.py")
        for name in pattern.findall(file.read_text(encoding="utf-8"))
    ]
    runs = [step.get("run", "") for step in read(WORKFLOWS / "tests.yml")["jobs"]["complete"]["steps"]]
    by_root = " ".join(run for run in runs if run.startswith("sudo "))
    assert tests
    assert [test for test in tests if test not in by_root] == []


def test_a_release_waits_for_all_tests() -> None:
    release = read(WORKFLOWS / "release.yml")["jobs"]
    assert release["tests"]["uses"] == "./.github/workflows/tests.yml"
    assert release["build"]["needs"] == "tests"
    assert "workflow_call" in read(WORKFLOWS / "tests.yml")["on"]


def test_the_shell_of_macos_understands_the_script_of_all_checks() -> None:
    later = r"declare -A|mapfile|readarray|\$\{\w+(,,|\^\^)|\bwait -n\b|&>>|\|&|coproc"
    assert re.findall(later, (ROOT / ".ci/run").read_text(encoding="utf-8")) == []


def test_the_action_says_on_which_runners_it_works() -> None:
    action = read(ROOT / "packaging/github-action/action.yml")
    assert "Linux and macOS runners" in action["description"]


def test_who_found_a_hole_is_led_to_a_private_report() -> None:
    config = read(ROOT / ".github/ISSUE_TEMPLATE/config.yml")
    assert any(link["url"].endswith("/security/advisories/new") for link in config["contact_links"])
