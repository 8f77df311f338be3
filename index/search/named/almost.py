"""Find symbols by a part of their name: its beginning, its humps, or with typing errors."""

import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher, get_close_matches
from typing import NamedTuple

from cqm.index.manifest.names import StoredNames
from cqm.index.text.names.parts import last_part, name_key
from cqm.index.text.terms import HUMP

_LEAST = 3
"""Characters: a shorter beginning is one of too many names."""
_LONGEST = 100
_MOST = 10
"""Names told: a page of results."""
_LONG = 9
"""Characters of a name with two typing errors."""
_LEAST_LIKE = 0.75
"""Least ratio of `difflib`: one letter of four may be another."""
_RESPELLED = 0.5
"""Distance of names in another case: less than a letter."""
_HUMP = re.compile(rf"{HUMP}|[0-9]+|[^\W\dA-Za-z_]+")
_HUMPS_ASKED = (re.compile(r"[A-Z][a-z]*|[a-z]+|[0-9]+"), re.compile(rf"{HUMP}|[0-9]+"))
"""Capitals may each begin a hump, or be one: `SBJ` is `ShouldBindJSON`, `BinYAM` is `BindYAML`."""
_SAME, _ALIKE, _OTHER = range(3)


class _Near(NamedTuple):
    """A name and its order: container, way it was found, distance from the question."""

    container: int
    way: int
    distance: float
    name: str


def names_almost(names: StoredNames, symbol: str) -> list[str]:
    """Return the qualified names meant by a part or a misspelling of a name, best first.

    `ShouldBindWi` and `ShBiWi` are `Context.ShouldBindWith`, `Contxt.Bind` is `Context.Bind`.

    Parameters:
        symbol: as asked, with "." between its parts.
    """
    container, _, last = symbol.rpartition(".")
    if not _LEAST <= len(name_key(last)) <= _LONGEST:
        return []
    found: list[_Near] = []
    for way, ways in enumerate((_beginning, _with_humps, _misspelled)):
        found += (_Near(_container_grade(name, container), way, far, name) for name, far in ways(names, last))
        # A later way finds nothing better then.
        if any(it.container == _SAME for it in found):
            break
    found.sort()
    # Only the best way counts; names with a fitting container are not mixed with others.
    best = [it.name for it in found if it.container < _OTHER and it[:2] == found[0][:2]]
    return [*dict.fromkeys(best)][:_MOST]


def _container_grade(name: str, container: str) -> int:
    """Grade the container of a name by the question: the same, perhaps the same, or another."""
    asked, outer = name_key(container), name_key(name.rpartition(".")[0])
    if asked in {"", outer}:
        return _SAME
    # A lower-case name may be a package's, unknown to the index.
    is_like = container == container.lower() or SequenceMatcher(None, outer, asked).ratio() >= _LEAST_LIKE
    return _ALIKE if is_like else _OTHER


def _beginning(names: StoredNames, last: str) -> Iterator[tuple[str, float]]:
    key = name_key(last)
    for found, name in names.beginning_with(key):
        yield name, len(found) - len(key) + _RESPELLED * (not last_part(name).startswith(last))


def _with_humps(names: StoredNames, last: str) -> Iterator[tuple[str, float]]:
    for humps in {tuple(hump.lower() for hump in asked.findall(last)) for asked in _HUMPS_ASKED}:
        if len(humps) < 2:  # noqa: PLR2004 - one hump is a beginning
            continue
        for _, name in names.with_pieces(humps):
            parts = [part.lower() for part in _HUMP.findall(last_part(name))]
            if parts and parts[0].startswith(humps[0]) and _are_in_order(humps, parts):
                yield name, len(parts) - len(humps) + _RESPELLED * (last_part(name)[0] != last[0])


def _are_in_order(humps: Sequence[str], parts: Sequence[str]) -> bool:
    left = iter(parts)
    return all(any(part.startswith(hump) for part in left) for hump in humps)


def _misspelled(names: StoredNames, last: str) -> Iterator[tuple[str, float]]:
    """Yield names with few other letters: those with an unharmed beginning or end are compared."""
    key = name_key(last)
    # A longer name may have an error in both halves.
    unharmed, most = (len(key) // 3 if len(key) >= _LONG else (len(key) - 1) // 2), max(1, len(key) // 5)
    lengths = range(len(key) - most, len(key) + most + 1)
    by_key: dict[str, set[str]] = {}
    for known, name in names.with_an_end(key[:unharmed], key[-unharmed:], lengths):
        by_key.setdefault(known, set()).add(name)
    for near in get_close_matches(key, by_key, _MOST, _LEAST_LIKE):
        for name in by_key[near]:
            yield name, 1 - SequenceMatcher(None, last_part(name), last).ratio()
