"""Answers for people at a terminal, coloured and highlighted."""

from pathlib import PurePosixPath

from rich.console import Console
from rich.syntax import Syntax
from rich.text import Text

from cqm.index.model import Answer, Query
from cqm.server.assembly import Passage, assemble
from cqm.server.console import visible
from cqm.server.render import (
    advice_lines,
    explanation_lines,
    header_lines,
    left_out,
    passage_names,
    passage_place,
)

_TOKENS = 2400
"""Of all hits together: ten of them stay within a few screens."""
_TOKENS_A_HIT = 60
"""At least, so that every hit of a long page is shown."""


def show_answer(query: Query, answer: Answer, *, root: str, explain: bool) -> None:
    """Write an answer to standard output; long hits are cut, and say so."""
    console = Console(highlight=False)
    for line in header_lines(query, answer, root=root):
        console.print(Text(visible(line), style="dim"))
    if not answer.hits:
        console.print(Text("\n".join(advice_lines(query, answer))))
    room = max(_TOKENS, _TOKENS_A_HIT * len(answer.hits))
    for passage in assemble(query.text, answer, [0] * len(answer.hits), room):
        console.print()
        _show_passage(console, passage, explain=explain)
    if answer.next_cursor:
        console.print(Text(f"\nMore results: --cursor {answer.next_cursor}", style="dim"))


def _show_passage(console: Console, passage: Passage, *, explain: bool) -> None:
    best = passage.hits[0]
    start, end = passage_place(passage)
    console.print(_head(f"{best.path}:{start}-{end}", passage_names(passage), f"{best.score:.3f}"))
    for line in explanation_lines(passage) if explain else ():
        console.print(Text(visible(line), style="dim"))
    if passage.enclosing:
        console.print(Text(visible(f"     in {passage.enclosing}"), style="dim"))
    following = passage.first
    for piece in passage.pieces:
        _show_mark(console, following, piece.start - 1, passage)
        text = "\n".join(piece.lines)
        # The lines of a content are not those of the file.
        console.print(_code(text, best.path, piece.start) if passage.is_source else Text(visible(text)))
        following = piece.last + 1
    _show_mark(console, following, passage.last, passage)


def _show_mark(console: Console, first: int, last: int, passage: Passage) -> None:
    for mark in left_out(first, last, numbered=passage.is_source):
        console.print(Text(f"     {mark}", style="dim"))


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
