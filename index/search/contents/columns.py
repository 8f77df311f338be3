"""Find tables and record files by a column."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from cqm.chunkers.source_types import CODE, source_type_of
from cqm.index.generations.generation import Generation
from cqm.index.search.contents.reading import Read, line_at, read_best
from cqm.index.store.base import PointFilter
from cqm.index.text.terms import query_terms

_MOST_CHUNKS, _MOST_LINES = 200, 10
_LONGEST = 200
_NAME = r"[`'\"]?(?P<name>\w(?:[\w .%/()-]{0,60}[\w%)])?)[`'\"]?"
_COLUMN = r"(?:(?:an?|the) )?(?:columns?|fields?|headers?)(?: (?:named|called))?"
_HOLDER = r"(?:(?:sql|database|db|csv|tsv|data|log) )?(?:tables?|files?|csvs?|tsvs?|data ?sets?|sheets?|models?)"
_ASKED = (
    re.compile(
        rf"(?:(?:which|what|the|all) )?{_HOLDER} (?:(?:that|which) )?"
        rf"(?:has|have|having|contains?|with|holds?|defines?) {_COLUMN} {_NAME}",
        re.IGNORECASE,
    ),
    re.compile(rf"where is {_COLUMN} {_NAME} (?:defined|declared|stored)", re.IGNORECASE),
    re.compile(
        rf"(?:the )?(?:column|field|header) {_NAME} (?:of|in|from) (?:the )?(?:file )?"
        r"(?P<file>[\w./-]{1,120}\.[ct]sv)",
        re.IGNORECASE,
    ),
)
_NO_TYPE = r"(?!(?:as|is|in|and|or|from|on|like|not|between|asc|desc|then|then|else|end|when|into|set|where)\b)"
_OF_CODE = (
    r"\bt\.\w+[ (]+[:\"']{name}\b",
    r"->\w{{1,30}}\(\s*['\"]{name}['\"]",
    r"(?:[Cc]olumn|[Ff]ield|column_name)\w*[ (=:]{{1,4}}[^\n]{{0,60}}?[\"'`]{name}[\"'`]",
    r"^\s*{name}\s*[:=]\s*(?:\w+\.)*(?:\w*Field|\w*Column|mapped_column|relationship)\(",
)
"""Columns declared by migrations and models of Rails, Laravel, SQLAlchemy, Django, JPA and GORM."""
_CREATES = re.compile(r"\bcreate\s+(?:\w+\s+){0,3}table\b", re.IGNORECASE)
_ASIDE = re.compile(r"migrat|upgrade|patch|(?:^|/)(?:old|legacy|down)(?:/|[.])", re.IGNORECASE)


class _At(NamedTuple):
    rank: int
    path: str
    line: int
    id: str


def column_lines(generation: Generation, text: str) -> dict[str, int]:
    """Return the lines declaring a column named without its table, by id of their chunk.

    "which table has column invoice_id", "which csv file has the column Latency", "column Latency of runs.csv"
    """
    found = _asked(text)
    if not found:
        return {}
    name, file = found["name"], found.groupdict().get("file") or ""
    lines = [] if file else [*_of_tables(generation, name)]
    if not lines:
        lines = [it for it in _of_records(generation, name) if not file or f"/{it.path}".endswith(f"/{file}")]
    if not lines and not file:
        lines = [*_of_programs(generation, name)]
    return {it.id: it.line for it in sorted(lines)[:_MOST_LINES]}


def is_of_column(text: str) -> bool:
    """Tell if a question asks for the tables or files with a column."""
    return _asked(text) is not None


def _asked(text: str) -> re.Match[str] | None:
    text = text.strip().rstrip("?. ")
    return next(filter(None, (form.fullmatch(text) for form in _ASKED)), None) if len(text) <= _LONGEST else None


def _of_tables(generation: Generation, name: str) -> Iterator[_At]:
    """Yield the lines of statements creating a table with the column, then of those adding it."""
    own = re.escape(name)
    form = re.compile(
        rf"(?:^|[(,])[ \t]*(?:add(?:[ \t]+column)?(?:[ \t]+if[ \t]+not[ \t]+exists)?[ \t]+)?[`\"\[]?{own}[`\"\]]?[ \t]+"
        rf"{_NO_TYPE}[\[`\"]?[A-Za-z]\w",
        re.IGNORECASE | re.MULTILINE,
    )
    words = query_terms(f"{name} create table")
    for read in read_best(generation, words, _MOST_CHUNKS, PointFilter(languages=("sql",))):
        if found := form.search(read.text):
            is_defined = any(it.rpartition(".")[2] == name for it in read.chunk.defines)
            is_created = is_defined or _CREATES.search(read.text, 0, found.start()) is not None
            # SQL's names have no case, but a schema of another dialect may write the same one otherwise.
            yield _at(read, found, 2 * (not is_created) + 8 * (name not in found[0]))


def _of_records(generation: Generation, name: str) -> Iterator[_At]:
    """Yield the first lines of record files with the column in their header."""
    header = re.compile(rf"(?:^|[,;|\t]) ?[\"']?{re.escape(name)}[\"']? ?(?=[,;|\t]|\r?$)", re.IGNORECASE)
    for read in read_best(generation, query_terms(name), _MOST_CHUNKS, PointFilter(languages=("csv",))):
        if read.chunk.start_line == 1 and (found := header.search(read.text.partition("\n")[0])):
            yield _at(read, found, 0)


def _of_programs(generation: Generation, name: str) -> Iterator[_At]:
    forms = re.compile("|".join(it.format(name=re.escape(name)) for it in _OF_CODE), re.MULTILINE)
    for read in read_best(generation, query_terms(f"{name} column table"), _MOST_CHUNKS):
        if source_type_of(read.chunk.language) == CODE and (found := forms.search(read.text)):
            yield _at(read, found, 0)


def _at(read: Read, found: re.Match[str], rank: int) -> _At:
    chunk = read.chunk
    rank += (_ASIDE.search(chunk.path) is not None) + 4 * (chunk.role is not None)
    return _At(rank, chunk.path, line_at(read, found.end()), chunk.id)
