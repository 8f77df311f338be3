"""Answers for people at a terminal, coloured and highlighted."""

from collections.abc import Iterable
from pathlib import PurePosixPath

from rich.console import Console
from rich.syntax import Syntax
from rich.text import Text

from cqm.index.model.query import Answer, Query
from cqm.server.answers.header import advice_lines, header_lines
from cqm.server.answers.names import passage_names, passage_place, place, place_line, worth
from cqm.server.answers.passages import Passage, assemble, read_answer
from cqm.server.answers.render import explanation_lines, is_no_answer, left_out, trusted_part
from cqm.server.console import visible

_TOKENS = 2400
"""Tokens of all hits together: ten hits fill a few screens."""
_TOKENS_A_HIT = 60
"""Least tokens of a hit, so every hit of a long page is shown."""
_EDGE = "     │ "


def show_answer(query: Query, answer: Answer, *, root: str, explain: bool, color: bool | None = None) -> None:
    """Print an answer; mark the gaps of cut hits. `color` is None where the terminal and NO_COLOR decide."""
    is_plain = None if color is None else not color
    console = Console(highlight=False, force_terminal=color or None, no_color=is_plain)
    for line in header_lines(query, answer, root=root):
        console.print(Text(line, style="dim"))
    if not answer.hits:
        console.print(Text("\n".join(advice_lines(query, answer))))
    answer = trusted_part(query, answer)
    if is_no_answer(query, answer):
        for hit in answer.hits:
            console.print(Text(place_line(hit)))
        return
    room = max(_TOKENS, _TOKENS_A_HIT * len(answer.hits))
    passages, _ = assemble(read_answer(answer.in_english or query.text, answer), [0] * len(answer.hits), room)
    for passage in passages:
        console.print()
        _show_passage(console, passage, explain=explain)
    if answer.next_cursor:
        console.print(Text(f"\nMore results: --cursor {answer.next_cursor}", style="dim"))


def _show_passage(console: Console, passage: Passage, *, explain: bool) -> None:
    best = passage.hits[0]
    start, end = passage_place(passage)
    console.print(_head(place(best.path, start, end), passage_names(passage), worth(best)))
    for line in explanation_lines(passage) if explain else ():
        console.print(Text(line, style="dim"))
    if passage.enclosing:
        console.print(Text(f"     in {passage.enclosing}", style="dim"))
    following = passage.first
    for piece in passage.pieces:
        _show_mark(console, following, piece.start - 1, passage)
        if passage.is_source:
            console.print(_code("\n".join(piece.lines), best.path, piece.start))
        else:
            _show_content(console, piece.lines)
        following = piece.last + 1
    _show_mark(console, following, passage.last, passage)


def _show_content(console: Console, lines: Iterable[str]) -> None:
    """Print lines of a content behind an edge: they have no numbers in the file."""
    room = max(console.width - len(_EDGE), 10)
    for line in lines:
        for part in Text(line).wrap(console, room, overflow="fold") or [Text()]:
            console.print(Text(_EDGE, style="dim").append_text(part), soft_wrap=True)


def _show_mark(console: Console, first: int, last: int, passage: Passage) -> None:
    for mark in left_out(first, last, numbered=passage.is_source):
        console.print(Text(f"     {mark}", style="dim"))


def _head(where: str, symbol: str, rest: str) -> Text:
    return Text.assemble((where, "bold cyan"), (f"  {symbol}", "bold"), (f"  {rest}", "dim"))


def _code(text: str, path: str, first_line: int) -> Syntax:
    return Syntax(
        text,
        Syntax.guess_lexer(visible(PurePosixPath(path).name), text),
        theme="ansi_dark",
        background_color="default",
        line_numbers=True,
        start_line=first_line,
        word_wrap=True,
    )
