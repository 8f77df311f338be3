"""`cqm search`: its options."""

import os
from pathlib import Path
from typing import Any

import click

from cqm.server.cli.options import (
    EXISTING,
    as_json_option,
    asked_settings_of,
    folders_of,
    offers,
    offers_files,
    pager_option,
    place_of,
    root_around,
    root_of,
    set_option,
    settings_of,
)
from cqm.server.config.project_root import is_project

_LONGEST = 100
"""Characters shown of an unquoted question."""


@click.command()
@click.argument("words", metavar="[QUERY] [PATH]...", nargs=-1, shell_complete=offers_files)
@click.option(
    "--path", "paths", type=EXISTING, multiple=True, help="Folder to search; results are relative to it. Repeatable."
)
@click.option(
    "--group",
    "groups",
    metavar="NAME",
    multiple=True,
    shell_complete=offers("groups"),
    help="Folders under groups in your cqm.yml. Repeatable.",
)
@click.option(
    "--limit", "-n", type=click.IntRange(1, 100), help="Results per page. Default: 10; 50 lines with exact and regex."
)
@click.option(
    "--mode",
    type=click.Choice(["hybrid", "semantic", "lexical", "exact", "regex"]),
    help="Rank by meaning, by words, or by both (hybrid); or list all lines with a text (exact) or pattern (regex)."
    " Default: hybrid.",
)
@click.option(
    "--context",
    "around",
    type=click.IntRange(0, 20),
    metavar="LINES",
    help="With exact and regex: lines to show around each. Default: 2 if at most 3 lines match.",
)
@click.option("--language", "languages", metavar="NAME", multiple=True, help="Only this language. Repeatable.")
@click.option("--kind", "kinds", metavar="NAME", multiple=True, help="Only this kind, such as function. Repeatable.")
@click.option(
    "--source",
    "sources",
    type=click.Choice(["code", "documentation", "config", "data", "issue"]),
    multiple=True,
    help="Only this kind of source. Repeatable.",
)
@click.option(
    "--issue",
    "issues",
    metavar="NUMBER",
    multiple=True,
    help="Only what refers to this issue: 123, or owner/name#123. Repeatable.",
)
@click.option("--include", metavar="GLOB", multiple=True, help="Only matching paths, such as 'src/**'. Repeatable.")
@click.option("--exclude", metavar="GLOB", multiple=True, help="Leave out matching paths. Repeatable.")
@click.option("--changed-since", metavar="WHEN", help="Only files changed since then: 12h, 3d, 2w or 2026-03-01.")
@click.option(
    "--cursor", default="", show_default=False, metavar="CURSOR", help="Next page; the previous page prints its CURSOR."
)
@click.option(
    "--like",
    metavar="PATH:LINE",
    shell_complete=offers_files,
    help="Find similar chunks, such as of src/app.py:40-61.",
)
@click.option("--batch", type=click.File("rb"), metavar="FILE.jsonl", help="Answer each line of a file; - reads stdin.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["full", "compact"]),
    help="As agents read it: lines within a budget, or one line a result. Default: full, compact for ten of one name.",
)
@click.option("--compact", "form", flag_value="compact", help="The same as --format compact.")
@click.option(
    "--color",
    type=click.Choice(["auto", "always", "never"]),
    default="auto",
    help="Show results as on a terminal, in colours, even in a pipe; or without colours. NO_COLOR is honoured by auto.",
)
@click.option("--explain", is_flag=True, help="Show the parts of each score.")
@click.option("--no-update", is_flag=True, help="Answer from the index as it is; don't look at the files.")
@click.option(
    "--wait",
    type=click.FloatRange(0),
    metavar="SECONDS",
    help="Longest wait for changes to be indexed; the answer notes missing ones.",
)
@pager_option
@as_json_option
@set_option
def search(
    words: tuple[str, ...],
    paths: tuple[Path, ...],
    groups: tuple[str, ...],
    *,
    overrides: dict[str, str],
    **asked: Any,  # noqa: ANN401 - click's own values
) -> int:
    """Find the lines that answer QUERY.

    QUERY is a question, a symbol's name, an error message or a path; with --mode exact a text, with --mode regex a
    pattern. Quote it if it has blanks. Of a PATH in a project only results below it are shown. The index is created or
    updated first.
    """
    from cqm.index.model.query import LINES_A_PAGE, SearchMode
    from cqm.server.cli.search import Asked
    from cqm.server.cli.search import search as ask

    asked["query"], within = _query_and_paths(words)
    if sum(asked[name] is not None for name in ("query", "batch", "like")) != 1:
        raise click.UsageError("Expected one of QUERY, --like PATH:LINE and --batch FILE.jsonl. Give exactly one.")
    if asked["wait"] is not None and asked["no_update"]:
        raise click.UsageError("--wait and --no-update cannot be combined. Give one of them.")
    if within:
        root, globs = _project_of(within)
        _check_project(root, within, overrides)
        if paths or groups or asked["include"]:
            raise click.UsageError("PATH and --path, --group or --include cannot be combined. Give one of them.")
        paths, asked["include"] = (root,), globs
    elif paths and not asked["include"] and all(path.is_file() and root_around(path) for path in paths):
        # A file has no index of its own.
        root, asked["include"] = _project_of(list(paths))
        paths = (root,)
    folders = (*paths, *(folders_of(groups, settings_of(None, overrides)) if groups else ()))
    roots = _outermost([*dict.fromkeys(map(root_of, folders or (None,)))])
    if asked["limit"] is None and asked["mode"] and SearchMode(asked["mode"]).is_of_lines:
        asked["limit"] = LINES_A_PAGE
    named = {f"search.{key}": asked.pop(key) for key in ("limit", "mode")}
    overrides |= {key: value for key, value in named.items() if value is not None}
    return ask([(root, asked_settings_of(root, overrides)) for root in roots], Asked(**asked))


