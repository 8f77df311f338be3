"""`cqm eval`: its options."""

from pathlib import Path
from typing import Any

import click

from cqm.server.cli.options import (
    InItsProject,
    as_json_option,
    in_a_folder,
    parse_set,
    root_of,
    set_option,
    settings_of,
)

_FIELDS = ("language", "category", "tree", "split", "id")
"""Fields of a question usable with --only."""


def _parse_fields(context: click.Context, parameter: click.Parameter, given: tuple[str, ...]) -> dict[str, str]:
    values = parse_set(context, parameter, given)
    for name in values:
        if name not in _FIELDS:
            raise click.BadParameter(f"{name!r}: expected one of {', '.join(_FIELDS)}.")
    return values


@click.command("eval")
@click.argument("questions", metavar="FILE.jsonl", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.argument("root", type=InItsProject(exists=True, file_okay=False, path_type=Path), required=False)
@click.option(
    "--mode",
    type=click.Choice(["hybrid", "semantic", "lexical"]),
    help="Rank by meaning, by words, or by both (hybrid).",
)
@click.option(
    "--only",
    metavar="FIELD=VALUE",
    multiple=True,
    callback=_parse_fields,
    help="Only questions with this value, such as language=go. Repeatable.",
)
@click.option(
    "--results",
    type=click.Path(dir_okay=False, path_type=Path),
    callback=in_a_folder,
    help="Write the ranks of each question to this file.",
)
@click.option(
    "--golden", type=click.Path(file_okay=False, path_type=Path), help="Compare with the ranks in this folder."
)
@click.option("--accept", is_flag=True, help="Write the files of --golden instead of comparing.")
@as_json_option
@set_option
def evaluate(questions: Path, root: Path | None, *, mode: str | None, overrides: dict[str, str], **asked: Any) -> int:  # noqa: ANN401
    """Measure search by questions with known answers.

    The questions of FILE are asked of ROOT, or of the trees in it. Each line of FILE is an object with id, query and
    targets; `cqm.index.evaluation.topics` documents the rest.
    """
    from cqm.server.cli import eval as evaluating

    if asked["accept"] and not asked["golden"]:
        raise click.UsageError("--accept needs --golden. Name the folder of the golden files.")
    overrides |= {"search.mode": mode} if mode else {}
    wanted = evaluating.Asked(questions, root_of(root), **asked)
    return evaluating.evaluate(wanted, lambda tree: settings_of(tree, overrides))
