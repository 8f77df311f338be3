"""The quick tier starts no process, and every test that starts one belongs to another tier."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.processes

PLUGINS = Path(__file__).resolve().parent.parent / "servers"
STARTS = "subprocess.run([sys.executable, '-c', ''])"


def run_of(folder: Path, body: str, *arguments: str, path: str = "tests/test_scratch.py") -> str:
    """The outcome in words of a run of pytest over one file with the plugin under test."""
    (folder / path).parent.mkdir(parents=True, exist_ok=True)
    (folder / path).write_text(f"import os, subprocess, sys, threading\nimport pytest\n{body}", encoding="utf-8")
    (folder / "pytest.ini").write_text("[pytest]\nmarkers =\n    long\n    processes\n    servers\n", encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-p", "tiers", "-p", "no:cacheprovider", *arguments, "tests"]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    environment |= {"PYTHONPATH": str(PLUGINS), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(command, cwd=folder, env=environment, check=False, capture_output=True, text=True)
    return done.stdout


def test_a_quick_test_that_starts_a_process_fails_whatever_hides_it(tmp_path: Path) -> None:
    said = run_of(
        tmp_path,
        f"def test_plain():\n    {STARTS}\n\n\n"
        f"def test_caught():\n    try:\n        {STARTS}\n    except BaseException:\n        pass\n\n\n"
        "def test_in_a_thread():\n"
        f"    thread = threading.Thread(target=lambda: {STARTS})\n    thread.start()\n    thread.join()\n\n\n"
        "def test_by_a_shell():\n    os.system('exit')\n",
        "-p",
        "no:threadexception",
    )
    assert said.count("Failed: a test of the quick tier starts a process: mark it @pytest.mark.processes") >= 4
    assert "4 errors" in said


def test_a_marked_test_may_start_a_process(tmp_path: Path) -> None:
    assert "1 passed" in run_of(tmp_path, f"@pytest.mark.processes\ndef test_it():\n    {STARTS}\n")


def test_quick_leaves_out_tests_by_mark_and_by_fixture(tmp_path: Path) -> None:
    body = (
        "@pytest.fixture\ndef cqm(): ...\n\n\ndef test_by_fixture(cqm): ...\n\n\n"
        "@pytest.mark.processes\ndef test_by_mark(): ...\n\n\n"
        "@pytest.mark.servers\ndef test_of_a_server(): ...\n\n\n"
        "@pytest.mark.long\ndef test_of_much(): ...\n\n\n"
        "def test_that_stays(): ...\n"
    )
    assert "1 passed, 4 deselected" in run_of(tmp_path, body, "--quick")


def test_quick_leaves_out_tests_by_folder(tmp_path: Path) -> None:
    said = run_of(tmp_path, "def test_it(): ...\n", "--quick", path="tests/end_to_end/test_scratch.py")
    assert "1 deselected" in said


def test_the_tiers_can_be_chosen_by_mark(tmp_path: Path) -> None:
    body = "@pytest.fixture\ndef cqm(): ...\n\n\ndef test_it(cqm): ...\n\n\ndef test_another(): ...\n"
    assert "1 passed, 1 deselected" in run_of(tmp_path, body, "-m", "processes")
