"""Tell by the words of a line how it uses a name, where no grammar can."""

import re
from itertools import chain, islice

from cqm.chunkers.facts.names import (
    CALL,
    COMMENT,
    DECLARATION,
    DECORATOR,
    IMPORT,
    KINDS,
    STRING,
    SUBCLASS,
    TYPE,
    VALUE,
    word,
)
from cqm.index.text.terms import COMMENT as COMMENT_LINE

_MOST_IN_LINE = 20
_MOST_AROUND = 300
"""Characters before and after a name that count: lines of minified programs are longer."""
_COMMENT_BEFORE = re.compile(r"(?:^|\s)(?://|/\*|#|--|;;)\s")
_IMPORT_LINE = re.compile(
    r"\s*(?:from\s+\S+\s+import|import|use|using|(?:\w+ = )?require|include|#\s*include"
    r"|export\s*(?:\*|\{[^}]*\})\s*from)\b"
)
# Before the name, or after it; the first that fits tells.
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
    (CALL, re.compile(r"\bnew\s+[\w.:\\]*$")),
)
_TYPE_BEFORE = re.compile(r"(?::|->|=>|<|\bas|\bis|\binstanceof|\|)\s*[&*?\[\w.]*$")
_AFTER = (
    (CALL, re.compile(r"\s*(?:(?:::)?<[^<>()]{0,80}>\s*)?!?\s*\(")),
    (TYPE, re.compile(r"(?:<[^<>()]{0,80}>)?[\s*&?]+\$?[A-Za-z_]\w*\s*[=;,){]")),
)


def kind_of_line(line: str, name: str) -> str:
    """Return the kind of a line of code with a name; of several occurrences the one that tells most."""
    kinds = (_kind(line, found) for found in islice(word(name).finditer(line), _MOST_IN_LINE))
    return min(kinds, key=KINDS.index, default=VALUE)


def _kind(line: str, found: re.Match[str]) -> str:
    before = line[max(0, found.start() - _MOST_AROUND) : found.start()]
    after = line[found.end() : found.end() + _MOST_AROUND]
    if COMMENT_LINE.match(line) or _COMMENT_BEFORE.search(before):
        return COMMENT
    if _IMPORT_LINE.match(before):
        return IMPORT
    if any(before.count(sign) % 2 and sign in after for sign in "\"'`"):
        return STRING
    by_place = (kind for kind, pattern in _BEFORE if pattern.search(before))
    by_shape = (kind for kind, pattern in _AFTER if pattern.match(after))
    return next(chain(by_place, by_shape), TYPE if _TYPE_BEFORE.search(before) else VALUE)
