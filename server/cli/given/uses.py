"""`cqm usages`: its options."""

from copy import copy
from pathlib import Path
from typing import Any

import click

from cqm.index.model.uses import ReferenceGroup, UsesQuery
from cqm.server.cli.options import EXISTING, as_json_option, asked_settings_of, pager_option, root_of, set_option


@click.command(short_help="List the definitions of the symbol NAME and every line with its name.")
@click.argument("name")
@click.option("--path", type=EXISTING, help="Folder to search; results are relative to it.")
@click.option(
    "--kind",
    "groups",
    multiple=True,
    type=click.Choice([group.value for group in ReferenceGroup]),
    help="List only these references; may be repeated.",
)
@click.option("--limit", "-n", type=click.IntRange(1, 1000), default=50, show_default=True, help="References a page.")
@click.option("--cursor", default="", show_default=False, help="From the previous page, for the next one.")
@click.option("--depth", type=click.IntRange(1, 5), default=1, show_default=True, help="Levels of callers to follow.")
@pager_option
@as_json_option
@set_option
def usages(name: str, *, path: Path | None, as_json: bool, overrides: dict[str, str], **asked: Any) -> int:  # noqa: ANN401
    """List the definitions of the symbol NAME and every line with its name.

    NAME is plain or qualified, in any notation: get_url, Client.get_url, (*Context).Bind, ParseFlags(). A place such
    as src/app.py:40 stands for the symbol that its line defines or uses. Lines are
    grouped into calls, other uses, tests, and documents and comments. `cqm references` is the same command.
    """
    from cqm.server.cli import symbols

    root = root_of(path)
    groups = tuple(map(ReferenceGroup, asked.pop("groups")))
    return symbols.usages(
        UsesQuery(name, groups=groups, **asked), root, asked_settings_of(root, overrides), as_json=as_json
    )


references = copy(usages)
"""The same command by its usual name elsewhere; the help lists it once."""
references.name, references.hidden = "references", True
