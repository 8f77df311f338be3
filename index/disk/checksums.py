"""Checksums of a closed generation's files; they detect changes by anything but CQM.

If a file of a shard is cut short, overwritten or gone, Edge opens the shard silently and answers from the rest; SQLite
notices only damage in the parts it reads. An open generation has no seal, because its process may die.
"""

import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from cqm.index.disk.beneath import FILE_FLAGS
from cqm.index.disk.durable import replace_file, sync_folder
from cqm.index.disk.private import ForeignFileError, problem_of_file, read_private
from cqm.index.model.errors import DamagedIndexError, StoreError

Prints = Mapping[str, tuple[int, int, str]]
"""For each file, by its path in the generation's folder: size in bytes, modification time in ns, digest."""

_SEAL = "seal.json"
_LONGEST_SEAL = 16 << 20
"""In bytes: enough for more than 100,000 files."""
_BLOCK = 1 << 18
_ZEROS = bytes(_BLOCK)
# Files beside an SQLite database opened by a reader: empty once the database is closed.
_PASSING = (".db-wal", ".db-shm", ".new")


def break_seal(place: Path) -> Prints | None:
    """Check the files of a closed generation and remove its seal.

    Returns:
        The checked values, so `seal` need not read unchanged files again. None if there is no seal: the generation is
        new, or its last process died.

    Raises:
        DamagedIndexError: a file is missing or changed.
        StoreError: a file cannot be read.
    """
    prints = _read(place)
    if prints is None:
        return None
    for name, known in prints.items():
        if ".." in name.split("/") or name.startswith("/"):
            raise DamagedIndexError(f"{place / _SEAL} names files outside of its folder.")
        _check(place, name, known)
    try:
        (place / _SEAL).unlink()
    except OSError as error:
        raise StoreError(f"{place / _SEAL} cannot be deleted: {error}.", remedy="Mend its permissions.") from error
    # Before anything is written: after a power cut the seal must not be there again.
    sync_folder(place)
    return prints


def seal(place: Path, known: Prints) -> None:
    """Record the checksums of a generation just closed and synced; those `known` hold for equal sizes and times."""
    # Without a seal the next opening checks the parts themselves.
    with suppress(OSError, StoreError):
        prints = {}
        # A generation has hundreds of files, and each process opening it looks at them all: no `Path` for each.
        for path in _files(str(place)):
            info = os.lstat(path)
            if not problem_of_file(info):
                name = path[len(str(place)) + 1 :].replace(os.sep, "/")
                prints[name] = _print(path, info, known.get(name))
        replace_file(place / _SEAL, json.dumps(prints, sort_keys=True))


def _files(place: str) -> Iterator[str]:
    for folder, _, names in os.walk(place):
        yield from (os.path.join(folder, name) for name in names if not name.endswith(_PASSING))  # noqa: PTH118


def _print(path: str, info: os.stat_result, known: tuple[int, int, str] | None) -> tuple[int, int, str]:
    is_same = known is not None and known[:2] == (info.st_size, info.st_mtime_ns)
    return info.st_size, info.st_mtime_ns, known[2] if known and is_same else _digest(path)


def _read(place: Path) -> Prints | None:
    # An unreadable seal counts as none: then the parts themselves are checked.
    with suppress(FileNotFoundError, ForeignFileError, ValueError, TypeError, AttributeError):
        found = json.loads(read_private(place, _SEAL, _LONGEST_SEAL))
        return {name: (int(size), int(changed), str(digest)) for name, (size, changed, digest) in found.items()}
    return None


def _check(place: Path, name: str, known: tuple[int, int, str]) -> None:
    path = f"{place}{os.sep}{name}"
    size, changed, digest = known
    try:
        info = os.lstat(path)
        if problem := problem_of_file(info):
            raise DamagedIndexError(f"{path} {problem}.")
        # A copy of the folder has other times and the same bytes.
        if info.st_size == size and (info.st_mtime_ns == changed or _digest(path) == digest):
            return
    except FileNotFoundError:
        raise DamagedIndexError(f"{path} is missing.") from None
    except OSError as error:
        raise StoreError(f"{path} cannot be read: {error}.", remedy="Mend its permissions.") from error
    raise DamagedIndexError(f"{path} is not what it was.")


def _digest(path: str) -> str:
    """Hash a file without its zeros: most of a shard's files are allocated far beyond their content."""
    hashed = hashlib.blake2b(digest_size=16)
    with os.fdopen(os.open(path, FILE_FLAGS), "rb", buffering=0) as file:
        # In memory a file has no holes: there may be megabytes of zeros to read. New memory for each block would take
        # longer than that.
        buffer = memoryview(bytearray(min(_BLOCK, os.fstat(file.fileno()).st_size)))
        for start in _places_with_data(file.fileno()):
            file.seek(start)
            block = buffer[: file.readinto(buffer)]
            if not _ZEROS.startswith(block):
                hashed.update(start.to_bytes(8, "big"))
                hashed.update(block)
    return hashed.hexdigest()


def _places_with_data(descriptor: int) -> Iterator[int]:
    """Yield the starts of a file's blocks, skipping holes if the system reports them."""
    end, start, seek_data = os.fstat(descriptor).st_size, 0, getattr(os, "SEEK_DATA", None)
    while start < end:
        if seek_data is not None:
            try:
                start = os.lseek(descriptor, start, seek_data) // _BLOCK * _BLOCK
            except OSError:  # only a hole up to the end
                return
        yield start
        start += _BLOCK
