"""Find the line of a program sending an SQL statement, as a log shows it, with or without values."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from cqm.index.generations.generation import Generation
from cqm.index.search.contents.reading import Read, line_at, read_best
from cqm.index.text.terms import query_terms

_MOST_CHUNKS, _MOST_LINES = 200, 10
_LONGEST = 4_000
_STATEMENT = re.compile(
    r"(?:^|[\s:\"'`\]>])(?P<sql>(?:SELECT\s.{1,3000}?\sFROM|INSERT\s+(?:OR\s+\w+\s+)?INTO|REPLACE\s+INTO|UPDATE\s+\S+\s+SET"
    r"|DELETE\s+FROM|FROM\s+\S+\s+(?:\w+\s+){0,2}(?:WHERE|JOIN|LEFT|INNER|ORDER|GROUP)|WHERE\s+\S+\s*(?:=|<|>|IN\b|LIKE\b))"
    r"\s.{3,3000})$",
    re.IGNORECASE | re.DOTALL,
)
_TOKEN = re.compile(
    r"'(?:[^'\n]|'')*'|\"[^\"\n]*\"|[@:$]\w+|%\(?\w*\)?[sd]|\$?\{[^{}\n]{0,60}\}|\?|\b\d[\w.]*|(?P<word>[A-Za-z_]\w*)"
)
_WORD = re.compile(r"[A-Za-z_]\w*")
_QUOTES = frozenset("\"'`")
_MOST_BETWEEN = 3
"""Words a program may have in place of the question's value: `:name`, `' . $id . '`."""
_ENDS = re.compile(r"[^\w\"'`;]{0,12}(?:[?$:@%]\w{0,40})?[)\s]{0,8}(?:;|[\"'`]\s*[;),])")
"""The end of a statement behind its last word."""
_LEAST_WORDS = 4
_MOST_WORDS = 120


class _At(NamedTuple):
    """Where a statement begins in a text, and whether it ends with the words asked for."""

    start: int
    is_whole: bool


def statement_lines(generation: Generation, text: str) -> dict[str, int]:
    """Return the lines where programs have a statement of SQL, by id of their chunk; empty if none has it.

        "SELECT content FROM rss_item WHERE guid = ?", "... duration: 812 ms  statement: delete from jobs where id = 7"

    All its words count, in order; its values may be anything.

    Raises:
        StoreError, ManifestError: the index cannot be read.
    """
    found = _STATEMENT.search(text.strip()) if len(text) <= _LONGEST else None
    words = _words(found["sql"]) if found else []
    if len([it for it in words if it]) < _LEAST_WORDS:
        return {}
    terms = query_terms(" ".join(filter(None, words)))
    read = read_best(generation, terms, _MOST_CHUNKS)
    found_in = [(it, at) for it in read if (at := _found_at(words, it.text))]
    found_in.sort(key=lambda it: (not it[1].is_whole, *_rank(it[0])))
    return {it.chunk.id: line_at(it, at.start) for it, at in found_in[:_MOST_LINES]}


def _rank(read: Read) -> tuple[bool, bool, str, int]:
    return read.chunk.role is not None, read.chunk.is_generated, read.chunk.path, read.chunk.start_line


def _words(sql: str) -> list[str]:
    """Return the words of a statement in lower case; one or several values in a row are an empty word."""
    words: list[str] = []
    sql = sql.rstrip("; ")
    # The closing quote of a quoted statement.
    sql = sql[:-1] if sql[-1:] in _QUOTES and sql.count(sql[-1]) % 2 else sql
    for found in _TOKEN.finditer(sql):
        # Names may stand in quotes as values do: `"user"."id"`.
        word = (found["word"] or (found[0].strip('"') if found[0][:1] == '"' else "")).lower()
        word = word if _WORD.fullmatch(word) else ""
        if word or words[-1:] != [""]:
            words.append(word)
    return words[:_MOST_WORDS]


def _found_at(words: Sequence[str], text: str) -> _At | None:
    """Find some words in a row in a text, a few others where a value stands; a whole statement before others."""
    lowered = text.lower()
    if any(it not in lowered for it in words):
        return None
    first = next(number for number, word in enumerate(words) if word)
    tokens = [*_WORD.finditer(text)]
    said = [it[0].lower() for it in tokens]
    best = None
    for number, token in enumerate(tokens):
        if said[number] == words[first] and (end := _end(words[first:], said, number)):
            best = _At(token.start(), _ENDS.match(text, tokens[end - 1].end()) is not None)
            if best.is_whole:
                break
    return best


def _end(words: Sequence[str], said: Sequence[str], at: int) -> int:
    """Return the end of a statement's words among a text's words, from a place on; 0 if they do not follow there."""
    spare = 0
    for word in words:
        if not word:
            spare = _MOST_BETWEEN
            continue
        # Escapes such as "\\n" are a letter here.
        ahead = said[at : at + spare + 2]
        if word not in ahead or (ahead.index(word) > spare and ahead[0] not in {"n", "t"}):
            return 0
        at, spare = at + ahead.index(word) + 1, 0
    return at
