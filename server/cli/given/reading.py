"""`cqm outline`, `cqm read` and `cqm changes`: their options."""

from pathlib import Path

import click

from cqm.index.model.changes import ChangesQuery
from cqm.index.model.symbols import OutlineQuery, ReadQuery
from cqm.server.cli.options import (
    EXISTING,
    as_json_option,
    asked_settings_of,
    offers_files,
    pager_option,
    place_of,
    set_option,
)

_budget_option = click.option(
    "--token-budget",
    type=click.IntRange(200, 24_000),
    help="Most tokens of the text.  [default: server.token_budget, 6000]",
)
_cursor_option = click.option(
    "--cursor", default="", show_default=False, help="From the previous page, for the next one."
)


@click.command(short_help="List the symbols of the file PATH, or the most used ones of a folder.")
@click.argument("path", type=EXISTING, required=False)
@click.option(
    "--limit", "-n", type=click.IntRange(1, 2000), default=500, show_default=True, help="Most symbols a page."
)
@_cursor_option
@_budget_option
@pager_option
@as_json_option
@set_option
def outline(
    path: Path | None, *, limit: int, cursor: str, token_budget: int | None, overrides: dict[str, str], as_json: bool
) -> int:
    """List the symbols of the file PATH, or the most used ones of a folder.

    Without PATH, of the project: a map of it. Symbols stand with their lines and signatures.
    """
    from cqm.server.cli import symbols

    root, relative = place_of(path)
    settings = asked_settings_of(root, _with_budget(overrides, token_budget))
    return symbols.outline(OutlineQuery(relative, limit, cursor), root, settings, as_json=as_json)


@click.command()
@click.argument("what", shell_complete=offers_files)
@click.option("--path", type=EXISTING, help="Folder or file to look in.")
@_cursor_option
@_budget_option
@pager_option
@as_json_option
@set_option
def read(
    what: str, *, path: Path | None, cursor: str, token_budget: int | None, overrides: dict[str, str], as_json: bool
) -> int:
    """Print a symbol, lines or a file as it is now.

    WHAT is a symbol in any notation (Client.get_url, (*Context).Bind, Client::getUrl), or a place: src/app.py:10-40,
    src/app.py:10 or src/app.py; the end of a path is enough. Declarations around it and imports are shown above.
    """
    from cqm.server.cli import symbols

    root, base = place_of(path or Path())
    settings = asked_settings_of(root, _with_budget(overrides, token_budget))
    return symbols.read(ReadQuery(what, base, cursor=cursor), root, settings, as_json=as_json)


@click.command(short_help="Print the commits that WHAT means, with the lines that the first one changed.")
@click.argument("what", default="")
@click.option("--path", type=EXISTING, help="Folder or file that they changed.")
@click.option("--limit", "-n", type=click.IntRange(1, 100), default=10, show_default=True, help="Most commits a page.")
@_cursor_option
@_budget_option
@pager_option
@as_json_option
@set_option
def changes(
    what: str,
    *,
    path: Path | None,
    limit: int,
    cursor: str,
    token_budget: int | None,
    overrides: dict[str, str],
    as_json: bool,
) -> int:
    """Print the commits that WHAT means, with the lines that the first one changed, as they are now.

    WHAT is words of a commit's message, its id, a branch or tag, or two of these as A..B. Without WHAT, the newest
    commits, a line each.
    """
    from cqm.server.cli import symbols

    root, base = place_of(path or Path())
    settings = asked_settings_of(root, _with_budget(overrides, token_budget))
    return symbols.changes(ChangesQuery(what, base, limit, cursor), root, settings, as_json=as_json)


def _with_budget(overrides: dict[str, str], token_budget: int | None) -> dict[str, str]:
    return overrides | ({"server.token_budget": str(token_budget)} if token_budget else {})
