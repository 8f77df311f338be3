"""Read the cells of a notebook's JSON (nbformat 3 and 4) as lines with their positions in the file."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from cqm.chunkers.splitting import line_start
from cqm.chunkers.structured.spans_of_json import ARRAY, LITERAL, OBJECT, STRING, Node, member, string_of, value_of

CODE = "code"
MARKDOWN = "markdown"
OUTPUT = "output"

# nbformat 3 has its own short keys for the texts of an output.
_TEXT_KEYS = ("text/plain", "text")
_OLD_TYPES = {
    "png": "image/png",
    "jpeg": "image/jpeg",
    "svg": "image/svg+xml",
    "html": "text/html",
    "latex": "text/latex",
}
_TERMINAL_COLOUR = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
_ESCAPED_LINE = re.compile(r"(?:[^\\]|\\[^n])*+(?:\\n|$)")


class Line(NamedTuple):
    """A line of a cell: its start in the file, its text, and its role: CODE, OUTPUT, or "" for prose."""

    start: int
    content: str
    role: str


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell.

    Attributes:
        start, end: characters of the file; cells have no gaps between them, and the first begins with the file.
        number: from 0.
        type: "code", "markdown", "raw" or "heading".
        source: its text as written by the author.
        lines: its source and outputs, in order; the first begins with the cell.
        execution_count: 0 for none.
    """

    start: int
    end: int
    number: int
    type: str
    source: str
    lines: tuple[Line, ...]
    execution_count: int


def cells_of(text: str, root: Node) -> list[Cell]:
    """Return the cells of a notebook in file order; none without a list of cells."""
    sheets = member(root, "worksheets")
    lists = [member(sheet, "cells") for sheet in sheets.children] if sheets else [member(root, "cells")]
    nodes = [node for cells in lists if cells and cells.kind == ARRAY for node in cells.children if node.kind == OBJECT]
    starts = [0, *(_begin(text, before.end, node.entry) for before, node in pairwise(nodes))]
    ends = [*starts[1:], _begin(text, nodes[-1].end, len(text)) if nodes else 0]
    spans = zip(nodes, starts, ends, strict=False)
    return [_cell(text, node, start, end, number) for number, (node, start, end) in enumerate(spans)]


def language_of(text: str, root: Node) -> str:
    """Return the language of a notebook's code, in lower case; empty if missing."""
    paths = (("language_info", "name"), ("kernelspec", "language"), ("kernelspec", "name"))
    found = (string_of(text, member(root, "metadata", *path)) for path in paths)
    return next((name.lower() for name in found if name), "")


def _begin(text: str, before: int, entry: int) -> int:
    line_end = text.find("\n", before, entry)
    return line_end + 1 if line_end >= 0 else entry


def _cell(text: str, node: Node, start: int, end: int, number: int) -> Cell:
    kind = string_of(text, member(node, "cell_type"))
    source = member(node, "source") or member(node, "input")
    role = CODE if kind == CODE else ""
    lines = [*_lines(text, source, role), *_output_lines(text, member(node, "outputs"))]
    if kind == "heading" and lines:
        level = member(node, "level")
        lines[0] = lines[0]._replace(content=f"{'#' * _number(text, level)} {lines[0].content}")
    lines.sort()
    lines = [line._replace(start=line_start(text, line.start)) for line in lines]
    lines[:1] = [lines[0]._replace(start=start)] if lines else [Line(start, "", role)]
    count = member(node, "execution_count") or member(node, "prompt_number")
    written = "".join(line.content for line in lines if line.role == role)
    kind = MARKDOWN if kind == "heading" else kind
    return Cell(start, end, number, kind, written, tuple(lines), _number(text, count))


def _number(text: str, node: Node | None) -> int:
    value = value_of(text, node) if node and node.kind == LITERAL else 0
    return value if isinstance(value, int) else 0


def _lines(text: str, node: Node | None, role: str) -> Iterator[Line]:
    for string in (node.children or (node,)) if node else ():
        if string.kind == STRING:
            yield from _lines_of_string(text, string, role)


def _lines_of_string(text: str, string: Node, role: str) -> Iterator[Line]:
    if text.count("\\n", string.start, string.end) <= 1:
        yield Line(string.start, string_of(text, string), role)
        return
    for match in _ESCAPED_LINE.finditer(text, string.start + 1, string.end - 1):
        if match[0]:
            start, end = match.span()
            part = Node(STRING, start, end)
            yield Line(start if start > string.start + 1 else string.start, _unescaped(text, part), role)


def _unescaped(text: str, part: Node) -> str:
    quoted = f'"{text[part.start : part.end]}"'
    return string_of(quoted, Node(STRING, 0, len(quoted)))


def _output_lines(text: str, outputs: Node | None) -> Iterator[Line]:
    for output in outputs.children if outputs else ():
        if string_of(text, member(output, "output_type")) in ("error", "pyerr"):
            name, message = (string_of(text, member(output, key)) for key in ("ename", "evalue"))
            yield Line(output.start, f"{name}: {message}\n", OUTPUT)
        else:
            yield from _data_lines(text, output)


def _data_lines(text: str, output: Node) -> Iterator[Line]:
    data = member(output, "data") or output
    plain = next((child for child in data.children if child.key in _TEXT_KEYS), None)
    types = [_OLD_TYPES.get(child.key, child.key) for child in data.children]
    shown = [name for name in types if "/" in name and not name.startswith("text/")]
    lines = [line._replace(content=_as_on_a_terminal(line.content)) for line in _lines(text, plain, OUTPUT)]
    if shown:
        yield Line(output.start, "".join(f"[{name}]\n" for name in shown), OUTPUT)
    if lines and not lines[-1].content.endswith("\n"):
        lines[-1] = lines[-1]._replace(content=f"{lines[-1].content}\n")
    yield from lines


def _as_on_a_terminal(line: str) -> str:
    """Return a line without colours; of a bar which was drawn over and over, its last state."""
    plain = _TERMINAL_COLOUR.sub("", line) if "\x1b" in line else line
    if "\r" not in plain:
        return plain
    states = [state for state in plain.rstrip("\r\n").split("\r") if state.strip()]
    return (states[-1] if states else "") + ("\n" if plain.endswith("\n") else "")
