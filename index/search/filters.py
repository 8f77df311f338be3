"""Filters written in a question, as in `lang:go path:src/** retries`, and other names of languages and kinds."""

import re
from dataclasses import replace
from difflib import get_close_matches

from cqm.chunkers.detect import TEXT, language_of
from cqm.chunkers.languages.table import BY_NAME
from cqm.chunkers.metadata import CODE, CONFIG, DATA, DOCUMENTATION, ISSUE, JAVADOC
from cqm.index.generations.generation import Generation
from cqm.index.model.errors import QueryError
from cqm.index.model.query import Query
from cqm.index.text.pasted import plain_text

_FILTER = re.compile(r'(?<!\S)(-?)(lang|language|path|kind|sym|symbol|source|issue):("[^"\n]+"|[^\s":/][^\s"]*)(?!\S)')
_LANGUAGES = {"golang": "go", "c++": "cpp", "c#": "csharp", "f#": "fsharp", "objective-c": "objc", "shell": "bash"}
_KINDS = {"func": "function", "fn": "function", "def": "function", "const": "constant", "field": "property"}
_KNOWN_KINDS = frozenset(
    {
        *(
            "class",
            "component",
            "constant",
            "constructor",
            "element",
            "enum",
            "function",
            "imports",
            "interface",
            "key",
        ),
        *(
            "macro",
            "method",
            "module",
            "property",
            "reference",
            "rule",
            "section",
            "struct",
            "test",
            "trait",
            "type",
            "variable",
        ),
    }
)
_SOURCES = frozenset({CODE, CONFIG, DATA, DOCUMENTATION, ISSUE, JAVADOC})
_ISSUE = re.compile(r"[#!]?(\d{1,7}|[\w./-]{1,200}#\d{1,7})")
_GLOB = re.compile(r"[*?\[]")
_MOST_NAMED = 12


def with_filters(query: Query) -> tuple[Query, str]:
    """Move the filters of a question's text into the query, and name languages and kinds as the index does.

    `path:test` keeps paths with "test" in them, `path:src/**` those matching the glob, `-path:` leaves them out.
    `sym:Bind` asks for the name. A question of several lines is taken as it is.

    Parameters:
        query: as asked.

    Returns:
        The query to answer, and the reason for each filter that was taken as words; empty without any.
    """
    query = _named(query)
    is_line = ":" in query.text and "\n" not in plain_text(query.text).strip()
    found = list(_FILTER.finditer(query.text)) if is_line else []
    notes, left = list[str](), query.text
    for filtered in found:
        is_not, name, value = bool(filtered[1]), filtered[2], filtered[3].strip('"')
        narrowed = _narrowed(query, name, value, is_not=is_not)
        is_name = name in {"sym", "symbol"} and not is_not
        if narrowed is None and not is_name:
            notes.append(f"`{filtered[0]}` is taken as words: {_reason(name, is_not=is_not)}")
            continue
        query = narrowed or query
        left = left.replace(filtered[0], value if is_name else "", 1)
    text = " ".join(left.split()) if found else query.text
    # A question for an issue alone is one for its number.
    return replace(query, text=text or " ".join(f"#{name.rpartition('#')[2]}" for name in query.issues)), "; ".join(
        notes
    )


def with_leading_filters(query: Query) -> Query:
    """Move the filters before a text to find into the query, and name languages and kinds as the index does.

    Only filters in front count, each with a space behind it, and only if something follows: the text itself may look
    like one. `sym:` and `issue:` are text.
    """
    query = _named(query)
    while (found := _FILTER.match(query.text)) and "\n" not in query.text:
        rest = query.text[found.end() + 1 :]
        narrowed = (
            _narrowed(query, found[2], found[3].strip('"'), is_not=bool(found[1])) if found[2] != "issue" else None
        )
        if narrowed is None or not rest.strip():
            break
        query = replace(narrowed, text=rest)
    return query


def _named(query: Query) -> Query:
    languages = tuple(map(language_name, query.languages))
    return replace(query, languages=languages, kinds=tuple(_KINDS.get(kind, kind) for kind in query.kinds))


def _narrowed(query: Query, name: str, value: str, *, is_not: bool) -> Query | None:
    """Return the query with a filter; None if it is none that is known."""
    if name == "path":
        if is_not:
            return replace(query, exclude=(*query.exclude, _glob(value)))
        return replace(query, include=(*query.include, _glob(value)))
    if name == "issue":
        named = _ISSUE.fullmatch(value)
        return replace(query, issues=(*query.issues, named[1])) if named and not is_not else None
    kept = None if is_not else _kept(name, value.lower())
    return _with(query, *kept) if kept else None


def language_name(name: str) -> str:
    """Name a language as the index does: "go" for "golang", "python" for "py"; others stay."""
    lowered = name.lower()
    known = _LANGUAGES.get(lowered, lowered)
    by_suffix = language_of(f"a.{known}")
    return known if known in BY_NAME or by_suffix == TEXT else by_suffix


def check_filters(generation: Generation, query: Query) -> None:
    """Refuse a language or kind that nothing in the index has, where a query found nothing.

    Raises:
        QueryError: it names what the index has.
    """
    for column, asked in (("language", query.languages), ("kind", query.kinds)):
        there = generation.manifest.counts(column) if asked else {}
        if there and not set(asked) & set(there):
            near = [*get_close_matches(asked[0], there, 1), *there][:_MOST_NAMED]
            names = ", ".join(dict.fromkeys(near))
            raise QueryError(f"`{column} {', '.join(asked)}`: expected one that the index has.", remedy=f"Try {names}.")


def _kept(name: str, value: str) -> tuple[str, str] | None:
    if name in {"lang", "language"}:
        language = language_name(value)
        return ("languages", language) if language in BY_NAME or language_of(f"a.{value}") != TEXT else None
    if name == "kind":
        kind = _KINDS.get(value, value)
        return ("kinds", kind) if kind in _KNOWN_KINDS else None
    return ("sources", value) if value in _SOURCES else None


def _with(query: Query, field: str, value: str) -> Query:
    match field:
        case "languages":
            return replace(query, languages=(*query.languages, value))
        case "kinds":
            return replace(query, kinds=(*query.kinds, value))
        case _:
            return replace(query, sources=(*query.sources, value))


def _reason(name: str, *, is_not: bool) -> str:
    if is_not:
        return "only `-path:` leaves out"
    return {
        "issue": "expected a number, or owner/name#number",
        "kind": f"expected one of {', '.join(sorted(_KNOWN_KINDS))}",
        "source": f"expected one of {', '.join(sorted(_SOURCES))}",
    }.get(name, "no such language is known")


def _glob(value: str) -> str:
    """Make a part of a path a glob; a folder's name stands for all in it."""
    if _GLOB.search(value):
        return value
    return f"**/{value.rstrip('/')}*" if "/" in value else f"**/*{value}*"
