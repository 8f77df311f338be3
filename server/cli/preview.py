"""`cqm preview`: cut a file in one or several ways; draw the chunks, or print them as text, JSON or a page."""

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from cqm.chunkers.model import Document
from cqm.index.workers import Workers
from cqm.server.config.settings import Settings
from cqm.server.console import emit, one_line, say, visible
from cqm.server.preview.as_json import preview_object
from cqm.server.preview.choice import Choice, parse_choice, recommended_choice
from cqm.server.preview.preview import Preview, preview, read_document, warned
from cqm.server.preview.text import comparison_lines, options_line, preview_lines, statistics_line


@dataclass(frozen=True, slots=True)
class Asked:
    """Options of `cqm preview` on the command line."""

    strategy: str
    options: Mapping[str, str]
    compare: tuple[str, ...]
    recommend: bool
    tokens: str
    page: Path | None
    as_json: bool


def preview_command(name: str, data: bytes, settings: Settings, asked: Asked, workers: Workers) -> int:
    """Show how a file would be chunked; return the exit code.

    Parameters:
        name: path of the file in its project; decides the language and the rule.
        settings: in force for it.
    """
    document, warnings = read_document(name, data, workers)
    made = [
        warned(preview(document, choice, settings, workers, model=asked.tokens), warnings)
        for choice in _choices(document, asked)
    ]
    if asked.page:
        _write_page(asked.page, made)
    if asked.as_json:
        compared = {"compare": [preview_object(it) for it in made[1:]]} if asked.compare else {}
        emit(preview_object(made[0]) | compared)
        return 0
    _show(made, has_page=asked.page is not None)
    for warning in made[0].report.warnings:
        say(f"warning: {warning}")
    return 0


def _write_page(target: Path, made: Sequence[Preview]) -> None:
    from cqm.server.preview.html import preview_page  # start-up time, here and below

    target.write_text(preview_page(made), encoding="utf-8", errors="backslashreplace", newline="\n")


def _choices(document: Document, asked: Asked) -> list[Choice]:
    first = recommended_choice(document, asked.options) if asked.recommend else Choice(asked.strategy, asked.options)
    return [first, *map(parse_choice, asked.compare)]


def _show(made: Sequence[Preview], *, has_page: bool) -> None:
    if made[0].choice.reason:
        say(f"Recommended: {made[0].choice.label} ({made[0].choice.reason})")
    if has_page:
        _print(_summary(made))
    elif sys.stdout.isatty():
        from cqm.server.preview.terminal import show_preview

        show_preview(made[0])
    else:
        _print(preview_lines(made[0]))
    if len(made) > 1:
        _print(["", *comparison_lines(made)])


def _summary(made: Sequence[Preview]) -> Iterator[str]:
    yield one_line(f"{made[0].document.path}: {options_line(made[0])}")
    yield statistics_line(made[0])


def _print(lines: Iterator[str] | Sequence[str]) -> None:
    sys.stdout.write("".join(f"{visible(line)}\n" for line in lines))
    sys.stdout.flush()
