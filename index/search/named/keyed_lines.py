"""Find the lines that say a key of a question which is no symbol: a header, a setting, an event, an id."""

import re

from cqm.chunkers.source_types import CODE, CONFIG, DATA, source_type_of
from cqm.index.ranking.evidence import Candidate
from cqm.index.search.named.defining import NameLookup, are_so
from cqm.index.store.base import TERMS, Nearest
from cqm.index.text.names.keys import Key, nested_line
from cqm.index.text.terms import query_terms

_MOST_CHUNKS, _MOST_LINES = 400, 10
_ENGLISH = re.compile(r"(?:^|[/_.-])en(?:[_-]?(?:us|gb))?(?:[/_.-]|$)|/values/strings", re.IGNORECASE)
_OF_TEXTS = re.compile(r"(?:^|/)(?:lang|locales?|i18n|l10n|translations?|values)[/_.-]", re.IGNORECASE)
_NAME = re.compile(r"[\w-]+")
_ASIDE = re.compile(r"(?:^|/)(?:vendor/|third_party/|node_modules/)")


def keyed_lines(lookup: NameLookup, key: Key, symbol: str) -> dict[str, int]:
    """Return the lines that say a key, by id of their chunk, best first; empty for none, and for the name of a symbol.

    Parameters:
        lookup: of the index to search.
        key: from `key_in`.
        symbol: that the question may name instead; empty for none.

    Raises:
        StoreError, ManifestError: the index cannot be read.
    """
    if symbol and are_so(lookup.defining(symbol), symbol):
        return {}
    generation = lookup.generation
    (found,) = generation.store.search([Nearest(TERMS, query_terms(key.name), _MOST_CHUNKS)])
    chunks = generation.candidates.of(found)
    texts = generation.candidates.texts(chunks, lambda some: generation.store.payloads(some, ("text", "content")))
    read = [*zip(chunks, texts, strict=True)]
    for form in key.forms:
        lines = [
            (it, text.count("\n", 0, at.end())) for it, text in read if key.name in text and (at := form.search(text))
        ]
        if lines:
            return _best(lines)
    nested = [(it, line) for it, text in read if key.parts and (line := _nested(key, it, text)) >= 0]
    return _best(nested)


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
    is_aside = chunk.role is not None or _ASIDE.search(chunk.path) is not None
    is_read = source_type_of(chunk.language) in {CODE, CONFIG, DATA}
    return is_other, is_aside, not is_read, chunk.path, chunk.start_line
