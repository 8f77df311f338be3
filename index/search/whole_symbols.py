"""Find types and sections to show whole, because several of their parts are results."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache, partial
from itertools import takewhile
from typing import NamedTuple

from cqm.index.generations.generation import Generation
from cqm.index.manifest.manifest import Manifest
from cqm.index.model.query import Hit, Parent
from cqm.index.ranking.evidence import Candidate

_MOST_TOKENS = 1024
"""Largest parent. A larger one would be a different answer from its parts."""
_LEAST_SHARE = 0.5
"""Least share of a parent's tokens in hits: the rest then costs no more than the hits."""
_LEAST_HITS = 2
_MOST_CHUNKS = 16
"""Most chunks of a parent: twice the number of the smallest chunks packed together."""
_SHOWN = ("text", "context")


class _Row(NamedTuple):
    """The columns needed to assign chunks to parents; see `ChunkRow`."""

    position: int
    id: str
    symbol: str
    defines: Sequence[str]
    tokens: int
    start_line: int
    end_line: int
    kind: str
    language: str


def parents_of(generation: Generation, hits: Sequence[Candidate]) -> tuple[Parent, ...]:
    """Find small parents with at least two hits and half of their text in hits; only the outermost."""
    found: list[Parent] = []
    # A type and its enclosing type have the same chunks around the same hits.
    rows_near = cache(partial(_rows_near, generation.manifest))
    for (path, symbol), positions in _families(hits).items():
        if any(parent.path == path and parent.first <= positions[0] <= parent.last for parent in found):
            continue
        rows = _rows(rows_near, path, symbol, positions)
        if _is_fit(rows, positions):
            others = [row for row in rows if row.position not in positions]
            found.append(Parent(path, symbol, rows[0].position, rows[-1].position, _shown(generation, path, others)))
    return tuple(found)


def _families(hits: Iterable[Candidate]) -> dict[tuple[str, str], list[int]]:
    """Group the positions of neighbouring hits by path and name of their parent, outermost first."""
    families: dict[tuple[str, str], list[int]] = {}
    for hit in hits:
        for symbol in _around(hit.symbol) if hit.position >= 0 else ():
            families.setdefault((hit.path, symbol), []).append(hit.position)
    return {
        key: positions
        for key, positions in sorted(families.items(), key=lambda family: len(family[0][1]))
        if len(positions) >= _LEAST_HITS and max(positions) - min(positions) < _MOST_CHUNKS
    }


def _around(symbol: str) -> Iterator[str]:
    """Yield a qualified name or heading path, then those of its enclosing symbols: "a.b.c", "a.b", "a"."""
    separator = " > " if " > " in symbol else "."
    while symbol:
        yield symbol
        symbol = symbol.rpartition(separator)[0]


def _rows_near(manifest: Manifest, path: str, positions: range) -> list[_Row]:
    return sorted(_Row(*row) for row in manifest.columns_near(path, positions, _Row._fields))


def _rows(
    rows_near: Callable[[str, range], Sequence[_Row]], path: str, symbol: str, positions: Sequence[int]
) -> list[_Row]:
    """Return the chunks of a symbol side by side around some of them, in order; none if they may be too many."""
    near = range(max(0, min(positions) - _MOST_CHUNKS), max(positions) + _MOST_CHUNKS)
    rows = rows_near(path, near)
    before = [row for row in rows if row.position < positions[0]]
    after = [row for row in rows if row.position >= positions[0]]
    is_of = partial(_is_of, symbol)
    run = [*reversed([*takewhile(is_of, reversed(before))]), *takewhile(is_of, after)]
    is_cut = len(run) >= _MOST_CHUNKS or len(run) < len(set(positions))
    return [] if is_cut else run


def _is_of(symbol: str, row: _Row) -> bool:
    """Whether a chunk has a part of a symbol or of its members."""
    inside = (f"{symbol}.", f"{symbol} > ")
    return any(name == symbol or name.startswith(inside) for name in (row.symbol, *row.defines))


def _is_fit(rows: Sequence[_Row], positions: Sequence[int]) -> bool:
    """Whether a parent is small, enough of it is in hits, and none of its chunks is missing."""
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
