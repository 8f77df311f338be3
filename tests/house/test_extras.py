"""The command that adds an extra, run by each installer against a package index in a folder: it installs our package.

The index holds our wheel, empty stand-ins for everything that it needs, and a stranger's `cqm`. No network is used.
"""

import os
import shlex
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from cqm.chunkers.extras import ADDS

ROOT = Path(__file__).resolve().parents[2]
EXTRAS = {
    "languages": "tree-sitter-fsharp",
    "late": "onnxruntime",
    "more-languages": "tree-sitter-language-pack",
    "ollama": "ollama",
    "openai": "openai",
    "otel": "opentelemetry-sdk",
    "pdf": "pypdfium2",
    "ray": "ray",
    "redis": "redis",
    "server": "qdrant-client",
    "tokens": "tiktoken",
}
"""The package that each extra brings."""

pytestmark = [
    pytest.mark.processes,
    pytest.mark.skipif(sys.platform == "win32", reason="the commands are for a POSIX shell"),
]


@dataclass(frozen=True, slots=True)
class Machine:
    """A home folder in which installers see our index and nothing else.

    Attributes:
        index: the folder with the wheels.
        home: all that installers write.
        environment: of their processes.
    """

    index: Path
    home: Path
    environment: dict[str, str]

    def run(self, command: str) -> str:
        """The output of a shell command."""
        done = subprocess.run(
            ["sh", "-c", command], env=self.environment, cwd=self.home, check=False, capture_output=True, text=True
        )
        assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
        return done.stdout

    def hint(self, python: Path, call: str = "how_to_add('pdf')") -> str:
        """The command that CQM shows in an environment."""
        program = f"from cqm.chunkers.extras import *; print({call})"
        return self.run(shlex.join([str(python), "-P", "-c", program])).strip()

    def installed(self, python: Path) -> set[str]:
        """The names of the distributions in an environment."""
        program = "import importlib.metadata as m; print(*(each.name for each in m.distributions()))"
        return {canonicalize_name(name) for name in self.run(shlex.join([str(python), "-P", "-c", program])).split()}


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with our wheel, a stand-in for each package that it needs, and a stranger's package of our old name."""
    folder = tmp_path_factory.mktemp("wheels")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    for requirement in requirements_of(next(folder.glob("cqm_mcp-*.whl"))):
        stand_in(folder, requirement.name, least_version(requirement))
    stand_in(folder, "cqm", "99.0")
    return folder


