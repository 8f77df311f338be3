"""Document frequencies of words over two stores: of a base, counted once, and the changes of a layer over it.

A store counts its own points alone. So base and layer weigh nothing, and a question's terms carry the weights of one
store with all points: scores equal those of a fresh index.
"""

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from cqm.index.disk.durable import replace_file
from cqm.index.store.base import WORDS, Indices, Point
from cqm.index.text.terms import SparseTerms

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Numbers = NDArray[np.uint32]

_FORM = "<u4"
_MOST_IN_LINE = 200_000
"""Terms of a line: 3.2 MB."""
_MOST_UNMERGED = 4_000_000
"""Terms kept one by one while counting: 16 MB."""
_MOST_POINTS = 1 << 32


class TermCounts(NamedTuple):
    """The document frequencies of one vector name.

    Attributes:
        points: number with such a vector.
        indices: of terms, ascending.
        counts: points with each of them.
    """

    points: int
    indices: "Numbers"
    counts: "Numbers"


class Counting:
    """Counts the terms of points as they come."""

    def __init__(self) -> None:
        self._points: Counter[str] = Counter()
        self._parts: defaultdict[str, list[tuple[Numbers, Numbers]]] = defaultdict(list)
        self._unmerged = 0

    def add(self, points: Iterable[Point]) -> None:
        """Count points, each once."""
        import numpy as np  # start-up time, here and below

        for name, terms in ((name, terms) for point in points for name, terms in point.sparse.items()):
            if terms.indices:
                self._points[name] += 1
                self._parts[name].append((np.array(terms.indices, _FORM), np.ones(len(terms.indices), _FORM)))
                self._unmerged += len(terms.indices)
        if self._unmerged > _MOST_UNMERGED:
            self._merge()

    def counted(self) -> dict[str, TermCounts]:
        """Return the frequencies by the name of the vector."""
        import numpy as np

        self._merge()
        none = np.array([], _FORM)
        return {name: TermCounts(self._points[name], *next(iter(self._parts[name]), (none, none))) for name in WORDS}

    def _merge(self) -> None:
        import numpy as np

        for name, parts in self._parts.items():
            indices, which = np.unique(np.concatenate([part[0] for part in parts]), return_inverse=True)
            counts = np.bincount(which, np.concatenate([part[1] for part in parts]))
            self._parts[name] = [(indices, counts.astype(_FORM))]
        self._unmerged = 0


def frequency_lines(counted: Mapping[str, TermCounts]) -> Iterator[bytes]:
    """Yield frequencies as lines of JSON, which `read_frequencies` reads."""
    for name in WORDS:
        points, indices, counts = counted[name]
        starts = range(0, max(1, len(indices)), _MOST_IN_LINE)
        for start in starts:
            some = slice(start, start + _MOST_IN_LINE)
            told = {"indices": _hexadecimal(indices[some]), "counts": _hexadecimal(counts[some])}
            yield json.dumps({"name": name, "points": points, **told, "is_last": start == starts[-1]}).encode()


def write_frequencies(path: Path, counted: Mapping[str, TermCounts]) -> None:
    """Write frequencies to a file, whole or not at all.

    Raises:
        OSError: it cannot be written.
    """
    replace_file(path, "\n".join(line.decode() for line in frequency_lines(counted)))


def read_frequencies(lines: Iterator[bytes]) -> dict[str, TermCounts]:
    """Read the lines of `frequency_lines`, and no line behind them.

    Raises:
        ValueError: they are none.
    """
    return {name: _read_counts(name, lines) for name in WORDS}


