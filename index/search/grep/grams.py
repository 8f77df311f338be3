"""Trigrams of files, to rule out a file without reading it.

A file has a row of bits, one for each hash of three bytes in a row; a text can be in it only if all bits of the text's
trigrams are set. Cox, "Regular Expression Matching with a Trigram Index" (2012), keeps lists of files by trigram; rows
are as quick for some ten thousands of files, and a changed file costs one row.
"""

import threading
from collections.abc import Iterable, Mapping, Sequence
from itertools import product

import numpy as np
from numpy.typing import NDArray

from cqm.index.search.grep.syntax import Clauses

_BITS = 14
_ROW_BYTES = (1 << _BITS) // 8
"""2 KB a file. A source file of 8 KB sets a seventh of the bits."""
_LENGTH = 3
_FACTORS = (0x9E3779B1, 0x85EBCA6B, 0xC2B2AE35)
"""Odd numbers of xxHash and MurmurHash; their products spread over the upper bits."""
_MOST_GRAMS = 12
"""Trigrams of a text to look up; further ones rarely tell more."""
_FIRST_ROWS = 256
_MOST_ROWS = 1 << 16
"""128 MB. Files beyond are read by each search: a row dropped for another would be missing at the next."""
# Other letters have these as another case, in more bytes: the Kelvin sign, the long s.
_UNSTEADY = frozenset("kKsS")

Bits = NDArray[np.uint8]
Stamp = tuple[int, int, int]
"""Size, modification time and change time of a file, in bytes and nanoseconds."""


class GramTable:
    """Rows of trigrams by path, each with the stamp of the file it was made of; open to any thread.

    The first 65,536 files have one.
    """

    def __init__(self) -> None:
        self._rows: Bits = np.zeros((_FIRST_ROWS, _ROW_BYTES), np.uint8)
        self._slots: dict[str, int] = {}
        self._stamps: dict[str, Stamp] = {}
        self._lock = threading.Lock()

    def put(self, path: str, stamp: Stamp, text: bytes) -> None:
        """Store the row of a file's text, if there is room for it."""
        if self._is_full(path):
            return
        row = _row_of(text)
        with self._lock:
            if self._is_full(path):
                return
            slot = self._slots.get(path, len(self._slots))
            if slot == len(self._rows):
                self._rows = np.concatenate([self._rows, np.zeros_like(self._rows)])
            self._rows[slot] = row
            self._slots[path] = slot
            self._stamps[path] = stamp

    def _is_full(self, path: str) -> bool:
        return path not in self._slots and len(self._slots) >= _MOST_ROWS

    def has(self, path: str, stamp: Stamp) -> bool:
        """Whether there is the row of a file with this stamp."""
        return self._stamps.get(path) == stamp

    def keep_only(self, paths: Iterable[str]) -> None:
        """Forget all files but these."""
        with self._lock:
            kept = [path for path in paths if path in self._slots]
            if len(kept) == len(self._slots):
                return
            used = self._rows[[self._slots[path] for path in kept]]
            self._rows = np.concatenate([used, np.zeros((_FIRST_ROWS, _ROW_BYTES), np.uint8)])
            self._slots = {path: slot for slot, path in enumerate(kept)}
            self._stamps = {path: self._stamps[path] for path in kept}

    def without(self, clauses: Clauses, *, ignores_case: bool) -> Mapping[str, Stamp]:
        """Return the files unable to meet the clauses, with their stamps."""
        wanted = [_grams_of_clause(clause, ignores_case=ignores_case) for clause in clauses]
        with self._lock:
            count = len(self._slots)
            is_possible = np.ones(count, np.bool_)
            for texts in filter(None, wanted):
                is_possible &= _has_any(self._rows[:count], np.flatnonzero(is_possible), texts)
            return {path: self._stamps[path] for path, slot in self._slots.items() if not is_possible[slot]}


def _row_of(text: bytes) -> Bits:
    seen = np.zeros(1 << _BITS, np.bool_)
    if len(text) >= _LENGTH:
        seen[_hashed(np.frombuffer(text, np.uint8))] = True
    return np.packbits(seen, bitorder="little")


def _hashed(text: Bits) -> NDArray[np.uint32]:
    """Hash each three bytes in a row."""
    wide = text.astype(np.uint32)
    mixed = wide[:-2] * np.uint32(_FACTORS[0])
    mixed ^= wide[1:-1] * np.uint32(_FACTORS[1])
    mixed ^= wide[2:] * np.uint32(_FACTORS[2])
    return mixed >> np.uint32(32 - _BITS)


_Grams = Sequence[Sequence[int]]
"""The possible hashes of each trigram of a text."""


def _has_any(rows: Bits, slots: NDArray[np.intp], texts: Sequence[_Grams]) -> NDArray[np.bool_]:
    """Tell for all rows whether they may have one of the texts, looking only at some slots."""
    found = np.zeros(len(rows), np.bool_)
    for text in texts:
        left = slots
        for hashes in text:
            is_set = np.zeros(len(left), np.uint8)
            for value in hashes:
                is_set |= (rows[left, value >> 3] >> (value & 7)) & 1
            left = left[is_set.astype(np.bool_)]
        found[left] = True
    return found


def _grams_of_clause(clause: Iterable[str], *, ignores_case: bool) -> list[_Grams]:
    """Return the trigrams of each text of a clause; nothing if one has none, as any file may contain it."""
    texts = [_grams_of(text, ignores_case=ignores_case) for text in clause]
    return texts if all(texts) else []


def _grams_of(text: str, *, ignores_case: bool) -> _Grams:
    # Rows are of texts without the returns of line ends.
    runs = text.split("\r")
    grams = dict.fromkeys(
        part[n : n + _LENGTH]
        for run in runs
        for part in (_steady_parts(run) if ignores_case else [run.encode("utf-8", "replace")])
        for n in range(len(part) - _LENGTH + 1)
    )
    step = -(-len(grams) // _MOST_GRAMS) or 1
    return [_hashes_of(gram, ignores_case=ignores_case) for gram in [*grams][::step]]


def _steady_parts(text: str) -> list[bytes]:
    """Cut a text at characters with cases of other lengths."""
    marked = "".join(sign if sign.isascii() and sign not in _UNSTEADY else "\0" for sign in text)
    return [part.encode() for part in marked.split("\0")]


def _hashes_of(gram: bytes, *, ignores_case: bool) -> list[int]:
    cases = [{chr(byte).lower(), chr(byte).upper()} for byte in gram] if ignores_case else []
    forms = ["".join(form).encode() for form in product(*cases)] if ignores_case else [gram]
    return [int(_hashed(np.frombuffer(form, np.uint8))[0]) for form in forms]
