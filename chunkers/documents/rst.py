"""Cut reStructuredText at its titles, reading its blocks only lightly: docutils is heavy and loses positions.

Source: the reStructuredText Markup Specification (docutils.sourceforge.io/docs/ref/rst/restructuredtext.html).
"""

from collections.abc import Iterator
from typing import NamedTuple

from cqm.chunkers.documents.sectioning import Block, pieces_of_sections
from cqm.chunkers.model import ChunkOptions, Cut, later

_LINE = later(r"[^\n]*\n|[^\n]+")
_ADORNMENT = later(r"([!-/:-@\[-`{-~])\1*\s*$")
_LEAST_ADORNMENT = 3
_CODE = later(r"\.\. +(?:code-block|sourcecode|code|parsed-literal|literalinclude)::[ \t]*(\S*)")
_LITERAL_INCLUDE = ".. literalinclude"
_EXPLICIT = later(r"\.\.(?:\s|$)|__ ")
_DIRECTIVE = later(r"\.\. +(?:\|[^|\n]{1,100}\| +)?([\w:.+-]{1,100})::(?:\s|$)")
# Lines above a title about its section: targets, and directives without a text of their own.
_ABOVE_TITLE = later(
    r"\.\. +(?:_[^\n]*:\s|(?:py:)?(?:current)?module::|index::|meta::|highlight::|role::|default-role::|contents::)"
)
# Directives with indivisible content; others (classes, notes) hold ordinary paragraphs and blocks.
_WHOLE = frozenset(
    {
        "autosummary",
        "code",
        "code-block",
        "csv-table",
        "digraph",
        "doctest",
        "figure",
        "graph",
        "graphviz",
        "image",
        "ipython",
        "list-table",
        "literalinclude",
        "math",
        "mermaid",
        "parsed-literal",
        "plot",
        "productionlist",
        "prompt",
        "raw",
        "sourcecode",
        "tab-code",
        "table",
        "testcode",
        "testoutput",
        "testsetup",
        "toctree",
        "uml",
    }
)
_ITEM = later(r"(?:[-*+•]|(?:\d{1,9}|[A-Za-z]|#)[.)]|\((?:\d{1,9}|[A-Za-z]|#)\)|:[^:\s][^:\n]{0,200}:|\|)(?:\s|$)")
_GRID_TABLE = later(r"\+[-=+]{2,}\+\s*$")
_SIMPLE_TABLE = later(r"=+(?: +=+)+\s*$")
_DOCTEST = later(r">>> ?")
_MARKUP = later(r":[\w:+.-]{1,50}:(?=`)|`([^`<]*?)\s*<[^`<>]*>`_{0,2}|[`*|]{1,2}")
_LONGEST_TITLE = 200


class _Line(NamedTuple):
    start: int
    text: str

    @property
    def indent(self) -> int:
        return len(self.text) - len(self.text.lstrip())

    @property
    def is_blank(self) -> bool:
        return not self.text.strip()


def pieces_of_rst(text: str, _language: str, options: ChunkOptions) -> Cut:
    """Cut reStructuredText into sections; adornments set the levels of titles in order of appearance.

    Directives, literal blocks, lists, field lists, tables, doctests and comments stay whole as in Markdown. The pieces
    are gapless; a symbol is the path of titles.
    """
    return pieces_of_sections(text, list(_blocks(text)), options), []


def _blocks(text: str) -> Iterator[Block]:
    lines = [_Line(match.start(), match[0]) for match in _LINE.finditer(text)]
    levels: dict[str, int] = {}
    above: list[Block] = []
    number, colons = 0, -1
    while number < len(lines):
        line = lines[number]
        if line.is_blank:
            number += 1
        elif title := _title(lines, number, levels):
            heading, count = title
            yield Block(above[0].start if above else line.start, heading=heading)
            number, colons, above = number + count, -1, []
        else:
            is_literal = 0 <= colons < line.indent
            end = _end(lines, number, is_literal=is_literal)
            is_prose = not is_literal and _is_prose(line)
            block = Block(line.start, is_prose, code=_code(line, is_literal=is_literal))
            if _ABOVE_TITLE.match(line.text):
                above.append(block)
            else:
                yield from (*above, block)
                above = []
            colons = line.indent if is_prose and lines[end - 1].text.rstrip().endswith("::") else -1
            number = end
    yield from above


