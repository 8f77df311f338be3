"""Cut Jupyter notebooks into cells as people read them, with text outputs, at their positions in the file's JSON."""

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import accumulate, groupby

from cqm.chunkers.documents.headed import Heading, joined, path_below, symbol_of, titles_of
from cqm.chunkers.model import ChunkOptions, Cut, Fact, Piece
from cqm.chunkers.notebooks.cells import CODE, MARKDOWN, OUTPUT, Cell, Line, cells_of, language_of
from cqm.chunkers.notebooks.outputs import Shapes, folded
from cqm.chunkers.splitting import Unit, even_spans
from cqm.chunkers.structured.spans_of_json import parse
from cqm.chunkers.tokens import QUARTERS, quarters

_HEADING = re.compile(r"(#{1,6})[ \t]+(.*?)[ \t]*#*[ \t]*$")
_FENCE = re.compile(r"[ ]{0,3}(?:```|~~~)")

# Names defined by a cell at its left edge, in the languages of the common kernels.
_DEFINITION = re.compile(
    r"^(?:(?:async[ ]+)?def|class|function|struct|fn|fun|data[ ]class|object|trait)[ ]+([A-Za-z_]\w*)"
    r"|^([A-Za-z_.]\w*)[ ]*<-[ ]*function\b",
    re.MULTILINE,
)

# Characters of JSON weighing as much as one to read; in one line, such as a picture, up to a limit.
_ENCODING = 16
_MOST_AROUND = 100


@dataclass(frozen=True, slots=True)
class _Part:
    # The cells of a piece, or some lines of one; `opens` tells if the last heading of the path is at its start.
    start: int
    end: int
    size: int
    path: tuple[Heading, ...]
    cells: tuple[Cell, ...]
    defines: tuple[str, ...]
    opens: bool


def pieces_of_notebook(text: str, _language: str, options: ChunkOptions) -> Cut:
    """Cut a notebook between its cells; cells under one heading are packed, a long one is divided at its lines.

    A piece spans the JSON of its cells in the file. Its content is the text as people read it: Markdown, code in a
    fence, and the text of outputs; a picture is only named by its type, and of a long or repeated output only the first
    and last lines are told (`outputs`). Sizes are those of the content, and a little of the JSON around it.

    Parameters:
        text: the whole text, of nbformat 3 or 4.
    """
    parsed = parse(text)
    root = parsed.values[0] if len(parsed.values) == 1 and parsed.error < 0 else None
    cells = cells_of(text, root) if root else []
    if root is None or not cells:
        reasons = ["not parsed: no cells of a notebook" if root else "not parsed: broken JSON"]
        return [], reasons if text.strip() else []
    language = language_of(text, root)
    limit, least = options.max_tokens * QUARTERS, options.min_tokens * QUARTERS
    seen: Shapes = {}
    cells = [replace(cell, lines=folded(cell.lines, cell.number, seen, limit)) for cell in cells]
    parts = joined(_parts(cells), limit, least, partial(_is_related, least=least), _merged)
    divided = (piece for part in parts for piece in _divided(part, limit))
    packed = joined(divided, limit, least // 2, lambda _before, _part: True, _merged)
    pieces = [_piece(part, language) for part in packed]
    tail = pieces[-1].end
    return [*pieces, Piece(tail, len(text), "metadata", "metadata")] if tail < len(text) else pieces, []


def _parts(cells: Sequence[Cell]) -> Iterator[_Part]:
    path: tuple[Heading, ...] = ()
    for cell in cells:
        headings = list(_headings(cell.source)) if cell.type == MARKDOWN else []
        opens = bool(headings) and _HEADING.match(cell.source.lstrip().partition("\n")[0]) is not None
        paths = list(accumulate(headings, path_below, initial=path))
        own = paths[1] if opens else path
        path = paths[-1]
        sections = tuple(symbol_of(below) for below in paths[1:])
        found = tuple(match[1] or match[2] for match in _DEFINITION.finditer(cell.source)) if cell.type == CODE else ()
        size = sum(_line_sizes(cell.lines, cell.end))
        yield _Part(cell.start, cell.end, size, own, (cell,), sections + found, opens)


def _headings(source: str) -> Iterator[Heading]:
    in_fence = False
    for line in source.split("\n"):
        if _FENCE.match(line):
            in_fence = not in_fence
        elif not in_fence and (match := _HEADING.match(line)):
            yield len(match[1]), match[2]


def _line_sizes(lines: Sequence[Line], end: int) -> Iterator[int]:
    """Yield the size of each line: its readable text, and a little of the JSON around it."""
    ends = [*(line.start for line in lines[1:]), end]
    for line, line_end in zip(lines, ends, strict=True):
        # A folded line has nothing to read, and weighs nothing.
        around = max(line_end - line.start - len(line.content), 0) // _ENCODING if line.content else 0
        yield quarters(line.content) + min(around, _MOST_AROUND)


def _merged(before: _Part, part: _Part) -> _Part:
    size, cells, defines = before.size + part.size, before.cells + part.cells, before.defines + part.defines
    return replace(before, end=part.end, size=size, cells=cells, defines=defines)


def _is_related(before: _Part, part: _Part, least: int) -> bool:
    # A heading goes with the text below rather than above.
    is_below = part.path[: len(before.path)] == before.path
    return is_below and not (part.opens and before.size >= least)


def _divided(part: _Part, limit: int) -> Iterator[_Part]:
    if part.size <= limit or len(part.cells) > 1:
        yield part
        return
    (cell,) = part.cells
    starts = [line.start for line in cell.lines]
    ends = [*starts[1:], cell.end]
    sizes = _line_sizes(cell.lines, cell.end)
    strengths = (0 if line.content.strip() else 1 for line in cell.lines)
    units = [Unit(*unit) for unit in zip(ends, sizes, strengths, strict=True)]
    for start, end in even_spans(cell.start, units, limit):
        lines = cell.lines[bisect_left(starts, start) : bisect_left(starts, end)]
        size = sum(_line_sizes(lines, end))
        own = replace(part, start=start, end=end, size=size, cells=(replace(cell, lines=lines),))
        yield own if start == cell.start else replace(own, defines=(), opens=False)


def _piece(part: _Part, language: str) -> Piece:
    largest = max(part.cells, key=lambda cell: sum(len(line.content) for line in cell.lines))
    facts: dict[str, Fact] = {"cell": part.cells[0].number, "cell_type": largest.type}
    counts = [cell.execution_count for cell in part.cells if cell.execution_count]
    if counts:
        facts["execution_count"] = counts[0]
    if language:
        facts["kernel_language"] = language
    symbol = symbol_of(part.path) or next(iter(part.defines), "")
    above = part.path[:-1] if part.opens else part.path
    content = "\n\n".join(_content(cell, language) for cell in part.cells)
    context = "\n".join(f"{'#' * level} {title}" for level, title in above)
    return Piece(
        part.start,
        part.end,
        "cell",
        symbol,
        part.defines,
        context,
        content=content,
        headings=titles_of(part.path),
        facts=facts,
    )


def _content(cell: Cell, language: str) -> str:
    parts = []
    # In the file, outputs come before the source.
    read = sorted(cell.lines, key=lambda line: line.role == OUTPUT)
    for role, lines in groupby(read, key=lambda line: line.role):
        body = "".join(line.content for line in lines).strip("\n")
        if not body.strip():
            continue
        parts.append(f"```{language if role == CODE else role}\n{body}\n```" if role else body)
    return "\n".join(parts)
