"""A run with --strict-skips fails when something was left out without a listed reason."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.processes

PLUGINS = Path(__file__).resolve().parent.parent / "servers"


def run_of(folder: Path, body: str, *arguments: str, **variables: str) -> "subprocess.CompletedProcess[str]":
    """A run of pytest over one file with the plugins under test."""
    (folder / "test_scratch.py").write_text(f"import pytest\n{body}")
    plugins = [part for name in ("real_servers", "strict_skips") for part in ("-p", name)]
    command = [sys.executable, "-m", "pytest", *plugins, "--strict-skips", "-p", "no:cacheprovider", "--rootdir=."]
    hidden = ("CQM_", "PYTEST_")
    environment = {name: value for name, value in os.environ.items() if not name.startswith(hidden)}
    environment |= {"PYTHONPATH": str(PLUGINS), "PYTHONDONTWRITEBYTECODE": "1"} | variables
    return subprocess.run(
        [*command, *arguments, "."],
        cwd=folder,
        env=environment,
        check=False,
        capture_output=True,
        text=True,
        timeout=120,
    )


WAYS = [(), ("-n", "1")]
"""In one process, and with a worker of xdist."""


@pytest.mark.parametrize("way", WAYS)
def test_an_unlisted_skip_fails_the_run(tmp_path: Path, way: tuple[str, ...]) -> None:
    done = run_of(tmp_path, "def test_it():\n    pytest.skip('not today')\n", *way)
    assert done.returncode == pytest.ExitCode.TESTS_FAILED
    assert "test_scratch.py::test_it was skipped: 'not today' is not listed" in done.stdout


def test_a_file_that_skips_itself_fails_the_run(tmp_path: Path) -> None:
    (tmp_path / "test_other.py").write_text("def test_other(): pass\n")
    done = run_of(tmp_path, "pytest.importorskip('no_such_module')\ndef test_it(): pass\n", "-n", "1")
    assert done.returncode == pytest.ExitCode.TESTS_FAILED
    assert "no_such_module" in done.stdout.partition("left out without a listed reason")[2]


@pytest.mark.parametrize("way", WAYS)
def test_a_listed_skip_passes(tmp_path: Path, way: tuple[str, ...]) -> None:
    body = "def test_it(): pytest.skip('this user can read every file')\ndef test_other(): pass\n"
    done = run_of(tmp_path, body, *way)
    assert done.returncode == pytest.ExitCode.OK, done.stdout
    assert "1 passed, 1 skipped" in done.stdout


@pytest.mark.parametrize("way", WAYS)
def test_a_running_server_that_no_test_used_fails_the_run(tmp_path: Path, way: tuple[str, ...]) -> None:
    body = "@pytest.mark.servers\ndef test_it(ollama_url): assert ollama_url == 'http://one'\n"
    addresses = {"CQM_TEST_OLLAMA_URL": "http://one", "CQM_TEST_REDIS_URL": "redis://two", "CQM_TEST_OPENAI_KEY": "k"}
    done = run_of(tmp_path, body, *way, **addresses)
    assert done.returncode == pytest.ExitCode.TESTS_FAILED
    assert "1 passed" in done.stdout
    assert "CQM_TEST_REDIS_URL is set, but no test that passed used its server" in done.stdout
    assert "CQM_TEST_OLLAMA_URL is set" not in done.stdout


def test_a_test_that_fails_is_still_the_failure(tmp_path: Path) -> None:
    done = run_of(tmp_path, "def test_it(): assert False\n")
    assert done.returncode == pytest.ExitCode.TESTS_FAILED
    assert "1 failed" in done.stdout
