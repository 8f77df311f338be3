"""The `cqm` command: errors and exit codes of all commands. Everything heavier is imported when a command runs."""

import errno
import gc
import io
import os
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from cqm.server.cli.table import COMMANDS, Lazily, other_command, unknown_option, write_commands

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from cqm.chunkers.errors import CqmError

USAGE, INTERRUPTED = 2, 130
"""Exit codes beside 0 and `PARTIAL`: a bad option, setting or question; Ctrl-C."""


class Commands(click.Group):
    """All commands, and the one place turning errors into messages and exit codes."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002 - as click calls it
        """List the commands by their purpose."""
        write_commands(formatter)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command; answer a question in its place with the command for questions."""
        if ctx.resilient_parsing:
            # A shell completing a line wants no message.
            return super().resolve_command(ctx, args)
        if args and (" " in args[0] or (args[0] not in COMMANDS and len(args) == 1 and not args[0].isalpha())):
            words = args[0].replace('"', "'")[:100]
            raise click.UsageError(f'No such command. To search: cqm search "{words}"', ctx)
        if args[:1] == ["help"]:
            return self._resolve_help(ctx, args[1:])
        if args and args[0] not in COMMANDS and (told := other_command(args[0])):
            raise click.UsageError(told, ctx)
        return super().resolve_command(ctx, args)

    def _resolve_help(self, ctx: click.Context, args: list[str]) -> tuple[str | None, click.Command | None, list[str]]:
        """Read `cqm help COMMAND` as `cqm COMMAND --help`."""
        if args:
            return super().resolve_command(ctx, [*args, "--help"])
        click.echo(ctx.get_help())
        raise click.exceptions.Exit(0)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> "list[CompletionItem]":
        """Offer commands and options; behind `help` commands, nothing behind an unknown one."""
        before = [*ctx._protected_args, *ctx.args]  # noqa: SLF001 - no other way
        return [] if before not in ([], ["help"]) else super().shell_complete(ctx, incomplete)

    def make_context(
        self,
        info_name: str | None,
        args: list[str],
        parent: click.Context | None = None,
        **extra: Any,  # noqa: ANN401 - as click declares it
    ) -> click.Context:
        """Read the options before a command; `--help` and `--version` print here."""
        try:
            return super().make_context(info_name, args, parent, **extra)
        except click.NoSuchOption as error:
            raise click.UsageError(unknown_option(error), error.ctx) from None
        except KeyboardInterrupt:
            raise click.exceptions.Exit(_interrupted()) from None
        except OSError as error:
            raise click.exceptions.Exit(_code_of_unwritten(error)) from error

    def invoke(self, ctx: click.Context) -> Any:  # noqa: ANN401 - as click declares it
        """Run a command; its result is the exit code."""
        try:
            code = self._run(ctx)
        except KeyboardInterrupt:
            code = _interrupted()
        ctx.exit(code)

    def _run(self, ctx: click.Context) -> int:
        from cqm.chunkers.errors import CqmError  # start-up time, here and below
        from cqm.server.cli.options import PARTIAL
        from cqm.server.console import collect_seldom, prepare_logging, say

        collect_seldom()
        prepare_logging()
        try:
            code = super().invoke(ctx)
            sys.stdout.flush()
        except click.NoSuchOption as error:
            raise click.UsageError(unknown_option(error), error.ctx) from None
        except CqmError as error:
            say(*_error_lines(error))
            return USAGE if _is_of_usage(error) else PARTIAL
        except OSError as error:
            return _code_of_unwritten(error)
        return int(code or 0)


def _interrupted() -> int:
    """Say that Ctrl-C ended the command, and return the exit code."""
    click.echo("Interrupted.", err=True)
    return INTERRUPTED


