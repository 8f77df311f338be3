"""`cqm serve`, `ui`, `setup` and `completion`: their options."""

import os
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cqm.server.cli.options import EXISTING, as_json_option, offers, root_of, set_option, settings_of

if TYPE_CHECKING:
    from cqm.server.config.settings import Settings


@click.command()
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
    settings = _served_settings(roots[0].resolve() if roots else Path.cwd(), overrides | named)
    from cqm.server.mcp.app import serve as serve_mcp  # seconds, which a bad setting should not cost
    from cqm.server.ui.views import VIEWS

    if not settings.server.http:
        if sys.stdin.isatty():
            _explain()
        serve_mcp(settings, None, roots or settings.server.roots, views=VIEWS)
        return 0
    from cqm.server.ui.serve import pages_beside

    serve_mcp(settings, settings.server.http, roots or settings.server.roots, pages_beside, VIEWS)
    return 0


def _served_settings(root: Path, overrides: dict[str, str]) -> "Settings":
    """Load the settings of a server; for its own client, even if the project's file is refused.

    Clients show nothing of a server that ends before its first call. A running one reports the problem in each call.
    """
    from cqm.server.console import say
    from cqm.server.errors import SettingsError

    try:
        return settings_of(root, overrides)
    except SettingsError as error:
        settings = settings_of(None, overrides)
        if settings.server.http or sys.stdin.isatty():
            raise
        say(f"cqm: {error}", "  Calls say so until that is mended.")
        return settings


def _explain() -> None:
    """Tell a person at a terminal that a server waits here, and which command they may have meant."""
    from cqm.chunkers.extras import how_to_run
    from cqm.server.console import say

    say(
        "This serves one MCP client over standard input and output, and waits for it. Clients start it themselves:",
        "  cqm setup                    connects the clients of this machine",
        f"  {shlex.join([*how_to_run(), 'serve'])}  is the command to give to any other",
        "  cqm serve --http HOST:PORT   serves clients over HTTP",
        '  cqm search "a question"      asks from here',
        "Ctrl-C ends it.",
    )


@click.command()
@click.option(
    "--client",
    "clients",
    metavar="NAME",
    multiple=True,
    shell_complete=offers("clients"),
    help="Set up this client, such as codex. Repeatable.",
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
    return connect(Asked(tuple(dict.fromkeys(clients)), full, **asked), this_machine(), Path.cwd())


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish", "powershell"]))
def completion(shell: str) -> int:
    """Print a script which has SHELL complete commands and options.

    \b
    ~/.bashrc                   eval "$(cqm completion bash)"
    ~/.zshrc                    eval "$(cqm completion zsh)"
    ~/.config/fish/config.fish  cqm completion fish | source
    $PROFILE                    cqm completion powershell | Out-String | Invoke-Expression
    """  # noqa: D301 - the mark of click before lines that stay as they are
    from cqm.server.setup.completion import script

    sys.stdout.write(script(click.get_current_context().find_root().command, "cqm", shell))
    return 0


@click.command()
@click.argument("paths", metavar="[PATH]...", type=EXISTING, nargs=-1)
@click.option(
    "--port", type=click.IntRange(0, 65_535), default=0, show_default="a free one", help="Port on this machine."
)
@click.option("--no-open", is_flag=True, help="Only print the link; don't open the browser.")
@set_option
def ui(paths: tuple[Path, ...], *, port: int, no_open: bool, overrides: dict[str, str]) -> int:
    """Show PATH in the browser: search, files and chunks.

    It also shows the health of the index, and what agents asked. Only this machine can reach the page, by the link
    that is printed. The index is created or updated meanwhile.
    """
    # A link among them may be switched to another folder meanwhile.
    roots = [Path(os.path.abspath(path)) for path in dict.fromkeys(paths)] or [root_of(None)]  # noqa: PTH100
    settings = settings_of(roots[0], overrides)
    from cqm.server.ui.serve import serve_ui  # start-up time

    serve_ui(roots, settings, port=port, opens=not no_open)
    return 0
