"""`cqm setup` in a home with the files of twelve clients."""

import io
import json
import os
import stat
import sys
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import yaml
from click.testing import CliRunner

from cqm.server.cli.main import app
from cqm.server.setup.clients import CLIENTS
from cqm.server.setup.machine import Machine
from cqm.server.setup.setup import Asked, setup

if TYPE_CHECKING:
    from conftest import Home

FILES: dict[str, bytes] = {
    # Claude Code's own file, which it writes itself.
    ".claude.json": b'{\n  "numStartups": 12,\n  "projects": {\n    "/p": {\n      "allowedTools": []\n    }\n  }\n}\n',
    ".claude/CLAUDE.md": b"# Mine\n\nAlways be brief.",
    # Claude Desktop, indented by tabs, without a final line end.
    ".config/Claude/claude_desktop_config.json": b'{\n\t"globalShortcut": "",\n\t"mcpServers": {}\n}',
    # Cursor, in one line.
    ".cursor/mcp.json": b'{"mcpServers": {"linear": {"url": "https://mcp.linear.app/mcp"}}}',
    # VS Code, with a byte order mark, CRLF, comments and trailing commas.
    ".config/Code/User/mcp.json": (
        b'\xef\xbb\xbf{\r\n    // servers\r\n    "servers": {\r\n        "gh": {\r\n            "type": "http",\r\n'
        b'            "url": "https://x.example", // mine\r\n        },\r\n    },\r\n    "inputs": [],\r\n}\r\n'
    ),
    # Windsurf, empty.
    ".codeium/windsurf/mcp_config.json": b"",
    # Zed, with a head of comments.
    ".config/zed/settings.json": (
        b"// Zed settings\n//\n// see https://zed.dev/docs\n{\n"
        b'  "theme": { "mode": "system" },\n  /* servers */ "context_servers": {\n    "a": { "command": "b" } // last\n'
        b"  }\n}\n"
    ),
    # Codex, with tables, an array of tables and a comment at the end.
    ".codex/config.toml": (
        b'model = "gpt-5"\r\n\r\n[mcp_servers.docs]\r\ncommand = "docs"  # mine\r\n\r\n[projects."/p"]\r\n'
        b'trust_level = "trusted"\r\n# end'
    ),
    ".gemini/settings.json": b'{\n   "security": {"auth": {"selectedType": "oauth"}}\n}\n',
    ".gemini/GEMINI.md": b"",
    # opencode, older name of its file.
    ".config/opencode/opencode.json": b'{\n  "$schema": "https://opencode.ai/config.json",\n  "mcp": {\n  }\n}\n',
    ".qwen/settings.json": b"{}",
    # Goose, with comments, a block of text and blank lines.
    ".config/goose/config.yaml": (
        b"# Goose\nGOOSE_MODEL: x\nextensions:\n  # built in\n  developer:\n    enabled: true\n    type: builtin\n\n"
        b"notes: |\n  extensions:\n    cqm: no\n"
    ),
    # Cline, with another server as the program writes it.
    ".cline/data/settings/cline_mcp_settings.json": (
        b'{\n  "mcpServers": {\n    "a": {\n      "transport": {"type": "stdio", "command": "b"}\n    }\n  }\n}'
    ),
}
"""The files of twelve clients, and two with instructions."""
CQM = str(Path(sys.executable).parent / "cqm")


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def test_a_file_that_is_read_only_is_left_alone_and_told(home: "Home") -> None:
    home.write(FILES)
    file = home.home / ".config" / "zed" / "settings.json"
    file.chmod(0o444)
    done = home.run("--yes", "--client", "zed", "--client", "zed")
    assert done.exit_code == 1
    assert "it is read-only: make it writable, and run this again" in done.output
    assert "Clients: Zed." in done.output
    assert file.read_bytes() == FILES[".config/zed/settings.json"]
    file.chmod(0o644)
    assert home.run("--yes", "--client", "zed").exit_code == 0


