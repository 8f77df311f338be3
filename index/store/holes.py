"""Memory that holes of mapped files take."""

import ctypes
import errno
import os
import sys
from contextlib import suppress
from pathlib import Path

_PAGE_OUT = 21
"""MADV_PAGEOUT of madvise(2), Linux 5.4 and later: the pages go, and come again when they are read. Nothing is lost."""
_MOSTLY = 4
"""A file with this many times the size that it takes on disk has little but holes."""
_UNKNOWN = {errno.EINVAL, errno.EPERM}


def let_go_of_holes(folder: Path) -> None:
    """Give back the memory of mapped files that are mostly holes; does nothing but on Linux.

    Edge maps its files whole and has the system read them at once. A fresh file of 4 MB holds some kilobytes, and there
    are over a hundred of them: a small index takes 190 MB of zeros.

    Parameters:
        folder: of the files, with those below it.
    """
    if sys.platform != "linux":
        return
    inside, libc = f"{os.path.realpath(folder)}{os.sep}", ctypes.CDLL(None, use_errno=True)
    libc.madvise.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
    with suppress(OSError), open("/proc/self/maps", encoding="utf-8", errors="surrogateescape") as mapped:  # noqa: PTH123 - as the rest
        for line in mapped:
            # Its addresses, rights, offset, device, number of the file, and path; see proc(5).
            addresses, _, path = line.rstrip("\n").partition(" ")
            path = path[path.find(os.sep) :]
            if not path.startswith(inside) or not _is_mostly_holes(path):
                continue
            start, end = (int(number, 16) for number in addresses.split("-"))
            if libc.madvise(start, end - start, _PAGE_OUT) and ctypes.get_errno() in _UNKNOWN:
                return


def _is_mostly_holes(path: str) -> bool:
    try:
        found = os.stat(path)  # noqa: PTH116 - text: there are hundreds
    except OSError:
        return False
    return found.st_blocks * 512 * _MOSTLY < found.st_size
