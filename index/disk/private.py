"""Files and folders private to this user: those of indexes, caches and sockets.

A folder must be a real one of this user with mode 0700; a file must be a regular one of this user with a single name.
Links are never followed, so nothing added to an index folder by a project leads CQM to a file elsewhere.
"""

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from cqm.index.disk.beneath import FILE_FLAGS, FOLDER_FLAGS, open_beneath
from cqm.index.model.errors import DamagedIndexError

SMALL_BYTES = 1 << 20
"""Largest size of a small file."""
_HAS_DESCRIPTORS = os.open in os.supports_dir_fd and os.rename in os.supports_dir_fd


class ForeignFileError(OSError):
    """A file or folder isn't private to this user: it is a link, a device, another user's, or has a second name."""

    def __init__(self, path: Path, problem: str) -> None:
        super().__init__(errno.EPERM, problem, str(path))


def is_mine(status: os.stat_result) -> bool:
    """Whether a file belongs to the user of this process; always true on systems without file owners."""
    return not hasattr(os, "geteuid") or status.st_uid == os.geteuid()


def problem_of_folder(folder: Path) -> str:
    """Say why a folder may not be used; empty if it may.

    Parameters:
        folder: its last part may not be a link.

    Raises:
        FileNotFoundError: it does not exist.
        OSError: it cannot be read.
    """
    status = folder.lstat()
    if stat.S_ISLNK(status.st_mode):
        return "is a link"
    if not stat.S_ISDIR(status.st_mode):
        return "is not a folder"
    return "" if is_mine(status) else "belongs to another user"


def problem_of_file(status: os.stat_result) -> str:
    """Say why a file of this status (its own, not a link's target's) may not be used; empty if it may."""
    if stat.S_ISLNK(status.st_mode):
        return "is a link"
    if not stat.S_ISREG(status.st_mode):
        return "is not a regular file"
    if not is_mine(status):
        return "belongs to another user"
    # An archive may contain a second name of one of the user's files.
    return "has a second name (a hard link)" if status.st_nlink > 1 else ""


def others_can_write(status: os.stat_result) -> bool:
    """Whether the group or everybody may write."""
    return hasattr(os, "geteuid") and bool(status.st_mode & 0o022)


def open_private(folder: Path, name: str, flags: int = os.O_RDONLY) -> int:
    """Open a file in a folder and return its descriptor; neither of them may be a link.

    Parameters:
        folder: the last part of its path is not followed either.
        flags: of `os.open`, without O_TRUNC.

    Raises:
        ForeignFileError: it is not a file of this user alone.
        OSError: it cannot be opened.
    """
    try:
        opened = open_beneath(folder.parent, f"{folder.name}/{name}", flags | FILE_FLAGS)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise ForeignFileError(folder / name, "is a link") from error
        raise
    if problem := problem_of_file(os.fstat(opened)):
        os.close(opened)
        raise ForeignFileError(folder / name, problem)
    return opened


def read_private(folder: Path, name: str, most: int = SMALL_BYTES) -> bytes:
    """Read a small file in a folder.

    Parameters:
        most: bytes; a larger file is refused.

    Raises:
        ForeignFileError: it is not a file of this user alone, or is larger.
        OSError: it cannot be read.
    """
    with os.fdopen(open_private(folder, name), "rb") as file:
        content = file.read(most + 1)
    if len(content) > most:
        raise ForeignFileError(folder / name, f"has more than {most:,} bytes")
    return content


def append_private(folder: Path, name: str) -> int:
    """Open a file for appending, created with mode 0600; return its descriptor.

    Raises:
        ForeignFileError, OSError: as `open_private`.
    """
    opened = open_private(folder, name, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    _narrow(opened, 0o600)
    return opened


def touch_private(folder: Path, name: str) -> None:
    """Set a file's time to now; create it if it is missing.

    Raises:
        ForeignFileError, OSError: as `open_private`.
    """
    opened = open_private(folder, name, os.O_WRONLY | os.O_CREAT)
    try:
        os.utime(opened if os.utime in os.supports_fd else folder / name)
    finally:
        os.close(opened)


def make_folders(folder: Path) -> None:
    """Create a folder and its missing parents, all with mode 0700.

    Raises:
        OSError: one cannot be made, or is something else.
    """
    for part in [*reversed(folder.parents), folder]:
        if not part.is_dir():
            with suppress(FileExistsError):
                part.mkdir(mode=0o700)


def narrow_folder(folder: Path) -> None:
    """Remove others' rights on a folder of this user.

    Raises:
        ForeignFileError: it is a link, is not a folder, or belongs to another user.
        OSError: it cannot be read or changed.
    """
    if problem := problem_of_folder(folder):
        raise ForeignFileError(folder, problem)
    if not _HAS_DESCRIPTORS:
        return
    opened = os.open(folder, FOLDER_FLAGS)
    try:
        _narrow(opened, 0o700)
    finally:
        os.close(opened)


@contextmanager
def names_in(folder: Path) -> Iterator[tuple[str, int | None]]:
    """Open a folder for creating, renaming and deleting names in it, even if its path changes meanwhile.

    Yields:
        The prefix for names, and their `dir_fd`; None on Windows.

    Raises:
        OSError: it cannot be opened. A link gives ENOTDIR or ELOOP.
    """
    if not _HAS_DESCRIPTORS:
        yield f"{folder}{os.sep}", None
        return
    opened = os.open(folder, FOLDER_FLAGS)
    try:
        yield "", opened
    finally:
        os.close(opened)


def require_plain_file(path: Path) -> None:
    """Check that a file, if it exists, is a regular one in a real folder, both of this user.

    Call it right before giving the path to a library.

    Raises:
        DamagedIndexError: it is not.
    """
    with suppress(FileNotFoundError):
        _require(path.parent, problem_of_folder(path.parent))
        _require(path, problem_of_file(path.lstat()))


def require_plain_tree(folder: Path) -> None:
    """Check that a folder contains only folders and regular files of this user, at any depth.

    Call it right before giving the path to a library.

    Raises:
        DamagedIndexError: it contains something else, or is something else.
        OSError: it cannot be read.
    """
    _require(folder, problem_of_folder(folder))
    folders = [os.fspath(folder)]
    while folders:
        with os.scandir(folders.pop()) as entries:
            for entry in entries:
                status = entry.stat(follow_symlinks=False)
                if stat.S_ISDIR(status.st_mode):
                    problem = "" if is_mine(status) else "belongs to another user"
                    folders.append(entry.path)
                else:
                    problem = problem_of_file(status)
                if problem:
                    raise DamagedIndexError(f"{entry.path} {problem}.")


def _require(path: Path, problem: str) -> None:
    if problem:
        raise DamagedIndexError(f"{path} {problem}.")


def _narrow(descriptor: int, mode: int) -> None:
    """Remove the rights missing in `mode`."""
    if hasattr(os, "fchmod") and os.fstat(descriptor).st_mode & 0o777 & ~mode:
        os.fchmod(descriptor, mode)
