"""Pairs from a document: its headings and first sentences, and the text and code below them."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from code_pairs import MOST_CHARACTERS
from sentences import LICENCE, Pair, question, sentences

FORMATS = {".md": "markdown", ".markdown": "markdown", ".mdx": "markdown", ".rst": "rst"}
"""By suffix."""
_LEAST_CHARACTERS = {"section": 80, "lead": 120, "example": 30}
_HEADING = re.compile(r"(#{1,6})\s+(.+?)\s*#*$")
_FENCE = re.compile(r"\s*(```|~~~)")
_UNDERLINE = re.compile(r"([=\-~^\"'`#*+.:_])\1{2,}\s*$")
_FENCED = re.compile(r"^([ \t]*)(```|~~~)[^\n]*\n(.*?)\n\1\2", re.DOTALL | re.MULTILINE)
_INDENTED = re.compile(r"::[^\n]*\n(?:\s*:\w+:[^\n]*\n)*\s*\n((?:(?: {2,}|\t)[^\n]*\n|\s*\n)+)")
_LEAST_WORDS = 3


@dataclass(frozen=True, slots=True)
class Section:
    """A heading path, outermost first, and the text up to the next heading."""

    headings: tuple[str, ...]
    text: str


def prose_pairs(text: str, package: str, path: str) -> Iterator[Pair]:
    r"""The pairs of a Markdown or reStructuredText document.

    Parameters:
        text: with "\n" as the only line end.
        path: relative to the package.
    """
    language = FORMATS[path[path.rindex(".") :].lower()]
    for section in _markdown(text) if language == "markdown" else _rst(text):
        if LICENCE.search(section.text) or not section.headings:
            continue
        for kind, asked, symbol, answer in _asked(section, language):
            if asked and len(answer) >= _LEAST_CHARACTERS[kind]:
                yield Pair(kind, package, language, path, asked, symbol, answer[:MOST_CHARACTERS])


def _asked(section: Section, language: str) -> Iterator[tuple[str, str, str, str]]:
    """Kind, question, symbol and text."""
    path = " > ".join(section.headings)
    yield "section", _title(section.headings), " > ".join(section.headings[:-1]), section.text
    code = _FENCED.search(section.text) if language == "markdown" else _INDENTED.search(f"{section.text}\n")
    first, _ = sentences(section.text, "")
    if first:
        if code:  # First, since a question is taken once.
            yield "example", first, path, _dedented(code[3] if language == "markdown" else code[1])
        yield "lead", first, path, section.text.partition("\n\n")[2].strip()


def _title(headings: tuple[str, ...]) -> str:
    """A heading, with as many of its parents as make three words."""
    for count in range(1, len(headings) + 1):
        title = " ".join(headings[-count:])
        if len(title.split()) >= _LEAST_WORDS:
            return question(title)
    return ""


def _dedented(code: str) -> str:
    lines = code.strip("\n").split("\n")
    depth = min((len(line) - len(line.lstrip()) for line in lines if line.strip()), default=0)
    return "\n".join(line[depth:].rstrip() for line in lines).strip()


def _markdown(text: str) -> Iterator[Section]:
    headings: dict[int, str] = {}
    body: list[str] = []
    in_code = False
    for line in text.split("\n"):
        in_code ^= bool(_FENCE.match(line))
        heading = None if in_code else _HEADING.match(line)
        if heading is None:
            body.append(line)
            continue
        yield Section(tuple(headings.values()), "\n".join(body).strip())
        level, body = len(heading[1]), []
        headings = {depth: title for depth, title in headings.items() if depth < level}
        headings[level] = _unmarked(heading[2])
    yield Section(tuple(headings.values()), "\n".join(body).strip())


def _rst(text: str) -> Iterator[Section]:
    headings: dict[int, str] = {}
    marks: list[str] = []
    body: list[str] = []
    lines = [*text.split("\n"), ""]
    for row, line in enumerate(lines[:-1]):
        under = _UNDERLINE.match(lines[row + 1])
        if under and line.strip() and not _UNDERLINE.match(line) and len(lines[row + 1].rstrip()) >= len(line.strip()):
            yield Section(tuple(headings.values()), "\n".join(body).strip())
            marks += [] if under[1] in marks else [under[1]]
            level, body = marks.index(under[1]), []
            headings = {depth: title for depth, title in headings.items() if depth < level}
            headings[level] = _unmarked(line.strip())
        elif not _UNDERLINE.match(line):
            body.append(line)
    yield Section(tuple(headings.values()), "\n".join(body).strip())


def _unmarked(title: str) -> str:
    """A heading as plain text."""
    title = re.sub(r"!?\[([^\]]*)\](\([^)]*\)|\[[^\]]*\])", r"\1", title)
    title = re.sub(r"\{#[^}]*\}|<[^>]*>|:\w+:`~?([^`<]*)[^`]*`", r"\1", title)
    return re.sub(r"[`*]|\\(?=\W)", "", title).strip()
