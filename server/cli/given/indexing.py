"""`cqm index`, `status`, `watch`, `list`, `remove`, `compact` and `doctor`: their options."""

import os
from pathlib import Path

import click

from cqm.server.cli.options import (
    InItsProject,
    as_json_option,
    asked_settings_of,
    in_a_folder,
    indexed_root,
    path_argument,
    paths_argument,
    root_of,
    set_option,
    settings_of,
)


@click.command()
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
    settings = asked_settings_of(root, overrides)
    if asked["dry_run"]:
        return commands.estimate(root, settings, as_json=as_json)
    return commands.index(root, settings, as_json=as_json, anew=asked["force"], retry=asked["retry"])


@click.command()
@path_argument
@click.option("--failed", is_flag=True, help="List every failed file with the reason.")
@click.option("--skipped", is_flag=True, help="List every skipped file with the reason.")
@click.option("--secrets", is_flag=True, help="List every redacted secret: path, line and kind, never the value.")
@as_json_option
@set_option
def status(path: Path | None, *, as_json: bool, overrides: dict[str, str], **listed: bool) -> int:
    """Show contents, freshness and gaps of the index of PATH."""
    from cqm.server.cli import commands
    from cqm.server.errors import SettingsError

    root = root_of(path)
    try:
        settings = asked_settings_of(root, overrides)
    except SettingsError:
        commands.last_status(root, overrides, as_json=as_json, failed=listed["failed"])
        raise
    return commands.status(root, settings, as_json=as_json, **listed)


@click.command("list")
@paths_argument
@as_json_option
@set_option
def list_indexes(paths: tuple[Path, ...], *, as_json: bool, overrides: dict[str, str]) -> int:
    """List all your indexes, or those of each PATH. An index kept in the project counts too."""
    from cqm.server.cli import indexes

    return indexes.list_indexes(paths, asked_settings_of(None, overrides), as_json=as_json)


@click.command()
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
    return indexes.remove(roots, asked_settings_of(None, overrides), asks=not yes, as_json=as_json)


@click.command()
@path_argument
@as_json_option
@set_option
def compact(path: Path | None, *, as_json: bool, overrides: dict[str, str]) -> int:
    """Free the disk space of chunks deleted from the index of PATH."""
    from cqm.server.cli import indexes

    root = root_of(path)
    return indexes.compact(root, asked_settings_of(root, overrides), as_json=as_json)


@click.command()
@path_argument
@click.option(
    "--bundle",
    metavar="FILE",
    type=click.Path(dir_okay=False, path_type=Path),
    callback=in_a_folder,
    help="Also write a zip for those who help: versions, options, counts, log; no secrets, texts and names of files.",
)
@click.option("--names", is_flag=True, help="Let the bundle have names of files, and messages.")
@as_json_option
@set_option
def doctor(path: Path | None, *, bundle: Path | None, names: bool, as_json: bool, overrides: dict[str, str]) -> int:
    """Test everything configured for PATH; say how to fix problems.

    Each model and service gets one small request, with a text of CQM's own.
    """
    from cqm.server.doctor import doctor

    root = root_of(path)
    return doctor.doctor(root, lambda: settings_of(root, overrides), as_json=as_json, bundle=bundle, names=names)


@click.command()
@click.argument("path", type=InItsProject(exists=True, file_okay=False, path_type=Path), required=False)
@as_json_option
@set_option
def watch(path: Path | None, *, as_json: bool, overrides: dict[str, str]) -> int:
    """Update the index of PATH after each change, until Ctrl-C."""
    from cqm.server.cli import commands

    root = root_of(path)
    given = Path(os.path.abspath(path or root))  # noqa: PTH100 - a link may be switched meanwhile
    return commands.watch(given, settings_of(root, {"watch.enabled": "true"} | overrides), as_json=as_json)