def _title(lines: list[_Line], number: int, levels: dict[str, int]) -> tuple[tuple[int, str], int] | None:
    """Return the heading beginning with a line, and its number of lines; None without one."""
    first = lines[number].text.rstrip()
    second = lines[number + 1].text.rstrip() if number + 1 < len(lines) else ""
    third = lines[number + 2].text.rstrip() if number + 2 < len(lines) else ""
    if _is_adornment(first) and second.strip() and third == first and not _is_adornment(second):
        title, style, count = second, first[0] * 2, 3
    elif first and not first[0].isspace() and not _is_adornment(first) and _underlines(second, first):
        title, style, count = first, second[0], 2
    else:
        return None
    level = levels.setdefault(style, len(levels) + 1)
    return (level, _plain(title)), count


def _is_adornment(line: str) -> bool:
    return bool(_ADORNMENT.match(line)) and len(line) >= _LEAST_ADORNMENT


def _underlines(line: str, title: str) -> bool:
    # docutils only warns of a shorter underline from four characters on, and still reads a title.
    return bool(_ADORNMENT.match(line)) and len(line) >= min(len(title), 4) and not _SIMPLE_TABLE.match(title)


def _plain(title: str) -> str:
    return " ".join(_MARKUP.sub(r"\1", title).split())[:_LONGEST_TITLE]


def _is_prose(line: _Line) -> bool:
    """Tell if a block is a paragraph, or the first line of a directive with paragraphs in it."""
    text = line.text.lstrip()
    if directive := _DIRECTIVE.match(text):
        return directive[1] not in _WHOLE
    return not any(start.match(text) for start in (_EXPLICIT, _ITEM, _GRID_TABLE, _SIMPLE_TABLE, _DOCTEST))


def _code(line: _Line, *, is_literal: bool) -> str | None:
    text = line.text.lstrip()
    if directive := _CODE.match(text):
        return "" if text.startswith(_LITERAL_INCLUDE) else directive[1]
    if _DOCTEST.match(text):
        return "python"
    return "" if is_literal else None


def _end(lines: list[_Line], number: int, *, is_literal: bool) -> int:
    """Return the line after a block: a blank line ends paragraphs, tables and doctests, less indentation the others."""
    first = lines[number]
    text = first.text.lstrip()
    if _SIMPLE_TABLE.match(text):
        return _end_of_simple_table(lines, number)
    if not is_literal and (_is_prose(first) or _GRID_TABLE.match(text) or _DOCTEST.match(text)):
        return _end_of_paragraph(lines, number)
    is_list = not is_literal and bool(_ITEM.match(text))
    end = number + 1
    for position in range(number + 1, len(lines)):
        line = lines[position]
        if line.is_blank:
            continue
        is_level = line.indent == first.indent
        is_next = is_level and (is_literal or position == end or (is_list and bool(_ITEM.match(line.text.lstrip()))))
        if not (line.indent > first.indent or is_next) or _title_begins(lines, position):
            break
        end = position + 1
    return end


def _title_begins(lines: list[_Line], position: int) -> bool:
    return _title(lines, position, {}) is not None


def _end_of_paragraph(lines: list[_Line], number: int) -> int:
    end = number + 1
    while end < len(lines) and not lines[end].is_blank and not _title_begins(lines, end):
        end += 1
    return end


def _end_of_simple_table(lines: list[_Line], number: int) -> int:
    """Return the line after a table's last border: the second, or the third if the second is below the header."""
    borders = 0
    for position in range(number + 1, len(lines)):
        if not _SIMPLE_TABLE.match(lines[position].text.lstrip()):
            continue
        borders += 1
        follows = lines[position + 1] if position + 1 < len(lines) else None
        if follows is None or follows.is_blank or borders == 2:  # noqa: PLR2004 - see above
            return position + 1
    return _end_of_paragraph(lines, number)
