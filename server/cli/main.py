"""The `cqm` command: its subcommands and options. Everything heavier is imported when a command runs."""

import logging
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from cqm.chunkers.errors import ChunkOptionError, CqmError
from cqm.chunkers.extras import DISTRIBUTION
from cqm.index.model.errors import QueryError, TopicError
from cqm.server.cli.eval_options import evaluate
from cqm.server.cli.options import (
    EXISTING,
    as_json_option,
    indexed_root,
    parse_set,
    path_argument,
    paths_argument,
    root_of,
    set_option,
    settings_of,
)
from cqm.server.cli.reading_options import changes, outline, read
from cqm.server.cli.search_options import search
from cqm.server.cli.usages_options import references, usages
from cqm.server.config.project_root import project_root
from cqm.server.console import collect_seldom, emit, prepare_streams, say, show
from cqm.server.errors import SettingsError, WhenError

PARTIAL, USAGE, INTERRUPTED = 1, 2, 130
"""Exit codes beside 0: something failed; a bad option, setting or question; Ctrl-C."""

_MOST_PREVIEWED = 256 << 20
"""Bytes of a previewed file; more than any indexed file has."""

_USAGE_ERRORS = (SettingsError, WhenError, QueryError, TopicError, ChunkOptionError)


class Commands(click.Group):
    """All commands, and the one place turning errors into messages and exit codes."""

    def invoke(self, ctx: click.Context) -> Any:  # noqa: ANN401 - as click declares it
        """Run a command; its result is the exit code."""
        code = self._run(ctx)
        ctx.exit(code)

    def _run(self, ctx: click.Context) -> int:
        try:
            code = super().invoke(ctx)
            sys.stdout.flush()
        except CqmError as error:
            say(*_error_lines(error))
            return USAGE if isinstance(error, _USAGE_ERRORS) else PARTIAL
        except KeyboardInterrupt:
            say("Interrupted.")
            return INTERRUPTED
        except BrokenPipeError:
            # The reader has seen enough, as in `cqm search ... | head`. Python's buffered output goes nowhere.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return 0
        except OSError as error:
            say(f"cqm: {error}")
            return PARTIAL
        return int(code or 0)


def _error_lines(error: CqmError) -> Iterator[str]:
    """Write an error for people, with the remedy below. Only errors of settings have several lines, one a problem."""
    lines = error.message.split("\n") if isinstance(error, SettingsError) else [error.message]
    yield f"cqm: {lines[0]}"
    yield from (f"  {line}" for line in [*lines[1:], error.remedy] if line)


def main() -> None:
    """Run the command line."""
    _leave_working_folder_out()
    collect_seldom()
    prepare_streams()
    # It warns of every repeated request, without naming it.
    logging.getLogger("stamina").setLevel(logging.ERROR)
    if "_CQM_COMPLETE" in os.environ:
        from cqm.server.setup.completion import register

        register()
    app(prog_name="cqm")


def _leave_working_folder_out() -> None:
    """Keep imports out of the working folder, which may be a stranger's, though Python may have it on its path."""
    here = Path.cwd().resolve()
    sys.path[:] = [
        entry
        for entry in sys.path
        # Unless CQM itself was loaded from there.
        if Path(entry).is_absolute() and (Path(entry).resolve() != here or Path(__file__).is_relative_to(entry))
    ]


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name=DISTRIBUTION, message="cqm %(version)s")
def app() -> None:
    """Index code and documents, and find the right lines in them.

    Without PATH, a command uses the project of the working folder: the nearest folder at or above it with a .git or a
    cqm.yml, else the working folder itself.
    """


@app.command()
@path_argument
@click.option("--dry-run", is_flag=True, help="Only estimate the chunks, tokens and money for models.")
@click.option("--force", is_flag=True, help="Rebuild the index; the old one serves until then.")
@click.option("--retry", is_flag=True, help="Only retry failed files.")
@as_json_option
@set_option
def index(path: Path | None, *, overrides: dict[str, str], as_json: bool, **asked: bool) -> int:
    """Create or update the index of PATH."""
    from cqm.server.cli import commands  # start-up time, here and below

    if sum(asked.values()) > 1:
        raise click.UsageError("--dry-run, --force and --retry cannot be combined. Give one of them.")
    root = indexed_root(path)
    settings = settings_of(root, overrides)
    if asked["dry_run"]:
        return commands.estimate(root, settings, as_json=as_json)
    return commands.index(root, settings, as_json=as_json, anew=asked["force"], retry=asked["retry"])


