"""A preview drawn on a terminal: the file, with a rule above each chunk and a coloured edge along it."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import PurePosixPath

from rich.cells import cell_len, set_cell_size
from rich.console import Console
from rich.syntax import Syntax
from rich.text import Text

from cqm.chunkers.model import Chunk
from cqm.server.console import one_line, visible
from cqm.server.preview.preview import Preview
from cqm.server.preview.text import holds_text, options_line, statistics_line

_COLOURS = ("cyan", "magenta", "green", "yellow", "blue", "red")
_LONGEST_LINE = 2_000
_CONTEXT_LINES, _SUMMARY_LINES = 3, 8
_TAB = 4
_BAR = 12
_LEAST_NAME = 12
_LEAST_WIDTH_WITH_BAR = 80
_NUMBER_ROOM = 4


def show_preview(made: Preview) -> None:
    """Print a preview as wide as the terminal."""
    console = Console(highlight=False)
    width = console.width
    console.print(Text(one_line(f"{made.document.path}  {options_line(made)}"), style="dim"))
    lines = made.document.text.count("\n") + 1
    drawing = _Drawing(made, console, width, max(_NUMBER_ROOM, len(str(lines))), _lexer_of(made))
    for chunk in made.report.chunks:
        for line in drawing.lines(chunk):
            console.print(line, no_wrap=True, overflow="crop", crop=False, soft_wrap=True)
    console.print(Text(statistics_line(made), style="bold"))


def _lexer_of(made: Preview) -> str:
    text = made.document.text
    return Syntax.guess_lexer(PurePosixPath(made.document.path).name, text[:_LONGEST_LINE])


@dataclass(frozen=True, slots=True)
class _Drawing:
    """Shared facts of all lines of a drawing.

    Attributes:
        width: cells of a line.
        digits: cells of a line's number.
    """

    made: Preview
    console: Console
    width: int
    digits: int
    lexer: str

    def lines(self, chunk: Chunk) -> Iterator[Text]:
        """Draw a chunk: a rule, its context, and its text, unless inner chunks show the text."""
        yield self._rule(chunk)
        for line in islice(visible(chunk.context).splitlines(), _CONTEXT_LINES):
            yield self._fitted(self._edge(chunk, "┃").append(f"{'in':>{self.digits}}  {line}", "dim italic"))
        if not holds_text(chunk, self.made.report.chunks):
            yield from self._text(chunk)
        elif chunk.content:
            for line in islice(visible(chunk.content).splitlines(), _SUMMARY_LINES):
                yield self._fitted(self._edge(chunk, "┃").append(f"{'':{self.digits}}  {line}", "dim italic"))

    def _rule(self, chunk: Chunk) -> Text:
        colour = _colour(chunk)
        left = self._edge(chunk, "┏").append(f"━ {chunk.index + 1} ", f"bold {colour}")
        lines = f"{chunk.start_line}-{chunk.end_line}"
        right = self._size(chunk, f"{chunk.kind}  {lines}  ")
        room = self.width - left.cell_len - right.cell_len - 3
        name = _shortened(one_line(chunk.symbol), max(room, _LEAST_NAME))
        left.append(name, "bold").append(" " if name else "")
        left.append("━" * max(self.width - left.cell_len - right.cell_len - 1, 1), colour)
        return self._fitted(left.append(" ").append_text(right))

    def _size(self, chunk: Chunk, before: str) -> Text:
        exact = f" = {self.made.exact_tokens[chunk.index]}" if self.made.exact_tokens else ""
        share = chunk.tokens / self.made.limit(chunk)
        style = "red" if share > 1 else _colour(chunk)
        text = Text(end="").append(one_line(before), "dim").append(f"{chunk.tokens}{exact} tokens")
        if self.width >= _LEAST_WIDTH_WITH_BAR:
            full = min(round(share * _BAR), _BAR)
            text.append(" ").append("█" * full, style).append("░" * (_BAR - full), "dim")
        return text

    def _text(self, chunk: Chunk) -> Iterator[Text]:
        number = chunk.start_line
        repeated = chunk.overlap_before
        for line in self._highlighted(chunk):
            is_repeated = repeated > 0
            repeated -= len(line.plain) + 1
            yield from self._numbered(chunk, number, line, is_repeated=is_repeated)
            number += 1

    def _highlighted(self, chunk: Chunk) -> Iterator[Text]:
        # A line break in a control character's picture would shift line numbers: only "\n" ends a line.
        lines = [_short(line) for line in visible(chunk.text).removesuffix("\n").split("\n")]
        syntax = Syntax("", self.lexer, theme="ansi_dark", background_color="default")
        yield from syntax.highlight("\n".join(lines)).split("\n", allow_blank=True)[: len(lines)]

    def _numbered(self, chunk: Chunk, number: int, line: Text, *, is_repeated: bool) -> Iterator[Text]:
        edge = self._edge(chunk, "┆" if is_repeated else "┃")
        room = max(self.width - edge.cell_len - self.digits - 2, 10)
        if is_repeated:
            line.stylize("dim")
        wrapped = line.wrap(self.console, room, overflow="fold") or [Text()]
        for part in wrapped:
            part.rstrip()
            yield edge.copy().append(f"{number or '':>{self.digits}}  ", "dim").append_text(part)
            number = 0

    def _edge(self, chunk: Chunk, sign: str) -> Text:
        edge = Text("  " * chunk.level, end="")
        return edge.append(sign, _colour(chunk))

    def _fitted(self, line: Text) -> Text:
        line.truncate(self.width, overflow="ellipsis")
        return line


def _colour(chunk: Chunk) -> str:
    return _COLOURS[chunk.index % len(_COLOURS)]


def _shortened(name: str, room: int) -> str:
    """Cut the middle out of a long name: both its ends tell names apart."""
    if cell_len(name) <= room:
        return name
    head, tail = set_cell_size(name, room // 2), name
    while cell_len(tail) > room - room // 2 - 1:
        tail = tail[1:]
    return f"{head}…{tail}"


def _short(line: str) -> str:
    if len(line) > _LONGEST_LINE:
        line = f"{line[:_LONGEST_LINE]} … {len(line) - _LONGEST_LINE:,} more characters"
    return line.expandtabs(_TAB)
