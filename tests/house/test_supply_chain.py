"""All that is installed is locked, bounded, listed and audited."""

import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[2]
REQUIREMENTS = ROOT / "requirements"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS: dict[str, list[str]] = PROJECT["optional-dependencies"]
ALL = [*PROJECT["dependencies"], *(each for extra in EXTRAS.values() for each in extra)]
UNLOCKED = {"ray"}  # a cluster has a version of its own, and runs code of others by design: its audit never ends well
TESTED = [
    *PROJECT["dependencies"],
    *(each for name, extra in EXTRAS.items() if name not in UNLOCKED for each in extra),
]
TESTED_ONLY = {"dev", "more-languages"}  # the second takes 192 MB
RUNTIME = [
    *PROJECT["dependencies"],
    *(each for name, extra in EXTRAS.items() if name not in TESTED_ONLY | UNLOCKED for each in extra),
]


def locked(name: str) -> dict[str, set[str]]:
    """The versions in a lock file by package: several, where platforms or Pythons need different ones."""
    found: dict[str, set[str]] = {}
    for entry in entries(name):
        requirement = Requirement(entry.partition("--hash")[0])
        (pin,) = requirement.specifier
        assert pin.operator == "==", entry
        found.setdefault(canonicalize_name(requirement.name), set()).add(pin.version)
    return found


def entries(name: str) -> list[str]:
    text = (REQUIREMENTS / name).read_text(encoding="utf-8").replace("\\\n", " ")
    return [line for line in text.splitlines() if line and not line.startswith("#")]


@pytest.mark.parametrize("name", ["default.txt", "runtime.txt", "dev.txt"])
def test_every_locked_package_has_hashes_and_no_address(name: str) -> None:
    for entry in entries(name):
        assert re.fullmatch(r"[\w.-]+==[^-]+?( +--hash=sha256:[0-9a-f]{64})+ *", entry), entry


@pytest.mark.parametrize(
    ("name", "wanted"), [("default.txt", PROJECT["dependencies"]), ("runtime.txt", RUNTIME), ("dev.txt", TESTED)]
)
def test_the_lock_fits_what_the_project_asks_for(name: str, wanted: list[str]) -> None:
    versions = locked(name)
    for requirement in map(Requirement, wanted):
        found = versions.get(canonicalize_name(requirement.name), set())
        assert found, f"{requirement} is not locked: run requirements/lock"
        assert all(requirement.specifier.contains(version) for version in found), f"{requirement}: locked {found}"


def test_the_tests_run_with_the_versions_that_users_get() -> None:
    tested, everything = locked("dev.txt"), locked("runtime.txt")
    assert {name: tested.get(name) for name in everything} == everything
    assert locked("default.txt").items() <= everything.items()


def test_the_default_is_light() -> None:
    # With CQM itself. A new dependency has to be worth its place: 98 came with it once.
    assert len(locked("default.txt")) < 62  # three of them are for other platforms


@pytest.mark.parametrize("requirement", ALL)
def test_every_dependency_has_a_lower_and_an_upper_bound(requirement: str) -> None:
    operators = {bound.operator for bound in Requirement(requirement).specifier}
    assert operators == {"=="} or operators >= {">=", "<"}


@pytest.mark.processes
def test_the_bill_of_materials_is_valid_and_lists_what_is_locked(tmp_path: Path) -> None:
    # To import it takes 2 s, in each process of the tests.
    from cyclonedx.schema import SchemaVersion
    from cyclonedx.validation.json import JsonStrictValidator

    file = tmp_path / "sbom.json"
    subprocess.run([REQUIREMENTS / "sbom", file], check=True, capture_output=True)
    text = file.read_text(encoding="utf-8")
    assert JsonStrictValidator(SchemaVersion.V1_6).validate_str(text) is None
    bill = json.loads(text)
    assert bill["metadata"]["component"]["name"] == "cqm-mcp"
    listed: dict[str, set[str]] = {}
    for component in bill["components"]:
        listed.setdefault(canonicalize_name(component["name"]), set()).add(component["version"])
        assert any(reference.get("hashes") for reference in component["externalReferences"])
    assert listed == locked("runtime.txt")


@pytest.fixture
def database() -> Iterator[Callable[[int, dict[str, Any]], str]]:
    """A database of vulnerabilities that answers every question with a status and an object; gives its address."""
    servers = []

    def serve(status: int, answer: dict[str, Any]) -> str:
        class Answer(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                self.rfile.read(int(self.headers["Content-Length"]))
                body = json.dumps(answer).encode()
                self.send_response(status)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None: ...

        server = ThreadingHTTPServer(("127.0.0.1", 0), Answer)
        Thread(target=server.serve_forever).start()
        servers.append(server)
        return f"http://127.0.0.1:{server.server_port}/"

    yield serve
    for server in servers:
        server.shutdown()
        server.server_close()


@pytest.fixture
def audit(tmp_path: Path) -> Callable[[str], "subprocess.CompletedProcess[str]"]:
    """Audit one package against the database at an address."""
    lock = tmp_path / "lock.txt"
    lock.write_text(f"click==8.2.0 --hash=sha256:{'0' * 64}\n")

    def run(address: str) -> "subprocess.CompletedProcess[str]":
        options = ["--osv-url", address, "--cache-dir", str(tmp_path / "cache"), "--timeout", "10"]
        command = [sys.executable, str(REQUIREMENTS / "audit"), str(lock), *options]
        return subprocess.run(command, check=False, capture_output=True, text=True)

    return run


@pytest.mark.processes
def test_a_finding_fails_the_audit(database: Any, audit: Any) -> None:
    affected = [{"package": {"name": "click", "ecosystem": "PyPI"}, "ranges": []}]
    done = audit(database(200, {"vulns": [{"id": "PYSEC-1", "summary": "It breaks.", "affected": affected}]}))
    assert done.returncode == 1, done.stderr
    assert done.stdout == "click 8.2.0: PYSEC-1: It breaks.\n1 packages audited, 1 vulnerabilities\n"


@pytest.mark.processes
def test_no_finding_passes_the_audit(database: Any, audit: Any) -> None:
    done = audit(database(200, {}))
    assert (done.returncode, done.stdout) == (0, "1 packages audited, 0 vulnerabilities\n")


@pytest.mark.processes
def test_a_database_out_of_reach_is_said_and_no_failure(audit: Any) -> None:
    done = audit("http://127.0.0.1:1/")
    assert done.returncode == 0
    assert done.stdout.startswith("NOT AUDITED: the database of vulnerabilities is out of reach:")


@pytest.mark.processes
def test_a_proxy_that_answers_in_its_place_is_no_audit(database: Any, audit: Any) -> None:
    done = audit(database(404, {}))
    assert done.returncode == 0
    assert done.stdout.startswith("NOT AUDITED: the database of vulnerabilities is out of reach:")


@pytest.mark.processes
def test_an_audit_that_cannot_start_fails(tmp_path: Path) -> None:
    (tmp_path / "lock.txt").write_text("click==8.2.0\n")
    command = [sys.executable, str(REQUIREMENTS / "audit"), str(tmp_path / "lock.txt")]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert done.returncode == 2
    assert "pip-audit failed" in done.stdout
