"""Options and arguments shared by the commands of `cqm`, with the root and settings they name."""

import io
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, cast

import click

from cqm.server.config.project_root import is_project, is_too_wide, left_by_link, project_root

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from cqm.server.config.settings import Settings
    from cqm.server.config.usual import AskedSettings


def parse_set(_ctx: click.Context, _parameter: click.Parameter, given: tuple[str, ...]) -> dict[str, str]:
    """Parse NAME=VALUE pairs."""
    for text in given:
        if "=" not in text:
            raise click.BadParameter(f"{text!r}: expected NAME=VALUE.")
    return {name.strip(): value for name, _, value in (text.partition("=") for text in given)}


def offers(what: str) -> Callable[[click.Context, click.Parameter, str], list[str]]:
    """Have an option offer values to a shell: a key of `setup.completion.VALUES`."""

    def offer(_ctx: click.Context, _parameter: click.Parameter, begun: str) -> list[str]:
        from cqm.server.setup.completion import VALUES  # only a shell asks

        return [value for value in VALUES[what]() if value.startswith(begun)]

    return offer


def offers_files(_ctx: click.Context, _parameter: click.Parameter, begun: str) -> "list[CompletionItem]":
    """Have a shell offer its files: for text which may be a path."""
    from click.shell_completion import CompletionItem  # only a shell asks

    return [CompletionItem(begun, type="file")]


def in_a_folder(_ctx: click.Context, _parameter: click.Parameter, file: Path | None) -> Path | None:
    """Check early whether a file can be made: the work before it is written may take minutes."""
    if file and not file.parent.is_dir():
        raise click.BadParameter(
            f"{file}: expected a file in an existing folder. Make {file.parent}, or name a file elsewhere."
        )
    return file


_MOST_NEAR = 3


class InItsProject(click.Path):
    """A path that exists. A stranger's project may have links to anywhere: none may lead out of it."""

    def convert(
        self, value: str | os.PathLike[str], param: click.Parameter | None, ctx: click.Context | None
    ) -> str | bytes | os.PathLike[str]:
        """See `click.Path.convert`."""
        try:
            found = super().convert(value, param, ctx)
        except click.BadParameter as error:
            if not (near := _near(os.fsdecode(value))):
                raise
            from cqm.server.console import one_line  # start-up time

            self.fail(f"{error.message} Did you mean {one_line(' or '.join(near))}?", param, ctx)
        if isinstance(found, Path) and (root := left_by_link(found)):
            around = f"the project {root}" if is_project(root) else f"{root}"
            self.fail(f"{found}: a link leads out of {around}. Give {found.resolve()} itself.", param, ctx)
        return found


def _near(path: str) -> list[str]:
    """Return files or folders of the working folder's project by the end of their path, else similar ones."""
    from cqm.index.files.scan import scan  # start-up time, here and below
    from cqm.index.model.options import ScanOptions
    from cqm.index.search.named.tree_paths import TreePaths

    root = project_root(Path.cwd().resolve())
    if os.path.lexists(path) or is_too_wide(root):
        return []
    tree = TreePaths((it.path for it in scan(root, ScanOptions()) if not it.skip), str(root))
    near = (tree.every_meant(path) or tree.near(path))[:_MOST_NEAR]
    return [os.path.relpath(root / it) for it in near]


PARTIAL = 1
"""Exit code where something failed."""
EXISTING = InItsProject(exists=True, path_type=Path)
"""For options and arguments naming a file or folder."""
as_json_option = click.option("--json", "as_json", is_flag=True, help="Print only JSON on standard output.")
set_option = click.option(
    "--set",
    "overrides",
    metavar="NAME=VALUE",
    multiple=True,
    callback=parse_set,
    shell_complete=offers("settings"),
    help="Set any option of cqm.yml, such as chunk.max_tokens=256. Repeatable.",
)


class _Held(io.StringIO):
    """Output of a terminal, kept for the pager."""

    def isatty(self) -> bool:
        """Tell commands to write as for a terminal."""
        return True


