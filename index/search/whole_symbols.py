"""Types and sections of which several parts are results, so that they are better shown whole."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache, partial
from itertools import takewhile
from typing import NamedTuple

from cqm.index.generations.generation import Generation
from cqm.index.manifest.manifest import Manifest
from cqm.index.model.query import Hit, Parent

_MOST_TOKENS = 1024
"""Of a parent: the design documents' size of parents. A larger one would be another answer than its parts are."""
_LEAST_SHARE = 0.5
"""Of a parent's tokens, that its hits have: what is shown beside them costs no more than they do."""
_LEAST_HITS = 2
_MOST_CHUNKS = 16
"""Of a parent that may be small: twice as many as there are of the smallest that are packed together."""
_SHOWN = ("text", "context")


class _Row(NamedTuple):
    """What tells which chunks of a file are a parent's; see `ChunkRow`."""

    position: int
    id: str
    symbol: str
    defines: Sequence[str]
    tokens: int
    start_line: int
    end_line: int
    kind: str
    language: str


def parents_of(generation: Generation, hits: Sequence[Hit]) -> tuple[Parent, ...]:
    """The small parents that at least two hits, and at least half of the text, are parts of; outermost alone.

    Raises:
        StoreError, ManifestError: the index cannot be read.
    """
    found: list[Parent] = []
    # A type and what it is in have the same chunks around the same hits.
    rows_near = cache(partial(_rows_near, generation.manifest))
    for (path, symbol), positions in _families(hits).items():
        if any(parent.path == path and parent.first <= positions[0] <= parent.last for parent in found):
            continue
        rows = _rows(rows_near, path, symbol, positions)
        if _is_fit(rows, positions):
            others = [row for row in rows if row.position not in positions]
            found.append(Parent(path, symbol, rows[0].position, rows[-1].position, _shown(generation, path, others)))
    return tuple(found)


def _families(hits: Iterable[Hit]) -> dict[tuple[str, str], list[int]]:
    """The positions of hits that are near each other and of one parent, by its path and name, outermost first."""
    families: dict[tuple[str, str], list[int]] = {}
    for hit in hits:
        for symbol in _around(hit.symbol) if hit.position >= 0 and not hit.content else ():
            families.setdefault((hit.path, symbol), []).append(hit.position)
    return {
        key: positions
        for key, positions in sorted(families.items(), key=lambda family: len(family[0][1]))
        if len(positions) >= _LEAST_HITS and max(positions) - min(positions) < _MOST_CHUNKS
    }


def _around(symbol: str) -> Iterator[str]:
    """A qualified name or heading path, then those of all that encloses it."""
    separator = _separator(symbol)
    while symbol:
        yield symbol
        symbol = symbol.rpartition(separator)[0]


def _separator(symbol: str) -> str:
    return " > " if " > " in symbol else "."


def _rows_near(manifest: Manifest, path: str, positions: range) -> list[_Row]:
    return sorted(_Row(*row) for row in manifest.columns_near(path, positions, _Row._fields))


def _rows(
    rows_near: Callable[[str, range], Sequence[_Row]], path: str, symbol: str, positions: Sequence[int]
) -> list[_Row]:
    """The chunks of a symbol side by side around some of them, in order; none where they may be too many."""
    near = range(max(0, min(positions) - _MOST_CHUNKS), max(positions) + _MOST_CHUNKS)
    rows = rows_near(path, near)
    before = [row for row in rows if row.position < positions[0]]
    after = [row for row in rows if row.position >= positions[0]]
    is_of = partial(_is_of, symbol)
    run = [*reversed([*takewhile(is_of, reversed(before))]), *takewhile(is_of, after)]
    is_cut = len(run) >= _MOST_CHUNKS or len(run) < len(set(positions))
    return [] if is_cut else run


def _is_of(symbol: str, row: _Row) -> bool:
    """Whether a chunk has something of a symbol, or of what is in it."""
    inside = (f"{symbol}.", f"{symbol} > ")
    return any(name == symbol or name.startswith(inside) for name in (row.symbol, *row.defines))


def _is_fit(rows: Sequence[_Row], positions: Sequence[int]) -> bool:
    """Whether chunks side by side are few enough, and enough of them are hits; nothing of the file may be missing."""
    tokens = sum(row.tokens for row in rows)
    of_hits = sum(row.tokens for row in rows if row.position in positions)
    is_gapless = bool(rows) and rows[-1].position - rows[0].position == len(rows) - 1
    return is_gapless and tokens <= _MOST_TOKENS and of_hits >= _LEAST_SHARE * tokens


def _shown(generation: Generation, path: str, rows: Sequence[_Row]) -> tuple[Hit, ...]:
    payloads = generation.store.payloads([row.id for row in rows], _SHOWN) if rows else {}
    return tuple(
        Hit(
            path=path,
            start_line=row.start_line,
            end_line=row.end_line,
            score=0.0,
            symbol=row.symbol,
            kind=row.kind,
            language=row.language,
            text=str(payloads[row.id].get("text", "")),
            context=str(payloads[row.id].get("context", "")),
            position=row.position,
        )
        for row in rows
        if row.id in payloads
    )