app.add_command(search)
app.add_command(evaluate)


@app.command()
@click.argument("file", type=click.Path(exists=True, dir_okay=False, allow_dash=True, path_type=Path))
@click.option("--name", help="File name for text from standard input, such as a.py; it decides the language.")
@click.option("--strategy", default="auto", metavar="NAME", help="Way to cut: auto (by content), fixed, sentence ...")
@click.option(
    "--option",
    "options",
    metavar="NAME=VALUE",
    multiple=True,
    callback=parse_set,
    help="Set an option of the strategy, such as target_tokens=256. Repeatable.",
)
@click.option(
    "--compare",
    metavar="NAME[:OPTION=VALUE,...]",
    multiple=True,
    help="Also cut this way, and compare. Repeatable.",
)
@click.option("--recommend", is_flag=True, help="Recommend a strategy for FILE with the reason, and use it.")
@click.option("--tokens", default="", metavar="MODEL", help="Also count the exact tokens of a model such as gpt-4o.")
@click.option(
    "--html", "page", type=click.Path(dir_okay=False, path_type=Path), help="Write the preview to an HTML page."
)
@as_json_option
@set_option
def preview(file: Path, *, name: str | None, overrides: dict[str, str], **asked: Any) -> int:  # noqa: ANN401
    """Show how FILE is cut into chunks; - reads standard input. Nothing is indexed."""
    from cqm.server.cli import preview as previewing

    if asked["recommend"] and asked["strategy"] != "auto":
        raise click.UsageError("--strategy and --recommend cannot be combined. Give one of them.")
    is_stdin = str(file) == "-"
    data = sys.stdin.buffer.read() if is_stdin else _content_of(file)
    settings = settings_of(project_root(Path.cwd() if is_stdin else file.resolve().parent), overrides)
    named = name or ("stdin" if is_stdin else file.name)
    return previewing.preview_command(named, data, settings, previewing.Asked(**asked))


def _content_of(file: Path) -> bytes:
    """Read a regular file: in somebody else's folder a name may stand for a pipe or an endless device."""
    from cqm.index.disk.beneath import NotRegularError, read_small

    try:
        data = read_small(file.resolve(), _MOST_PREVIEWED)
    except NotRegularError:
        raise click.UsageError(f"FILE {file}: expected a regular file. To read from a pipe, give - for FILE.") from None
    if len(data) > _MOST_PREVIEWED:
        raise click.UsageError(f"FILE {file}: expected at most {_MOST_PREVIEWED >> 20} MiB. Give a smaller file.")
    return data


app.add_command(usages)
app.add_command(references)
app.add_command(outline)
app.add_command(read)
app.add_command(changes)


@app.command()
@path_argument
@click.option("--failed", is_flag=True, help="List every failed file with the reason.")
@click.option("--skipped", is_flag=True, help="List every skipped file with the reason.")
@click.option("--secrets", is_flag=True, help="List every redacted secret: path, line and kind, never the value.")
@as_json_option
@set_option
def status(path: Path | None, *, as_json: bool, overrides: dict[str, str], **listed: bool) -> int:
    """Show contents, freshness and gaps of the index of PATH."""
    from cqm.server.cli import commands

    root = root_of(path)
    return commands.status(root, settings_of(root, overrides), as_json=as_json, **listed)


@app.command("list")
@paths_argument
@as_json_option
@set_option
def list_indexes(paths: tuple[Path, ...], *, as_json: bool, overrides: dict[str, str]) -> int:
    """List all your indexes, or those of each PATH. An index kept in the project counts too."""
    from cqm.server.cli import indexes

    return indexes.list_indexes(paths, settings_of(None, overrides), as_json=as_json)


