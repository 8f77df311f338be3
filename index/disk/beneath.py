"""Open files below a folder without leaving it: follows no link and reads only regular files.

If the kernel can resolve a path beneath a descriptor (`openat2(2)`, Linux 5.6), one call opens it; otherwise it is
opened folder by folder with O_NOFOLLOW. Both hold while others replace folders by links. Windows has neither: there a
path is resolved, compared and opened, and a race could beat the check.
"""

import ctypes
import errno
import os
import stat
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

# Refuse a link at the end of the path, don't wait for the other end of a pipe, don't translate line ends on Windows.
FILE_FLAGS = (
    os.O_RDONLY
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_NOCTTY", 0)
    | getattr(os, "O_BINARY", 0)
)
FOLDER_FLAGS = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)

_START_FLAGS = getattr(os, "O_PATH", os.O_RDONLY) | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_CLOEXEC", 0)
"""Start of a path. A worker may not read the folders above the project; O_PATH needs no right to."""

_HAS_DESCRIPTORS = os.open in os.supports_dir_fd
_OPENAT2 = 437
"""System call number, equal on all architectures for calls since 2011."""
_RESOLVE_NO_MAGICLINKS, _RESOLVE_NO_SYMLINKS, _RESOLVE_BENEATH = 0x02, 0x04, 0x08
_RETRIES = 16
"""Attempts to resolve a path changing at the same time (EAGAIN)."""


class NotRegularError(OSError):
    """The path is a folder, link, pipe, socket or device instead of a regular file."""

    def __init__(self, path: str | Path) -> None:
        super().__init__(errno.EINVAL, "not a regular file", str(path))


class _OpenHow(ctypes.Structure):
    _fields_ = (("flags", ctypes.c_uint64), ("mode", ctypes.c_uint64), ("resolve", ctypes.c_uint64))


def open_beneath(folder: int | Path, path: str, flags: int = FILE_FLAGS, mode: int = 0o600) -> int:
    """Open a path below a folder and return its descriptor.

    Parameters:
        folder: a descriptor, or a folder's path with its own links already resolved by the caller.
        path: relative, with "/" between parts; no part may be "..".
        flags: of `os.open`.
        mode: of a new file.

    Raises:
        OSError: it cannot be opened. A link on the way gives ELOOP; a path leading out gives EXDEV or ELOOP.
    """
    parts = [part for part in path.split("/") if part not in {"", "."}]
    if ".." in parts or path.startswith("/") or "\0" in path:
        raise OSError(errno.EXDEV, "the path leads out of its folder", path)
    if isinstance(folder, Path):
        if not _HAS_DESCRIPTORS:
            return _opened_by_path(folder, parts, flags, mode)
        opened = os.open(folder, _START_FLAGS)
        try:
            return open_beneath(opened, path, flags, mode)
        finally:
            os.close(opened)
    if _has_openat2():
        return _opened_by_kernel(folder, "/".join(parts) or ".", flags, mode)
    return _opened_by_steps(folder, parts or ["."], flags, mode)


@contextmanager
def opened_root(root: Path, *, lists: bool = True) -> Iterator[int | Path]:
    """Open a folder by its real path while a block runs, and yield its descriptor.

    With `openat2`, no part of the path may have become a link since it was resolved. On systems without folder
    descriptors the path itself is yielded.

    Parameters:
        root: absolute, without links.
        lists: whether the folder's names will be read. Opening a path below it doesn't need this.

    Raises:
        OSError: it cannot be opened; see `open_beneath`.
    """
    if not _HAS_DESCRIPTORS:
        yield root
        return
    flags = FOLDER_FLAGS if lists else _START_FLAGS | getattr(os, "O_NOFOLLOW", 0)
    if _has_openat2():
        opened = open_beneath(Path(root.anchor), root.relative_to(root.anchor).as_posix(), flags)
    else:
        opened = os.open(root, flags)
    try:
        yield opened
    finally:
        os.close(opened)


