"""Exact matches: for a name or a word alone, its definitions come first, then the few chunks containing a rare word.

A vector knows little about a word no model has learned, such as an identifier or an error code.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import lru_cache
from pathlib import PurePosixPath

from cqm.chunkers.source_types import CODE, source_type_of
from cqm.index.ranking.evidence import Candidate
from cqm.index.ranking.file_roles import GENERATED, role_of
from cqm.index.ranking.question import Question
from cqm.index.ranking.rank import Ranked
from cqm.index.text.names.parts import dotted, is_operator, last_part, name_key, with_sign

DEPTH = 500
"""Most definitions of a name to put first; of more, those found by a search for its words."""
FEW = 10
"""Most chunks containing a word to put first: a page of results."""
PART = "exact"
"""The name of the part of a score."""
_MOST_PARTS = 200
"""Parts of a qualified name to read."""
_TITLED = frozenset({"test", "example"})
"""Roles of files with names that may be titles of tests."""
_BESIDE = _TITLED | {GENERATED.name}
_HIGHEST = 3
"""The highest grade of a definition."""

_CLASS = re.compile(r"\.-?[A-Za-z_][\w-]*")
"""A selector of a class, or a member without its owner."""
_NOT_SPELLED = re.compile(r"[^\w.]|_")


def exact_first(
    question: Question, ranked: Sequence[Ranked], mentioning: AbstractSet[str] = frozenset()
) -> Sequence[Ranked]:
    """Put the definitions of the symbol a question consists of first, then the chunks containing a rare word.

    A definition has the exact name; if none has, any spelling counts: `get_url` answers `getUrl`. A definition comes
    before members of the same name, unless the question names their container, or the definition is in a test or
    example, where it may be a title. One in the file of its name comes before the others, and handwritten code before
    generated files. Each of these adds a part to the score large enough to stand above the rest. Before fields alone
    comes the best chunk of a file of the name: `Args` may be a field, or all of `args.go`. A name written with a dot,
    such as `.navigation`, means no file: rules of style sheets with this selector come first.

    Parameters:
        question: anything but a name or a word changes nothing.
        ranked: best first.
        mentioning: ids of the chunks containing the word, if they are few.
    """
    grades = _grades(question.symbol, ranked)
    selector = question.text.strip().strip("`'\"")
    if _CLASS.fullmatch(selector):
        grades |= _rules_of(selector, ranked)
    elif max(grades.values(), default=0) == 1:
        grades |= _files_before_fields(question.symbol, ranked, grades)
    grades |= _above_generated(ranked, grades)
    first = {name: grade + bool(mentioning) for name, grade in grades.items() if grade}
    generated = {entry.candidate.id for entry in ranked if entry.candidate.is_generated}
    # Copies by tools are no better than any other result, where people wrote the text.
    first = dict.fromkeys(mentioning - generated or mentioning, 1) | first
    lifted = [entry.score for entry in ranked if entry.candidate.id in first]
    if not lifted:
        return ranked
    # Not from the least score of all: which chunks were found last depends on ties.
    apart = 1 + max(entry.score for entry in ranked) - min(lifted)
    places = [first.get(entry.candidate.id, 0) for entry in ranked]
    entries = [_lifted(entry, apart * place) for entry, place in zip(ranked, places, strict=True)]
    return [entries[number] for number in sorted(range(len(entries)), key=lambda number: -places[number])]


def pinned_first(ranked: Sequence[Ranked], pinned: Sequence[str]) -> Sequence[Ranked]:
    """Put some chunks first, in the given order; each gets a part lifting it above the next."""
    entries = {entry.candidate.id: entry for entry in ranked}
    first = [entries.pop(name) for name in pinned if name in entries]
    top = max((entry.score for entry in entries.values()), default=0.0)
    lifted = [_lifted(it, top + number - it.score) for number, it in zip(range(len(first), 0, -1), first, strict=True)]
    return [*lifted, *entries.values()]


def _grades(symbol: str, ranked: Sequence[Ranked]) -> dict[str, int]:
    """Return the grade of each result by id: 1 to 3, 0 if it doesn't define the symbol; see `_grade`."""
    key = name_key(symbol)
    # Most candidates define no such name, whichever reading of it is meant. A key lacks hyphens.
    is_whole = key in symbol.lower().replace("_", "")
    having = [it.candidate for it in ranked if not is_whole or key in it.candidate.lowered.replace("_", "")]
    for asked, spelled in _readings(symbol):
        grades = {it.id: grade for it in having if (grade := _grade(it, asked, spelled))}
        if grades:
            return dict.fromkeys((it.candidate.id for it in ranked), 0) | grades
    return {}


def _files_before_fields(symbol: str, ranked: Sequence[Ranked], grades: Mapping[str, int]) -> dict[str, int]:
    """Grade the best result of each file of a name above fields, if nothing but fields has the name."""
    wanted = _plain(symbol)
    defining = (entry.candidate for entry in ranked if grades[entry.candidate.id])
    if any(_plain(last_part(name)) == wanted for it in defining for name in it.defines if not name.startswith(".")):
        return {}
    best = {entry.candidate.path: entry.candidate.id for entry in reversed(ranked)}
    return {name: 2 for path, name in best.items() if _plain(PurePosixPath(path).stem) == wanted}