def _page(context: click.Context, _parameter: click.Parameter, is_wanted: bool) -> None:  # noqa: FBT001 - as click calls it
    """Keep the output of a command, and show it in the pager in the end; elsewhere than on a terminal do nothing."""
    if not is_wanted or not sys.stdout.isatty():
        return
    terminal, sys.stdout = sys.stdout, _Held()

    def show() -> None:
        text, sys.stdout = cast("_Held", sys.stdout).getvalue(), terminal
        if text:
            click.echo_via_pager(text, color=True)

    context.call_on_close(show)


pager_option = click.option(
    "--pager",
    is_flag=True,
    expose_value=False,
    callback=_page,
    help="On a terminal, show the output in $PAGER or less.",
)
path_argument = click.argument("path", type=EXISTING, required=False)
paths_argument = click.argument("paths", metavar="[PATH]...", type=click.Path(path_type=Path), nargs=-1)


def root_of(path: Path | None) -> Path:
    """Resolve the root a command is about."""
    if path:
        return path.resolve()
    root = project_root(Path.cwd().resolve())
    if is_too_wide(root):
        raise click.UsageError(
            f"PATH: the working folder {root} is not a project. Name a folder, even if it is this one."
        )
    return root


def indexed_root(path: Path | None) -> Path:
    """Resolve the root to index: for a file in a project, the project, since it has one index."""
    if path and path.is_file() and (root := root_around(path)):
        from cqm.server.console import say  # start-up time

        say(f"{path} is a file of the project {root}: this updates its index.")
        return root
    return root_of(path)


def root_around(path: Path) -> Path | None:
    """Return the project around a path, maybe the working folder; None for no project."""
    real = path.resolve()
    here = project_root(Path.cwd().resolve())
    if real.is_relative_to(here) and not is_too_wide(here):
        return here
    root = project_root(real if real.is_dir() else real.parent)
    return root if is_project(root) else None


def place_of(path: Path | None) -> tuple[Path, str]:
    """Resolve a path within a project; return the project's root, and the path relative to it ("" for the root).

    The project is the working folder's if the path is in it, else the nearest around the path. So it is where the
    working folder is no project, but may have several below it.
    """
    if path is None:
        return root_of(None), ""
    real = path.resolve()
    root, around = project_root(Path.cwd().resolve()), project_root(real if real.is_dir() else real.parent)
    is_within = real.is_relative_to(root) and not is_too_wide(root)
    if not is_within or (is_project(around) and not is_project(root)):
        root = around
    if is_too_wide(root):
        # Named, so it is wanted; a file directly in it is one of its own.
        root = root_of(None) if real == Path.cwd().resolve() else real
    relative = real.relative_to(root).as_posix()
    return root, "" if relative == "." else relative


def folders_of(names: tuple[str, ...], settings: "Settings") -> list[Path]:
    """Return the folders of some groups; missing ones are named on standard error.

    Raises:
        SettingsError: there is no such group, or none of its folders is there.
    """
    from cqm.server.console import say  # start-up time
    from cqm.server.errors import SettingsError

    folders = [folder for name in names for folder in settings.group(name)]
    found = [folder for folder in folders if folder.exists()]
    for folder in folders:
        if folder not in found:
            say(f"{folder} of groups in your cqm.yml is not there; the others are searched.")
    if not found:
        raise SettingsError(f"--group {' '.join(names)}: none of its folders is there.", remedy="Correct your cqm.yml.")
    return found


def settings_of(root: Path | None, overrides: dict[str, str]) -> "Settings":
    """Load the settings of a root, with those of the command line."""
    from cqm.server.config.settings import load_settings

    return load_settings(root, overrides=overrides)


def asked_settings_of(root: Path | None, overrides: dict[str, str]) -> "AskedSettings":
    """Load the settings a command needs to use a root's index; None for a command about all indexes."""
    from cqm.server.config.usual import asked_settings

    return asked_settings(root, overrides)
