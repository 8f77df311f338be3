"""Read refs kept in tables instead of files (reftable(5))."""

import re
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

from cqm.index.disk.beneath import read_small

_MOST_BYTES = 64 << 20
_MOST_TABLES = 256
_MOST_NAME_BYTES = 4096
_TABLE = re.compile(r"[0-9A-Za-z-]+\.ref")
_HEADERS = {1: 24, 2: 28}
"""Bytes of a table's header, by its version."""
_SHA256 = b"s256"
_DELETED, _ID, _PEELED, _SYMBOLIC = range(4)

Signature = tuple[int, ...]


def value_in(folder: Path, ref: str) -> str:
    """Return a ref's value: an id, "ref: NAME", or "" if it does not exist.

    Parameters:
        folder: contains `tables.list`.

    Raises:
        OSError: a table cannot be read, or is no regular file.
        ValueError: a table is damaged.
    """
    status = (folder / "tables.list").lstat()
    return _value(folder, (status.st_mtime_ns, status.st_size, status.st_ino), ref)


@lru_cache(maxsize=64)
def _value(folder: Path, _signature: Signature, ref: str) -> str:
    names = read_small(folder / "tables.list", _MOST_BYTES).decode().split()
    if len(names) > _MOST_TABLES or not all(map(_TABLE.fullmatch, names)):
        raise ValueError(f"{folder} has no list of tables.")
    wanted = ref.encode()
    # The last table is the newest.
    for name in reversed(names):
        content = read_small(folder / name, _MOST_BYTES)
        try:
            found = next((value for key, value in _refs(content) if key == wanted), None)
        except IndexError as error:
            raise ValueError(f"{folder / name} is damaged.") from error
        if found is not None:
            return found
    return ""


def _refs(content: bytes) -> Iterator[tuple[bytes, str]]:
    """Yield the refs of a table, sorted by name."""
    header = _HEADERS.get(content[4])
    if content[:4] != b"REFT" or header is None or len(content) > _MOST_BYTES:
        raise ValueError("It is no table of refs.")
    id_bytes = 32 if content[24:header] == _SHA256 else 20
    block_size = _number(content, 5, 3)
    start, at = 0, header
    while content[at : at + 1] == b"r":
        length = _number(content, at + 1, 3)
        yield from _refs_of_block(content, at + 4, start + length, id_bytes)
        # Blocks of a fixed size are padded with zeros.
        start += max(length, block_size) if block_size else length
        if start <= at:
            raise ValueError("A block has no length.")
        at = start


def _refs_of_block(content: bytes, at: int, end: int, id_bytes: int) -> Iterator[tuple[bytes, str]]:
    restarts = _number(content, end - 2, 2)
    last = end - 2 - 3 * restarts
    name = b""
    while at < last:
        kept, at = _variable(content, at)
        packed, at = _variable(content, at)
        length, kind = packed >> 3, packed & 7
        if kept + length > _MOST_NAME_BYTES:
            raise ValueError("The name of a ref is too long.")
        name = name[:kept] + content[at : at + length]
        _, at = _variable(content, at + length)
        value = ""
        if kind in {_ID, _PEELED}:
            value = content[at : at + id_bytes].hex()
            at += id_bytes * kind
        elif kind == _SYMBOLIC:
            length, at = _variable(content, at)
            value = f"ref: {content[at : at + length].decode()}"
            at += length
        elif kind != _DELETED:
            raise ValueError("There is no such kind of ref.")
        yield name, value


def _number(content: bytes, at: int, size: int) -> int:
    return int.from_bytes(content[at : at + size], "big")


def _variable(content: bytes, at: int) -> tuple[int, int]:
    """Read a number of variable length, as in pack files; return it and its end."""
    value = content[at] & 0x7F
    while content[at] & 0x80:
        at += 1
        value = ((value + 1) << 7) | (content[at] & 0x7F)
        if value >> 32:
            raise ValueError("A number is too large.")
    return value, at + 1
