"""Find the column of a table that an error of a database names, also by a constraint that the database named itself."""

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from cqm.chunkers.source_types import CODE, source_type_of
from cqm.index.generations.generation import Generation
from cqm.index.manifest.rows import ChunkRow
from cqm.index.search.contents.constraints import constraint_in
from cqm.index.search.contents.reading import first_lines, read_best
from cqm.index.text.terms import query_terms

_MOST_CHUNKS, _MOST_FILES, _MOST_ROWS, _MOST_LINES = 200, 25, 800, 10
_LONGEST = 2_000
_COLUMN = re.compile(
    r"\b(?:UNIQUE|NOT NULL) constraint failed: (?P<table>\w{1,80})\.(?P<column>\w{1,80})"
    r"|null value in column [\"'](?P<column_2>\w{1,80})[\"'] (?:of relation|of table) [\"'](?P<table_2>\w{1,80})[\"']",
    re.IGNORECASE,
)
_NAMED = (
    re.compile(r"(?:index|uniq|fk)_(?P<table>\w{1,80}?)_on_(?P<column>\w{1,80}?)(?:_and_\w{1,200})?"),
    re.compile(r"(?P<both>\w{3,150}?)_[0-9a-f]{8}(?:_(?:fk|uniq|like|idx|pk)\w{0,150})?"),
    re.compile(r"(?P<both>\w{3,150})_(?:key|idx|fkey|unique|foreign|index|uniq|check|fk)\d{0,2}"),
)
"""Names that Rails, Django, PostgreSQL and Laravel give."""
_TABLE_SAID = re.compile(r"\b(?:on table|on relation|relation|on) [\"'`]?(\w{2,80})[\"'`]?(?!\w)")
_ANY_TABLE = re.compile(
    r"(?:\bcreate_table\b|\bCREATE\s+(?:\w+\s+){0,2}TABLE\b|\bSchema::create|\b\w{1,20}Table\(|__tablename__|\bdb_table\b"
    r"|@Entity|^[ \t]{0,8}(?:export |public |final |data |abstract |pub ){0,3}"
    r"(?:class|struct|model|interface|type)[ \t]+"
    r"(?P<type>\w{1,80}))[^\n]{0,200}",
    re.MULTILINE | re.IGNORECASE,
)
_ASIDE = re.compile(r"migrat|upgrade|patch|(?:^|/)(?:old|legacy|down)(?:/|[.])", re.IGNORECASE)
_OF_MODEL = re.compile(
    r"models\.|\w(?:Field|Key)\(|[cC]olumn|\b(?:gorm|db|bun|xorm|pg|ent):\"|relationship\(|mapped|\bSa\w+\(|@\w"
)
"""A field of a model that a program maps to a table."""
_WORD = re.compile(r"\w+")


class Violated(NamedTuple):
    """A column of a table."""

    table: str
    column: str


def violation_lines(generation: Generation, text: str) -> dict[str, int]:
    """Return the lines declaring the column that an error of a database is about, by id of their chunk.

        "UNIQUE constraint failed: users.email", 'duplicate key ... unique constraint "users_email_key"'

    Parameters:
        generation: to search.
        text: of the question.

    Raises:
        StoreError, ManifestError: the index cannot be read.
    """
    violated = violated_in(text)
    if not violated:
        return {}
    words = " ".join(dict.fromkeys(word for it in violated for word in it))
    read = read_best(generation, query_terms(f"{words} create table model"), _MOST_CHUNKS)
    paths = [*dict.fromkeys(it.chunk.path for it in read if source_type_of(it.chunk.language) == CODE)][:_MOST_FILES]
    return first_lines(((it.id, it.line) for it in sorted(_found(generation, paths, violated))), _MOST_LINES)


def violated_in(text: str) -> list[Violated]:
    """Return the columns that an error of a database may be about, the likeliest first; empty for other texts."""
    if len(text) > _LONGEST:
        return []
    if found := _COLUMN.search(text):
        return [Violated(found["table"] or found["table_2"], found["column"] or found["column_2"])]
    name = constraint_in(text)
    named = next((it for form in _NAMED if (it := form.fullmatch(name))), None) if name else None
    if named is None:
        return []
    if "table" in named.groupdict():
        return [Violated(named["table"], named["column"])]
    parts = named["both"].split("_")
    split = [Violated("_".join(parts[:n]), "_".join(parts[n:])) for n in range(1, len(parts))]
    said = {*_TABLE_SAID.findall(text)}
    return [it for it in split if it.table in said] or split


