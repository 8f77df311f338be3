"""Files of registries and package managers: as the code says, and valid by their own schemas, without a network."""

import base64
import hashlib
import importlib.util
import json
import os
import plistlib
import re
import subprocess
import sys
from importlib.resources import files
from pathlib import Path
from types import ModuleType
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

import pytest
import yaml

from cqm.chunkers.code.syntax import parse
from cqm.chunkers.grammars import BUNDLE, grammar
from cqm.server.cli.main import app

ROOT = Path(__file__).resolve().parents[2]
PACKAGING = ROOT / "packaging"


@pytest.fixture(scope="module")
def make() -> ModuleType:
    spec = importlib.util.spec_from_file_location("make_packaging", PACKAGING / "make.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def text(path: str) -> str:
    return (PACKAGING / path).read_text(encoding="utf-8")


def valid(value: object, schema: Any) -> None:
    import jsonschema  # 3 s of processor time, which each process that collects tests would spend

    kind = jsonschema.validators.validator_for(schema)
    kind(schema, format_checker=kind.FORMAT_CHECKER).validate(value)


def test_files_which_name_a_version_are_those_of_the_script(make: ModuleType) -> None:
    for path, wanted in make.files().items():
        assert path.read_text(encoding="utf-8") == wanted, f"{path}: run packaging/make.py"


@pytest.mark.parametrize(
    ("file", "schema"),
    [
        ("server.json", "mcp-server-2025-12-11.schema.json"),
        ("mcpb/manifest.json", "mcpb-manifest-0.4.schema.json"),
    ],
)
def test_what_a_registry_reads_is_valid_by_its_schema(file: str, schema: str) -> None:
    from jsonschema import ValidationError

    rules = json.loads(text(f"schemas/{schema}"))
    valid(json.loads(text(file)), rules)
    with pytest.raises(ValidationError):
        valid(json.loads(text(file)) | {"version": 1}, rules)


def test_the_readme_proves_to_the_registry_whose_package_it_is(make: ModuleType) -> None:
    named = re.findall(r"mcp-name: (\S+)", (ROOT / "README.md").read_text(encoding="utf-8"))
    assert set(named) <= {make.NAME}
    assert json.loads(text("server.json"))["packages"][0]["identifier"] == "cqm-mcp"


def test_the_bundle_installs_this_version_and_has_the_files_which_it_names(make: ModuleType) -> None:
    assert f'dependencies = ["cqm-mcp=={make.VERSION}"]' in text("mcpb/pyproject.toml")
    manifest = json.loads(text("mcpb/manifest.json"))
    assert (PACKAGING / "mcpb" / manifest["server"]["entry_point"]).is_file()


def test_the_plugin_is_where_the_marketplace_says() -> None:
    marketplace = json.loads((ROOT / ".claude-plugin/marketplace.json").read_text(encoding="utf-8"))
    (plugin,) = marketplace["plugins"]
    manifest = json.loads((ROOT / plugin["source"] / ".claude-plugin/plugin.json").read_text(encoding="utf-8"))
    assert manifest["name"] == plugin["name"] == "cqm"
    head = text("claude-plugin/skills/find-code/SKILL.md").split("---")[1]
    assert yaml.safe_load(head)["name"] == "find-code"


def test_links_hold_the_command_which_they_add(make: ModuleType) -> None:
    links = make.links()
    for name in ("cursor", "cursor_https"):
        query = parse_qs(urlsplit(links[name]).query)
        assert query["name"] == ["cqm"]
        assert json.loads(base64.b64decode(query["config"][0])) == {"command": "uvx", "args": ["cqm-mcp", "serve"]}
    of_vscode = json.loads(unquote(links["vscode"].partition("?")[2]))
    assert of_vscode == {"name": "cqm", "type": "stdio", "command": "uvx", "args": ["cqm-mcp", "serve"]}
    query = parse_qs(urlsplit(links["vscode_https"]).query)
    assert json.loads(query["config"][0]) == {"type": "stdio", "command": "uvx", "args": ["cqm-mcp", "serve"]}
    pages = (ROOT / "README.md").read_text(encoding="utf-8") + (ROOT / "docs/clients.md").read_text(encoding="utf-8")
    shown = re.findall(r"\((\S+/(?:install-mcp|mcp/install)\?[^\s)]+)\)", pages)
    assert shown
    assert set(shown) <= set(links.values()), "packaging/links.json has the links of now"


@pytest.mark.parametrize("name", ["compose.yml", "compose.qdrant.yml"])
def test_a_compose_file_is_valid_and_its_services_have_little_power(name: str) -> None:
    schema = json.loads(
        files("check_jsonschema").joinpath("builtin_schemas/vendor/compose-spec.json").read_text("utf-8")
    )
    found = yaml.safe_load(text(f"docker/{name}"))
    valid(found, schema)
    services = yaml.safe_load(text("docker/compose.yml"))["services"] | found["services"]
    for service in services.values():
        if "depends_on" in service:
            continue  # the rest of it stands in compose.yml
        assert service["read_only"] is True
        assert service["cap_drop"] == ["ALL"]
        assert "healthcheck" in service
        assert all(port.startswith("127.0.0.1:") for port in service.get("ports", ()))


def test_the_image_copies_what_there_is_and_runs_as_nobody() -> None:
    lines = text("docker/Dockerfile").splitlines()
    copied = [
        name for line in lines if line.startswith("COPY ") and "--from" not in line for name in line.split()[1:-1]
    ]
    assert copied
    allowed = {line[1:] for line in text("docker/Dockerfile.dockerignore").splitlines() if line.startswith("!")}
    for name in copied:
        assert (ROOT / name).exists()
        assert {name, name.split("/")[0]} & allowed
    assert "USER 10001" in lines


def test_units_start_a_command_which_there_is() -> None:
    known = {option for parameter in app.commands["serve"].params for option in parameter.opts}
    unit = re.search(r"^ExecStart=(.+)$", text("services/cqm.service"), re.MULTILINE)
    assert unit
    plist = plistlib.loads((PACKAGING / "services/io.github.cqm-mcp.cqm.plist").read_bytes())
    for command in (unit[1].split(), plist["ProgramArguments"]):
        assert command[0].endswith("/.local/bin/cqm")
        assert command[1] == "serve"
        assert {part for part in command if part.startswith("--")} <= known


def test_recipes_can_be_parsed_and_the_formula_is_filled_in(make: ModuleType) -> None:
    formula = make.formula(b"an archive", "https://files.example/cqm_mcp-1.tar.gz")
    assert "@" not in formula.replace("python@3.13", "")
    assert 'url "https://files.example/cqm_mcp-1.tar.gz"' in formula
    assert re.search(r'sha256 "[0-9a-f]{64}"', formula)
    assert not parse(formula.encode(), grammar(BUNDLE, "ruby")).root_node.has_error
    assert not parse(text("nix/package.nix").encode(), grammar(BUNDLE, "nix")).root_node.has_error


@pytest.mark.processes
def test_the_script_of_the_action_builds_a_snapshot_and_begins_with_the_earlier_one(tmp_path: Path) -> None:
    steps = yaml.safe_load(text("github-action/action.yml"))["runs"]["steps"]
    [script] = [step["run"] for step in steps if step.get("id") == "export"]
    root, out = tmp_path / "shop; touch x", tmp_path / "output"
    root.mkdir()
    (root / "prices.py").write_text("def round_price(value):\n    return round(value)\n")
    environment = {"HOME": str(tmp_path), "CQM_EMBEDDING_PROVIDER": "none", "CQM_INDEX_SHARED": "0", "CACHE": "true"}
    environment |= {"ROOT": str(root), "FILE": str(tmp_path / "index.cqm"), "RUNNER_TEMP": str(tmp_path)}
    environment |= {
        "GITHUB_OUTPUT": str(out),
        "PATH": os.environ["PATH"],
        "CQM": str(Path(sys.executable).parent / "cqm"),
    }
    for _ in range(2):
        done = subprocess.run(
            ["bash", "-c", script], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
    assert "Imported 1 chunk of 1 file" in done.stderr
    told = dict(line.split("=", 1) for line in out.read_text().splitlines())
    assert told["file"] == str(tmp_path / "index.cqm")
    assert told["sha256"] == hashlib.sha256((tmp_path / "index.cqm").read_bytes()).hexdigest()
    assert not (tmp_path / "x").exists()
