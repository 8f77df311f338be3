"""Write the manual pages of `cqm` from its own help: a page for the command, and one for each of its commands."""

import re
from collections.abc import Iterator

import click

from cqm.server.cli.main import app
from cqm.server.cli.table import COMMANDS

_WIDTH = 10_000
"""Columns: lines are filled by man."""


def pages(version: str) -> dict[str, str]:
    """Make all pages, by the name of their file.

    Parameters:
        version: of CQM.
    """
    root = click.Context(app, info_name="cqm", terminal_width=_WIDTH, **app.context_settings)
    made = {"cqm.1": _page(root, version, "index code and documents, and find the right lines in them")}
    for name, context in _commands(root):
        summary = COMMANDS[name.split()[0]].summary if " " not in name else context.command.get_short_help_str(_WIDTH)
        made[f"cqm-{name.replace(' ', '-')}.1"] = _page(context, version, summary[0].lower() + summary[1:].rstrip("."))
    return made


def _commands(parent: click.Context) -> Iterator[tuple[str, click.Context]]:
    """List the commands that help shows by what is typed after `cqm`; those of a group in its place."""
    group = parent.command
    assert isinstance(group, click.Group)  # noqa: S101 - for the type
    for name, command in group.commands.items():
        context = click.Context(command, info_name=name, parent=parent, terminal_width=_WIDTH)
        if command.hidden:
            continue
        if isinstance(command, click.Group):
            yield from ((f"{name} {below}", inner) for below, inner in _commands(context))
        else:
            yield name, context


def _page(context: click.Context, version: str, summary: str) -> str:
    command, path = context.command, context.command_path
    title = path.replace(" ", "-")
    usage = " ".join(command.collect_usage_pieces(context))
    lines = [
        f'.TH {title.upper()} 1 "" "cqm {version}" "CQM"',
        ".SH NAME",
        f"{_roff(title)} \\- {_roff(summary)}",
        ".SH SYNOPSIS",
        f".B {_roff(path)}",
        _roff(usage),
        ".SH DESCRIPTION",
        *_paragraphs(command.help or ""),
        ".SH OPTIONS",
    ]
    for parameter in command.get_params(context):
        record = parameter.get_help_record(context)
        if record and isinstance(parameter, click.Option):
            lines += [".TP", f".B {_roff(record[0])}", _roff(record[1])]
    if context.parent is None:
        for group in dict.fromkeys(entry.group for entry in COMMANDS.values()):
            lines.append(f".SH {_roff(group.upper())}")
            for name, entry in COMMANDS.items():
                if entry.group == group and entry.summary:
                    lines += [".TP", f".B {name}", _roff(entry.summary)]
    lines += [".SH EXIT STATUS", *_paragraphs(_EXIT)]
    return "\n".join(lines) + "\n"


_EXIT = (
    "0: done, also when nothing was found. 1: something failed. 2: a bad option, setting, question or path."
    " 130: stopped by Ctrl-C."
)


def _paragraphs(text: str) -> Iterator[str]:
    for number, part in enumerate(re.split(r"\n\s*\n", text.strip())):
        if number:
            yield ".PP"
        lines = [line.strip() for line in part.splitlines()]
        if lines[0] == "\b":
            # Lines that click leaves as they are.
            yield from (".nf", *map(_roff, lines[1:]), ".fi")
        else:
            yield _roff(" ".join(part.split()))


def _roff(text: str) -> str:
    """Escape a text in one line: a sign at its beginning would be a request."""
    escaped = text.replace("\\", "\\e").replace("-", "\\-")
    return f"\\&{escaped}" if escaped.startswith((".", "'")) else escaped
