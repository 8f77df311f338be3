"""Files and folders that only this user may touch: those of indexes, caches and sockets.

A folder is a real one of this user with mode 0700. A file is a regular one of this user that has one name. Links are
never followed, so that nothing that a project adds to an index folder leads CQM to a file elsewhere.
"""

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from filelock import FileLock

from cqm.index.disk.beneath import FILE_FLAGS, FOLDER_FLAGS, open_beneath
from cqm.index.model.errors import DamagedIndexError

SMALL_BYTES = 1 << 20
"""Read at most of a small file."""
_HAS_DESCRIPTORS = os.open in os.supports_dir_fd and os.rename in os.supports_dir_fd


class ForeignFileError(OSError):
    """A file or folder is not this user's alone: it is a link, a device, another user's, or has a second name."""

    def __init__(self, path: Path, problem: str) -> None:
        super().__init__(errno.EPERM, problem, str(path))


def is_mine(status: os.stat_result) -> bool:
    """Whether a file belongs to the user of this process; always true where files have no owners."""
    return not hasattr(os, "geteuid") or status.st_uid == os.geteuid()


def problem_of_folder(folder: Path) -> str:
    """Say why a folder may not be used, or give an empty text.

    Parameters:
        folder: its last part may not be a link.

    Raises:
        FileNotFoundError: there is nothing.
        OSError: it cannot be looked at.
    """
    status = folder.lstat()
    if stat.S_ISLNK(status.st_mode):
        return "is a link"
    if not stat.S_ISDIR(status.st_mode):
        return "is not a folder"
    return "" if is_mine(status) else "belongs to another user"


def problem_of_file(status: os.stat_result) -> str:
    """Say why a file may not be used, or give an empty text.

    Parameters:
        status: of the file itself, not of what a link leads to.
    """
    if stat.S_ISLNK(status.st_mode):
        return "is a link"
    if not stat.S_ISREG(status.st_mode):
        return "is not a regular file"
    if not is_mine(status):
        return "belongs to another user"
    # An archive may hold a second name of a file of the user.
    return "has a second name (a hard link)" if status.st_nlink > 1 else ""


def others_can_write(status: os.stat_result) -> bool:
    """Whether the group or everybody may write."""
    return hasattr(os, "geteuid") and bool(status.st_mode & 0o022)


def open_private(folder: Path, name: str, flags: int = os.O_RDONLY, mode: int = 0o600) -> int:
    """Open a file of a folder and return its descriptor; neither of them may be a link.

    Parameters:
        folder: the last part of its path is not followed either.
        name: of the file.
        flags: of `os.open`, without O_TRUNC.
        mode: of a new file.

    Raises:
        ForeignFileError: it is not a file of this user alone.
        OSError: it cannot be opened.
    """
    try:
        opened = open_beneath(folder.parent, f"{folder.name}/{name}", flags | FILE_FLAGS, mode)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise ForeignFileError(folder / name, "is a link") from error
        raise
    if problem := problem_of_file(os.fstat(opened)):
        os.close(opened)
        raise ForeignFileError(folder / name, problem)
    return opened


def read_private(folder: Path, name: str, most: int = SMALL_BYTES) -> bytes:
    """Read a small file of a folder.

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
    """Open a file for appending, made with mode 0600; return its descriptor.

    Raises:
        ForeignFileError, OSError: as `open_private`.
    """
    opened = open_private(folder, name, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    _narrow(opened, 0o600)
    return opened


def touch_private(folder: Path, name: str) -> None:
    """Give a file the present time, and make it if it is missing.

    Raises:
        ForeignFileError, OSError: as `open_private`.
    """
    opened = open_private(folder, name, os.O_WRONLY | os.O_CREAT)
    try:
        os.utime(opened if os.utime in os.supports_fd else folder / name)
    finally:
        os.close(opened)


def make_folders(folder: Path) -> None:
    """Make a folder and those above it that are missing, all with mode 0700.

    Raises:
        OSError: one cannot be made, or is something else.
    """
    for part in [*reversed(folder.parents), folder]:
        if not part.is_dir():
            with suppress(FileExistsError):
                part.mkdir(mode=0o700)


def narrow_folder(folder: Path) -> None:
    """Take the rights of others on a folder of this user away.

    Raises:
        ForeignFileError: it is a link, is not a folder, or belongs to another user.
        OSError: it cannot be looked at or changed.
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
    """Open a folder, to make, rename and delete names in it whatever its path becomes.

    Yields:
        What names are put behind, and the `dir_fd` for them; None on Windows.

    Raises:
        OSError: it cannot be opened. A link is ENOTDIR or ELOOP.
    """
    if not _HAS_DESCRIPTORS:
        yield f"{folder}{os.sep}", None
        return
    opened = os.open(folder, FOLDER_FLAGS)
    try:
        yield "", opened
    finally:
        os.close(opened)


class PrivateLock(FileLock):
    """A lock whose file is this user's alone: a link or a pipe in its place is refused with an OSError."""

    def _acquire(self) -> None:
        path = Path(self.lock_file)
        with suppress(FileNotFoundError):
            if problem := problem_of_file(path.lstat()):
                raise ForeignFileError(path, problem)
        super()._acquire()


def lock_in(folder: Path, name: str, seconds: float) -> PrivateLock:
    """The lock of a file in a folder; any thread may release what another acquired.

    Parameters:
        seconds: to wait for it, at most.
    """
    return PrivateLock(folder / name, timeout=seconds, mode=0o600, thread_local=False)


def require_plain_file(path: Path) -> None:
    """See that a file, if it is there, is a regular one in a real folder, both of this user.

    For libraries that open files by their paths: call it right before.

    Raises:
        DamagedIndexError: it is not.
    """
    with suppress(FileNotFoundError):
        _require(path.parent, problem_of_folder(path.parent))
        _require(path, problem_of_file(path.lstat()))


def require_plain_tree(folder: Path) -> None:
    """See that a folder holds nothing but folders and regular files of this user, at any depth.

    For libraries that open files by their paths: call it right before.

    Raises:
        DamagedIndexError: it holds something else, or is something else.
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
    """Take rights away that a mode does not have."""
    if hasattr(os, "fchmod") and os.fstat(descriptor).st_mode & 0o777 & ~mode:
        os.fchmod(descriptor, mode)
