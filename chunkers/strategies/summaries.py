"""What a section says in short: its headings and the first sentence under each."""

import re
from collections.abc import Sequence

from cqm.chunkers.strategies.content import Section
from cqm.chunkers.strategies.sentences import sentences_of
from cqm.chunkers.tokens import quarters

# A first sentence is looked for in so many characters, and is shortened to so many.
_REACH = 2_000
_LONGEST = 400

# Underlines of headings, and fences.
_MARKUP_LINE = re.compile(r"[ \t]*(?:([=\-~^\"'`#*+_:.])\1{2,}[^\n]*|```[^\n]*)(?:\n|\Z)")


def summary(text: str, sections: Sequence[Section], limit: int) -> str:
    """The headings of sections, in order, each with the first sentence under it.

    Parameters:
        text: the whole text.
        sections: one and those inside it.
        limit: in quarters of a token; what comes after is left out.
    """
    lines: list[str] = []
    size = 0
    for section in sections:
        heading = f"{'#' * len(section.path)} {section.path[-1]}" if section.path else ""
        for line in (heading, _first_sentence(text, section)):
            size += quarters(line)
            if size > limit and lines:
                return "\n".join(lines)
            if line:
                lines.append(line)
    return "\n".join(lines)


def _first_sentence(text: str, section: Section) -> str:
    start = _after_heading(text, section)
    reach = min(start + _REACH, section.end)
    units = sentences_of(text, (start, reach)) if start < reach else []
    return " ".join(text[start : units[0].end].split())[:_LONGEST] if units else ""


def _after_heading(text: str, section: Section) -> int:
    """Where the text of a section begins after the line that has its title, and the line under that."""
    position = section.start
    title = section.path[-1].split()[:1] if section.path else []
    while title and position < section.end:
        end = (text.find("\n", position, section.end) + 1) or section.end
        has_title = title[0] in text[position:end]
        position = end
        if has_title:
            break
    underline = _MARKUP_LINE.match(text, position, section.end)
    return underline.end() if underline else position
