"""Agents' clients, a row each: signs of their presence, the files they read, and the form of an entry there.

Sources are the clients' own documents of November 2026, and files written by Claude Code, Codex, Gemini CLI, Qwen Code,
Copilot CLI, opencode and Cline. `docs/clients.md` lists them.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from cqm.server.setup.formats import Format

Entry = dict[str, object]
Shape = Callable[[Sequence[str], Mapping[str, str]], Entry]
"""Make an entry of a command with its arguments, and of variables."""

WORKSPACE = "${workspaceFolder}"
"""The open folder, in files of VS Code and Cursor."""


def _plain(command: Sequence[str], variables: Mapping[str, str]) -> Entry:
    program, *arguments = command
    entry: Entry = {"command": program, "args": arguments}
    return entry | ({"env": dict(variables)} if variables else {})


def _stdio(command: Sequence[str], variables: Mapping[str, str]) -> Entry:
    return {"type": "stdio", **_plain(command, variables)}


def _gemini(command: Sequence[str], variables: Mapping[str, str]) -> Entry:
    # Milliseconds of a request; CQM answers within a minute. Without it `gemini mcp list` gives up after 5 s.
    return {**_plain(command, variables), "timeout": 120_000}


def _qwen(command: Sequence[str], variables: Mapping[str, str]) -> Entry:
    # Its model would know none of our tools before looking for one; it reads no `_meta` naming those to load.
    return {**_plain(command, variables), "alwaysLoadTools": True}


def _local(command: Sequence[str], variables: Mapping[str, str]) -> Entry:
    entry: Entry = {"type": "local", "command": list(command)}
    return entry | ({"environment": dict(variables)} if variables else {})


def _copilot(command: Sequence[str], variables: Mapping[str, str]) -> Entry:
    return {"type": "local", "tools": ["*"], **_plain(command, variables)}


def _cline(command: Sequence[str], variables: Mapping[str, str]) -> Entry:
    return {"transport": _stdio(command, variables)}


def _command_code(command: Sequence[str], variables: Mapping[str, str]) -> Entry:
    return {"transport": "stdio", "enabled": True, **_plain(command, variables)}


def _goose(command: Sequence[str], variables: Mapping[str, str]) -> Entry:
    program, *arguments = command
    return {
        "enabled": True,
        "type": "stdio",
        "name": "cqm",
        "description": "Code-aware search",
        "cmd": program,
        "args": arguments,
        "envs": dict(variables),
        "timeout": 300,
    }


@dataclass(frozen=True, slots=True)
class ConfigFile:
    """A file which a client reads, and the place of an entry in it.

    Attributes:
        files: of these the first which exists, else the first; templates of `Machine.path` for a user's files, relative
            to the project for a project's.
        path: keys down to the entry.
        arguments: further arguments of `cqm serve`.
        on_windows: the file on Windows, where it differs.
    """

    files: tuple[str, ...]
    path: tuple[str, ...] = ("mcpServers", "cqm")
    shape: Shape = _plain
    form: Format = Format.JSON
    arguments: tuple[str, ...] = ()
    on_windows: str = ""


@dataclass(frozen=True, slots=True)
class Client:
    """A program that starts MCP servers.

    Attributes:
        id: its name for `--client`.
        name: for people.
        programs: names of its command; one on the path means it is installed.
        folders: templates; one on disk means it is installed.
        user: the user's file; None if it reads only a project's.
        project: a project's file.
        instructions: a template of the user's file with instructions.
        project_instructions: a project's file with instructions.
        check: arguments for its program to try the servers and report.
        starts_elsewhere: it starts servers outside of the project and reports no roots, so the entry names the folder.
        note: a further step for the user.
    """

    id: str
    name: str
    programs: tuple[str, ...]
    folders: tuple[str, ...]
    user: ConfigFile | None
    project: ConfigFile | None = None
    instructions: str = ""
    project_instructions: str = "AGENTS.md"
    check: tuple[str, ...] = ()
    starts_elsewhere: bool = False
    note: str = ""


_MCP_JSON = ConfigFile((".mcp.json",), shape=_stdio)
_CODEX = ("mcp_servers", "cqm")
_MCP_LIST = ("mcp", "list")

CLIENTS: tuple[Client, ...] = (
    Client(
        "claude-code",
        "Claude Code",
        ("claude",),
        ("{claude}",),
        ConfigFile(("{claude_file}/.claude.json",), shape=_stdio),
        _MCP_JSON,
        instructions="{claude}/CLAUDE.md",
        project_instructions="CLAUDE.md",
        check=_MCP_LIST,
    ),
    Client(
        "claude-desktop",
        "Claude Desktop",
        (),
        ("{app}/Claude",),
        ConfigFile(("{app}/Claude/claude_desktop_config.json",)),
        starts_elsewhere=True,
        note="Restart it.",
    ),
    Client(
        "cursor",
        "Cursor",
        ("cursor", "cursor-agent"),
        ("{home}/.cursor",),
        ConfigFile(("{home}/.cursor/mcp.json",), shape=_stdio),
        ConfigFile((".cursor/mcp.json",), shape=_stdio, arguments=("--root", WORKSPACE)),
    ),
    Client(
        "vscode",
        "VS Code",
        ("code",),
        ("{app}/Code/User",),
        ConfigFile(("{app}/Code/User/mcp.json",), ("servers", "cqm"), _stdio),
        ConfigFile((".vscode/mcp.json",), ("servers", "cqm"), _stdio, arguments=("--root", WORKSPACE)),
    ),
    Client(
        "windsurf",
        "Windsurf",
        ("windsurf",),
        ("{home}/.codeium/windsurf",),
        ConfigFile(("{home}/.codeium/windsurf/mcp_config.json",)),
        starts_elsewhere=True,
        note="Refresh the servers in Cascade.",
    ),
    Client(
        "zed",
        "Zed",
        ("zed", "zeditor"),
        ("{config}/zed", "{app}/Zed"),
        ConfigFile(("{config}/zed/settings.json",), ("context_servers", "cqm"), on_windows="{app}/Zed/settings.json"),
    ),
    Client(
        "codex",
        "Codex",
        ("codex",),
        ("{codex}",),
        ConfigFile(("{codex}/config.toml",), _CODEX, form=Format.TOML),
        ConfigFile((".codex/config.toml",), _CODEX, form=Format.TOML),
        instructions="{codex}/AGENTS.md",
        check=_MCP_LIST,
    ),
    Client(
        "gemini",
        "Gemini CLI",
        ("gemini",),
        ("{home}/.gemini",),
        ConfigFile(("{home}/.gemini/settings.json",), shape=_gemini),
        ConfigFile((".gemini/settings.json",), shape=_gemini),
        instructions="{home}/.gemini/GEMINI.md",
        project_instructions="GEMINI.md",
        check=_MCP_LIST,
    ),
    Client(
        "opencode",
        "opencode",
        ("opencode",),
        ("{config}/opencode",),
        ConfigFile(("{config}/opencode/opencode.jsonc", "{config}/opencode/opencode.json"), ("mcp", "cqm"), _local),
        ConfigFile(("opencode.jsonc", "opencode.json"), ("mcp", "cqm"), _local),
        instructions="{config}/opencode/AGENTS.md",
        check=_MCP_LIST,
    ),
    Client(
        "qwen",
        "Qwen Code",
        ("qwen",),
        ("{home}/.qwen",),
        ConfigFile(("{home}/.qwen/settings.json",), shape=_qwen),
        ConfigFile((".qwen/settings.json",), shape=_qwen),
        instructions="{home}/.qwen/QWEN.md",
        project_instructions="QWEN.md",
        check=_MCP_LIST,
    ),
    Client(
        "cline",
        "Cline",
        ("cline",),
        ("{home}/.cline",),
        ConfigFile(("{home}/.cline/data/settings/cline_mcp_settings.json",), shape=_cline),
    ),
    Client(
        "continue",
        "Continue",
        ("cn",),
        ("{home}/.continue",),
        ConfigFile(("{home}/.continue/mcpServers/cqm.json",)),
        ConfigFile((".continue/mcpServers/cqm.json",)),
    ),
    Client(
        "goose",
        "Goose",
        ("goose",),
        ("{config}/goose", "{app}/Block/goose"),
        ConfigFile(
            ("{config}/goose/config.yaml",),
            ("extensions", "cqm"),
            _goose,
            Format.YAML,
            on_windows="{app}/Block/goose/config/config.yaml",
        ),
    ),
    Client(
        "junie",
        "Junie (JetBrains)",
        ("junie",),
        ("{home}/.junie",),
        ConfigFile(("{home}/.junie/mcp/mcp.json",)),
        ConfigFile((".junie/mcp/mcp.json",)),
    ),
    Client(
        "copilot",
        "GitHub Copilot CLI",
        ("copilot",),
        ("{copilot}",),
        ConfigFile(("{copilot}/mcp-config.json",), shape=_copilot),
        _MCP_JSON,
        check=_MCP_LIST,
    ),
    Client(
        "kiro",
        "Kiro",
        ("kiro", "kiro-cli"),
        ("{home}/.kiro",),
        ConfigFile(("{home}/.kiro/settings/mcp.json",)),
        ConfigFile((".kiro/settings/mcp.json",)),
    ),
    Client(
        "kilo",
        "Kilo Code",
        ("kilo",),
        ("{config}/kilo",),
        ConfigFile(("{config}/kilo/kilo.jsonc", "{config}/kilo/kilo.json"), ("mcp", "cqm"), _local),
        ConfigFile(("kilo.jsonc", "kilo.json", ".kilo/kilo.jsonc", ".kilo/kilo.json"), ("mcp", "cqm"), _local),
    ),
    Client(
        "antigravity",
        "Antigravity",
        ("agy", "antigravity"),
        ("{home}/.gemini/antigravity", "{home}/.gemini/antigravity-cli"),
        ConfigFile(("{home}/.gemini/config/mcp_config.json",)),
    ),
    Client(
        "grok",
        "Grok Build",
        ("grok",),
        ("{grok}",),
        ConfigFile(("{grok}/config.toml",), _CODEX, form=Format.TOML),
        ConfigFile((".grok/config.toml",), _CODEX, form=Format.TOML),
        check=_MCP_LIST,
    ),
    Client(
        "commandcode",
        "Command Code",
        ("commandcode",),
        ("{home}/.commandcode",),
        ConfigFile(("{home}/.commandcode/mcp.json",), shape=_command_code),
        _MCP_JSON,
    ),
    Client(
        "amp",
        "Amp",
        ("amp",),
        ("{config}/amp",),
        ConfigFile(
            ("{config}/amp/settings.json", "{config}/amp/settings.jsonc"),
            ("amp.mcpServers", "cqm"),
            on_windows="{home}/.config/amp/settings.json",
        ),
        ConfigFile((".amp/settings.json", ".amp/settings.jsonc"), ("amp.mcpServers", "cqm")),
        instructions="{config}/amp/AGENTS.md",
    ),
    Client(
        "pi",
        "Pi",
        ("pi",),
        ("{home}/.pi/agent",),
        ConfigFile(("{home}/.pi/agent/mcp.json",)),
        ConfigFile((".pi/mcp.json",)),
        note="It reads the file through its package pi-mcp-adapter.",
    ),
    Client(
        "zcode",
        "ZCode",
        ("zcode",),
        ("{home}/.zcode",),
        ConfigFile(("{home}/.zcode/cli/config.json",), ("mcp", "servers", "cqm")),
        ConfigFile((".zcode/config.json",), ("mcp", "servers", "cqm")),
    ),
    Client("reasonix", "Reasonix", ("reasonix",), ("{config}/reasonix", "{home}/.reasonix"), None, _MCP_JSON),
)
"""All clients, the most used first."""


def client(name: str) -> Client:
    """Return the client of a name for `--client`."""
    return next(row for row in CLIENTS if row.id == name)