def requirements_of(wheel: Path) -> Iterator[Requirement]:
    with zipfile.ZipFile(wheel) as archive:
        metadata = next(name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        lines = archive.read(metadata).decode().splitlines()
    for line in lines:
        if line.startswith("Requires-Dist: ") and "extra == 'dev'" not in line:
            yield Requirement(line.removeprefix("Requires-Dist: "))


def least_version(requirement: Requirement) -> str:
    bounds = [bound.version for bound in requirement.specifier if bound.operator in {">=", "==", "~="}]
    return bounds[0].removesuffix(".*")


def stand_in(folder: Path, name: str, version: str) -> None:
    """An empty package."""
    stem = f"{name.replace('-', '_')}-{version}"
    head = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
    with zipfile.ZipFile(folder / f"{stem}-py3-none-any.whl", "w") as wheel:
        wheel.writestr(f"{stem}.dist-info/METADATA", head)
        wheel.writestr(f"{stem}.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr(f"{stem}.dist-info/RECORD", "")


@pytest.fixture
def machine(wheels: Path, tmp_path: Path) -> Machine:
    """No configuration but this leads an installer anywhere."""
    scripts = Path(sys.executable).parent
    environment = {
        "HOME": str(tmp_path),
        "PATH": f"{scripts}{os.pathsep}{os.environ['PATH']}",
        "PIP_CONFIG_FILE": os.devnull,
        "PIP_NO_INDEX": "1",
        # Of options that say "no", pip takes 0 for yes.
        "PIP_NO_COMPILE": "0",
        "PIP_FIND_LINKS": str(wheels),
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        "UV_NO_CONFIG": "1",
        "UV_NO_INDEX": "1",
        "UV_OFFLINE": "1",
        "UV_FIND_LINKS": str(wheels),
        "UV_PYTHON": sys.executable,
        "UV_CACHE_DIR": str(tmp_path / "uv-cache"),
        "UV_TOOL_DIR": str(tmp_path / "uv-tools"),
        "UV_TOOL_BIN_DIR": str(tmp_path / "uv-bin"),
        "PIPX_HOME": str(tmp_path / "pipx"),
        "PIPX_BIN_DIR": str(tmp_path / "pipx-bin"),
        "PIPX_DEFAULT_BACKEND": "uv",
    }
    return Machine(wheels, tmp_path, environment)


def by_pip(machine: Machine) -> Path:
    machine.run(f"{shlex.quote(sys.executable)} -m venv venv && venv/bin/python -m pip install -q cqm-mcp")
    return machine.home / "venv/bin/python"


def by_uv_pip(machine: Machine) -> Path:
    machine.run("uv venv -q venv && uv pip install -q --python venv/bin/python cqm-mcp")
    return machine.home / "venv/bin/python"


def by_uv_tool(machine: Machine) -> Path:
    machine.run("uv tool install -q cqm-mcp")
    return machine.home / "uv-tools/cqm-mcp/bin/python"


def by_pipx(machine: Machine) -> Path:
    machine.run("pipx install -q cqm-mcp")
    return machine.home / "pipx/venvs/cqm-mcp/bin/python"


INSTALLERS: dict[str, tuple[Callable[[Machine], Path], str]] = {
    "pip": (by_pip, "PYTHON -m pip install 'cqm-mcp[pdf]'"),
    "uv pip": (by_uv_pip, "uv pip install --python PYTHON 'cqm-mcp[pdf]'"),
    "uv tool": (by_uv_tool, "uv tool install 'cqm-mcp[pdf]'"),
    "pipx": (by_pipx, "pipx inject cqm-mcp 'pypdfium2<6,>=5'"),
}


def test_every_extra_is_told_with_what_it_adds() -> None:
    assert EXTRAS.keys() == ADDS.keys()


@pytest.mark.parametrize("installer", INSTALLERS)
def test_the_commands_shown_add_the_extra_to_the_installation_that_showed_them_and_repair_it(
    machine: Machine, installer: str
) -> None:
    install, shown = INSTALLERS[installer]
    python = install(machine)
    command = machine.hint(python)
    assert command == shown.replace("PYTHON", shlex.quote(str(python)))
    assert machine.hint(python, "' '.join(how_to_run())") == str(python.with_name("cqm"))
    machine.run(command)
    assert machine.installed(python) >= {"cqm-mcp", "pypdfium2"}

    module = Path(machine.run(f"{shlex.quote(str(python))} -P -c 'import cqm.server as s; print(s.__file__)'").strip())
    repair = machine.hint(python, "how_to_repair()")
    module.unlink()
    machine.run(repair)
    assert module.is_file()
    assert "cqm" not in machine.installed(python)


def test_uv_tool_keeps_what_was_added_before(machine: Machine) -> None:
    machine.run("uv tool install -q 'cqm-mcp[redis]' --with 'onnxruntime>=1'")
    python = machine.home / "uv-tools/cqm-mcp/bin/python"
    command = machine.hint(python)
    assert command == "uv tool install 'cqm-mcp[pdf,redis]' --with 'onnxruntime>=1'"
    machine.run(command)
    assert machine.installed(python) >= {"cqm-mcp", "pypdfium2", "redis", "onnxruntime"}


@pytest.mark.parametrize("prefix", ["uvx --from", "pipx run --spec"])
def test_a_run_without_an_installation_is_told_the_run_with_the_extra(machine: Machine, prefix: str) -> None:
    # The stand-ins cannot run `cqm`; the environment is the one that it would run in.
    program = "import sys; print(sys.prefix)"
    if prefix.startswith("uvx"):
        found = machine.run(f"uvx --from cqm-mcp python -c {shlex.quote(program)}").strip()
    else:
        machine.run("pipx run --spec cqm-mcp cqm --version || true")
        found = str(next((machine.home / "pipx/.cache").glob("*/pyvenv.cfg")).parent)
    python = Path(found) / "bin/python"
    assert machine.hint(python) == f"{prefix} 'cqm-mcp[pdf]' cqm"
    program = Path(machine.run(f"command -v {prefix.split(maxsplit=1)[0]}").strip())
    assert machine.hint(python, "' '.join(how_to_run())") == f"{program}{prefix.removeprefix(program.name)} cqm-mcp cqm"


def test_an_installation_from_a_folder_is_installed_from_there_again(machine: Machine) -> None:
    wheel = next(machine.index.glob("cqm_mcp-*.whl"))
    machine.run(f"uv tool install -q {shlex.quote(str(wheel))}")
    python = machine.home / "uv-tools/cqm-mcp/bin/python"
    command = machine.hint(python)
    assert command == f"uv tool install 'cqm-mcp[pdf] @ {wheel.as_uri()}'"
    machine.run(command)
    assert machine.installed(python) >= {"cqm-mcp", "pypdfium2"}


def test_each_extra_resolves_to_our_wheel_and_what_the_extra_needs(machine: Machine) -> None:
    version = next(machine.index.glob("cqm_mcp-*.whl")).name.split("-")[1]
    for extra, needed in EXTRAS.items():
        (machine.home / "wanted.in").write_text(f"cqm-mcp[{extra}]\n")
        lines = machine.run("uv pip compile --quiet --no-header --no-annotate wanted.in").split()
        found = {canonicalize_name(name): pinned for name, _, pinned in (line.partition("==") for line in lines)}
        assert found["cqm-mcp"] == version
        assert needed in found, extra
        # The client of OpenAI counts tokens, so it brings what `tokens` has.
        others = {*EXTRAS.values(), "cqm"} - {needed} - ({"tiktoken"} if extra == "openai" else set())
        assert found.keys().isdisjoint(others), extra