def test_twelve_clients_get_an_entry_a_second_run_changes_nothing_and_remove_restores_every_byte(home: "Home") -> None:
    home.write(FILES)
    assert home.run("--yes", "--instructions").exit_code == 0
    written = home.files()
    assert {path for path in FILES if written[path] == FILES[path]} == set()
    assert {path: data for path, data in written.items() if path.endswith(".cqm-backup")} == {
        f"{path}.cqm-backup": data for path, data in FILES.items()
    }
    again = home.json("--yes", "--instructions")
    assert {change["action"] for change in again["changes"]} == {"unchanged"}
    assert home.files() == written
    assert home.run("--remove", "--yes").exit_code == 0
    assert home.files() == FILES


def test_every_byte_outside_of_the_entry_stays(home: "Home") -> None:
    home.write(FILES)
    home.run("--yes")
    for path, before in FILES.items():
        after = (home.home / path).read_bytes()
        left = iter(after)
        assert all(byte in left for byte in before), f"{path} lost bytes, or their order"
    vscode = (home.home / ".config/Code/User/mcp.json").read_bytes()
    assert vscode.startswith(b"\xef\xbb\xbf")
    assert vscode.count(b"\n") == vscode.count(b"\r\n")


def test_each_client_finds_the_entry_where_its_documents_say(home: "Home") -> None:
    home.write(FILES)
    home.run("--yes", "--root", ".")
    serve = ["serve", "--root", str(home.project)]
    plain = {"command": CQM, "args": serve}
    assert home.entry(".claude.json", ["mcpServers", "cqm"]) == {"type": "stdio", **plain}
    assert home.entry(".config/Claude/claude_desktop_config.json", ["mcpServers", "cqm"]) == plain
    assert home.entry(".cursor/mcp.json", ["mcpServers", "cqm"]) == {"type": "stdio", **plain}
    assert home.entry(".codeium/windsurf/mcp_config.json", ["mcpServers", "cqm"]) == plain
    assert home.entry(".gemini/settings.json", ["mcpServers", "cqm"]) == {**plain, "timeout": 120_000}
    assert home.entry(".qwen/settings.json", ["mcpServers", "cqm"]) == plain | {"alwaysLoadTools": True}
    local = {"type": "local", "command": [CQM, *serve]}
    assert home.entry(".config/opencode/opencode.json", ["mcp", "cqm"]) == local
    cline = home.entry(".cline/data/settings/cline_mcp_settings.json", ["mcpServers", "cqm"])
    assert cline == {"transport": {"type": "stdio", **plain}}
    codex = tomllib.loads((home.home / ".codex/config.toml").read_text(encoding="utf-8"))
    assert codex["mcp_servers"]["cqm"] == plain
    goose = yaml.safe_load((home.home / ".config/goose/config.yaml").read_text(encoding="utf-8"))["extensions"]["cqm"]
    assert (goose["cmd"], goose["args"], goose["enabled"], goose["type"]) == (CQM, serve, True, "stdio")


def test_a_client_without_a_file_gets_one_and_loses_it_again(home: "Home") -> None:
    (home.home / ".codex").mkdir()
    (home.home / ".config/goose").mkdir(parents=True)
    assert home.actions("--yes") == {".codex/config.toml": "create", ".config/goose/config.yaml": "create"}
    assert home.actions("--yes", "--remove") == {".codex/config.toml": "delete", ".config/goose/config.yaml": "delete"}
    assert home.files() == {}


def test_every_client_gets_another_root_and_loses_its_entry_again(home: "Home") -> None:
    machine = Machine(home.home, sys.platform, {})
    rows = [row for row in CLIENTS if row.user]
    for row in rows:
        for folder in row.folders:
            machine.path(folder).mkdir(parents=True, exist_ok=True)
    assert set(home.actions("--yes", "--root", ".").values()) == {"create"}
    assert set(home.actions("--yes", "--root", str(home.home)).values()) == {"update"}
    assert len(home.files()) == len(rows)
    assert set(home.actions("--yes", "--remove").values()) == {"delete"}
    assert home.files() == {}


