"""Read the front matter of a Markdown document, written for static site generators."""

import re
from collections.abc import Iterator

from cqm.chunkers.model import Fact

# Only plain pairs and lists are read, without a YAML parser: it takes 100 times as long, and its aliases can make a
# small text large.
_FRONT_MATTER = re.compile(r"---[ \t]*\r?\n(.{0,20000}?)^(?:---|\.\.\.)[ \t]*\r?$", re.DOTALL | re.MULTILINE)
_PAIR = re.compile(r"(\w[\w-]{0,50}+)[ \t]*+:(.*+)")
_ITEM = re.compile(r"[ \t]*+-[ \t](.*+)")
_QUOTED = re.compile(r"""'[^']*'|"[^"]*\"""")
_COMMENT = re.compile(r"[ \t]+#.*$")

_WANTED = {"title": "title", "date": "date", "url": "url", "permalink": "url", "tags": "tags", "keywords": "tags"}
_LONGEST_VALUE = 200
_LONGEST_LINE = 500
_MOST_TAGS = 20


def front_matter_of(text: str) -> dict[str, Fact]:
    """Return the title, date, url and tags in the front matter of a document, as far as present."""
    match = _FRONT_MATTER.match(text)
    facts: dict[str, Fact] = {}
    for name, values in _pairs(match[1].split("\n") if match else []):
        known = _WANTED.get(name.lower(), "")
        if known and values and known not in facts:
            facts[known] = tuple(values[:_MOST_TAGS]) if known == "tags" else values[0]
    return facts


def _pairs(lines: list[str]) -> Iterator[tuple[str, list[str]]]:
    name, values = "", list[str]()
    for line in lines:
        pair = _PAIR.match(line)
        if pair and not pair[2][:1].strip():
            if name:
                yield name, values
            name = pair[1]
            values = list(_values(pair[2], is_list=_WANTED.get(name.lower()) == "tags"))
        elif item := _ITEM.match(line):
            values.extend(_values(item[1], is_list=False))
    if name:
        yield name, values


def _values(written: str, *, is_list: bool) -> Iterator[str]:
    bare = written.strip()[:_LONGEST_LINE]
    quoted = _QUOTED.match(bare)
    bare = quoted[0] if quoted else _COMMENT.sub("", bare)
    parts = bare.strip("[]").split(",") if is_list else [bare]
    for part in parts:
        if value := part.strip().strip("'\"").strip():
            yield value[:_LONGEST_VALUE]