def _outermost(roots: list[Path]) -> list[Path]:
    """Leave out folders inside others, as these indexes have their files too, unless they are projects of their own."""
    return [it for it in roots if is_project(it) or not any(other in it.parents for other in roots)]


def _query_and_paths(words: tuple[str, ...]) -> tuple[str | None, list[Path]]:
    """Split the question from the paths behind it; an unquoted question has words that are no path."""
    query, *behind = words or (None,)
    unknown = [word for word in behind if not os.path.exists(word)]  # noqa: PTH110 - pathlib's fails for long names
    if not unknown:
        return query, [Path(word) for word in behind]
    last = len(words) - os.path.exists(words[-1])  # noqa: PTH110
    quoted = " ".join(words[:last]).replace('"', "'")[:_LONGEST]
    rest = f" {words[-1]}" if last < len(words) else ""
    raise click.UsageError(
        f'{unknown[0][:_LONGEST]!r} is no path. Quote a question of several words: cqm search "{quoted}"{rest}'
    )


def _project_of(paths: list[Path]) -> tuple[Path, tuple[str, ...]]:
    """Return the one project around some paths, and globs for everything below them; none for the project itself."""
    places = [place_of(path) for path in paths]
    roots = {root for root, _ in places}
    if len(roots) > 1:
        raise click.UsageError("Each PATH is in a project of its own. Search them with --path, once for each.")
    relatives = [relative for _, relative in places]
    return roots.pop(), () if "" in relatives else tuple(_as_glob(relative) for relative in relatives)


def _check_project(root: Path, paths: list[Path], overrides: dict[str, str]) -> None:
    """Refuse to index a folder outside of projects named beside a question: /etc may be all of a system."""
    from cqm.index.disk.locations import index_folder, is_index  # start-up time

    if any(map(root_around, paths)):
        return
    if not is_index(index_folder(root, asked_settings_of(root, overrides).index_options(root))):
        raise click.UsageError(
            f"{paths[0]} is in no project and not indexed. Name it with --path to have it indexed, or run `cqm index`."
        )


def _as_glob(relative: str) -> str:
    from cqm.index.text.globs import escaped  # start-up time

    # From the root: a glob without a slash matches at any depth.
    return f"/{escaped(relative)}"
