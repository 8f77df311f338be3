"""Tell by the words of a line how it uses a name, where no grammar can."""

import re
from itertools import chain, islice

from cqm.chunkers.facts.names import (
    CALL,
    COMMENT,
    DECLARATION,
    DECORATOR,
    DOCUMENT,
    IMPORT,
    KINDS,
    STRING,
    SUBCLASS,
    TYPE,
    VALUE,
    word,
)
from cqm.index.search.usages.templates import code_bound, is_in_tag, kind_in_tag
from cqm.index.text.terms import COMMENT as COMMENT_LINE

_MOST_IN_LINE = 20
_MOST_AROUND = 300
"""Characters to look at before and after a name: lines of minified programs are longer."""
_COMMENT_BEFORE = re.compile(r"(?:^|\s)(?://|/\*|#|--|;;)\s")
_IMPORT_LINE = re.compile(
    r"\s*(?:from\s+\S+\s+import|import|use|using|(?:\w+ = )?require|include|#\s*include"
    r"|export\s*(?:\*|\{[^}]*\})\s*from)\b"
)
# Before the name, or after it; the first match tells.
_BEFORE = (
    (DECORATOR, re.compile(r"^\s*(?:@|#?\[)[\w.:]*$")),
    (
        DECLARATION,
        re.compile(
            r"\b(?:class|struct|interface|trait|enum|union|object|protocol|type|module|namespace|defmodule|def|fn|func|fun"
            r"|function|sub|macro|var|val|let|const|static)\s+(?:[\w.*:]+[.:])?$"
        ),
    ),
    (
        SUBCLASS,
        re.compile(
            r"\b(?:extends|implements|with|impl)\s[^{]*$"
            r"|\b(?:class|interface|struct|trait)\s+\w+(?:<[^>]*>)?\s*[(:<][^{]*$"
        ),
    ),
    (CALL, re.compile(r"\bnew\s+[\w.:\\]*$|\$\(call\s+$|(?i:\bcall)\s+:$")),
)
_SPACED = re.compile(
    r"[ \t]+(?!(?:then|else|of|in|and|or|if|is|as|isnt|unless|when|for|while|not|until|by)\b)[\w\"'(\[{@]"
)
"""An argument without brackets."""
_SPACING = frozenset({"elm", "coffeescript", "nim"})
_COMMAND_BEFORE = re.compile(r"(?:^|\[|[{;])[ \t]*$")
_COMMANDING = frozenset({"tcl"})
_TYPE_BEFORE = re.compile(r"(?::|->|=>|<|\bas|\bis|\binstanceof|\|)\s*[&*?\[\w.]*$")
_AFTER = (
    (CALL, re.compile(r"\s*(?:(?:::)?<[^<>()]{0,80}>\s*)?!?\s*\(")),
    (TYPE, re.compile(r"(?:<[^<>()]{0,80}>)?[\s*&?]+\$?[A-Za-z_]\w*\s*[=;,){]")),
)


def kind_of_line(line: str, name: str, language: str = "") -> str:
    """Return the kind of a line of code with a name; of several occurrences, the most telling one."""
    if COMMENT_LINE.match(line):
        return COMMENT
    kinds = (_kind(*_around(line, found), language) for found in islice(word(name).finditer(line), _MOST_IN_LINE))
    return min(kinds, key=KINDS.index, default=VALUE)


def kind_in_page(line: str, name: str, language: str) -> str:
    """Return the kind of a line of a page or text: prose, unless a template's tag has the name."""
    found = islice(word(name).finditer(line), _MOST_IN_LINE)
    kinds = (_kind_in_page(*_around(line, it), language) for it in found)
    return min(kinds, key=KINDS.index, default=DOCUMENT)


def _around(line: str, found: re.Match[str]) -> tuple[str, str, str]:
    before = line[max(0, found.start() - _MOST_AROUND) : found.start()]
    return before, found[0], line[found.end() : found.end() + _MOST_AROUND]


def _kind_in_page(before: str, name: str, after: str, language: str) -> str:
    kind = kind_in_tag(before, name, after, language)
    if kind in {VALUE, COMMENT}:
        return DOCUMENT
    return kind or (_kind(before, name, after, language) if is_in_tag(before) else DOCUMENT)


def _kind(before: str, name: str, after: str, language: str) -> str:
    if _COMMENT_BEFORE.search(before):
        return COMMENT
    if kind := kind_in_tag(before, name, after, language):
        return kind
    before = code_bound(before, language)
    if _IMPORT_LINE.match(before):
        return IMPORT
    if any(before.count(sign) % 2 and sign in after for sign in "\"'`"):
        return STRING
    by_place = (kind for kind, pattern in _BEFORE if pattern.search(before))
    by_shape = (kind for kind, pattern in _AFTER if pattern.match(after))
    is_spaced = language in _SPACING and _SPACED.match(after)
    is_command = language in _COMMANDING and _COMMAND_BEFORE.search(before)
    by_language = [CALL] if is_spaced or is_command else []
    return next(chain(by_place, by_shape, by_language), TYPE if _TYPE_BEFORE.search(before) else VALUE)