def _code_of_unwritten(error: OSError) -> int:
    """Say why the system refused something, such as to write results, and return the exit code."""
    from cqm.index.model.errors import remedy_of_shortage  # start-up time, here and below
    from cqm.server.cli.options import PARTIAL
    from cqm.server.console import say

    if isinstance(error, BrokenPipeError):
        # The reader has seen enough, as in `cqm search ... | head`. Python's buffered output goes nowhere.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    if error.errno in {errno.ENOSPC, errno.EDQUOT}:
        say(
            f"cqm: {error.filename or 'The output'} cannot be written: {error.strerror}.",
            "Free space there, or write to another disk.",
        )
        return PARTIAL
    say(f"cqm: {error}", *filter(None, [remedy_of_shortage(error)]))
    return PARTIAL


class _Droppable(io.FileIO):
    """Standard error, dropping text that cannot be written: a log on a full disk says nothing about the work itself."""

    def write(self, data: Any) -> int:  # noqa: ANN401 - bytes or a view of them
        """Write bytes, or drop them."""
        try:
            return super().write(data) or memoryview(data).nbytes
        except OSError:
            return memoryview(data).nbytes


def _is_of_usage(error: "CqmError") -> bool:
    from cqm.chunkers.errors import ChunkOptionError
    from cqm.index.model.errors import NotIndexedError, QueryError, TopicError
    from cqm.server.errors import SettingsError, WhenError

    if isinstance(error, NotIndexedError):
        # An impossible path, or a left-out one; a merely new one is found the next time.
        return not error.retryable
    return isinstance(error, SettingsError | WhenError | QueryError | TopicError | ChunkOptionError)


def _error_lines(error: "CqmError") -> Iterator[str]:
    """Write an error for people, with the remedy below. Only errors of settings and lists have a line a problem."""
    from cqm.server.errors import BulkListError, SettingsError

    lines = error.message.split("\n") if isinstance(error, SettingsError | BulkListError) else [error.message]
    yield f"cqm: {lines[0]}"
    yield from (f"  {line}" for line in [*lines[1:], error.remedy] if line)


def main() -> None:
    """Run the command line."""
    _leave_working_folder_out()
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            # Closed by the shell (`>&-`): nobody reads the output.
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: PTH123, SIM115 - as long as the process
    if sys.platform != "win32" and sys.__stderr__ and sys.stderr is sys.__stderr__:
        # It keeps the descriptor open.
        raw = _Droppable(sys.__stderr__.fileno(), "w", closefd=False)
        sys.stderr = io.TextIOWrapper(io.BufferedWriter(raw), line_buffering=True)
    # UTF-8 whatever the locale; anything else, such as file names that are no text, is escaped.
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace", newline="\n")
    if "_CQM_COMPLETE" in os.environ:
        from cqm.server.setup.completion import register

        register()
    try:
        app(prog_name="cqm")
    finally:
        # Python looks for garbage once more as it ends, which takes as long as a search of a warm index.
        gc.freeze()


def main_of_server() -> None:
    """Run `cqm-mcp`: the command line, which without arguments serves, as `uvx cqm-mcp` should."""
    sys.argv[1:] = sys.argv[1:] or ["serve"]
    main()


def _leave_working_folder_out() -> None:
    """Keep imports out of the working folder, which may be a stranger's, though Python may have it on its path."""
    try:
        here = os.path.realpath(os.getcwd())  # noqa: PTH109 - pathlib takes start-up time
    except FileNotFoundError:
        # It has been deleted.
        here = ""
    sys.path[:] = [
        entry
        for entry in sys.path
        # Unless CQM itself was loaded from there.
        if os.path.isabs(entry)  # noqa: PTH117
        and (os.path.realpath(entry) != here or __file__.startswith(os.path.join(entry, "")))  # noqa: PTH118
    ]


@click.group(
    cls=Commands,
    commands=Lazily(),
    context_settings={"help_option_names": ["-h", "--help"], "show_default": True},
    epilog="cqm COMMAND --help explains a command and its options.",
)
# The name of the distribution, as in `chunkers/extras.py`.
@click.version_option(None, "-V", "--version", package_name="cqm-mcp", message="cqm %(version)s")
def app() -> None:
    """Index code and documents, and find the right lines in them.

    Without PATH, a command uses the project of the working folder: the nearest folder at or above it with a .git or a
    cqm.yml, else the working folder itself.
    """