@app.command()
@paths_argument
@click.option("--missing", is_flag=True, help="Delete the indexes of all missing folders and files.")
@click.option("--yes", is_flag=True, help="Don't ask.")
@as_json_option
@set_option
def remove(paths: tuple[Path, ...], *, missing: bool, yes: bool, as_json: bool, overrides: dict[str, str]) -> int:
    """Delete the index of each PATH. PATH itself may be missing; only indexes are deleted."""
    from cqm.server.cli import indexes

    if missing and paths:
        raise click.UsageError("PATH and --missing cannot be combined. Give one of them.")
    roots = () if missing else paths or (root_of(None),)
    return indexes.remove(roots, settings_of(None, overrides), asks=not yes, as_json=as_json)


@app.command()
@path_argument
@as_json_option
@set_option
def compact(path: Path | None, *, as_json: bool, overrides: dict[str, str]) -> int:
    """Free the disk space of chunks deleted from the index of PATH."""
    from cqm.server.cli import indexes

    root = root_of(path)
    return indexes.compact(root, settings_of(root, overrides), as_json=as_json)


@app.command()
@path_argument
@as_json_option
@set_option
def doctor(path: Path | None, *, as_json: bool, overrides: dict[str, str]) -> int:
    """Test everything configured for PATH; say how to fix problems.

    Each model and service gets one small request, with a text of CQM's own.
    """
    from cqm.server.doctor import doctor

    root = root_of(path)
    return doctor.doctor(root, lambda: settings_of(root, overrides), as_json=as_json)


@app.command()
@path_argument
@click.option(
    "--html", "page", type=click.Path(dir_okay=False, path_type=Path), help="Write the report to an HTML page."
)
@as_json_option
@set_option
def report(path: Path | None, *, page: Path | None, as_json: bool, overrides: dict[str, str]) -> int:
    """Measure how PATH is cut into chunks, and list problems. Nothing is indexed."""
    from cqm.server.cli import report as reporting

    root = root_of(path)
    return reporting.report(root, settings_of(root, overrides), page=page, as_json=as_json)


@app.command()
@click.argument("path", type=click.Path(exists=True, file_okay=False, path_type=Path), required=False)
@as_json_option
@set_option
def watch(path: Path | None, *, as_json: bool, overrides: dict[str, str]) -> int:
    """Update the index of PATH after each change, until Ctrl-C."""
    from cqm.server.cli import commands

    root = root_of(path)
    return commands.watch(root, settings_of(root, {"watch.enabled": "true"} | overrides), as_json=as_json)


@app.command()
@click.option("--http", metavar="HOST:PORT", help="Serve streamable HTTP at this address, not stdin and stdout.")
@click.option("--root", "roots", type=EXISTING, multiple=True, help="Folder clients may search. Repeatable.")
@set_option
def serve(*, http: str | None, roots: tuple[Path, ...], overrides: dict[str, str]) -> int:
    """Serve agents over MCP.

    Over HTTP, clients send a bearer token: the value of CQM_HTTP_TOKEN, or the contents of the file
    CQM_HTTP_TOKEN_FILE, else a new one printed at the start. With CQM_HTTP_TOKEN=none, all users of this machine may
    connect without a token. On a loopback address, people open /?token=TOKEN: the pages of `cqm ui`.
    """
    named = {"server.http": http} if http is not None else {}
    settings = settings_of(roots[0].resolve() if roots else Path.cwd(), overrides | named)
    from cqm.server.mcp.app import serve as serve_mcp  # seconds, which a bad setting should not cost

    if not settings.server.http:
        serve_mcp(settings, None, roots or settings.server.roots)
        return 0
    from cqm.server.ui.serve import pages_beside

    serve_mcp(settings, settings.server.http, roots or settings.server.roots, pages_beside)
    return 0


