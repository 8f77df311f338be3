"""Find where a constraint or an index of a database is made, by the name that the database's error has."""

import re

from cqm.index.generations.generation import Generation
from cqm.index.ranking.evidence import Candidate
from cqm.index.search.contents.reading import line_at, read_best
from cqm.index.text.names.parts import name_key
from cqm.index.text.terms import name_term, query_terms

_MOST_CHUNKS, _MOST_LINES = 120, 10
_LONGEST = 2_000
_NAME = r"[\"'`](?:[\w$]{1,80}\.){0,2}(?P<%s>[\w$]{3,80})[\"'`]"
_ERRORS = re.compile(
    # PostgreSQL, MySQL, SQL Server, Oracle; plans and errors about indexes.
    rf"\b(?:unique|check|foreign key|exclusion|primary key) constraint {_NAME % 'postgres'}"
    rf"|\bfor key {_NAME % 'mysql'}|\bCONSTRAINT {_NAME % 'innodb'} FOREIGN KEY"
    rf"|\b(?:UNIQUE KEY|CHECK|FOREIGN KEY|REFERENCE) constraint {_NAME % 'server'}|\bconstraint {_NAME % 'other'}"
    r"|\bconstraint \((?:\w{1,80}\.)?(?P<oracle>\w{3,80})\) violated"
    rf"|\bindex {_NAME % 'index'} (?:does not exist|already exists|on table)|\bunique index {_NAME % 'unique'}"
    rf"|\brelation {_NAME % 'relation'} already exists|\bKey name {_NAME % 'key'}"
    r"|\bIndex (?:Only )?Scan (?:Backward )?using (?P<plan>\w{3,80}) on ",
    re.IGNORECASE,
)
_MADE = (
    (
        r"\b(?:CREATE|ADD)\s+(?:UNIQUE\s+)?(?:INDEX|KEY)(?:\s+CONCURRENTLY)?(?:\s+IF\s+NOT\s+EXISTS)?\s+[\"'`\[]?{name}(?!\w)"
        r"|\bCONSTRAINT\s+(?:IF\s+NOT\s+EXISTS\s+)?[\"'`\[]?{name}[\"'`\]]?\s+(?:UNIQUE|CHECK|FOREIGN|PRIMARY|EXCLUDE|NOT|REFERENCES)"
        r"|\b(?:UNIQUE|FOREIGN)?\s*(?:KEY|INDEX)\s+[\"'`\[]?{name}[\"'`\]]?\s*\("
        r"|\b(?:name|map|constraint_?name|index_?name)\s*(?:=>|[:=])\s*[\"'`:]{name}\b"
        r"|\b(?:unique_?(?:index|constraint)?|(?:create_?|add_?)?index|foreign(?:_?key)?|check(?:_?constraint)?|u?k)"
        r"\([^\n;]{{0,160}}[\"'`]{name}[\"'`]"
    ),
    r"[\"'`\s\[.]{name}(?!\w)",
)
"""Forms of lines with a name, the surest first."""
_UNMADE = re.compile(r"\b(?:DROP|RENAME|REMOVE)(?:\b|_|[iI]ndex|[cC]onstraint)", re.IGNORECASE)
_LONGEST_BEFORE = 80


def constraint_lines(generation: Generation, text: str) -> dict[str, int]:
    """Return the lines that make the constraint or index which an error of a database names, by id of their chunk.

        'duplicate key value violates unique constraint "users_email_key"', "Index Scan using users_email_idx on users"

    Parameters:
        generation: to search.
        text: of the question.

    Raises:
        StoreError, ManifestError: the index cannot be read.
    """
    name = constraint_in(text)
    if not name:
        return {}
    words = name_term(name) if name.isascii() else query_terms(name)
    read = read_best(generation, words, _MOST_CHUNKS)
    for form in _MADE:
        made = re.compile(form.format(name=re.escape(name)), re.IGNORECASE)
        lines = [(it, at.end()) for it in read if (at := _first(made, it.text))]
        if lines:
            lines.sort(key=lambda it: _rank(it[0].chunk))
            return {it.chunk.id: line_at(it, at) for it, at in lines[:_MOST_LINES]}
    return {}


def constraint_in(text: str) -> str:
    """Return the name of the constraint or index that an error of a database names; empty for other texts."""
    found = _ERRORS.search(text) if len(text) <= _LONGEST else None
    name = next(filter(None, found.groups()), "") if found else ""
    # A plain word is none that somebody gave: "PRIMARY".
    return "" if "_" not in name and name == name_key(name) else name


def _first(made: re.Pattern[str], text: str) -> re.Match[str] | None:
    """Return the first place of a text that makes something, and does not take it away."""
    for found in made.finditer(text):
        line = text.rfind("\n", 0, found.end()) + 1
        if not _UNMADE.search(text, max(line - _LONGEST_BEFORE, 0) if line == found.end() else line, found.end()):
            return found
    return None


def _rank(chunk: Candidate) -> tuple[bool, str, int]:
    return chunk.role is not None, chunk.path, chunk.start_line
