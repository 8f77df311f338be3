"""Find the literal in a program that is the end of a name, where the program puts its beginning before it."""

import re
from collections.abc import Iterator
from itertools import takewhile
from pathlib import PurePosixPath
from typing import NamedTuple

from cqm.chunkers.source_types import CODE, source_type_of
from cqm.index.generations.generation import Generation
from cqm.index.search.contents.reading import Read, first_lines, line_at, read_all, read_best
from cqm.index.search.contents.settings import setting_lines
from cqm.index.store.base import TERMS, Nearest
from cqm.index.text.names.joined import JoinedName, Literal, literals_of
from cqm.index.text.terms import name_term, query_terms

_MOST_CHUNKS, _MOST_OF_NAME, _MOST_LINES = 120, 60, 10
_LINES_BEFORE, _LINES_AFTER = 4, 1
_LINE, _AROUND, _FOLDER, _CHUNK = 1.0, 0.9, 0.8, 0.5
"""Weights of a part by where it is found: nearer is surer."""
_LEAST_SHARE = 0.6
_OTHER_SIGNS, _OTHER_NAME = -1.5, -2.0
"""Weights of a literal with other signs between its parts, and of one that another namespace is put before."""
_OF_SETTING, _READ = 1.5, 0.5
_SETTING = re.compile(
    r"flag|option|argument|viper|environ|getenv|bind_?env|set_?default|(?:bool|string|int|duration)\w{0,6}p?\("
)
_READING = re.compile(r"\bget|[._]get|lookup|changed\(")
_BEGINNING = re.compile(r"\b(?:name_?space|sub_?system|prefix)\s{0,40}[:=]\s{0,40}[\"'`](\w+)[\"'`]")
_SIGNS = re.compile(r"[_:.-]")
_METRIC = re.compile(r"counter|gauge|histogram|summary|metric|timer|meter|prometheus|opentelemetry", re.IGNORECASE)


class Joined(NamedTuple):
    """The lines of literals that are the end of a name.

    Attributes:
        lines: by id of their chunk, best first.
        is_sure: whether the program has the beginning of the name, too.
    """

    lines: dict[str, int]
    is_sure: bool


class _Found(NamedTuple):
    """A literal with its order: parts that are accounted for, those of the literal itself."""

    rank: tuple[bool, float, int, bool, str, int]
    read: Read
    literal: Literal
    lacking: tuple[str, ...]


def joined_lines(generation: Generation, name: JoinedName) -> Joined:
    """Return the lines whose literals are the end of a name, best first; without lines if none has enough of it.

        "alertmanager_notifications_total" is `Namespace: "alertmanager", Name: "notifications_total"`

    The beginning of the name may be on the line, around it, in the name of a folder or anywhere in a literal.

    Parameters:
        generation: to search.
        name: from `joined_in`.

    Raises:
        StoreError, ManifestError: the index cannot be read.
    """
    if name.name.isupper() and (settings := setting_lines(generation, name)):
        return Joined(settings, is_sure=True)
    found = sorted(_found(generation, name), key=lambda it: it.rank)
    if not found:
        return Joined({}, is_sure=False)
    best = found[0]
    lacking = [it for it in best.lacking if not _is_literal(generation, it)]
    if len(lacking) > (1 - _LEAST_SHARE) * len(name.parts):
        return Joined({}, is_sure=False)
    near = takewhile(lambda it: it.rank[1] <= best.rank[1] + _CHUNK, found)
    lines = first_lines(((it.read.chunk.id, line_at(it.read, it.literal.at)) for it in near), _MOST_LINES)
    return Joined(lines, not lacking)


def _found(generation: Generation, name: JoinedName) -> Iterator[_Found]:
    for read in _read(generation, name):
        if source_type_of(read.chunk.language) != CODE:
            continue
        for literal in literals_of(name, read.text):
            weight, lacking = _weighed(name, read, literal)
            chunk = read.chunk
            is_aside = chunk.role is not None or chunk.is_generated
            is_metric = _METRIC.search(read.text) is not None
            rank = (is_aside, -weight, literal.first, not is_metric, chunk.path, line_at(read, literal.at))
            yield _Found(rank, read, literal, lacking)


def _read(generation: Generation, name: JoinedName) -> list[Read]:
    """Return the chunks that may have an end of a name: by the words of each end, and by all words."""
    ends = ["_".join(name.parts[n:]) for n in range(len(name.parts) - 1)]
    ends += ["_".join(name.parts[n:-1]) for n in range(len(name.parts) - 2)]
    searches = [Nearest(TERMS, name_term(it), _MOST_OF_NAME) for it in ends]
    words = " ".join(name.parts)
    searches += [Nearest(TERMS, query_terms(it), _MOST_CHUNKS) for it in (words, f"{words} metric name")]
    return read_all(generation, searches)


def _weighed(name: JoinedName, read: Read, literal: Literal) -> tuple[float, tuple[str, ...]]:
    """Weigh the parts of a name that are near a literal; the second value are those that are not."""
    weight, lacking = float(literal.last - literal.first), list[str]()
    line, around = _lines_at(read.text, literal.at)
    if name.name.isupper():
        # A variable of the environment overrides an option or a key, which has its own signs.
        weight += _OF_SETTING if _SETTING.search(line) else 0
        weight -= _READ if _READING.search(line) else 0
    else:
        weight += 0 if literal.is_written else _OTHER_SIGNS
    beginnings = {part for it in _BEGINNING.findall(around) for part in _SIGNS.split(it) if part}
    weight += 0 if beginnings <= {*name.parts[: literal.first]} else _OTHER_NAME
    folders = PurePosixPath(read.chunk.path.lower()).with_suffix("").parts
    for part in name.parts[: literal.first]:
        places = (
            (_LINE, part in line),
            (_AROUND, part in around),
            (_FOLDER, any(part in it for it in folders[-3:])),
            (_CHUNK, part in read.text.lower()),
        )
        near = next((it for it, is_there in places if is_there), 0.0)
        weight += near
        if not near:
            lacking.append(part)
    return weight, tuple(lacking)


def _lines_at(text: str, at: int) -> tuple[str, str]:
    """Return the line at a place, and the lines around it, in lower case."""
    lines, number = text.lower().split("\n"), text.count("\n", 0, at)
    return lines[number], "\n".join(lines[max(0, number - _LINES_BEFORE) : number + 1 + _LINES_AFTER])


def _is_literal(generation: Generation, part: str) -> bool:
    """Whether a program has a part of a name as a literal, maybe with the sign that follows it."""
    literal = re.compile(rf"[\"'`]{re.escape(part)}[_:.]?[\"'`]", re.IGNORECASE)
    read = read_best(generation, name_term(part), _MOST_CHUNKS)
    return any(literal.search(it.text) for it in read if source_type_of(it.chunk.language) == CODE)
