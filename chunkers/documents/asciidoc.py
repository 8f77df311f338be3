"""Cut AsciiDoc at its section titles, reading its blocks only lightly.

Source: the AsciiDoc Language Documentation (docs.asciidoctor.org/asciidoc/latest), plus the older two-line titles.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from cqm.chunkers.documents.headed import Heading
from cqm.chunkers.documents.sectioning import Block, pieces_of_sections
from cqm.chunkers.model import ChunkOptions, Cut

_LINE = re.compile(r"[^\n]*\n|[^\n]+")
_TITLE = re.compile(r"(={1,6}|#{1,6})[ \t]+(\S.*?)(?:[ \t]+\1)?\s*$")
_UNDERLINE = re.compile(r"([-=~^+])\1+\s*$")
_UNDERLINE_LEVELS = {"=": 1, "-": 2, "~": 3, "^": 4, "+": 5}
_DELIMITER = re.compile(
    r"(?:(?:-{4,}|\.{4,}|={4,}|\*{4,}|_{4,}|\+{4,}|/{4,}|--|[|,:!]={3,})|(?P<fence>`{3,})(?P<name>\S*))\s*$"
)
_LISTING = ("----", "....")
_ATTRIBUTES = re.compile(r"\[(?:[^\[\]]|\[[^\[\]]*\])*\]\s*$")
_BLOCK_TITLE = re.compile(r"\.[^\s.].*$")
_SOURCE = re.compile(r"\[(?:source[^,\]]*|)(?:,\s*([\w+#-]+))?")
_ITEM = re.compile(
    r"\s*(?:\*{1,5}|-|\.{1,5}|\d{1,9}\.|[a-zA-Z]\.|<(?:\d{1,9}|\.)>)\s+\S|\s*\S.{0,300}?(?:::|;;)(?:\s|$)"
)
_MARKUP = re.compile(r"\[\[[^\]]*\]\]|(?:link:|https?://|xref:)[^\s\[]*\[([^\]]*)\]|<<[^,>]*,\s*([^>]*)>>|[`*_]{1,2}")
_LONGEST_TITLE = 200


class _Line(NamedTuple):
    start: int
    text: str


class _Found(NamedTuple):
    # The line after a block, and its kind.
    end: int
    is_prose: bool = False
    heading: Heading | None = None
    code: str | None = None


def pieces_of_asciidoc(text: str, _language: str, options: ChunkOptions) -> Cut:
    """Cut AsciiDoc into sections; a symbol is the path of section titles.

    Delimited blocks, lists and tables stay whole as in Markdown, together with the attributes and the title above them.
    The pieces are gapless.
    """
    return pieces_of_sections(text, list(_blocks(text)), options), []


def _blocks(text: str) -> Iterator[Block]:
    lines = [_Line(match.start(), match[0].rstrip()) for match in _LINE.finditer(text)]
    number = 0
    while number < len(lines):
        if not lines[number].text:
            number += 1
            continue
        first = number
        while number + 1 < len(lines) and lines[number + 1].text and _is_above(lines[number].text):
            number += 1
        attributes = [line.text for line in lines[first:number]]
        found = _found(lines, number, attributes)
        yield Block(lines[first].start, found.is_prose, found.heading, found.code)
        number = found.end


def _is_above(line: str) -> bool:
    """Tell if a line belongs to the block below it: attributes, an anchor, a block's title."""
    return bool(_ATTRIBUTES.match(line) or _BLOCK_TITLE.match(line))


def _found(lines: list[_Line], number: int, attributes: list[str]) -> _Found:
    line = lines[number].text
    if opening := _DELIMITER.match(line):
        return _Found(_end_of_delimited(lines, number), code=_code(opening, attributes))
    if heading := _heading(lines, number):
        count = 1 if _TITLE.match(line) else 2
        # A discrete title starts no section.
        is_discrete = any(attribute.startswith(("[discrete", "[float")) for attribute in attributes)
        return _Found(number + count, is_discrete, None if is_discrete else heading)
    if _ITEM.match(line):
        return _Found(_end_of_list(lines, number))
    end = number + 1
    while end < len(lines) and lines[end].text and not _DELIMITER.match(lines[end].text):
        end += 1
    source = _language(attributes)
    return _Found(end, is_prose=source is None and line[0] not in " \t:", code=source)


def _heading(lines: list[_Line], number: int) -> Heading | None:
    line = lines[number].text
    if title := _TITLE.match(line):
        return len(title[1]), _plain(title[2])
    below = lines[number + 1].text if number + 1 < len(lines) else ""
    underline = _UNDERLINE.match(below)
    if underline and abs(len(below) - len(line)) <= 1 and line[0].isalnum():
        return _UNDERLINE_LEVELS[underline[1]], _plain(line)
    return None


def _plain(title: str) -> str:
    return " ".join(_MARKUP.sub(lambda found: found[1] or found[2] or "", title).split())[:_LONGEST_TITLE]


def _end_of_delimited(lines: list[_Line], number: int) -> int:
    """Return the line after the closing delimiter, or the end of the text."""
    opening = _DELIMITER.match(lines[number].text)
    closing = opening["fence"] if opening and opening["fence"] else lines[number].text
    for position in range(number + 1, len(lines)):
        if lines[position].text == closing:
            return position + 1
    return len(lines)


def _end_of_list(lines: list[_Line], number: int) -> int:
    """Return the line after a list: items continue over blank lines, and a plus sign attaches blocks."""
    end = position = number
    while position < len(lines):
        line = lines[position].text
        before = lines[position - 1].text
        is_start = position == number or not before
        if line and is_start and not _ITEM.match(line) and before != "+" and line != "+":
            break
        if _DELIMITER.match(line):
            if before != "+" and not _is_above(before):
                break
            position = _end_of_delimited(lines, position) - 1
        position += 1
        if line:
            end = position
    return max(end, number + 1)


def _code(opening: re.Match[str], attributes: list[str]) -> str | None:
    if opening["fence"]:
        return opening["name"]
    language = _language(attributes)
    return "" if language is None and opening[0].startswith(_LISTING) else language


def _language(attributes: list[str]) -> str | None:
    """Return the language of "[source,java]"; empty if it names none, None for other blocks."""
    sources = [attribute for attribute in attributes if attribute.startswith(("[source", "[,"))]
    found = _SOURCE.match(sources[-1]) if sources else None
    return (found[1] or "") if found else None
