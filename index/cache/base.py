"""The interfaces of caches, layers and stores, the lifetimes of values, and the frame around a stored value."""

import struct
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from hashlib import blake2b
from threading import Lock
from typing import NamedTuple, Protocol

from cqm.chunkers.errors import CqmError
from cqm.index.model.status import CacheLayer


class Tally:
    """Counts of one layer since it was opened."""

    def __init__(self, layer: str) -> None:
        self._layer = layer
        self._lock = Lock()
        self._hits = self._misses = self._stored = self._errors = 0

    def asked(self, keys: int, hits: int) -> None:
        """Count a read of `keys` keys with `hits` found."""
        with self._lock:
            self._hits += hits
            self._misses += keys - hits

    def stored(self, values: int) -> None:
        """Count written values."""
        with self._lock:
            self._stored += values

    def failed(self, errors: int = 1) -> None:
        """Count failed operations."""
        with self._lock:
            self._errors += errors

    def told(self, entries: int, size_bytes: int, problem: str = "") -> CacheLayer:
        """Return the counts together with the layer's own figures."""
        with self._lock:
            counts = (self._hits, self._misses, self._stored, self._errors)
        return CacheLayer(self._layer, *counts, entries, size_bytes, problem)


SYSTEM_CLOCK: Callable[[], float] = time.time
"""Seconds since the epoch, so expiry times hold across processes and machines."""

_MINUTE = 60.0
_DAY = 24 * 60 * _MINUTE

DEFAULT_LIFETIMES: Mapping[str, float] = {"memory": 5 * _MINUTE, "redis": 60 * _MINUTE, "disk": 600 * _MINUTE}
"""Seconds each layer keeps kinds without a row in `LIFETIMES`."""
LIFETIMES: Mapping[str, Mapping[str, float]] = {
    # The same text and model always give the same result: space limits these, not time.
    "vectors": {"memory": _DAY, "redis": 7 * _DAY, "disk": 70 * _DAY},
    "contexts": {"memory": _DAY, "redis": 30 * _DAY, "disk": 300 * _DAY},
    # These go stale wherever they are kept. A search takes little longer than writing its answer to disk.
    "answers": {"memory": 5 * _MINUTE, "redis": 5 * _MINUTE, "disk": 0.0},
    "statistics": dict.fromkeys(DEFAULT_LIFETIMES, 30 * _MINUTE),
}
"""Seconds each layer keeps a value, by kind. A layer with 0 neither stores nor serves the kind."""


def lifetime(kind: str, layer: str) -> float:
    """Return the seconds a layer keeps values of a kind."""
    return LIFETIMES.get(kind, DEFAULT_LIFETIMES)[layer]


class Cache(Protocol):
    """Bytes by kind and key. It may forget anything at any time and never fails: an error is a miss.

    All methods may be called from several threads at once. The first `get` or `put` opens and contacts the layers.
    """

    @property
    def enabled(self) -> bool:
        """Whether any layer is configured."""

    def get(self, kind: str, keys: Iterable[str]) -> dict[str, bytes]:
        """Return the cached values among these keys.

        Parameters:
            kind: a row of `LIFETIMES`; any other name is kept for `DEFAULT_LIFETIMES`.
            keys: any text, of any length.
        """

    def put(self, kind: str, items: Mapping[str, bytes]) -> None:
        """Store values by their keys, replacing older ones."""

    def layers(self) -> tuple[CacheLayer, ...]:
        """Counts of each layer since the cache was opened, the nearest first."""

    def close(self) -> None:
        """Release connections and memory; a later call opens them again."""


class Kept(NamedTuple):
    """A value and its expiry in seconds since the epoch."""

    value: bytes
    expires: float


class Layer(Protocol):
    """One place for values by name. Its methods never fail."""

    @property
    def name(self) -> str:
        """Name in statistics and `LIFETIMES`."""

    def get(self, names: Sequence[str]) -> dict[str, Kept]:
        """Return the values present and not expired."""

    def put(self, items: Mapping[str, Kept]) -> None:
        """Store the values."""

    def told(self) -> CacheLayer:
        """Return the layer's counts."""

    def close(self) -> None:
        """Release its resources."""


class Frame(NamedTuple):
    """A framed value (see `framed`) and its lifetime in seconds from now."""

    data: bytes
    seconds: float


class Store(Protocol):
    """A place outside this process for frames by name. All methods may raise `CacheError`."""

    def read(self, names: Sequence[str]) -> Mapping[str, object]:
        """Return whatever is stored under the names."""

    def write(self, frames: Mapping[str, Frame]) -> None:
        """Store the frames, replacing those of the same name."""

    def extent(self) -> tuple[int, int]:
        """Return the number of frames and their bytes; zeros where unknown."""

    def close(self) -> None:
        """Close connections."""


PAUSE_SECONDS = 30.0
"""Seconds to leave a failed store alone: each try may cost a time-out."""


class CacheError(CqmError):
    """A store failed. Only its layer sees this; the others see a miss.

    Parameters:
        pause_seconds: seconds to leave the store alone.
    """

    def __init__(self, message: str, *, remedy: str = "", pause_seconds: float = PAUSE_SECONDS) -> None:
        super().__init__(message, remedy=remedy)
        self.pause_seconds = pause_seconds


_MAGIC = b"CQM\x01"
_CHECKSUM_BYTES = 16
_NAME_BYTES = 20
_HEADER = struct.Struct(f"<4s{_CHECKSUM_BYTES}sd")


def name_of(kind: str, key: str) -> str:
    """Return the name of a key in all layers: short for any key, and without any of its text.

    The name contains CQM's cache version, so values of versions with another form are never read.
    """
    digest = blake2b(key.encode("utf-8", "surrogatepass"), digest_size=_NAME_BYTES)
    return f"cqm1:{kind}:{digest.hexdigest()}"


def framed(name: str, kept: Kept) -> bytes:
    """Return the frame of a value stored under a name."""
    return _HEADER.pack(_MAGIC, _checksum(name, kept), kept.expires) + kept.value


def unframed(name: str, data: object) -> Kept | None:
    """Return the value framed under this name; None for anything else."""
    if not isinstance(data, bytes) or len(data) < _HEADER.size:
        return None
    magic, checksum, expires = _HEADER.unpack_from(data)
    kept = Kept(data[_HEADER.size :], expires)
    return kept if magic == _MAGIC and checksum == _checksum(name, kept) else None


def _checksum(name: str, kept: Kept) -> bytes:
    # A name contains no zero byte, so no two pairs of name and value give the same bytes.
    covered = blake2b(name.encode() + b"\0" + struct.pack("<d", kept.expires), digest_size=_CHECKSUM_BYTES)
    covered.update(kept.value)
    return covered.digest()
