"""One schema for a chunk's metadata, the same for all content types."""

from collections.abc import Mapping
from dataclasses import fields
from typing import Any, NamedTuple

from cqm.chunkers.code.outline import TYPES
from cqm.chunkers.contents.links import issues_in
from cqm.chunkers.model import Document, Fact, Metadata, Piece, maker
from cqm.chunkers.natural_language import natural_language, natural_language_of_comments
from cqm.chunkers.source_types import CODE, ISSUE, JAVADOC, PROSE_TYPES, source_type_of

# Kinds of pieces which differ from the text around them: comments on code, records of a tracker in JSON.
_SOURCE_TYPES_OF_KINDS = {
    "javadoc": JAVADOC,
    **dict.fromkeys(("issue", "pull request", "merge request", "discussion"), ISSUE),
    **dict.fromkeys(("comment", "answer", "review", "review comment"), ISSUE),
}

_MOST_CHARACTERS = 4_000
"""Longest beginning of a chunk used for detecting its natural language."""

_TYPE_KINDS = TYPES | {"annotation", "record", "object", "protocol", "component", "type", "message", "service"}
_MEMBER_KINDS = frozenset({"method", "constructor", "field", "property", "constant", "variable", "function", "event"})

# Facts under another name than the schema's.
_OTHER_NAMES = {"lang": "natural_language", "date": "created_at"}
_OWN_FIELDS = frozenset(field.name for field in fields(Metadata)) - {"facts", "headings"}


class _Names(NamedTuple):
    """The type defined by or around a symbol, and the member's own name."""

    class_name: str = ""
    fqcn: str = ""
    member: str = ""


_NO_NAMES = _Names()
_metadata = maker(Metadata)


def metadata_of(document: Document, language: str, piece: Piece, *, may_refer: bool = True) -> Metadata:
    """Build the metadata of a piece.

    A fact with a field of its own in the schema moves there, and wins over the document's value.

    Parameters:
        may_refer: whether the document's text may refer to issues, see `links.may_refer`.
    """
    own, facts = _parted(piece.facts) if piece.facts else ({}, piece.facts)
    declared = own.pop("natural_language", "")
    content_type = own.get("content_type") or language
    source_type = own.get("source_type") or _SOURCE_TYPES_OF_KINDS.get(piece.kind) or source_type_of(content_type)
    # The text is a surer sign than a page's declaration, which may be its template's.
    natural = _natural_language_of(document.text, piece, source_type) or _declared(declared)
    if may_refer or piece.content or source_type == ISSUE:
        facts = _with_issues(facts, document.text, piece, source_type, language)
    package = own.get("package") or ""
    names = names_of(piece.kind, piece.symbol, package) if source_type == CODE else _NO_NAMES
    return _metadata(
        own.get("source") or document.source,
        own.get("url") or document.url,
        own.get("created_at") or document.created_at,
        source_type,
        content_type,
        natural,
        own.get("title") or "",
        piece.headings,
        own.get("has_code") or False,
        package,
        own.get("module") or "",
        own.get("class_name") or names.class_name,
        own.get("fqcn") or names.fqcn,
        own.get("member") or names.member,
        facts,
    )


def _with_issues(
    facts: Mapping[str, Fact], text: str, piece: Piece, source_type: str, language: str
) -> Mapping[str, Fact]:
    """Add the issues referred to in a piece; an issue's own number is among them."""
    own = piece.content or text[piece.start : piece.end]
    number = facts.get("number") if source_type == ISSUE else None
    issues = (*((str(number),) if number else ()), *issues_in(own, source_type, language))
    return {**facts, "issues": tuple(dict.fromkeys(issues))} if issues else facts


def names_of(kind: str, symbol: str, package: str) -> _Names:
    """Split a code symbol into class name, fully qualified class name and member name.

        names_of("method", "Store.Cache.get", "acme.db")  # ("Cache", "acme.db.Store.Cache", "get")
        names_of("function", "run.inner", "acme")         # ("", "", "inner")

    Parameters:
        kind, symbol: as in `Piece`.
        package: of the document, joined by "."; empty for none.
    """
    outer, _, name = symbol.rpartition(".")
    if kind in _TYPE_KINDS:
        return _Names(name, _joined(package, symbol))
    if kind not in _MEMBER_KINDS:
        return _NO_NAMES
    # A function inside a function has no class.
    if kind == "function" or not outer:
        return _Names(member=name)
    return _Names(outer.rpartition(".")[2], _joined(package, outer), name)


def _joined(package: str, symbol: str) -> str:
    return f"{package}.{symbol}" if package and not symbol.startswith(f"{package}.") else symbol


def _parted(facts: Mapping[str, Fact]) -> tuple[dict[str, Any], Mapping[str, Fact]]:
    """Separate the facts with a field in the schema, by field name, from the others."""
    own: dict[str, Any] = {}
    others: dict[str, Fact] = {}
    for name, value in facts.items():
        field = _OTHER_NAMES.get(name, name)
        if field in _OWN_FIELDS:
            own[field] = value
        else:
            others[name] = value
    return own, others


def _declared(tag: str) -> str:
    """Return the language of a tag such as "en-GB" or "ja"; empty for anything else."""
    if not tag:
        return ""
    language = tag.strip().partition("-")[0].lower()
    return language if len(language) in {2, 3} and language.isalpha() and language.isascii() else ""


def _natural_language_of(text: str, piece: Piece, source_type: str) -> str:
    is_prose = source_type in PROSE_TYPES
    if text.isascii() and not is_prose:
        return ""
    end = min(piece.end, piece.start + _MOST_CHARACTERS)
    own = piece.content[:_MOST_CHARACTERS] or text[piece.start : end]
    return natural_language(own) if is_prose else natural_language_of_comments(own)