def _rules_of(selector: str, ranked: Sequence[Ranked]) -> dict[str, int]:
    """Grade the chunks with a rule for just this selector, or for a list with it, above all others."""
    having = (it.candidate for it in ranked if selector.lower() in it.candidate.lowered)
    return {
        it.id: _HIGHEST + 1
        for it in having
        if any(selector == one.strip() for name in it.defines for one in name.split(","))
    }


def _above_generated(ranked: Sequence[Ranked], grades: Mapping[str, int]) -> dict[str, int]:
    """Grade the definitions of the program which people wrote above all others, if a tool wrote one of these."""
    defining = [entry.candidate for entry in ranked if grades.get(entry.candidate.id)]
    if not any(it.is_generated for it in defining):
        return {}
    return {it.id: grades[it.id] + _HIGHEST for it in defining if not (it.role is not None and it.role.name in _BESIDE)}


_LISTINGS = frozenset({"kotlinabi"})
"""Languages of files listing definitions of others."""


def _readings(symbol: str) -> Iterator[tuple[str, Callable[[str], str]]]:
    """Yield a qualified name as written and in any spelling, then the same without outer parts, maybe a package.

    "gin.Context.Bind" may be "Context.Bind", "cobra.ExactArgs" may be "ExactArgs". "Client.get" is not just any "get".
    """
    # Without case and marks all operators are one.
    spellings = (str, with_sign if is_operator(symbol) else _plain)
    # No name of the index has more: each has at most 400 characters.
    symbol = ".".join(symbol.rsplit(".", _MOST_PARTS)[-_MOST_PARTS:])
    while symbol:
        yield from ((symbol, spelled) for spelled in spellings)
        outer, _, symbol = symbol.partition(".")
        if not outer or ("." not in symbol and outer != outer.lower()):
            return


def _grade(chunk: Candidate, symbol: str, spelled: Callable[[str], str]) -> int:
    """Grade 1-3; 0 if the chunk doesn't define the symbol."""
    if source_type_of(chunk.language) != CODE or chunk.language in _LISTINGS:
        return 0
    folders = _path_parts(chunk.path, spelled)
    wanted = spelled(symbol)
    names = [spelled(dotted(name)) for name in chunk.defines]
    fitting = [name for name in names if _is_same(name, wanted, folders)]
    role = role_of(chunk.path)
    is_aside = role is not None and role.name in _TITLED
    is_whole = not is_aside and any(not name.endswith(f".{wanted}") for name in fitting)
    is_in_its_file = folders[-1] == wanted.rpartition(".")[2]
    return bool(fitting) and 1 + is_whole + is_in_its_file


@lru_cache(maxsize=1 << 12)
def _path_parts(path: str, spelled: Callable[[str], str]) -> tuple[str, ...]:
    """Return a path's folders and its file's name without suffix, spelled in one of the ways of `_readings`."""
    return tuple(map(spelled, PurePosixPath(path).with_suffix("").parts))


def _is_same(defined: str, asked: str, folders: Sequence[str]) -> bool:
    """Whether a defined name is the one asked for, which may lack outer parts or begin with a package or module."""
    if defined == asked or defined.endswith(f".{asked}"):
        return True
    outer = asked.removesuffix(f".{defined}")
    # The outermost part is often no folder but the name a package is published under.
    return outer != asked and all(part in folders for part in outer.split(".")[-2:])


def fitting(names: Sequence[str], symbol: str, path: str) -> list[int]:
    """Return the places of the names a symbol may mean, as written, or if none is, in any spelling.

    `Client.Client` is the constructor before it is the class in Client.java.

    Parameters:
        names: qualified.
        symbol: with "." between its parts; it may lack outer parts, or begin with a folder or package.
    """
    # All of them have the last part of the symbol, in some spelling; most have not.
    if name_key(symbol) not in _plain("".join(names)):
        return []
    for asked, spelled in _readings(symbol):
        folders = _path_parts(path, spelled)
        found = [n for n, name in enumerate(names) if _is_same(spelled(dotted(name)), spelled(asked), folders)]
        if found:
            most = asked.count(".")
            parts = [min(most, spelled(dotted(names[n])).count(".")) for n in found]
            return [n for n, count in zip(found, parts, strict=True) if count == max(parts)]
    return []


def defining(chunks: Sequence[Candidate], symbol: str) -> list[Candidate]:
    """Return the chunks defining a symbol by its most exact reading, as in `exact_first`."""
    for asked, spelled in _readings(symbol):
        if found := [it for it in chunks if _grade(it, asked, spelled)]:
            return found
    return []


def _plain(name: str) -> str:
    """Return a name without case, underscores and marks."""
    return _NOT_SPELLED.sub("", name).lower()


def _lifted(entry: Ranked, by: float) -> Ranked:
    return entry._replace(score=entry.score + by, further=(*entry.further, (PART, by))) if by else entry
