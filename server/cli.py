"""The `cqm` command: what its commands and options are. Everything heavier is imported when a command runs."""

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cqm.chunkers.errors import CqmError
from cqm.index.errors import QueryError
from cqm.server.console import prepare_streams, say
from cqm.server.errors import SettingsError, WhenError
from cqm.server.roots import is_too_wide, project_root

if TYPE_CHECKING:
    from cqm.server.settings import Settings

PARTIAL, USAGE, INTERRUPTED = 1, 2, 130
"""Exit codes beside 0: something failed; a bad option, setting or question; Ctrl-C."""

_USAGE_ERRORS = (SettingsError, WhenError, QueryError)


class Commands(click.Group):
    """All commands, and the one place where an error becomes a message and an exit code."""

    def invoke(self, ctx: click.Context) -> Any:  # noqa: ANN401 - as click declares it
        """Run a command; its result is the exit code."""
        code = self._run(ctx)
        ctx.exit(code)

    def _run(self, ctx: click.Context) -> int:
        try:
            code = super().invoke(ctx)
            sys.stdout.flush()
        except CqmError as error:
            say("\n  ".join(filter(None, [f"cqm: {error.message}", error.remedy])))
            return USAGE if isinstance(error, _USAGE_ERRORS) else PARTIAL
        except KeyboardInterrupt:
            say("Interrupted.")
            return INTERRUPTED
        except BrokenPipeError:
            # The reader has seen enough, as in `cqm search ... | head`. What Python still holds back goes nowhere.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return 0
        except OSError as error:
            say(f"cqm: {error}")
            return PARTIAL
        return int(code or 0)


def main() -> None:
    """Run the command line."""
    prepare_streams()
    app(prog_name="cqm")


def _parse_set(_ctx: click.Context, _parameter: click.Parameter, given: tuple[str, ...]) -> dict[str, str]:
    for text in given:
        if "=" not in text:
            raise click.BadParameter(f"expected NAME=VALUE, got {text!r}")
    return {name.strip(): value for name, _, value in (text.partition("=") for text in given)}


_EXISTING = click.Path(exists=True, path_type=Path)
_as_json = click.option("--json", "as_json", is_flag=True, help="Print JSON and nothing else on standard output.")
_set = click.option(
    "--set",
    "overrides",
    metavar="NAME=VALUE",
    multiple=True,
    callback=_parse_set,
    help="Set any option of cqm.yml, such as chunk.max_tokens=256. Repeatable.",
)
_path_argument = click.argument("path", type=_EXISTING, required=False)


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="cqm", message="cqm %(version)s")
def app() -> None:
    """Index code and documents, and find the right lines in them.

    Without a PATH a command is about the project that the working folder is in: the nearest folder at or above it
    with a .git or a cqm.yml, else the working folder itself.
    """


@app.command()
@_path_argument
@_as_json
@_set
def index(path: Path | None, *, as_json: bool, overrides: dict[str, str]) -> int:
    """Bring the index of PATH up to date, making it first if there is none."""
    from cqm.server import commands  # start-up time, here and below

    root = _root(path)
    return commands.index(root, _settings(root, overrides), as_json=as_json)