@contextmanager
def opened_folder(root: int | Path, path: str) -> Iterator[int | Path]:
    """Open a folder below `root` while a block runs; yield its descriptor, or its path as `opened_root` does.

    Raises:
        OSError: it cannot be opened; see `open_beneath`.
    """
    if isinstance(root, Path):
        yield root / path
        return
    opened = open_beneath(root, path, FOLDER_FLAGS)
    try:
        yield opened
    finally:
        os.close(opened)


def open_regular(folder: int | Path, path: str) -> int:
    """Open a regular file below a folder for reading, and return its descriptor.

    Raises:
        NotRegularError: it is something else.
        OSError: it cannot be opened; see `open_beneath`.
    """
    return _regular(lambda: open_beneath(folder, path), path)


def read_small(path: Path, most: int) -> bytes:
    """Read a small file that may not be a link itself, such as settings, ignore files and git's files.

    Parameters:
        path: absolute; the folders above may be links.
        most: largest number of bytes; a larger file gives its first `most` + 1.

    Raises:
        NotRegularError: it is no regular file; devices and pipes are not read.
        OSError: it cannot be opened or read. A link gives ELOOP.
    """
    with os.fdopen(_regular(lambda: os.open(path, FILE_FLAGS), path), "rb") as file:
        return file.read(most + 1)


def read_small_beneath(folder: int | Path, path: str, most: int) -> bytes:
    """Read a small file below a folder, without a link on the way; see `read_small` and `open_beneath`.

    Raises:
        NotRegularError, OSError: as `read_small`.
    """
    with os.fdopen(open_regular(folder, path), "rb") as file:
        return file.read(most + 1)


def _regular(opened: Callable[[], int], path: str | Path) -> int:
    try:
        descriptor = opened()
    except OSError as error:
        # A socket cannot even be opened.
        if error.errno == errno.ENXIO:
            raise NotRegularError(path) from error
        raise
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise NotRegularError(path)
    return descriptor


def _opened_by_kernel(folder: int, path: str, flags: int, mode: int) -> int:
    resolve = _RESOLVE_BENEATH | _RESOLVE_NO_SYMLINKS | _RESOLVE_NO_MAGICLINKS
    how = _OpenHow(flags | os.O_CLOEXEC, mode if flags & os.O_CREAT else 0, resolve)
    for _ in range(_RETRIES):
        opened: int = _libc().syscall(_OPENAT2, folder, os.fsencode(path), ctypes.byref(how), ctypes.sizeof(how))
        if opened >= 0:
            return opened
        code = ctypes.get_errno()
        if code not in {errno.EAGAIN, errno.EINTR}:
            break
    raise OSError(code, os.strerror(code), path)


def _opened_by_steps(folder: int, parts: list[str], flags: int, mode: int) -> int:
    here = os.dup(folder)
    try:
        for part in parts[:-1]:
            below = _opened_step(part, here)
            os.close(here)
            here = below
        return os.open(parts[-1], flags, mode, dir_fd=here)
    finally:
        os.close(here)


def _opened_step(name: str, folder: int) -> int:
    try:
        return os.open(name, FOLDER_FLAGS, dir_fd=folder)
    except NotADirectoryError as error:
        # Linux raises this for a link as well.
        if stat.S_ISLNK(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode):
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), name) from error
        raise


def _opened_by_path(folder: Path, parts: list[str], flags: int, mode: int) -> int:
    path = folder.joinpath(*parts)
    if path.is_symlink() or not path.parent.resolve().is_relative_to(folder.resolve()):
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(path))
    return os.open(path, flags, mode)


@cache
def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


@cache
def _has_openat2() -> bool:
    """Whether `openat2` works; a sandbox may refuse it with EPERM."""
    if sys.platform != "linux":
        return False
    # O_PATH: a worker may not read "/".
    how = _OpenHow(os.O_PATH | os.O_CLOEXEC, 0, _RESOLVE_BENEATH)
    root = os.open("/", os.O_PATH | os.O_CLOEXEC)
    try:
        opened: int = _libc().syscall(_OPENAT2, root, b".", ctypes.byref(how), ctypes.sizeof(how))
    finally:
        os.close(root)
    if opened >= 0:
        os.close(opened)
    return opened >= 0
