"""The source of a previewed document as rows of a page: a line each, shaded by its chunk."""

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from cqm.chunkers.model import Chunk
from cqm.server.page import safe
from cqm.server.preview.labels import label, shade, tint
from cqm.server.preview.preview import Preview
from cqm.server.preview.text import holds_text
from cqm.server.preview.words import Words, words_of

BLOCK_LINES = 200
"""Lines of a block; the browser lays a block out only when it comes into view."""


class Region(NamedTuple):
    """A stretch of text and its chunks: one, two where the second repeats the first, or none."""

    start: int
    end: int
    chunks: tuple[Chunk, ...]


@dataclass(frozen=True, slots=True)
class Column:
    """A preview as a column of the page.

    Attributes:
        number: of the column, from 0.
        tiles: the regions of the whole text, in order.
        by_line: the chunks beginning in each line.
        words: see `words.words_of`.
    """

    number: int
    made: Preview
    tiles: Sequence[Region]
    starts: Sequence[int]
    by_line: Mapping[int, Sequence[Chunk]]
    words: Words

    def beginning(self, line: int) -> Sequence[Chunk]:
        """Return the chunks beginning in a line."""
        return self.by_line.get(line, ())

    def regions(self, start: int, end: int) -> Iterator[Region]:
        """Yield the regions of a part of the text, cut to it; at least one, and they tile it."""
        index = bisect_right(self.starts, start) - 1
        while index < len(self.tiles) and self.tiles[index].start < max(end, start + 1):
            region = self.tiles[index]
            yield region._replace(start=max(region.start, start), end=min(region.end, end))
            index += 1


def columns_of(previews: Sequence[Preview]) -> list[Column]:
    """Make columns of previews of one document."""
    document = previews[0].document
    words = words_of(document.path, document.text)
    return [_column(number, made, words) for number, made in enumerate(previews)]


def _column(number: int, made: Preview, words: Words) -> Column:
    tiles = list(_regions(made))
    by_line: dict[int, list[Chunk]] = {}
    for chunk in made.report.chunks:
        by_line.setdefault(chunk.start_line, []).append(chunk)
    return Column(number, made, tiles, [tile.start for tile in tiles], by_line, words)


def _regions(made: Preview) -> Iterator[Region]:
    chunks = made.report.chunks
    painted = [chunk for chunk in chunks if not holds_text(chunk, chunks)]
    edges = sorted({0, len(made.document.text), *(it.start for it in painted), *(it.end for it in painted)})
    first = 0
    for start, end in zip(edges, [*edges[1:], len(made.document.text) + 1], strict=True):
        while first < len(painted) and painted[first].end <= start:
            first += 1
        last = first
        while last < len(painted) and painted[last].start <= start:
            last += 1
        yield Region(start, end, tuple(painted[first:last][:2]))


def blocks(columns: Sequence[Column], most_characters: int) -> Iterator[str]:
    """Write the rows of all lines in blocks, up to a number of characters of source."""
    rows: list[str] = []
    for number, start, end in _lines(columns[0].made.document.text, most_characters):
        rows.append(_row(columns, number, start, end))
        if len(rows) == BLOCK_LINES:
            yield _block(rows, len(columns))
            rows = []
    if rows:
        yield _block(rows, len(columns))


def _lines(text: str, most: int) -> Iterator[tuple[int, int, int]]:
    start, number = 0, 1
    while start < min(len(text), most):
        end = text.find("\n", start)
        end = len(text) if end < 0 else end
        yield number, start, min(end, most)
        start, number = end + 1, number + 1


def _block(rows: Sequence[str], columns: int) -> str:
    widths = "<col>" * columns
    return f"<div class='block'><table><colgroup><col class='n'>{widths}</colgroup>{''.join(rows)}</table></div>\n"


def _row(columns: Sequence[Column], number: int, start: int, end: int) -> str:
    head = ""
    if any(column.beginning(number) for column in columns):
        cells = (_label_cell(column, number, start) for column in columns)
        head = f"<tr><td class='n'></td>{''.join(cells)}</tr>\n"
    cells = (_cell(column, start, end) for column in columns)
    return f"{head}<tr><td class='n' id='L{number}'>{number}</td>{''.join(cells)}</tr>\n"


def _label_cell(column: Column, number: int, start: int) -> str:
    if chunks := column.beginning(number):
        labels = "".join(label(column.number, column.made, chunk) for chunk in chunks)
        return f"<td class='head {shade(chunks[-1])}'>{labels}</td>"
    # Another column has a label here; the chunk of this column goes on.
    before = next(column.regions(max(start - 1, 0), start))
    return f"<td class='{_classes(before)}'></td>" if start else "<td></td>"


def _cell(column: Column, start: int, end: int) -> str:
    regions = list(column.regions(start, end))
    if len(regions) == 1:
        region = regions[0]
        return f"<td class='{_classes(region)}'{_title(region)}>{_shown(column, region)}</td>"
    parts = (f"<span class='{_classes(it)}'{_title(it)}>{_mark(it)}{_shown(column, it)}</span>" for it in regions)
    return f"<td class='parts'>{''.join(parts)}</td>"


def _shown(column: Column, region: Region) -> str:
    text = column.made.document.text
    # Only the end of a line break "\r\n" shows.
    end = region.end - text[region.start : region.end].endswith("\r")
    parts: list[str] = []
    done = region.start
    for start, stop, kind in column.words.between(region.start, end):
        parts += [safe(text[done:start]), f"<i class='{kind}'>{safe(text[start:stop])}</i>"]
        done = stop
    return "".join([*parts, safe(text[done:end])])


def _classes(region: Region) -> str:
    if not region.chunks:
        return "c"
    repeated = f" r r{tint(region.chunks[1])}" if region.chunks[1:] else ""
    return f"c {shade(region.chunks[0])}{repeated}"


def _title(region: Region) -> str:
    if not region.chunks:
        return ""
    numbers = " and ".join(str(chunk.index + 1) for chunk in region.chunks)
    symbol = region.chunks[0].symbol
    return f" title='{safe(f'{numbers} {symbol}'.strip())}'"


def _mark(region: Region) -> str:
    """Mark the number of a chunk beginning here, within a line."""
    begins = [chunk.index + 1 for chunk in region.chunks if chunk.start == region.start]
    return f"<b class='mark'>{begins[0]}</b>" if begins else ""