def _read_counts(name: str, lines: Iterator[bytes]) -> TermCounts:
    import numpy as np

    parts: list[tuple[Numbers, Numbers]] = []
    for line in lines:
        try:
            read: dict[str, Any] = json.loads(line)
            points, is_last = int(read["points"]), bool(read["is_last"])
            parts.append((_numbers(read["indices"]), _numbers(read["counts"])))
            is_of_name = read["name"] == name and 0 <= points < _MOST_POINTS
        except (KeyError, TypeError, OverflowError, RecursionError) as error:
            raise ValueError("frequencies are malformed") from error
        if not is_of_name:
            raise ValueError("frequencies are out of place")
        if is_last:
            indices, counts = (np.concatenate(columns) for columns in zip(*parts, strict=True))
            is_whole = len(indices) == len(counts) and (indices[1:] > indices[:-1]).all()
            if not is_whole or not ((counts > 0) & (counts <= points)).all():
                raise ValueError("frequencies are out of order")
            return TermCounts(points, indices, counts)
    raise ValueError("frequencies are missing")


class Weighing:
    """The weights of terms in base and layer together. Changes come from one thread at a time.

    Parameters:
        base: frequencies of the base.
    """

    def __init__(self, base: Mapping[str, TermCounts]) -> None:
        self._base = base
        self._points: Counter[str] = Counter()
        self._terms: dict[str, Counter[int]] = {name: Counter() for name in WORDS}

    def change(self, indices: Indices, times: int) -> None:
        """Count a new point (`times` 1), or a deleted or hidden one (-1)."""
        for name, terms in indices.items():
            if terms and name in self._terms:
                self._points[name] += times
                known = self._terms[name]
                for term in terms:
                    known[term] += times

    def counted(self) -> dict[str, TermCounts]:
        """Return the frequencies of base and layer together."""
        import numpy as np

        found = {}
        for name, (points, indices, counts) in self._base.items():
            changed = self._terms[name]
            terms = np.fromiter(changed.keys(), _FORM, len(changed))
            every, place = np.unique(np.concatenate([indices, terms]), return_inverse=True)
            amounts = np.concatenate([counts.astype(np.int64), np.fromiter(changed.values(), np.int64, len(changed))])
            sums = np.bincount(place, amounts, len(every)).astype(np.int64)
            found[name] = TermCounts(points + self._points[name], every[sums > 0], sums[sums > 0].astype(_FORM))
        return found

    def weighed(self, name: str, terms: SparseTerms) -> SparseTerms:
        """Return terms times their inverse document frequencies, as Qdrant computes these."""
        import numpy as np

        if not terms.indices:
            return terms
        base, changed = self._base[name], self._terms[name]
        points = base.points + self._points[name]
        held = np.array([changed[term] for term in terms.indices], np.float64) + _counts_of(base, terms)
        held = np.clip(held, 0, max(0, points))
        frequencies = np.log1p((points - held + 0.5) / (held + 0.5))
        return SparseTerms(terms.indices, tuple((np.array(terms.values) * frequencies).tolist()))


def packed_indices(indices: Indices) -> dict[str, str]:
    """Return terms as text, for a payload."""
    import numpy as np

    return {name: _hexadecimal(np.array(terms, _FORM)) for name, terms in indices.items() if terms}


def unpacked_indices(packed: Mapping[str, str]) -> dict[str, list[int]]:
    """Return the terms of `packed_indices`."""
    return {name: _numbers(packed[name]).tolist() for name in WORDS if name in packed}


def _counts_of(counts: TermCounts, terms: SparseTerms) -> "NDArray[np.uint32]":
    """Return the points with each term."""
    import numpy as np

    wanted = np.array(terms.indices, _FORM)
    if not len(counts.indices):
        return np.zeros(len(wanted), _FORM)
    at = np.minimum(np.searchsorted(counts.indices, wanted), len(counts.indices) - 1)
    return np.where(counts.indices[at] == wanted, counts.counts[at], 0)


def _hexadecimal(numbers: "Numbers") -> str:
    return numbers.astype(_FORM).tobytes().hex()


def _numbers(text: str) -> "Numbers":
    import numpy as np

    return np.frombuffer(bytes.fromhex(text), _FORM)
