"""The documents are short, their links lead somewhere, and their examples work."""

import importlib.util
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from urllib.parse import unquote

import pytest
from forked import HAS_FORK, Forks

from cqm.server.config.settings import load_settings

ROOT = Path(__file__).resolve().parents[2]
DEMO = Path(__file__).parent / "demo"
DOCS = sorted((ROOT / "docs").rglob("*.md"))
PAGES = [*(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md")), *DOCS]
SHOWN = [ROOT / "README.md", *DOCS]
"""The pages whose examples are run; those of the others change this checkout."""

MOST_WORDS = 2_000
LONGEST_ENTRY = 140
"""Characters of a line of the changelog."""
MOST_NOT_RUN = 18
"""Blocks that need a registry, another program or a service. Think twice before you raise this."""

_BLOCK = re.compile(
    r"^(?:<!-- not run: (?P<why>[^\n]+) -->\n)?```(?P<kind>\w*)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL
)
_LINK = re.compile(r"\]\((?!https?:)([^)\s]+)\)")
_HEADING = re.compile(r"^#+ +(.+)$", re.MULTILINE)
_LOADED = re.compile(r"<(?:script|img|iframe|link)\b[^>]*?\b(?:src|href)=[\"']?(?:https?:)?//[^>]*>")
_OF_SHELL = re.compile(r"[|<>;&$()]|^\w+=|^(?!cqm )")
_FILE = re.compile(r"`((?:server|index|chunkers|tests|training|requirements|docs|\.ci)/[\w./-]*)`")


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block of a page.

    Attributes:
        kind: the word after the fence.
        text: its lines.
        why_not: why it cannot be run; empty where it can.
    """

    kind: str
    text: str
    why_not: str


def blocks(page: Path) -> Iterator[Block]:
    for found in _BLOCK.finditer(page.read_text(encoding="utf-8")):
        yield Block(found["kind"], found["text"], found["why"] or "")


def examples(*kinds: str) -> list[object]:
    """A parameter for each page with examples of some kinds: its path, and their texts in order."""
    texts = {page: [it.text for it in blocks(page) if it.kind in kinds and not it.why_not] for page in SHOWN}
    return [pytest.param(found, id=page.relative_to(ROOT).as_posix()) for page, found in texts.items() if found]


def without_blocks(page: Path) -> str:
    return _BLOCK.sub("", page.read_text(encoding="utf-8"))


def anchors(page: Path) -> set[str]:
    """The ends of links to headings of a page, where GitHub and mkdocs agree on them."""
    titles = [re.sub(r"[`*]", "", title) for title in _HEADING.findall(without_blocks(page))]
    plain = [re.sub(r"[^\w\s-]", "", title).strip().lower() for title in titles]
    of_github = {re.sub(r"\s", "-", title) for title in plain}
    return of_github & {re.sub(r"[-\s]+", "-", title) for title in plain}


def test_the_readme_is_short() -> None:
    assert len((ROOT / "README.md").read_text(encoding="utf-8").split()) < MOST_WORDS


def test_the_changelog_is_a_list_of_short_entries_under_headings_of_their_own() -> None:
    lines = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8").splitlines()
    assert [line for line in lines if len(line) > LONGEST_ENTRY] == []
    _, *versions = re.split(r"^## ", "\n".join(lines), flags=re.MULTILINE)
    for version in versions:
        headings = re.findall(r"^### .*$", version, re.MULTILINE)
        assert len(headings) == len(set(headings))
        entries = version[version.index("### ") :]
        assert [line for line in entries.splitlines() if line and not line.startswith(("### ", "- ", "  "))] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_every_link_between_documents_leads_to_a_file_and_a_heading(page: Path) -> None:
    broken = []
    for link in _LINK.findall(without_blocks(page)):
        path, _, anchor = unquote(link).partition("#")
        target = (page.parent / path).resolve() if path else page
        if not target.exists() or (anchor and anchor not in anchors(target)):
            broken.append(link)
    assert broken == []


@pytest.mark.parametrize("page", [ROOT / "CONTRIBUTING.md", *SHOWN], ids=lambda page: page.relative_to(ROOT).as_posix())
def test_every_file_that_a_document_names_exists(page: Path) -> None:
    named = _FILE.findall(without_blocks(page))
    assert [name for name in named if not (ROOT / name).exists()] == []


def test_few_examples_are_not_run() -> None:
    known = {"sh", "python", "json", "yaml", "toml", "text"}
    found = [block for page in SHOWN for block in blocks(page)]
    assert {block.kind for block in found} <= known
    assert len([block for block in found if block.why_not]) <= MOST_NOT_RUN


@dataclass(frozen=True, slots=True)
class Shell:
    """Runs lines of a shell in the demo project, with a home of its own and `cqm` on the path.

    Attributes:
        project: a copy of the demo project; all pages share it.
        environment: the variables.
        forks: runs plain calls of `cqm` without their imports; None where processes cannot be forked.
    """

    project: Path
    environment: dict[str, str]
    forks: Forks | None

    def run(self, line: str) -> "subprocess.CompletedProcess[bytes]":
        if self.forks and not _OF_SHELL.search(line):
            name, *arguments = shlex.split(line, comments=True)
            program = shutil.which(name, path=self.environment["PATH"]) or name
            return self.forks.run([program, *arguments], self.project, self.environment, b"")
        command = ["bash", "-euc", line]
        return subprocess.run(command, cwd=self.project, env=self.environment, capture_output=True, check=False)


@pytest.fixture(scope="module")
def shell(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shell]:
    top = tmp_path_factory.mktemp("documents")
    shutil.copytree(DEMO, top / "project", ignore=shutil.ignore_patterns("__pycache__"))
    (top / "home").mkdir()
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("CQM_", "XDG_"))}
    path = os.pathsep.join((sysconfig.get_path("scripts"), os.environ["PATH"]))
    shell = Shell(top / "project", kept | {"HOME": str(top / "home"), "PATH": path}, Forks() if HAS_FORK else None)
    as_somebody = "git -c user.name=demo -c user.email=demo@localhost"
    shell.run(f"git init --quiet && git add . && {as_somebody} commit --quiet -m 'Retry when the server is busy'")
    # Pages are read in any order, and one deletes the index.
    shell.run("cqm index")
    yield shell
    # The process that owns the index ends with it.
    shell.run("cqm remove --yes .")
    if shell.forks:
        shell.forks.close()


@pytest.mark.processes
@pytest.mark.parametrize("texts", examples("sh"))
def test_the_commands_of_a_document_work(texts: list[str], shell: Shell) -> None:
    for line in "".join(texts).splitlines():
        done = shell.run(line)
        assert done.returncode == 0, f"{line}\n{(done.stdout + done.stderr).decode()}"


@pytest.mark.processes
@pytest.mark.parametrize("texts", examples("python"))
def test_the_programs_of_a_document_work(
    texts: list[str], shell: Shell, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("os.environ", dict(shell.environment))
    monkeypatch.chdir(shell.project)
    for text in texts:
        exec(compile(text, "example", "exec"), {"__name__": "__main__"})
    assert not capsys.readouterr().err


@pytest.mark.parametrize("texts", examples("yaml"))
def test_the_configuration_that_a_document_shows_is_accepted(texts: list[str], tmp_path: Path) -> None:
    for text in texts:
        (tmp_path / "cqm.yml").write_text(text, encoding="utf-8")
        load_settings(environment={}, user=tmp_path / "cqm.yml")


@pytest.mark.parametrize("texts", examples("json"))
def test_the_json_of_a_document_names_a_command_of_an_agents_client(texts: list[str]) -> None:
    for text in texts:
        (servers,) = json.loads(text).values()
        assert servers["cqm"]["command"].endswith("cqm")
        assert servers["cqm"]["args"][0] == "serve"


@pytest.mark.parametrize("texts", examples("toml"))
def test_the_toml_of_a_document_can_be_read(texts: list[str]) -> None:
    assert all(tomllib.loads(text) for text in texts)


def test_the_page_of_options_is_that_of_the_code() -> None:
    written = (ROOT / "docs" / "options.md").read_text(encoding="utf-8")
    assert written == script("make_options").page(), "run docs/make_options.py"


@pytest.mark.processes
def test_the_documents_build_without_a_warning_and_ask_nobody_for_anything(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(tmp_path / "site")]
    quiet = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(command, cwd=ROOT, env=quiet, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    html = "".join(page.read_text(encoding="utf-8") for page in (tmp_path / "site").rglob("*.html"))
    assert _LOADED.findall(html) == []


def script(name: str) -> ModuleType:
    """A program of the folder of documents."""
    spec = importlib.util.spec_from_file_location(name, ROOT / "docs" / f"{name}.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module