def test_what_the_user_wrote_since_stays_when_the_entry_goes(home: "Home") -> None:
    home.write(FILES)
    home.run("--yes", "--instructions")
    edits = {
        ".codex/config.toml": lambda text: text + "\n[tui]\nnotifications = true\n",
        ".cursor/mcp.json": lambda text: text.replace("linear", "renamed"),
        ".config/zed/settings.json": lambda text: text.replace('"system"', '"dark"'),
        ".config/goose/config.yaml": lambda text: text.replace("GOOSE_MODEL: x", "GOOSE_MODEL: y # new"),
        ".claude/CLAUDE.md": lambda text: text + "\nOne more.\n",
    }
    for path, edit in edits.items():
        file = home.home / path
        file.write_text(edit(file.read_text(encoding="utf-8")), encoding="utf-8", newline="")
    home.run("--yes", "--remove")
    left = {path: home.files()[path].decode() for path in edits}
    assert left[".codex/config.toml"].endswith("# end\n\n[tui]\nnotifications = true\n")
    assert left[".cursor/mcp.json"] == FILES[".cursor/mcp.json"].decode().replace("linear", "renamed")
    assert left[".config/zed/settings.json"] == FILES[".config/zed/settings.json"].decode().replace("system", "dark")
    assert left[".config/goose/config.yaml"] == FILES[".config/goose/config.yaml"].decode().replace(": x", ": y # new")
    assert left[".claude/CLAUDE.md"] == "# Mine\n\nAlways be brief.\n\nOne more.\n"
    assert not [path for path in home.files() if path.endswith("backup")]


def test_a_newer_path_of_cqm_updates_the_entry_and_the_first_copy_stays(home: "Home") -> None:
    home.write({".cursor/mcp.json": b'{"mcpServers": {"a": {}}}\n'})
    home.run("--yes")
    file = home.home / ".cursor/mcp.json"
    file.write_text(file.read_text().replace(CQM, "/old/bin/cqm"))
    assert home.actions("--yes") == {".cursor/mcp.json": "update"}
    assert home.entry(".cursor/mcp.json", ["mcpServers", "cqm", "command"]) == CQM
    home.run("--yes", "--remove")
    assert home.files() == {".cursor/mcp.json": b'{"mcpServers": {"a": {}}}\n'}


@pytest.mark.parametrize(
    "own",
    [
        {"command": "docker", "args": ["run", "cqm"]},
        {"command": CQM, "args": ["serve", "--set", "search.limit=5"], "type": "stdio"},
        {"type": "stdio", "command": CQM, "args": ["serve"], "disabled": True},
    ],
)
def test_an_entry_of_the_users_own_shape_stays_unless_it_is_to_be_replaced(home: "Home", own: object) -> None:
    files = {".cursor/mcp.json": json.dumps({"mcpServers": {"cqm": own}}).encode()}
    home.write(files)
    assert home.actions("--yes") == {".cursor/mcp.json": "kept"}
    assert home.actions("--yes", "--remove") == {".cursor/mcp.json": "kept"}
    assert home.files() == files
    assert home.actions("--yes", "--replace") == {".cursor/mcp.json": "update"}
    assert home.entry(".cursor/mcp.json", ["mcpServers", "cqm", "args"]) == ["serve"]
    home.run("--yes", "--remove")
    assert home.files() == files


