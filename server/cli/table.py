"""All commands of `cqm` with their summaries: the help lists them without importing any."""

from collections.abc import Iterator, MutableMapping
from importlib import import_module
from typing import NamedTuple

import click

_ROOM = "cqm.server.cli.given"


class Entry(NamedTuple):
    """A command.

    Attributes:
        group: its heading in the help.
        module: of `given`.
        attribute: its object there.
        summary: a line for the help; empty for a hidden command.
    """

    group: str
    module: str
    attribute: str
    summary: str


_ASK, _KEEP, _CONNECT, _LOOK = "Search and read", "Keep indexes", "Connect agents and people", "Measure and check"

COMMANDS = {
    "search": Entry(_ASK, "searching", "search", "Find the lines that answer QUERY."),
    "usages": Entry(_ASK, "uses", "usages", "List the definitions of NAME and every line with it."),
    "outline": Entry(_ASK, "reading", "outline", "List the symbols of a file, or the most used ones of a folder."),
    "read": Entry(_ASK, "reading", "read", "Print a symbol, lines or a file as it is now."),
    "changes": Entry(_ASK, "reading", "changes", "Print commits, and the lines they changed."),
    "index": Entry(_KEEP, "indexing", "index", "Create or update the index of PATH."),
    "watch": Entry(_KEEP, "indexing", "watch", "Update the index of PATH after each change."),
    "status": Entry(_KEEP, "indexing", "status", "Show contents, freshness and gaps of an index."),
    "list": Entry(_KEEP, "indexing", "list_indexes", "List your indexes."),
    "remove": Entry(_KEEP, "indexing", "remove", "Delete the index of each PATH."),
    "compact": Entry(_KEEP, "indexing", "compact", "Free the disk space of deleted chunks."),
    "export": Entry(_KEEP, "carrying", "export", "Write the index of PATH to FILE, for other machines."),
    "import": Entry(_KEEP, "carrying", "import_snapshot", "Take the index of PATH from FILE."),
    "publish": Entry(_KEEP, "carrying", "publish", "Write the index of PATH to the server as NAME, for a team."),
    "take": Entry(_KEEP, "carrying", "take", "Search the team's index NAME, with what differs in PATH."),
    "bulk": Entry(_KEEP, "carrying", "bulk", "Write the indexes of many repositories to files."),
    "issues": Entry(_KEEP, "issues", "issues", "Fetch issues and pull requests of GitHub."),
    "setup": Entry(_CONNECT, "serving", "setup", "Connect CQM to the agents' clients of this machine."),
    "serve": Entry(_CONNECT, "serving", "serve", "Serve agents over MCP."),
    "ui": Entry(_CONNECT, "serving", "ui", "Show PATH in the browser: search, files and chunks."),
    "completion": Entry(_CONNECT, "serving", "completion", "Print a script which completes commands in a shell."),
    "doctor": Entry(_LOOK, "indexing", "doctor", "Test everything configured; say how to fix problems."),
    "savings": Entry(_LOOK, "cutting", "savings", "Compare the tokens of answers with those of whole files."),
    "preview": Entry(_LOOK, "cutting", "preview", "Show how FILE is cut into chunks."),
    "report": Entry(_LOOK, "cutting", "report", "Measure how PATH is cut into chunks."),
    "eval": Entry(_LOOK, "measuring", "evaluate", "Measure search by questions with known answers."),
    "references": Entry(_ASK, "uses", "references", ""),
}
"""Commands by name, in the order of the help."""


class Lazily(MutableMapping[str, click.Command]):
    """The commands by name; each is imported when it is first taken."""

    def __init__(self) -> None:
        self._given: dict[str, click.Command] = {}

    def __getitem__(self, name: str) -> click.Command:
        if name not in self._given:
            entry = COMMANDS[name]
            self._given[name] = getattr(import_module(f"{_ROOM}.{entry.module}"), entry.attribute)
        return self._given[name]

    def __setitem__(self, name: str, command: click.Command) -> None:
        self._given[name] = command

    def __delitem__(self, name: str) -> None:
        raise TypeError

    def __iter__(self) -> Iterator[str]:
        return iter({**COMMANDS, **self._given})

    def __len__(self) -> int:
        return len({**COMMANDS, **self._given})


_OTHER_COMMANDS = {
    "add": "index",
    "ask": "search",
    "browse": "ui",
    "build": "index",
    "callers": "usages",
    "cat": "read",
    "check": "doctor",
    "chunk": "preview",
    "chunks": "preview",
    "clean": "remove --missing",
    "config": "doctor",
    "delete": "remove",
    "find": "search",
    "get": "read",
    "grep": "search --mode regex",
    "history": "changes",
    "init": "index",
    "install": "setup",
    "log": "changes",
    "map": "outline",
    "mcp": "serve",
    "open": "ui",
    "prune": "remove --missing",
    "query": "search",
    "refresh": "index",
    "refs": "usages",
    "reindex": "index --force",
    "rg": "search --mode regex",
    "rm": "remove",
    "server": "serve",
    "show": "read",
    "start": "serve",
    "symbols": "outline",
    "sync": "index",
    "tree": "outline",
    "update": "index",
    "version": "--version",
    "web": "ui",
}
"""Commands of other programs, and ours."""


def other_command(name: str) -> str:
    """Write that there is no such command, with ours for a name from other programs; empty for any other name."""
    meant = _OTHER_COMMANDS.get(name, "")
    return f"No such command '{name}'. Did you mean 'cqm {meant}'?" if meant else ""


_OTHER_NAMES = {
    "lang": "language",
    "type": "kind",
    "top": "limit",
    "max": "limit",
    "count": "limit",
    "glob": "include",
    "file": "include",
    "ignore": "exclude",
    "since": "changed-since",
    "root": "path",
    "dir": "path",
    "output": "format",
    "budget": "token-budget",
    "port": "http",
    "host": "http",
    "num": "limit",
    "number": "limit",
    "results": "limit",
    "k": "limit",
    "top-k": "limit",
    "max-results": "limit",
}
"""Options of other programs, and ours: their letters are too far apart to tell."""


def unknown_option(error: click.NoSuchOption) -> str:
    """Write that a command has no such option, with similar ones, the likeliest first."""
    from difflib import get_close_matches  # start-up time

    if error.ctx and error.ctx.parent is None:
        return f"No such option '{error.option_name}' before a command. Options of a command come after its name."
    params = error.ctx.command.params if error.ctx else ()
    known = [name[2:] for it in params for name in it.opts if name.startswith("--")]
    asked = error.option_name.lstrip("-").lower()
    meant = _OTHER_NAMES.get(asked, asked)
    begins = [name for name in known if name.startswith(meant)]
    near = " or ".join(f"'--{name}'" for name in begins or get_close_matches(meant, known, 3))
    return f"No such option '{error.option_name}'.{f' Did you mean {near}?' if near else ''}"


def write_commands(formatter: click.HelpFormatter) -> None:
    """Write all commands with their whole summaries, under their headings."""
    for group in dict.fromkeys(entry.group for entry in COMMANDS.values()):
        rows = [(name, it.summary) for name, it in COMMANDS.items() if it.group == group and it.summary]
        with formatter.section(group):
            formatter.write_dl(rows)
