"""Headings of plain text, by their numbers: "1.2 Scope", "Article 5", "第3条"."""

import re

_LONGEST_TITLE = 100
_NUMBER = r"(?:\d{1,4}|[IVXLC]{1,7}|[A-Z])"
_DIGITS = r"[\d一二三四五六七八九十百千〇0-9]{1,6}"  # noqa: RUF001 - full-width

# By levels, the outermost first; a heading stands alone between blank lines or begins a paragraph with its number.
_LEVELS = (
    rf"(?:PART|Part|BOOK|Book|TITLE|Title)[ ]{_NUMBER}\b|第{_DIGITS}[編部]",
    rf"(?:CHAPTER|Chapter)[ ]{_NUMBER}\b|第{_DIGITS}章",
    rf"(?:SECTION|Section|ARTICLE|Article)[ ]{_NUMBER}\b|第{_DIGITS}[節条]|§[ ]?\d",
)
_NAMED = re.compile("|".join(f"({level})" for level in _LEVELS))
_DECIMAL = re.compile(r"(\d{1,3}(?:\.\d{1,3}){0,5})\.?[ \t]+\S")
_LINE = re.compile(rf"^(?=\S)([^\n]{{1,{_LONGEST_TITLE}}})$", re.MULTILINE)
# Characters of two line ends.
_NEAR = 4
_ENDS_SENTENCE = (".", "。", ";", ",", "、")


def numbered_headings(text: str) -> list[tuple[int, tuple[str, ...]]]:
    """Where the numbered headings of a text begin, with the titles that each is under, its own last.

    A line that begins with "Chapter", "Article", "第1条" or the like, or is alone and begins with a decimal number.
    """
    found: list[tuple[int, tuple[str, ...]]] = []
    path: list[tuple[int, str]] = []
    for match in _LINE.finditer(text):
        if level := _level(text, match):
            path = [above for above in path if above[0] < level]
            path.append((level, match[1].strip()))
            found.append((match.start(), tuple(title for _, title in path)))
    return found


def _level(text: str, line: re.Match[str]) -> int:
    """The level of the heading that a line is, from 1; 0 for none."""
    above = text[max(line.start() - _NEAR, 0) : line.start()].replace("\r", "")
    if above and not above.endswith("\n\n") and above != "\n":
        return 0
    if named := _NAMED.match(line[1]):
        return named.lastindex or 0
    decimal = _DECIMAL.match(line[1])
    is_alone = text[line.end() : line.end() + _NEAR].replace("\r", "")[:2] in ("", "\n", "\n\n")
    if decimal is None or not is_alone or line[1].rstrip().endswith(_ENDS_SENTENCE):
        return 0
    return len(_LEVELS) + 1 + decimal[1].count(".")