@pytest.mark.parametrize(
    ("path", "data", "line"),
    [
        (".cursor/mcp.json", b'{\n  "mcpServers": {\n    "a": 1\n    "b": 2\n  }\n}', "line 4: "),
        (".cursor/mcp.json", b'{"mcpServers": []}', 'line 1: "mcpServers" is no object'),
        (".cursor/mcp.json", b"[]", "line 1: the document is no object"),
        (".cursor/mcp.json", b'{"a": "\xff"}', "it is not UTF-8"),
        (".cursor/mcp.json", b"[" * 200_000, "line 1: nested too deeply"),
        (".cursor/mcp.json", b"/* " * 300_000, "line 1: "),
        (".cursor/mcp.json", b'{"a": ' + b'"\\"' * 300_000, "line 1: "),
        (".cursor/mcp.json", b'{"a": [' + b",  " * 300_000, "line 1: "),
        (".codex/config.toml", b"a = 1\nb = = 2\n", "line 2: "),
        (".codex/config.toml", b'mcp_servers = { a = { command = "b" } }\n', "line 3: "),
        (".config/goose/config.yaml", b"a: 1\n b: 2\n", "line 2: "),
        (".config/goose/config.yaml", b"extensions: {a: {enabled: true}}\n", "line 1: extensions is no block of keys"),
        (".config/goose/config.yaml", b"a: 1\n---\nb: 2\n", "line 2: "),
    ],
)
def test_a_file_which_cannot_be_read_is_never_written_and_the_entry_is_shown(
    home: "Home", path: str, data: bytes, line: str
) -> None:
    home.write({path: data})
    done = home.run("--yes")
    assert done.exit_code == 1
    assert f"{home.home / path} refused: {line}" in done.stdout
    assert "Paste this there yourself:\n" in done.stdout
    assert CQM in done.stdout
    assert home.files() == {path: data}


@pytest.mark.skipif(sys.platform == "win32" or os.geteuid() == 0, reason="this user can read every file")
def test_an_unreadable_file_is_told(home: "Home") -> None:
    home.write({".cursor/mcp.json": b"{}"})
    (home.home / ".cursor/mcp.json").chmod(0)
    assert home.actions("--yes", code=1) == {".cursor/mcp.json": "refused"}


def test_what_is_no_file_and_what_is_huge_is_refused(home: "Home") -> None:
    home.write({".qwen/settings.json": b"{}"})
    (home.home / ".cursor/mcp.json").mkdir(parents=True)
    os.truncate(home.home / ".qwen/settings.json", (32 << 20) + 1)
    actions = home.actions("--yes", code=1)
    assert actions == {".cursor/mcp.json": "refused", ".qwen/settings.json": "refused"}


def test_a_large_file_of_years_keeps_its_bytes(home: "Home") -> None:
    history = {f"/p/{i}": {"history": [{"display": "x" * 100, "pastedContents": {}}] * 10} for i in range(2_000)}
    before = json.dumps({"projects": history}, indent=2).encode()
    home.write({".claude.json": before})
    home.run("--yes", "--client", "claude-code")
    assert len(home.files()[".claude.json"]) > len(before) > 2_000_000
    home.run("--yes", "--remove", "--client", "claude-code")
    assert home.files() == {".claude.json": before}


@pytest.mark.skipif(sys.platform == "win32", reason="links")
def test_a_link_within_the_home_is_followed_and_told_and_one_out_of_it_is_not(home: "Home", tmp_path: Path) -> None:
    home.write({"dotfiles/cursor.json": b"{}\n", ".cursor/other": b"", ".qwen/other": b""})
    (tmp_path / "elsewhere.json").write_bytes(b"{}\n")
    (home.home / ".cursor/mcp.json").symlink_to(home.home / "dotfiles/cursor.json")
    (home.home / ".qwen/settings.json").symlink_to(tmp_path / "elsewhere.json")
    done = home.run("--yes")
    assert f"(a link to {home.home / 'dotfiles/cursor.json'})" in done.stdout
    assert f"refused: it is a link to {tmp_path / 'elsewhere.json'}, outside of {home.home}" in done.stdout
    assert (home.home / ".cursor/mcp.json").is_symlink()
    assert b"cqm" in (home.home / "dotfiles/cursor.json").read_bytes()
    assert (tmp_path / "elsewhere.json").read_bytes() == b"{}\n"


@pytest.mark.skipif(sys.platform == "win32", reason="permissions")
@pytest.mark.skipif(sys.platform == "win32" or os.geteuid() != 0, reason="only root can give files away")
def test_a_file_stays_its_owners_under_sudo(home: "Home") -> None:
    home.write(FILES)
    file = home.home / ".cursor" / "mcp.json"
    os.chown(file, 4321, 4322)
    for arguments in (["--yes"], ["--yes", "--remove"]):
        assert home.run(*arguments, "--client", "cursor").exit_code == 0
        for it in (file, file.with_name("mcp.json.cqm-backup")):
            assert not it.exists() or (it.stat().st_uid, it.stat().st_gid) == (4321, 4322)


