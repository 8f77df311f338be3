"""`cqm export`, `import`, `publish`, `take` and `bulk`: their options."""

import os
from pathlib import Path
from typing import Any, BinaryIO

import click

from cqm.server.cli.options import (
    EXISTING,
    as_json_option,
    in_a_folder,
    root_around,
    root_of,
    set_option,
    settings_of,
)


def _carried_root(path: Path | None) -> Path:
    """Resolve the root of an index to carry: never the project of a file named in its place."""
    if path and path.is_file() and (root := root_around(path)):
        raise click.BadParameter(
            f"{path}: expected a folder; this is a file of the project {root}, which has one index. Give {root}.",
            param_hint="PATH",
        )
    return root_of(path)


@click.command()
@click.argument("places", metavar="[PATH] FILE", nargs=-1, required=True, type=click.Path(path_type=Path))
@as_json_option
@set_option
def export(places: tuple[Path, ...], *, as_json: bool, overrides: dict[str, str]) -> int:
    """Write the index of PATH to FILE, for other machines; bring it up to date first.

    `cqm import` takes it there, with the same options. FILE holds the text of the indexed files, with secrets redacted.
    """
    from cqm.server.cli import indexes  # start-up time, here and below

    if len(places) > 2:  # noqa: PLR2004 - a path and a file
        raise click.UsageError("Give at most PATH and FILE.")
    path = places[0] if len(places) > 1 else None
    if path and not path.exists():
        raise click.BadParameter(f"Path '{path}' does not exist.", param_hint="PATH")
    file = places[-1]
    if str(file) == "-":
        raise click.BadParameter("-: expected a file, not standard output. Give its name.", param_hint="FILE")
    in_a_folder(click.get_current_context(), click.Argument(["file"]), file)
    root = _carried_root(path)
    return indexes.export(root, file, settings_of(root, overrides), as_json=as_json)


@click.command("import")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.argument("path", type=EXISTING, required=False)
@as_json_option
@set_option
def import_snapshot(file: Path, path: Path | None, *, as_json: bool, overrides: dict[str, str]) -> int:
    """Take the index of PATH from FILE, written by `cqm export`; then index what differs here.

    Files count as the same by their contents, whatever their times. The present index serves until that is done, and
    stays if FILE is damaged or was made with other options.
    """
    from cqm.server.cli import indexes

    root = _carried_root(path)
    return indexes.restore(file, root, settings_of(root, overrides), as_json=as_json)


@click.command()
@click.argument("name")
@click.argument("path", type=EXISTING, required=False)
@click.option("--keep", type=click.IntRange(1, 1000), default=7, help="Bases of this name to keep, with this one.")
@as_json_option
@set_option
def publish(name: str, path: Path | None, *, keep: int, as_json: bool, overrides: dict[str, str]) -> int:
    """Write the index of PATH to the Qdrant server of store.url, as a base NAME; bring it up to date first.

    `cqm take` has it on other machines, with the same options. Machines that have taken an older base of this name go
    on with that, as long as it is kept. The server holds the text of the indexed files, with secrets redacted.
    """
    from cqm.server.cli import indexes

    root = _carried_root(path)
    return indexes.publish(name, root, keep, settings_of(root, overrides), as_json=as_json)


@click.command()
@click.argument("name")
@click.argument("path", type=EXISTING, required=False)
@as_json_option
@set_option
def take(name: str, path: Path | None, *, as_json: bool, overrides: dict[str, str]) -> int:
    """Use the base NAME of the server of store.url for the index of PATH; index only what differs here.

    The base stays on the server, where nobody changes it; what differs, now and later, is kept here. Run it again to
    have a newer base. The present index serves until that is done, and stays if the base has other options.
    """
    from cqm.server.cli import indexes

    root = _carried_root(path)
    return indexes.take(name, root, settings_of(root, overrides), as_json=as_json)


@click.command()
@click.argument("repositories", metavar="REPOS.txt", type=click.File("rb"))
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path))
@click.option(
    "--engine",
    type=click.Choice(["local", "ray"]),
    default="local",
    help="Processes of this machine, or Ray (an extra): workers here, or of the cluster that RAY_ADDRESS names.",
)
@click.option(
    "--jobs",
    "-j",
    type=click.IntRange(1, 256),
    help="Repositories at a time; a cluster decides itself. [default: processors]",
)
@click.option("--retries", type=click.IntRange(0, 20), default=2, help="Further tries of one that fails.")
@click.option(
    "--work",
    type=click.Path(file_okay=False, path_type=Path),
    help="Keep clones and indexes here, for the next run. [default: FOLDER/.work]",
)
@as_json_option
@set_option
def bulk(repositories: BinaryIO, folder: Path, *, as_json: bool, overrides: dict[str, str], **asked: Any) -> int:  # noqa: ANN401
    """Write the indexes of all repositories of a list to FOLDER, each as `cqm export` does.

    A line of REPOS.txt is a folder or an address for git, in quotes if it has blanks, and a name where it is not the
    last part of that. One that fails leaves the others, and exit code 1; the same command again does what is left.
    """
    from cqm.server.bulk.listed import MOST_BYTES, read_list
    from cqm.server.bulk.work import Plan
    from cqm.server.cli import indexes

    listed = read_list(repositories.read(MOST_BYTES + 1), Path.cwd())
    jobs, work = asked["jobs"] or os.cpu_count() or 1, asked["work"] or folder / ".work"
    settings_of(None, overrides)  # a mistake in an option is none of each repository
    plan = Plan(folder.absolute(), work.absolute(), jobs, asked["retries"], overrides)
    return indexes.bulk(listed, plan, asked["engine"], as_json=as_json)
