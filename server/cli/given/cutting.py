"""`cqm preview`, `cqm report` and `cqm savings`: their options."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from cqm.server.cli.options import (
    InItsProject,
    as_json_option,
    in_a_folder,
    offers,
    parse_set,
    path_argument,
    root_of,
    set_option,
    settings_of,
)
from cqm.server.config.project_root import is_project, project_root

_MOST_PREVIEWED = 256 << 20
"""Bytes of a previewed file; more than any indexed file has."""

_Command = TypeVar("_Command", bound=Callable[..., Any])


def _page_option(what: str) -> Callable[[_Command], _Command]:
    return click.option(
        "--html",
        "page",
        type=click.Path(dir_okay=False, path_type=Path),
        callback=in_a_folder,
        help=f"Write the {what} to an HTML page.",
    )


@click.command()
@click.argument("file", type=InItsProject(exists=True, dir_okay=False, allow_dash=True, path_type=Path))
@click.option("--name", help="File name for text from standard input, such as a.py; it decides the language.")
@click.option(
    "--strategy",
    default="auto",
    metavar="NAME",
    shell_complete=offers("strategies"),
    help="Way to cut: auto (by content), fixed, sentence ...",
)
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
    shell_complete=offers("strategies"),
    help="Also cut this way, and compare. Repeatable.",
)
@click.option("--recommend", is_flag=True, help="Recommend a strategy for FILE with the reason, and use it.")
@click.option(
    "--tokens",
    default="",
    show_default=False,
    metavar="MODEL",
    help="Also count the exact tokens of a model such as gpt-4o.",
)
@_page_option("preview")
@as_json_option
@set_option
def preview(file: Path, *, name: str | None, overrides: dict[str, str], **asked: Any) -> int:  # noqa: ANN401
    """Show how FILE is cut into chunks; - reads standard input. Nothing is indexed."""
    if asked["recommend"] and asked["strategy"] != "auto":
        raise click.UsageError("--strategy and --recommend cannot be combined. Give one of them.")
    is_stdin = str(file) == "-"
    data = sys.stdin.buffer.read() if is_stdin else _content_of(file)
    root, path = (project_root(Path.cwd()), "stdin") if is_stdin else _place_of(file)
    settings = settings_of(root, overrides)
    from cqm.index.workers import Workers  # start-up time, here and below

    with Workers(count=1) as workers:
        # It starts while the rest is loaded here, which takes as long.
        workers.warm(finds=False)
        from cqm.server.cli import preview as previewing

        return previewing.preview_command(name or path, data, settings, previewing.Asked(**asked), workers)


def _place_of(file: Path) -> tuple[Path, str]:
    """Return the project of a file and its path there, as rules go by paths; without a project, the working folder."""
    folder, here = file.resolve().parent, Path.cwd().resolve()
    root = project_root(folder)
    if not is_project(root) and folder.is_relative_to(here):
        root = here
    return root, (folder.relative_to(root) / file.name).as_posix()


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


@click.command()
@path_argument
@_page_option("report")
@as_json_option
@set_option
def report(path: Path | None, *, page: Path | None, as_json: bool, overrides: dict[str, str]) -> int:
    """Measure how PATH is cut into chunks, and list problems. Nothing is indexed."""
    from cqm.server.cli import report as reporting

    root = root_of(path)
    return reporting.report(root, settings_of(root, overrides), page=page, as_json=as_json)


@click.command()
@path_argument
@as_json_option
@set_option
def savings(path: Path | None, *, as_json: bool, overrides: dict[str, str]) -> int:
    """Compare the tokens of answers with those of the files that the answers are from.

    It counts the searches that the process which has the index open remembers; nothing is kept on disk. An agent
    without CQM seldom reads all these files whole, and seldom only the first: its real cost is somewhere between.
    """
    from cqm.server.cli import savings as counting

    root = root_of(path)
    return counting.savings(root, settings_of(root, overrides), as_json=as_json)