def test_permissions_stay_and_the_copy_has_the_same(home: "Home") -> None:
    home.write({".cursor/mcp.json": b"{}"})
    (home.home / ".cursor/mcp.json").chmod(0o640)
    home.run("--yes")
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in (home.home / ".cursor").iterdir()}
    assert modes == {"mcp.json": 0o640, "mcp.json.cqm-backup": 0o640}


def test_nothing_is_written_without_consent(home: "Home") -> None:
    home.write(FILES)
    assert home.run("--dry-run").exit_code == 0
    asked = home.run()
    assert asked.exit_code == 2
    assert "Give --yes to write" in asked.stderr
    assert home.json("--dry-run")["written"] is False
    assert home.files() == FILES


def test_an_edit_of_a_file_that_would_be_deleted_is_kept_while_the_question_waits(
    home: "Home", monkeypatch: pytest.MonkeyPatch
) -> None:
    machine = Machine(home.home, "linux", {})
    asked = Asked(("cursor",), yes=True)
    assert setup(asked, machine, home.project) == 0
    file = home.home / ".cursor" / "mcp.json"
    edited = file.read_bytes().replace(
        b'"mcpServers": {', b'"mcpServers": {"linear": {"url": "https://mcp.linear.app"},'
    )
    assert edited != file.read_bytes()

    def agree(*_: object, **__: object) -> bool:
        file.write_bytes(edited)
        return True

    monkeypatch.setattr("click.confirm", agree)
    monkeypatch.setattr("sys.stdin", Terminal())
    monkeypatch.setattr("sys.stderr", Terminal())
    assert setup(replace(asked, yes=False, remove=True), machine, home.project) == 1
    assert file.read_bytes() == edited


def test_other_lines_of_a_file_are_not_shown_since_they_may_hold_keys(home: "Home") -> None:
    home.write(
        {".cursor/mcp.json": b'{\n  "mcpServers": {\n    "a": {"env": {"KEY": "s3cret"}}\n  },\n  "b": "s3cret"\n}'}
    )
    shown = home.run("--yes").output + json.dumps(home.json("--dry-run"))
    assert "s3cret" not in shown.replace('    "a": {"env": {"KEY": "s3cret"}}', "")


def test_folders_of_the_environment_are_written_out_and_keys_never_are(
    home: "Home", monkeypatch: pytest.MonkeyPatch
) -> None:
    (home.home / ".codex").mkdir()
    monkeypatch.setenv("XDG_CACHE_HOME", str(home.home / "cache"))
    monkeypatch.setenv("CQM_INDEX_HOME", "relative")
    monkeypatch.setenv("CQM_EMBEDDING_API_KEY_FILE", "/a/key")
    monkeypatch.setenv("VOYAGE_API_KEY", "s3cret")
    done = home.run("--yes")
    assert "CQM_EMBEDDING_API_KEY_FILE" in done.stderr
    text = (home.home / ".codex/config.toml").read_text()
    cache, index = str(home.home / "cache"), str(home.project / "relative")
    assert tomllib.loads(text)["mcp_servers"]["cqm"]["env"] == {"XDG_CACHE_HOME": cache, "CQM_INDEX_HOME": index}
    assert "key" not in text.lower()
    assert home.actions("--yes", "--no-env") == {".codex/config.toml": "update"}
    assert "env" not in tomllib.loads((home.home / ".codex/config.toml").read_text())["mcp_servers"]["cqm"]