@app.command()
@click.argument("query", required=False)
@click.option("--path", type=_EXISTING, help="Folder to search; results are relative to it.")
@click.option("--limit", type=click.IntRange(1, 100), help="Results a page.")
@click.option("--mode", type=click.Choice(["hybrid", "semantic", "lexical"]), help="Which evidence counts.")
@click.option("--language", "languages", metavar="NAME", multiple=True, help="Only this language. Repeatable.")
@click.option("--kind", "kinds", metavar="NAME", multiple=True, help="Only this kind, such as function. Repeatable.")
@click.option("--include", metavar="GLOB", multiple=True, help="Only paths that match, such as 'src/**'. Repeatable.")
@click.option("--exclude", metavar="GLOB", multiple=True, help="No paths that match. Repeatable.")
@click.option("--changed-since", metavar="WHEN", help="Only files changed since: 12h, 3d, 2w or 2026-03-01.")
@click.option("--cursor", default="", metavar="CURSOR", help="The next page, as the page before names it.")
@click.option("--batch", type=click.File("rb"), metavar="FILE.jsonl", help="Answer each line of a file; - reads stdin.")
@click.option("--explain", is_flag=True, help="Show the parts of each score.")
@click.option("--no-update", is_flag=True, help="Answer from the index as it is, without looking at the files.")
@_as_json
@_set
def search(path: Path | None, *, overrides: dict[str, str], **asked: Any) -> int:  # noqa: ANN401 - click's own values
    """Answer QUERY: a question, a symbol's name, an error message or a path.

    The index is made, or brought up to date, first.
    """
    from cqm.server import commands

    if (asked["query"] is None) == (asked["batch"] is None):
        raise click.UsageError("Give either QUERY or --batch FILE.jsonl.")
    root = _root(path)
    named = {f"search.{key}": asked.pop(key) for key in ("limit", "mode")}
    settings = _settings(root, overrides | {key: value for key, value in named.items() if value is not None})
    return commands.search(root, settings, commands.Asked(**asked))


@app.command()
@click.argument("file", type=click.Path(exists=True, dir_okay=False, allow_dash=True, path_type=Path))
@click.option("--name", help="A name that tells the language of text from standard input, such as a.py.")
@_as_json
@_set
def preview(file: Path, *, name: str | None, as_json: bool, overrides: dict[str, str]) -> int:
    """Show how FILE is cut into chunks; - reads standard input. Nothing is indexed."""
    from cqm.server import commands

    is_stdin = str(file) == "-"
    data = sys.stdin.buffer.read() if is_stdin else file.read_bytes()
    settings = _settings(project_root(Path.cwd() if is_stdin else file.resolve().parent), overrides)
    return commands.preview(name or ("stdin" if is_stdin else file.name), data, settings, as_json=as_json)


@app.command()
@_path_argument
@click.option("--failed", is_flag=True, help="List every file that failed, with the reason.")
@click.option("--skipped", is_flag=True, help="List every file that was skipped, with the reason.")
@_as_json
@_set
def status(path: Path | None, *, failed: bool, skipped: bool, as_json: bool, overrides: dict[str, str]) -> int:
    """Show what the index of PATH holds, how fresh it is and what it lacks."""
    from cqm.server import commands

    root = _root(path)
    return commands.status(root, _settings(root, overrides), failed=failed, skipped=skipped, as_json=as_json)


@app.command()
@click.argument("path", type=click.Path(exists=True, file_okay=False, path_type=Path), required=False)
@_as_json
@_set
def watch(path: Path | None, *, as_json: bool, overrides: dict[str, str]) -> int:
    """Keep the index of PATH in step with its files until Ctrl-C."""
    from cqm.server import commands

    root = _root(path)
    return commands.watch(root, _settings(root, {"watch.enabled": "true"} | overrides), as_json=as_json)


@app.command()
@click.option("--http", metavar="HOST:PORT", help="Serve streamable HTTP there; without it, stdin and stdout.")
@click.option("--root", "roots", type=_EXISTING, multiple=True, help="Folder that clients may search. Repeatable.")
@_set
def serve(*, http: str | None, roots: tuple[Path, ...], overrides: dict[str, str]) -> int:
    """Serve agents over MCP."""
    named = {"server.http": http} if http is not None else {}
    settings = _settings(roots[0].resolve() if roots else Path.cwd(), overrides | named)
    from cqm.server.app import serve as serve_mcp  # seconds, which a bad setting should not cost

    serve_mcp(settings, settings.server.http or None, roots or settings.server.roots)
    return 0


def _root(path: Path | None) -> Path:
    """The real path of the root that a command is about."""
    if path:
        return path.resolve()
    root = project_root(Path.cwd().resolve())
    if is_too_wide(root):
        raise click.UsageError(f"This is {root}, not a project. Name the folder that you mean, even if it is this one.")
    return root


def _settings(root: Path, overrides: "dict[str, str]") -> "Settings":
    from cqm.server.settings import load_settings

    return load_settings(root, overrides=overrides)
