"""What every cache offers, how long it keeps what, and what its layers are made of."""

import struct
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from hashlib import blake2b
from threading import Lock
from typing import NamedTuple, Protocol

from cqm.chunkers.errors import CqmError
from cqm.index.model.status import CacheLayer


class Tally:
    """The counts of one layer since it was opened."""

    def __init__(self, layer: str) -> None:
        self._layer = layer
        self._lock = Lock()
        self._hits = self._misses = self._stored = self._errors = 0

    def asked(self, keys: int, hits: int) -> None:
        """So many keys were asked for, so many of them found."""
        with self._lock:
            self._hits += hits
            self._misses += keys - hits

    def stored(self, values: int) -> None:
        """So many values were written."""
        with self._lock:
            self._stored += values

    def failed(self, errors: int = 1) -> None:
        """So many operations failed."""
        with self._lock:
            self._errors += errors

    def told(self, entries: int, size_bytes: int, problem: str = "") -> CacheLayer:
        """The counts, with what only the layer knows."""
        with self._lock:
            counts = (self._hits, self._misses, self._stored, self._errors)
        return CacheLayer(self._layer, *counts, entries, size_bytes, problem)


SYSTEM_CLOCK: Callable[[], float] = time.time
"""Seconds since the epoch: what is kept for a time is kept across processes and machines."""

_MINUTE = 60.0
_DAY = 24 * 60 * _MINUTE

DEFAULT_LIFETIMES: Mapping[str, float] = {"memory": 5 * _MINUTE, "redis": 60 * _MINUTE, "disk": 600 * _MINUTE}
"""Seconds that each layer keeps what has no row below."""
LIFETIMES: Mapping[str, Mapping[str, float]] = {
    # What a model makes of a text never changes, so these are bounded by their use of space rather than by time.
    "vectors": {"memory": _DAY, "redis": 7 * _DAY, "disk": 70 * _DAY},
    "contexts": {"memory": _DAY, "redis": 30 * _DAY, "disk": 300 * _DAY},
    # These grow old wherever they are kept. A search takes little longer than the disk does to keep its answer.
    "answers": {"memory": 5 * _MINUTE, "redis": 5 * _MINUTE, "disk": 0.0},
    "statistics": dict.fromkeys(DEFAULT_LIFETIMES, 30 * _MINUTE),
}
"""Seconds that each layer keeps a value, a row a kind; a layer has no part in what it would keep for 0."""


def lifetime(kind: str, layer: str) -> float:
    """Seconds that a layer keeps values of a kind."""
    return LIFETIMES.get(kind, DEFAULT_LIFETIMES)[layer]


class Cache(Protocol):
    """Bytes by kind and key. It may forget anything at any time, and never fails: what goes wrong is a miss.

    All methods may be called from several threads at once. Nothing is opened or contacted before the first `get` or
    `put`.
    """

    @property
    def enabled(self) -> bool:
        """Whether it can hold anything at all."""

    def get(self, kind: str, keys: Iterable[str]) -> dict[str, bytes]:
        """The values of those keys that it has.

        Parameters:
            kind: a row of `LIFETIMES`; any other name is kept for `DEFAULT_LIFETIMES`.
            keys: any text, of any length.
        """

    def put(self, kind: str, items: Mapping[str, bytes]) -> None:
        """Keep values by their keys, in place of what was kept there."""

    def layers(self) -> tuple[CacheLayer, ...]:
        """How each layer did since the cache was opened, the nearest first."""

    def close(self) -> None:
        """Give back connections and memory; a later call opens them again."""


class Kept(NamedTuple):
    """A value and when it is out of date, seconds since the epoch."""

    value: bytes
    expires: float


class Layer(Protocol):
    """One place where values are kept, by name. Its methods never fail."""

    @property
    def name(self) -> str:
        """What statistics and `LIFETIMES` call it."""

    def get(self, names: Sequence[str]) -> dict[str, Kept]:
        """Those that are here and not out of date."""

    def put(self, items: Mapping[str, Kept]) -> None:
        """Keep them."""

    def told(self) -> CacheLayer:
        """How it did."""

    def close(self) -> None:
        """Give back what it holds."""


class Frame(NamedTuple):
    """A value as a store keeps it (see `framing`), and how many seconds from now."""

    data: bytes
    seconds: float


class Store(Protocol):
    """A place outside this process that keeps frames by name. All methods may raise `CacheError`."""

    def read(self, names: Sequence[str]) -> Mapping[str, object]:
        """What is found under the names, whatever it is."""

    def write(self, frames: Mapping[str, Frame]) -> None:
        """Keep the frames; replaces what has the same name."""

    def extent(self) -> tuple[int, int]:
        """How many frames there are, and their bytes; zeros where that is not told."""

    def close(self) -> None:
        """Give back connections."""


PAUSE_SECONDS = 30.0
"""How long a store that failed is left alone: each try may cost a time-out."""


class CacheError(CqmError):
    """A store failed. Nobody but its layer sees this: for the others it is a miss.

    Parameters:
        pause_seconds: how long to leave the store alone.
    """

    def __init__(self, message: str, *, remedy: str = "", pause_seconds: float = PAUSE_SECONDS) -> None:
        super().__init__(message, remedy=remedy)
        self.pause_seconds = pause_seconds


_MAGIC = b"CQM\x01"
_CHECKSUM_BYTES = 16
_NAME_BYTES = 20
_HEADER = struct.Struct(f"<4s{_CHECKSUM_BYTES}sd")


def name_of(kind: str, key: str) -> str:
    """What a key is called in all layers: short whatever the key, and without a word of it.

    The version is a part: what another version of CQM keeps in another form is not met at all.
    """
    digest = blake2b(key.encode("utf-8", "surrogatepass"), digest_size=_NAME_BYTES)
    return f"cqm1:{kind}:{digest.hexdigest()}"


def framed(name: str, kept: Kept) -> bytes:
    """The frame of a value that is kept under a name."""
    return _HEADER.pack(_MAGIC, _checksum(name, kept), kept.expires) + kept.value


def unframed(name: str, data: object) -> Kept | None:
    """What was framed under the name; None for anything else."""
    if not isinstance(data, bytes) or len(data) < _HEADER.size:
        return None
    magic, checksum, expires = _HEADER.unpack_from(data)
    kept = Kept(data[_HEADER.size :], expires)
    return kept if magic == _MAGIC and checksum == _checksum(name, kept) else None


def _checksum(name: str, kept: Kept) -> bytes:
    # The name has no zero byte, so no two pairs of name and value look alike.
    covered = blake2b(name.encode() + b"\0" + struct.pack("<d", kept.expires), digest_size=_CHECKSUM_BYTES)
    covered.update(kept.value)
    return covered.digest()
