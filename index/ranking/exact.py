"""A question that is a name or a word alone: what defines it, then what says a rare one, come before all else.

A vector says little of a word that no model has learned: an identifier, the code of an error.
"""

import re
from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet
from pathlib import PurePosixPath

from cqm.chunkers.metadata import CODE, source_type_of
from cqm.index.ranking.evidence import Candidate
from cqm.index.ranking.question import name_key
from cqm.index.ranking.rank import Ranked
from cqm.index.text.terms import SparseTerms, label_term, name_term

DEPTH = 50
"""How many chunks that define a name are looked at."""
FEW = 10
"""In how many chunks, a page of results, a word stands at most that all of them come first."""
PART = "exact"
"""The name of the part of a score."""

_WORD = r"[$@]?[^\W\d][\w$]*[?!=]?"
_BETWEEN = r"\.|::|#|->|/|\\|:"
# "Client.get", "`Client::get`", "Client#get", "$client->get()", "App\Client".
_ASKED = re.compile(rf"`?((?:{_WORD}(?:{_BETWEEN}))*{_WORD})(?:\(\))?`?")
_ONE_WORD = re.compile(r"`?(\w+)`?")
_SEPARATOR = re.compile(_BETWEEN)
_NOT_SPELLED = re.compile(r"[^\w.]|_")


def asked_name(text: str) -> str:
    """The name of a symbol, its parts joined by ".", when a question is nothing else; empty when it is a question."""
    found = _ASKED.fullmatch(text.strip())
    return _SEPARATOR.sub(".", found[1]) if found and _plain(found[1]) else ""


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


def word_query(text: str) -> SparseTerms | None:
    """The term that finds all chunks which say the word that a question is; None for another question."""
    found = _ONE_WORD.fullmatch(text.strip())
    return name_term(found[1]) if found and found[1].strip("_") else None


def exact_first(text: str, ranked: Sequence[Ranked], saying: AbstractSet[str] = frozenset()) -> Sequence[Ranked]:
    """The results with the definitions first of the symbol that the question names, then what says a rare word.

    Definitions are told by the name as it is written; where none has it, in any spelling: `getUrl` is answered by
    `get_url`. Of several, one that is no member of something else comes before one that is, unless that is asked for
    too, and one in the file of that name before the others. What lifts a result above the rest is a part of its score,
    so large that none is below, once for each of these.

    Parameters:
        text: the question; one that is neither a name nor a word changes nothing.
        ranked: best first.
        saying: the ids of chunks that say the word, if they are few.
    """
    grades = _grades(text, ranked)
    first = {name: grade + bool(saying) for name, grade in grades.items() if grade}
    first = dict.fromkeys(saying, 1) | first
    lifted = [entry.score for entry in ranked if entry.candidate.id in first]
    if not lifted:
        return ranked
    # Not from the least score of all: which chunks were found last depends on ties.
    apart = 1 + max(entry.score for entry in ranked) - min(lifted)
    places = [first.get(entry.candidate.id, 0) for entry in ranked]
    entries = [_lifted(entry, apart * place) for entry, place in zip(ranked, places, strict=True)]
    return [entries[number] for number in sorted(range(len(entries)), key=lambda number: -places[number])]


def _grades(text: str, ranked: Sequence[Ranked]) -> dict[str, int]:
    """How well each result fits that shall define the name that a question is, by id; see `_grade`."""
    name = asked_name(text)
    for spelled in (str, _plain) if name else ():
        grades = {entry.candidate.id: _grade(entry.candidate, name, spelled) for entry in ranked}
        if any(grades.values()):
            return grades
    return {}


def _grade(chunk: Candidate, asked: str, spelled: Callable[[str], str]) -> int:
    """How well a chunk fits that shall define a name, from 1 to 3; 0 where it does not define it."""
    # Most candidates say no such name.
    if name_key(asked) not in chunk.said.replace("_", "") or source_type_of(chunk.language) != CODE:
        return 0
    parts = [spelled(part) for part in PurePosixPath(chunk.path).with_suffix("").parts]
    wanted = spelled(asked)
    names = [spelled(_SEPARATOR.sub(".", name)) for name in chunk.defines]
    fitting = [name for name in names if _is_same(name, wanted, {*parts})]
    is_whole = any(not name.endswith(f".{wanted}") for name in fitting)
    is_in_its_file = parts[-1] == wanted.rpartition(".")[2]
    return bool(fitting) and 1 + is_whole + is_in_its_file


def _is_same(defined: str, asked: str, folders: set[str]) -> bool:
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
    return entry._replace(score=entry.score + by, further=(*entry.further, (PART, by))) if by else entry
