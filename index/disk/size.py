"""Bytes taken by files on disk: those of an index are sparse, and shorter than they say."""

import errno
import os
import stat
from contextlib import suppress
from pathlib import Path

_BLOCK = 512
"""Bytes of a block, as `stat` counts them on every system."""
_PAGE = 4096


def size_on_disk(folder: Path) -> int:
    """Bytes a folder takes on disk. Counts blocks instead of lengths, because its files are sparse."""
    total = 0
    for place, _, names in os.walk(folder):
        for name in names:
            # Generations may come and go meanwhile.
            with suppress(FileNotFoundError):
                total += _file_on_disk(Path(place, name))
    return total


def _file_on_disk(path: Path) -> int:
    info = path.lstat()
    if blocks := getattr(info, "st_blocks", 0):
        return int(blocks) * _BLOCK
    # A file of holes only, or a file system without blocks.
    return _bytes_of_data(path) if info.st_size and stat.S_ISREG(info.st_mode) else 0


def _bytes_of_data(path: Path) -> int:
    """Count the bytes of a file in pages that are not zero; all of them if another process holds it exclusively."""
    try:
        with path.open("rb") as file:
            if hasattr(os, "SEEK_DATA") and _is_hole(file.fileno()):
                return 0
            pages = iter(lambda: file.read(_PAGE), b"")
            return sum(len(page) for page in pages if page.count(0) < len(page))
    except PermissionError:
        return path.lstat().st_size


def _is_hole(file: int) -> bool:
    """Tell without reading whether a file has no data at all."""
    try:
        os.lseek(file, 0, os.SEEK_DATA)
    except OSError as error:
        return error.errno == errno.ENXIO
    os.lseek(file, 0, os.SEEK_SET)
    return False
