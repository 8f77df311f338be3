"""Answers for people at a terminal, coloured and highlighted."""

from pathlib import PurePosixPath

from rich.console import Console
from rich.syntax import Syntax
from rich.text import Text

from cqm.index.model import Answer, Hit, Query
from cqm.server.console import visible
from cqm.server.render import advice_lines, explanation_line, header_lines

_MOST_LINES = 24
"""Of one hit: ten hits stay within a few screens."""


def show_answer(query: Query, answer: Answer, *, root: str, explain: bool) -> None:
    """Write an answer to standard output; long hits are cut, and say so."""
    console = Console(highlight=False)
    for line in header_lines(query, answer, root=root):
        console.print(Text(visible(line), style="dim"))
    if not answer.hits:
        console.print(Text("\n".join(advice_lines(query, answer))))
    for hit in answer.hits:
        console.print()
        _show_hit(console, hit, explain=explain)
    if answer.next_cursor:
        console.print(Text(f"\nMore results: --cursor {answer.next_cursor}", style="dim"))


def _show_hit(console: Console, hit: Hit, *, explain: bool) -> None:
    place = f"{hit.path}:{hit.start_line}-{hit.end_line}"
    console.print(_head(place, hit.symbol, f"({hit.kind})  {hit.score:.3f}"))
    if explain and hit.parts:
        console.print(Text(explanation_line(hit), style="dim"))
    lines = hit.shown.rstrip().split("\n")
    excerpt = "\n".join(lines[:_MOST_LINES])
    # The lines of a content are not those of the file.
    console.print(Text(visible(excerpt)) if hit.content else _code(excerpt, hit.path, hit.start_line))
    if len(lines) > _MOST_LINES:
        console.print(Text(f"     {len(lines) - _MOST_LINES} more lines, to line {hit.end_line}", style="dim"))


def _head(place: str, symbol: str, rest: str) -> Text:
    return Text.assemble((visible(place), "bold cyan"), (f"  {visible(symbol)}", "bold"), (f"  {rest}", "dim"))


def _code(text: str, path: str, first_line: int) -> Syntax:
    text = visible(text)
    return Syntax(
        text,
        Syntax.guess_lexer(PurePosixPath(path).name, text),
        theme="ansi_dark",
        background_color="default",
        line_numbers=True,
        start_line=first_line,
        word_wrap=True,
    )