@app.command()
@click.option(
    "--client", "clients", metavar="NAME", multiple=True, help="Set up this client, such as codex. Repeatable."
)
@click.option("--root", "roots", type=EXISTING, multiple=True, help="Folder clients may search. Repeatable.")
@click.option("--project", is_flag=True, help="Write files of the project, such as .mcp.json, not yours.")
@click.option("--instructions", is_flag=True, help="Also tell agents in AGENTS.md, CLAUDE.md and the like.")
@click.option(
    "--remove", is_flag=True, help="Undo: restore each file, or only remove the entry if you edited it since."
)
@click.option("--replace", is_flag=True, help="Overwrite entries named cqm which you wrote.")
@click.option("--no-env", "with_variables", is_flag=True, flag_value=False, default=True, help="Write no variables.")
@click.option("--yes", is_flag=True, help="Don't ask.")
@click.option("--dry-run", is_flag=True, help="Only show what would be written.")
@click.option("--no-check", "checks", is_flag=True, flag_value=False, default=True, help="Don't have clients connect.")
@as_json_option
def setup(*, clients: tuple[str, ...], roots: tuple[Path, ...], **asked: Any) -> int:  # noqa: ANN401
    """Connect CQM to the agents' clients of this machine.

    Finds them, shows what it would write, asks, writes, and has the clients connect. Comments and layout of your files
    stay, and a copy of each is kept beside it.
    """
    from cqm.server.setup.clients import CLIENTS
    from cqm.server.setup.machine import this_machine
    from cqm.server.setup.setup import Asked
    from cqm.server.setup.setup import setup as connect

    known = [row.id for row in CLIENTS]
    if unknown := [name for name in clients if name not in known]:
        raise click.UsageError(f"--client {unknown[0]}: there is no such client. Known: {', '.join(known)}.")
    full = tuple(root.resolve() for root in roots)
    return connect(Asked(clients, full, **asked), this_machine(), Path.cwd())


@app.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish", "powershell"]))
def completion(shell: str) -> int:
    """Print a script which has SHELL complete commands and options.

    In ~/.bashrc write eval "$(cqm completion bash)", in ~/.zshrc eval "$(cqm completion zsh)", in
    ~/.config/fish/config.fish cqm completion fish | source, in $PROFILE cqm completion powershell | Out-String |
    Invoke-Expression.
    """
    from cqm.server.setup.completion import script

    sys.stdout.write(script(app, "cqm", shell))
    return 0


@app.command()
@click.argument("paths", metavar="[PATH]...", type=EXISTING, nargs=-1)
@click.option("--port", type=click.IntRange(0, 65_535), default=0, help="Port on this machine (a free one).")
@click.option("--no-open", is_flag=True, help="Only print the link; don't open the browser.")
@set_option
def ui(paths: tuple[Path, ...], *, port: int, no_open: bool, overrides: dict[str, str]) -> int:
    """Show PATH in the browser: search, files and chunks.

    It also shows the health of the index, and what agents asked. Only this machine can reach the page, by the link
    that is printed. The index is created or updated meanwhile.
    """
    roots = list(dict.fromkeys(map(root_of, paths or (None,))))
    settings = settings_of(roots[0], overrides)
    from cqm.server.ui.serve import serve_ui  # start-up time

    serve_ui(roots, settings, port=port, opens=not no_open)
    return 0


@app.group()
def issues() -> None:
    """Fetch issues and pull requests of a GitHub repository."""


@issues.command("fetch")
@click.argument("repository", metavar="OWNER/NAME")
@click.option("--out", required=True, type=click.Path(file_okay=False, path_type=Path), help="Folder to write to.")
@click.option("--state", type=click.Choice(["all", "open", "closed"]), default="all", help="Only those in this state.")
@click.option(
    "--limit",
    type=click.IntRange(1),
    default=1000,
    help="Most issues, and most pull requests; the newest are taken (1000).",
)
@click.option("--since", metavar="WHEN", help="Only those changed since then: 12h, 3d, 2w or 2026-03-01.")
@click.option("--prs/--no-prs", "pull_requests", default=True, help="Also fetch pull requests (yes).")
@as_json_option
def fetch_issues(repository: str, *, out: Path, since: str | None, as_json: bool, **asked: Any) -> int:  # noqa: ANN401
    """Write each issue and pull request of OWNER/NAME to a file.

    Unchanged ones are not fetched again. Needs the GitHub CLI (gh), logged in.
    """
    from cqm.server.issues.fetch import Wanted, fetch, fetched_lines
    from cqm.server.times import parse_when

    moment = parse_when(since, now=time.time(), option="--since") if since else 0.0
    fetched = fetch(Wanted(repository, since=moment, **asked), out)
    if as_json:
        emit(fetched)
    else:
        show(fetched_lines(fetched, str(out)))
    return PARTIAL if fetched.failed else 0
