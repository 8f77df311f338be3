"""The documents tell all that the command line can do, and nothing that it cannot."""

import re
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from cqm.server.cli import table
from cqm.server.cli.main import app
from cqm.server.config.merge import option_names
from cqm.server.config.options import Options
from cqm.server.config.settings import load_settings

ROOT = Path(__file__).parents[3]
COMMANDS = (ROOT / "docs" / "commands.md").read_text(encoding="utf-8")
FILES = {("server", "py")}
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def documented() -> dict[str, set[str]]:
    """The options in the table of commands, by command."""
    rows = re.findall(r"^\| `cqm ((?:[a-z]+ ?)+)[^`]*` \| [^|]+ \| ([^|]+) \|$", COMMANDS, re.MULTILINE)
    return {name.strip(): set(re.findall(r"`(--[\w-]+)`", options)) for name, options in rows}


def declared() -> dict[str, set[str]]:
    """The options of the commands themselves, but --help, which each has; those that help hides are other names."""
    return {
        name: {
            option
            for parameter in command.params
            if isinstance(parameter, click.Option)
            for option in parameter.opts
            if option.startswith("--")
        }
        for name, command in commands()
        if not command.hidden
    }


def commands() -> Iterator[tuple[str, click.Command]]:
    """All commands by what one types for them; those of a group come after its name."""
    for name, command in app.commands.items():
        if isinstance(command, click.Group):
            yield from ((f"{name} {below}", inner) for below, inner in command.commands.items())
        else:
            yield name, command


def test_every_command_and_every_option_is_in_the_table_of_commands() -> None:
    assert documented() == declared()


def test_every_option_of_a_command_explains_itself() -> None:
    unexplained = [
        f"{name} {parameter.name}"
        for name, command in commands()
        for parameter in command.params
        if isinstance(parameter, click.Option) and not parameter.help
    ]
    assert unexplained == []


def test_every_setting_that_a_document_names_exists() -> None:
    sections = {name[0] for name in option_names(Options)}
    texts = [page.read_text(encoding="utf-8") for page in PAGES]
    named = {tuple(name.split(".")) for text in texts for name in re.findall(r"`([a-z]+\.[a-z_]+)`", text)}
    assert {name for name in named if name[0] in sections} <= set(option_names(Options)) | FILES


def test_the_models_that_a_document_shows_are_those_of_the_settings(tmp_path: Path) -> None:
    shown = re.search(
        r"```yaml\n(embedding:.+?)```", (ROOT / "docs" / "models.md").read_text(encoding="utf-8"), re.DOTALL
    )
    assert shown
    (tmp_path / "cqm.yml").write_text(shown[1], encoding="utf-8")
    settings = load_settings(environment={}, user=tmp_path / "cqm.yml")
    assert settings.route_options().prose


def test_the_help_lists_every_command_with_its_whole_summary() -> None:
    listed = CliRunner().invoke(app, ["--help"], terminal_width=80).stdout
    for name, entry in table.COMMANDS.items():
        is_listed = re.search(rf"^  {name} +{re.escape(entry.summary)}$", listed, re.MULTILINE) is not None
        assert is_listed == bool(entry.summary)


def test_each_default_is_shown() -> None:
    shown = {name: CliRunner().invoke(app, [name, "--help"]).stdout for name in ("outline", "ui", "preview")}
    assert "[default: 500;" in shown["outline"]
    assert "[default: (a free one);" in shown["ui"]
    assert "[default: auto]" in shown["preview"]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["where are retries limited"], 'cqm search "where are retries limited"'),
        (["src/parser.py:12"], 'cqm search "src/parser.py:12"'),
        (["serch", "x"], "Did you mean"),
        (["grep", "x"], "Did you mean 'cqm search --mode regex'?"),
        (["version"], "Did you mean 'cqm --version'?"),
        (["-n", "2", "search", "x"], "Options of a command come after its name."),
        (["help", "serch"], "Did you mean one of: 'search'"),
    ],
)
def test_a_question_without_a_command_is_told_where_it_belongs(arguments: list[str], told: str) -> None:
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == 2
    assert told in done.stderr


def test_help_is_a_command_too_as_in_other_programs() -> None:
    run = CliRunner().invoke
    assert run(app, ["help"]).stdout == run(app, ["--help"]).stdout
    assert run(app, ["help", "search"]).stdout == run(app, ["search", "--help"]).stdout
    assert table.other_command("search") == ""
    meant = {
        entry.partition("'cqm ")[2].split()[0].rstrip("'?") for entry in map(table.other_command, ["rm", "log", "show"])
    }
    assert meant <= set(table.COMMANDS)
