"""Find the lines with a key that is no symbol: a header, a setting, an event, an id."""

import re
from collections.abc import Sequence
from collections.abc import Set as AbstractSet

from cqm.chunkers.source_types import CODE, CONFIG, DATA, source_type_of
from cqm.index.generations.generation import Generation
from cqm.index.ranking.evidence import Candidate
from cqm.index.search.named.defining import NameLookup, are_so
from cqm.index.search.named.relations import related_lines
from cqm.index.store.base import TERMS, Nearest
from cqm.index.text.exact_words import is_spelled_as_name
from cqm.index.text.names.keys import Key, nested_line
from cqm.index.text.relations.asked import AskedRelation, Relation
from cqm.index.text.terms import SparseTerms, name_term, query_terms

_MOST_CHUNKS, _MOST_LINES = 400, 10
_ENGLISH = re.compile(r"(?:^|[/_.-])en(?:[_-]?(?:us|gb))?(?:[/_.-]|$)|/values/strings", re.IGNORECASE)
_OF_TEXTS = re.compile(r"(?:^|/)(?:lang|locales?|i18n|l10n|translations?|values)[/_.-]", re.IGNORECASE)
_NAME = re.compile(r"[\w-]+")
_TYPE = re.compile(
    r"\b(?:class|struct|interface|record|type|object|trait|message)\s+\w|^\s+private |@Column", re.MULTILINE
)
_DECLARED = re.compile(
    r"(?:^|[\s\"'`(,@$*&])([A-Za-z_]\w{1,60})"
    r"(?=\??[\"'`]?\s{0,4}[:;=,`{)]|[ \t]{1,40}[\w\[\]*.<>?]{1,60}[ \t]{0,40}(?:`|$))",
    re.MULTILINE,
)
"""The name of a field, by the text after it in a declaration of any language."""
_LEAST_FIELDS, _LEAST_SHARE = 3, 0.6
_OF_CHART = re.compile(r"(?:^|/)values[^/]*\.ya?ml$")
_ASIDE = re.compile(r"(?:^|/)(?:vendor|third_party|node_modules|dist)/")


def keyed_lines(lookup: NameLookup, key: Key, names: Sequence[str]) -> dict[str, int]:
    """Return the lines with a key, by id of their chunk, best first; empty for none, and for the name of a symbol.

    Parameters:
        key: from `key_in`.
        names: of symbols the question may mean instead.
    """
    # A text of a program may have the name of a symbol; a name defined by translations alone is a text's.
    if not key.is_told and any(
        are_so([it for it in lookup.of(name) if not _OF_TEXTS.search(it.path)], name) for name in names
    ):
        return {}
    # A distinctive word has a term of its own.
    word = key.parts[-1] if key.parts else key.name
    is_own = word.isidentifier() and (word == key.name or is_spelled_as_name(word))
    is_own = is_own and not key.is_of_chart
    read = _read(lookup.generation, name_term(word) if is_own else query_terms(key.name))
    for form in key.forms:
        lines = [
            (it, text.count("\n", 0, at.end())) for it, text in read if key.name in text and (at := form.search(text))
        ]
        if lines:
            return _best(lines)
    nested = [(it, line) for it, text in read if key.parts and (line := _nested(key, it, text)) >= 0]
    if key.is_of_chart:
        return _best([it for it in nested if _OF_CHART.search(it[0].path)])
    if nested or len(key.parts) != 2:  # noqa: PLR2004 - a table and its column
        return _best(nested)
    return related_lines(lookup, AskedRelation(Relation.MIGRATES, key.parts[1], key.parts[0]))


def _read(generation: Generation, words: SparseTerms) -> list[tuple[Candidate, str]]:
    """Return the best chunks for some words, with their texts."""
    (found,) = generation.store.search([Nearest(TERMS, words, _MOST_CHUNKS)])
    chunks = generation.candidates.of(found)
    texts = generation.candidates.texts(chunks, lambda some: generation.store.payloads(some, ("text", "content")))
    return [*zip(chunks, texts, strict=True)]


def body_lines(lookup: NameLookup, fields: Sequence[str]) -> dict[str, int]:
    """Return the lines of types declaring most fields of a body, by id of their chunk; empty for none."""
    wanted = {_plain(it) for it in fields}
    told: list[tuple[int, Candidate, str]] = []
    for chunk, text in _read(lookup.generation, query_terms(" ".join(fields))):
        if source_type_of(chunk.language) == CODE and _TYPE.search(text):
            told.append((len(wanted & {_plain(it) for it in _DECLARED.findall(text)}), chunk, text))
    most = max((count for count, *_ in told), default=0)
    if most < max(_LEAST_FIELDS, _LEAST_SHARE * len(wanted)):
        return {}
    best = [(chunk, text) for count, chunk, text in told if count == most]
    best.sort(key=lambda it: (_rank(it[0]), len(it[1])))
    return {it.id: it.start_line + _first_field(text, wanted) for it, text in best[:_MOST_LINES]}


def _first_field(text: str, wanted: AbstractSet[str]) -> int:
    declared = (it.start() for it in _DECLARED.finditer(text) if _plain(it[1]) in wanted)
    return text.count("\n", 0, next(declared, 0))


def _plain(name: str) -> str:
    return name.replace("_", "").lower()


def _nested(key: Key, chunk: Candidate, text: str) -> int:
    """Return the line of a chunk of settings or translated texts with the last part of a path; -1 for none."""
    if source_type_of(chunk.language) not in {CONFIG, DATA} and not _OF_TEXTS.search(chunk.path):
        return -1
    around = frozenset(_NAME.findall(f"{chunk.path.rpartition('/')[2]} {chunk.symbol}"))
    return nested_line(key.parts, text, around)


def _best(lines: list[tuple[Candidate, int]]) -> dict[str, int]:
    lines.sort(key=lambda it: _rank(it[0]))
    return {chunk.id: chunk.start_line + line for chunk, line in lines[:_MOST_LINES]}


def _rank(chunk: Candidate) -> tuple[bool, bool, bool, str, int]:
    """Order lines: of the program and its settings, texts in English first, of files with a role."""
    is_other = _OF_TEXTS.search(chunk.path) is not None and not _ENGLISH.search(chunk.path)
    is_aside = chunk.role is not None or chunk.is_generated or _ASIDE.search(chunk.path) is not None
    is_read = source_type_of(chunk.language) in {CODE, CONFIG, DATA}
    return is_other, is_aside, not is_read, chunk.path, chunk.start_line
