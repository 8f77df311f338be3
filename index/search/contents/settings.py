"""Find the setting that a variable of the environment overrides: a key of a file of settings, a field with a prefix."""

import re
from collections.abc import Iterator, Sequence

from cqm.chunkers.source_types import CODE, CONFIG, DATA, source_type_of
from cqm.index.generations.generation import Generation
from cqm.index.search.contents.reading import Read, read_best
from cqm.index.text.names.joined import JoinedName
from cqm.index.text.terms import query_terms

_MOST_CHUNKS, _MOST_LINES = 120, 10
_KEY = re.compile(r"^(?P<indent>[ \t]{0,80})(?:- )?[\"']?(?P<key>[\w.-]{1,120})[\"']?[ \t]{0,8}[:=]", re.MULTILINE)
_FIELD = re.compile(r"^[ \t]{1,16}(?P<name>[a-z]\w{1,80})[ \t]{0,4}:[ \t]", re.MULTILINE)
_PREFIX = re.compile(
    r"\b(?:env_?)?prefix[\"']?[ \t]{0,4}[=:(][ \t]{0,4}[\"'`](?P<prefix>\w{1,60})[\"'`]", re.IGNORECASE
)


def setting_lines(generation: Generation, name: JoinedName) -> dict[str, int]:
    """Return the lines of the settings that a variable of the environment overrides, by id of their chunk.

        "SPRING_DATASOURCE_URL" is `spring.datasource.url`, "APP_RETRY_LIMIT" a field `retry_limit` with prefix "APP_"

    Parameters:
        generation: to search.
        name: in capitals.

    Raises:
        StoreError, ManifestError: the index cannot be read.
    """
    wanted = "".join(name.parts)
    found: list[tuple[bool, str, int, str]] = []
    for read in read_best(generation, query_terms(" ".join(name.parts)), _MOST_CHUNKS):
        kind = source_type_of(read.chunk.language)
        lines = _fields(wanted, read.text) if kind == CODE else _keys(wanted, read) if kind in {CONFIG, DATA} else ()
        if (line := next(iter(lines), -1)) >= 0:
            chunk = read.chunk
            found.append((chunk.role is not None, chunk.path, chunk.start_line + line, chunk.id))
    return {id_: line for _, _, line, id_ in sorted(found)[:_MOST_LINES]}


def _keys(wanted: str, read: Read) -> Iterator[int]:
    """Yield the lines of keys that are the name with the keys above them; lines count from 0."""
    above: list[tuple[int, str]] = [(-1, _plain(it)) for it in _outer(read)]
    for found in _KEY.finditer(read.text):
        indent, own = len(found["indent"].expandtabs()), _plain(found["key"])
        while above and above[-1][0] >= indent:
            above.pop()
        above.append((indent, own))
        whole = "".join(it for _, it in above)
        if wanted in (own, whole):
            yield read.text.count("\n", 0, found.start("key"))


def _outer(read: Read) -> Sequence[str]:
    """Return the keys around a chunk that begins in the middle of a file."""
    is_inside = read.text[:1] in {" ", "\t"}
    return read.chunk.symbol.split(".")[:-1] if is_inside else ()


def _fields(wanted: str, text: str) -> Iterator[int]:
    """Yield the lines of fields that are the name behind a prefix of variables told beside them."""
    for prefix in {_plain(it["prefix"]) for it in _PREFIX.finditer(text)}:
        if not wanted.startswith(prefix):
            continue
        for found in _FIELD.finditer(text):
            if prefix + _plain(found["name"]) == wanted:
                yield text.count("\n", 0, found.start("name"))


def _plain(written: str) -> str:
    return re.sub(r"[\W_]", "", written).lower()
