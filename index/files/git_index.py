"""Read the paths tracked by git from its index file (gitformat-index(5), versions 2 to 4)."""

import os
import re
from bisect import bisect_left
from dataclasses import dataclass
from pathlib import Path

from cqm.index.disk.beneath import read_small

_MOST_BYTES = 256 << 20
_MOST_PATH_BYTES = 4096
_HEAD = 12
_HASH_SIZES = (20, 32)
"""Sizes of SHA-1 and SHA-256. The file doesn't state its own; the entries fit only with the right one."""
_STAT_BYTES = 40
_EXTENDED = 0x40
"""In the first byte of an entry's flags: two more bytes of flags follow."""
_ALIGNED = 8
_PLAIN_VERSION = 2
_PREFIXED_VERSION = 4
_VERSIONS = (_PLAIN_VERSION, 3, _PREFIXED_VERSION)
_SHARED = re.compile("[0-9a-f]{40}|[0-9a-f]{64}")


class _DamagedError(ValueError):
    """The file is no index, or a damaged one."""


@dataclass(frozen=True, slots=True)
class Tracked:
    """Tracked paths of a work tree, sorted by bytes; submodules count as paths."""

    paths: tuple[bytes, ...] = ()

    def has(self, path: str) -> bool:
        """Whether a path is tracked."""
        wanted = os.fsencode(path)
        at = bisect_left(self.paths, wanted)
        return at < len(self.paths) and self.paths[at] == wanted

    def has_below(self, folder: str) -> bool:
        """Whether a path below a folder is tracked."""
        wanted = os.fsencode(f"{folder}/")
        at = bisect_left(self.paths, wanted)
        return at < len(self.paths) and self.paths[at].startswith(wanted)


def tracked_by(git_folder: Path) -> Tracked | None:
    """Read the tracked paths from the index of a work tree.

    Parameters:
        git_folder: of the work tree itself: `GitFolder.own`.

    Returns:
        None if the index cannot be read; no paths if there is no index.
    """
    try:
        paths, shared = _read(git_folder / "index")
        if shared:
            # Entries a split index deletes from the shared one count as tracked until git joins them.
            paths += _read(git_folder / f"sharedindex.{shared}")[0]
    except FileNotFoundError:
        return Tracked()
    except (OSError, _DamagedError):
        return None
    paths.sort()
    return Tracked(tuple(paths))


def _read(path: Path) -> tuple[list[bytes], str]:
    """Return the paths of an index file, and the name of the shared index with the rest of them."""
    content = read_small(path, _MOST_BYTES)
    if len(content) > _MOST_BYTES or content[:4] != b"DIRC":
        raise _DamagedError
    version, count = int.from_bytes(content[4:8], "big"), int.from_bytes(content[8:12], "big")
    if version not in _VERSIONS:
        raise _DamagedError
    for size in _HASH_SIZES:
        try:
            paths, end = (_prefixed if version == _PREFIXED_VERSION else _padded)(content, count, size)
            shared = _shared(content, end, size)
        except _DamagedError:
            continue
        return paths, shared
    raise _DamagedError


def _padded(content: bytes, count: int, hash_size: int) -> tuple[list[bytes], int]:
    """Return the paths of a file of version 2 or 3, and the end of its entries."""
    paths = []
    at = _HEAD
    flags_at = _STAT_BYTES + hash_size
    may_be_extended = content[7] > _PLAIN_VERSION
    last = len(content) - hash_size
    for _ in range(count):
        name = at + flags_at + 2
        if may_be_extended and content[at + flags_at : name] and content[at + flags_at] & _EXTENDED:
            name += 2
        end = content.find(0, name, last)
        if end < 0:
            raise _DamagedError
        paths.append(content[name:end])
        at += (end - at + _ALIGNED) & -_ALIGNED
    return paths, at


def _prefixed(content: bytes, count: int, hash_size: int) -> tuple[list[bytes], int]:
    """Return the paths of a file of version 4, where paths share prefixes, and the end of its entries."""
    paths = []
    at, total = _HEAD, 0
    flags_at = _STAT_BYTES + hash_size
    path = b""
    for _ in range(count):
        if at + flags_at >= len(content):
            raise _DamagedError
        is_extended = content[at + flags_at] & _EXTENDED
        cut, name = _variable_number(content, at + flags_at + (4 if is_extended else 2))
        end = content.find(b"\0", name, name + _MOST_PATH_BYTES + 1)
        if end < 0 or cut > len(path):
            raise _DamagedError
        path = path[: len(path) - cut] + content[name:end]
        total += len(path)
        if len(path) > _MOST_PATH_BYTES or total > _MOST_BYTES:
            raise _DamagedError
        paths.append(path)
        at = end + 1
    return paths, at


def _variable_number(content: bytes, at: int) -> tuple[int, int]:
    """Read a number in the form of pack files' offsets; return it and its end."""
    value = 0
    for position in range(at, min(at + 4, len(content))):
        byte = content[position]
        value = (value << 7) | (byte & 0x7F)
        if not byte & 0x80:
            return value, position + 1
        value += 1
    raise _DamagedError


def _shared(content: bytes, at: int, hash_size: int) -> str:
    """Return the name of a split index's shared file, from its extension; empty for none."""
    name = ""
    while at < len(content) - hash_size:
        if content[at : at + 4] == b"link":
            name = content[at + 8 : at + 8 + hash_size].hex()
        at += 8 + int.from_bytes(content[at + 4 : at + 8], "big")
    if at != len(content) - hash_size:
        raise _DamagedError
    return name if _SHARED.fullmatch(name) and name.strip("0") else ""
