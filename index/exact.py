"""A symbol asked for by its name alone: its definitions come before everything that only mentions it."""

import re
from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet
from pathlib import PurePosixPath

from cqm.chunkers.metadata import CODE, source_type_of
from cqm.index.lexical import SparseTerms, label_term
from cqm.index.question import name_key
from cqm.index.rank import Candidate, Ranked

DEPTH = 50
"""How many chunks that define a name are looked at."""
PART = "exact"
"""The name of the part of a score."""

_WORD = r"[$@]?[^\W\d][\w$]*[?!=]?"
_BETWEEN = r"\.|::|#|->|/|\\|:"
# "Client.get", "`Client::get`", "Client#get", "$client->get()", "App\Client".
_ASKED = re.compile(rf"`?((?:{_WORD}(?:{_BETWEEN}))*{_WORD})(?:\(\))?`?")
_SEPARATOR = re.compile(_BETWEEN)
_NOT_SPELLED = re.compile(r"[^\w.]|_")


def asked_name(text: str) -> str:
    """The name of a symbol, its parts joined by ".", when a question is nothing else; empty when it is a question."""
    found = _ASKED.fullmatch(text.strip())
    return _SEPARATOR.sub(".", found[1]) if found else ""


def definition_terms(language: str, defines: Sequence[str]) -> tuple[str, ...]:
    """What a chunk is labelled with, to be found by the names that it defines; nothing where they are no symbols.

    Parameters:
        language, defines: as in `Chunk`.
    """
    return tuple(dict.fromkeys(filter(None, map(name_key, defines)))) if source_type_of(language) == CODE else ()


def definition_query(text: str) -> SparseTerms | None:
    """The terms that find all chunks which define the symbol that a question names; None for another question."""
    key = name_key(asked_name(text))
    return label_term(key) if key else None


def definitions_first(text: str, ranked: Sequence[Ranked]) -> Sequence[Ranked]:
    """The results with the definitions first of the symbol that the question names; another question changes nothing.

    They are told by the name as it is written; where none has it, in any spelling: `getUrl` is answered by `get_url`.
    What lifts a definition above the rest is a part of its score, as large as the best score is.

    Parameters:
        text: the question.
        ranked: best first.
    """
    name = asked_name(text)
    for spelled in (str, _plain) if name else ():
        found = {entry.candidate.id for entry in ranked if _defines(entry.candidate, name, spelled)}
        if found:
            best = max(entry.score for entry in ranked)
            lifted = [_lifted(entry, best) for entry in ranked if entry.candidate.id in found]
            return [*lifted, *(entry for entry in ranked if entry.candidate.id not in found)]
    return ranked


def _defines(chunk: Candidate, asked: str, spelled: Callable[[str], str]) -> bool:
    # Most candidates say no such name.
    if name_key(asked) not in chunk.said.replace("_", "") or source_type_of(chunk.language) != CODE:
        return False
    folders = {spelled(part) for part in PurePosixPath(chunk.path).with_suffix("").parts}
    return any(_is_same(spelled(_SEPARATOR.sub(".", name)), spelled(asked), folders) for name in chunk.defines)


def _is_same(defined: str, asked: str, folders: AbstractSet[str]) -> bool:
    """Whether a qualified name is the one asked for, which may lack outer parts, or have a package's or module's."""
    if defined == asked or defined.endswith(f".{asked}"):
        return True
    outer = asked.removesuffix(f".{defined}")
    # The outermost part is often no folder: the name that a package is published under.
    return outer != asked and folders.issuperset(outer.split(".")[-2:])


def _plain(name: str) -> str:
    """A name without case, underscores and marks."""
    return _NOT_SPELLED.sub("", name).lower()


def _lifted(entry: Ranked, by: float) -> Ranked:
    return entry._replace(score=entry.score + by, further=(*entry.further, (PART, by)))