class _At(NamedTuple):
    """A declaration of a column, in its order: false and few first."""

    is_aside: bool
    is_bare: bool
    is_old: bool
    number: int
    is_of_type: bool
    path: str
    line: int
    id: str


class _Block(NamedTuple):
    """A part of a text after the head of a table; whether it is of the one asked for, and by the name of a type."""

    start: int
    is_asked: bool
    is_of_type: bool


def _found(generation: Generation, paths: list[str], violated: list[Violated]) -> Iterator[_At]:
    left = _MOST_ROWS
    for path in paths:
        rows = generation.manifest.chunks_of(path)
        left -= len(rows)
        if left < 0:
            return
        payloads = generation.store.payloads([row.id for row in rows], ["text"])
        plain = "".join(str(it.get("text", "")) for it in payloads.values()).lower().replace("_", "")
        is_aside, is_old = generation.role_of(path) is not None, _ASIDE.search(path) is not None
        for number, it in enumerate(violated):
            # Most files have no such word, and to look for tables takes longer.
            if it.column.lower().removesuffix("_id").replace("_", "") not in plain:
                continue
            texts = [(row, str(payloads.get(row.id, {}).get("text", ""))) for row in rows]
            for row, text, at, is_of_type in _declarations(it, path, texts):
                line = row.start_line + text.count("\n", 0, at)
                # A field of a type alone is no column: the table is made elsewhere, maybe by a migration.
                is_bare = is_of_type and not _OF_MODEL.search(_line_of(text, at))
                yield _At(is_aside, is_bare, is_old, number, is_of_type, path, line, row.id)


def _declarations(
    asked: Violated, path: str, texts: Iterable[tuple[ChunkRow, str]]
) -> Iterator[tuple[ChunkRow, str, int, bool]]:
    """Yield the first place in each chunk of a file that declares a column, and whether it is in a type."""
    form, block = _column(asked.column), _Block(0, is_asked=False, is_of_type=False)
    for row, text in texts:
        # A table may go on in the next chunk.
        blocks = [block._replace(start=0), *_blocks(asked.table, path, text)]
        block = blocks[-1]
        ends = [*(other.start for other in blocks[1:]), len(text)]
        places = ((it, form.search(text, it.start, end)) for it, end in zip(blocks, ends, strict=True) if it.is_asked)
        if first := next(((it, at) for it, at in places if at), None):
            yield row, text, first[1].start("own"), first[0].is_of_type


def _line_of(text: str, at: int) -> str:
    return text[text.rfind("\n", 0, at) + 1 :].partition("\n")[0]


def _blocks(table: str, path: str, text: str) -> Iterator[_Block]:
    """Yield the parts of a text that declare a table or a type."""
    for head in _ANY_TABLE.finditer(text):
        is_named = not head["type"] and table.lower() in {it.lower() for it in _WORD.findall(head[0])}
        is_of_type = not is_named and _is_type(table, (head["type"] or "").lower(), path)
        yield _Block(head.start(), is_named or is_of_type, is_of_type)


def _is_type(table: str, own: str, path: str) -> bool:
    """Whether a type is the model of a table: it has its name, maybe in a folder that is named before it."""
    if not own:
        return False
    wanted = table.lower().replace("_", "")
    forms = {own, f"{own}s", f"{own}es", f"{own[:-1]}ies" if own.endswith("y") else own}
    if wanted in forms:
        return True
    before = next((wanted.removesuffix(it) for it in sorted(forms, key=len) if wanted.endswith(it)), "")
    return bool(before) and before in re.sub(r"[\W_]", "/", path.lower()).split("/")


def _column(column: str) -> re.Pattern[str]:
    """Return the form of a column in a declaration; a reference may lack the end of its column's name."""
    names = "|".join(re.escape(it) for it in {column, column.removesuffix("_id"), column.replace("_", "")} if it)
    humps = "|".join(re.escape(it) for it in {re.sub(r"_(\w)", lambda found: found[1].upper(), column)})
    return re.compile(
        rf"^[ \t]*(?:[\w.]+(?:->|\.)?\w*[ (]{{1,2}}[:\"'])?(?:(?:private|public|protected|val|var|@\w+) )*[\"'`]?"
        rf"(?P<own>{names}|{humps})[\"'`]?(?=[\s,:;)=?])",
        re.MULTILINE | re.IGNORECASE,
    )