def test_a_clients_own_variable_moves_its_folder(home: "Home", monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CODEX_HOME", str(home.home / "moved"))
    (home.home / "moved").mkdir()
    assert home.actions("--yes") == {"moved/config.toml": "create"}


def test_files_of_a_project_hold_no_paths_of_this_machine_but_the_program(home: "Home") -> None:
    names = ["claude-code", "copilot", "cursor", "vscode", "codex"]
    actions = home.actions("--yes", "--project", "--instructions", *(f"--client={name}" for name in names))
    assert actions == {
        "project/.mcp.json": "unchanged",
        "project/.cursor/mcp.json": "create",
        "project/.vscode/mcp.json": "create",
        "project/.codex/config.toml": "create",
        "project/CLAUDE.md": "create",
        "project/AGENTS.md": "create",
    }
    assert home.entry("project/.mcp.json", ["mcpServers", "cqm", "args"]) == ["serve"]
    root = ["serve", "--root", "${workspaceFolder}"]
    assert home.entry("project/.vscode/mcp.json", ["servers", "cqm", "args"]) == root
    assert home.run("--yes", "--project", "--remove", *(f"--client={name}" for name in names)).exit_code == 0
    assert home.files() == {}


def test_a_client_with_a_window_is_told_the_project(home: "Home") -> None:
    (home.home / ".codeium/windsurf").mkdir(parents=True)
    home.run("--yes")
    args = home.entry(".codeium/windsurf/mcp_config.json", ["mcpServers", "cqm", "args"])
    assert args == ["serve", "--root", str(home.project)]


@pytest.mark.parametrize("where", ["/", "", "plain"])
def test_outside_of_a_project_a_client_that_needs_a_root_is_asked_for_one(
    home: "Home", monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    """Once the entry had `--root /`, the plain folder, or in the home folder none."""
    folder = home.home / where
    folder.mkdir(exist_ok=True)
    monkeypatch.chdir(folder)
    done = home.run("--yes", "--client", "windsurf")
    assert done.exit_code == 1
    assert f"{folder} is no project, and this client needs one: give --root FOLDER" in done.stdout
    assert "Paste" not in done.stdout
    assert home.files() == {}
    assert home.run("--yes", "--client", "windsurf", "--root", str(home.project)).exit_code == 0
    assert home.actions("--yes", "--client", "windsurf") == {".codeium/windsurf/mcp_config.json": "kept"}
    assert home.run("--yes", "--client", "windsurf", "--remove").exit_code == 0
    assert home.files() == {}


def test_files_of_a_project_are_not_written_to_the_home_folder(home: "Home", monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(home.home)
    done = home.run("--yes", "--project", "--client", "claude-code")
    assert done.exit_code == 2
    assert "is no project" in done.stderr
    assert home.files() == {}


def test_a_removal_leaves_no_empty_folder_and_no_copy(home: "Home") -> None:
    (home.project / ".amp").mkdir()
    (home.project / ".amp/own").write_bytes(b"")
    names = [f"--client={name}" for name in ("amp", "codex", "vscode", "cursor")]
    home.write({"project/AGENTS.md": b"# Mine\n"})
    assert home.run("--yes", "--project", "--instructions", *names).exit_code == 0
    home.write({"project/AGENTS.md": b"# Mine, without the paragraph\n"})
    assert home.run("--yes", "--project", "--remove", *names).exit_code == 0
    assert home.files() == {"project/.amp/own": b"", "project/AGENTS.md": b"# Mine, without the paragraph\n"}
    assert sorted(path.name for path in home.project.iterdir()) == [".amp", ".git", "AGENTS.md"]


@pytest.mark.parametrize(
    ("path", "data"),
    [(".gemini/settings.json", b"{,"), (".grok/config.toml", b"[a"), (".commandcode/mcp.json", b"\xff")],
)
def test_nothing_is_to_be_removed_from_a_broken_file_where_setup_never_wrote(
    home: "Home", path: str, data: bytes
) -> None:
    home.write({path: data})
    done = home.run("--yes", "--remove")
    assert done.exit_code == 0, done.output
    assert f"{home.home / path} has no entry" in done.stdout
    home.write({path: data + b" cqm"})
    done = home.run("--yes", "--remove")
    assert done.exit_code == 1
    assert "If there is an entry `cqm`, delete it yourself" in done.stdout
    assert "Paste" not in done.stdout


def test_an_unknown_client_is_named_with_those_there_are(home: "Home") -> None:
    done = home.run("--client", "emacs")
    assert done.exit_code == 2
    assert "--client emacs: there is no such client. Known: claude-code, " in done.stderr


@pytest.mark.processes
@pytest.mark.skipif(sys.platform == "win32", reason="a program of the shell stands for the client's")
def test_a_client_whose_program_is_there_is_asked_what_it_sees(home: "Home", tmp_path: Path) -> None:
    program = tmp_path / "programs" / "codex"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\necho \"$1 $2\"; printf 'cqm  \\033[32m✓ Connected\\033[0m\\n'\n")
    program.chmod(0o755)
    checks = home.json("--yes")["checks"]
    assert checks == [{"client": "Codex", "command": "codex mcp list", "said": "cqm ✓ Connected", "connects": True}]
    program.write_text("#!/bin/sh\necho 'cqm: Disconnected'\n")
    done = home.run("--yes")
    assert done.exit_code == 1
    assert "Codex: `codex mcp list` says: cqm: Disconnected" in done.stdout
    # As one does that leaves a process behind, which holds its output open: it has answered all the same.
    os.mkfifo(tmp_path / "never written")
    program.write_text(f"#!/bin/sh\n/bin/cat '{tmp_path}/never written' &\necho 'cqm: Connected'\n")
    assert home.json("--yes")["checks"][0]["connects"]
    # Waits for the reader, which ends then.
    os.close(os.open(tmp_path / "never written", os.O_WRONLY))
    # As Gemini CLI tells of every server in a folder that it was not started in before.
    program.write_text("#!/bin/sh\necho 'cqm: Disabled'; echo 'Servers are disabled: this folder is untrusted.' >&2\n")
    done = home.run("--yes")
    assert done.exit_code == 0
    assert "says: cqm: Disabled Servers are disabled: this folder is untrusted." in done.stdout


def test_every_client_has_a_file_on_every_platform() -> None:
    assert len(CLIENTS) >= 19
    assert len({row.id for row in CLIENTS}) == len(CLIENTS)
    for platform in ("linux", "darwin", "win32"):
        machine = Machine(Path("/home/u"), platform, {})
        for row in CLIENTS:
            for place in filter(None, [row.user]):
                assert all(machine.path(file).is_absolute() for file in (*place.files, place.on_windows or "/"))
    mac, windows = (Machine(Path("/u"), platform, {}) for platform in ("darwin", "win32"))
    assert mac.path("{app}/Claude") == Path("/u/Library/Application Support/Claude")
    assert windows.path("{app}/Claude") == Path("/u/AppData/Roaming/Claude")


@pytest.mark.parametrize(
    ("platform", "files"),
    [
        (
            "win32",
            [
                "AppData/Roaming/Code/User/mcp.json",
                "AppData/Roaming/Zed/settings.json",
                "AppData/Roaming/Block/goose/config/config.yaml",
                "AppData/Roaming/Claude/claude_desktop_config.json",
            ],
        ),
        (
            "darwin",
            [
                "Library/Application Support/Code/User/mcp.json",
                ".config/zed/settings.json",
                ".config/goose/config.yaml",
                "Library/Application Support/Claude/claude_desktop_config.json",
            ],
        ),
    ],
)
def test_other_systems_have_other_folders(home: "Home", platform: str, files: list[str]) -> None:
    machine = Machine(home.home, platform, {})
    asked = Asked(("vscode", "zed", "goose", "claude-desktop"), yes=True)
    assert setup(asked, machine, home.project) == 0
    assert sorted(home.files()) == sorted(files)
    assert setup(replace(asked, remove=True), machine, home.project) == 0
    assert home.files() == {}


def test_help_tells_what_it_does() -> None:
    assert "Connect CQM to the agents' clients" in CliRunner().invoke(app, ["setup", "--help"]).stdout
