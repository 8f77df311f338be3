"""Locations of indexes, the files allowed in them, and the lock giving an index to one process."""

import errno
import hashlib
import json
import os
import stat
import sys
from contextlib import suppress
from pathlib import Path

from platformdirs import user_cache_path

from cqm.index.disk.durable import replace_passing_file
from cqm.index.disk.private import (
    ForeignFileError,
    is_mine,
    make_folders,
    narrow_folder,
    open_private,
    others_can_write,
    problem_of_file,
    problem_of_folder,
    read_private,
    touch_private,
)
from cqm.index.disk.proof import prove_folder, proven_folder
from cqm.index.model.errors import (
    ForeignIndexError,
    IndexInUseError,
    ReadOnlyError,
    ScanError,
    StoreError,
    remedy_of_shortage,
)
from cqm.index.model.options import IndexOptions

PROJECT_FOLDER = ".cqm"
USED_FILE = "used"
_OWNER_FILE = "owner.json"
RUNNING_FILE, RUNNING_LOCK = "running.json", "running.lock"
ROOT_FILE, LOCK_FILE, CURRENT_FILE = "root", "lock", "current"
OWNER_LOCK, STARTING_LOCK, ADDRESS_FILE, LOG_FILE = "owner.lock", "starting.lock", "owner.address", "owner.log"
"""Files of the process owning an index; see `cqm.server.owner`."""
_REPLACED_FILES = (ROOT_FILE, CURRENT_FILE, _OWNER_FILE, RUNNING_FILE, ADDRESS_FILE)
"""Written to NAME.new first, then renamed."""
_OTHER_FILES = (LOCK_FILE, ".gitignore", USED_FILE, RUNNING_LOCK, OWNER_LOCK, STARTING_LOCK, LOG_FILE, f"{LOG_FILE}.1")
FILES = frozenset({*_REPLACED_FILES, *(f"{name}.new" for name in _REPLACED_FILES), *_OTHER_FILES})
"""All files allowed in an index folder, beside the folders of its generations."""


def resolve_root(root: Path) -> Path:
    """Return the real path of a folder or file to index.

    Raises:
        ScanError: it does not exist.
    """
    try:
        return root.expanduser().resolve(strict=True)
    except (OSError, RuntimeError) as error:
        raise ScanError(f"{root} cannot be indexed: {error}.", remedy="Check the path.") from error


def relative_to_root(root: Path, path: str | Path) -> str:
    """Return a path below the root in the form used by scans; "" for the root itself.

    Parameters:
        root: a real path.
        path: relative to it or absolute; need not exist.

    Raises:
        ScanError: it is outside of the root, or no path.
    """
    if "\0" in os.fspath(path):
        raise ScanError("A path has a null character.", remedy="Leave it out.")
    # Only the parents are resolved: the last part may be a link or may have vanished.
    absolute = Path(os.path.normpath(root / path))
    for candidate in (absolute, absolute.parent.resolve() / absolute.name):
        if candidate.is_relative_to(root):
            relative = candidate.relative_to(root).as_posix()
            return "" if relative == "." else relative
    raise ScanError(f"{path} is outside of {root}.", remedy="Index that folder on its own.")


def index_folder(root: Path, options: IndexOptions) -> Path:
    """Return the index folder of `root`: in the user's cache, keyed by the path, or below the root.

    Creates nothing. In a project without an index it is the future `.cqm/`.

    Parameters:
        root: a real path.

    Raises:
        ForeignIndexError: the project has a `.cqm/` not made by this user's CQM.
        StoreError: others can write to the folder of indexes, or the index folder is a link or another user's.
    """
    if options.in_project:
        inside = project_index(root)
        return proven_folder(inside) or inside
    key = hashlib.sha256(os.fsencode(root)).hexdigest()[:16]
    home = indexes_home(options)
    folder = home / f"{root.name or 'root'}-{key}"
    with suppress(FileNotFoundError, NotADirectoryError):
        _require_own_home(home)
        if problem := problem_of_folder(folder):
            raise StoreError(f"The index folder {folder} {problem}.", remedy="Remove it.")
    return folder


def project_index(root: Path) -> Path:
    """Return the path of a root's `.cqm/`, whoever made it."""
    return (root if root.is_dir() else root.parent) / PROJECT_FOLDER


def make_index_folder(root: Path, options: IndexOptions) -> Path:
    """Create the index folder of `root` if it is missing; `index_folder` returns it from then on.

    Raises:
        StoreError: as `index_folder`, or it cannot be made.
    """
    folder = prove_folder(project_index(root)) if options.in_project else index_folder(root, options)
    if not options.in_project and options.home is None:
        # An earlier release, or another program, may have made the cache readable for all.
        for ours in (user_cache_path("cqm"), indexes_home(options)):
            _make_private(ours.resolve())
    make_private_folder(folder)
    if not options.in_project:
        _require_own_home(indexes_home(options))
    return folder


def is_index(folder: Path) -> bool:
    """Whether a path is an index folder of this user: no link, and with a root file which is no link either."""
    try:
        return not problem_of_folder(folder) and not problem_of_file((folder / ROOT_FILE).lstat())
    except (FileNotFoundError, NotADirectoryError):
        return False


def is_begun(folder: Path) -> bool:
    """Whether an index folder names a serving generation: otherwise all files will be parsed."""
    return os.path.lexists(folder / CURRENT_FILE)


def has_index(root: Path, options: IndexOptions) -> bool:
    """Whether a root has an index of this user; a `.cqm/` made by somebody else doesn't count.

    Raises:
        StoreError: as `index_folder`.
    """
    try:
        return is_index(index_folder(root, options))
    except ForeignIndexError:
        return False


def indexes_home(options: IndexOptions) -> Path:
    """Return the folder of all indexes not kept inside their projects."""
    return options.home or user_cache_path("cqm") / "indexes"


def cache_folder(options: IndexOptions) -> Path:
    """Return the folder of the cache shared by all indexes: vectors and contexts by their texts."""
    return (options.home or user_cache_path("cqm")) / "cache"


def owner_folder(options: IndexOptions) -> Path:
    """Return the folder of the process owning this user's indexes: for its socket and its log."""
    return (options.home or user_cache_path("cqm")) / "owner"


def make_private_folder(folder: Path) -> None:
    """Create a folder and its missing parents with mode 0700, with a `.gitignore` in it.

    Makes a folder of this user private if others may read it.

    Raises:
        StoreError: it cannot be created or written, is a link, or belongs to another user.
    """
    _make_private(folder)
    try:
        with suppress(FileExistsError):
            opened = open_private(folder, ".gitignore", os.O_WRONLY | os.O_CREAT | os.O_EXCL)
            with os.fdopen(opened, "wb") as file:
                file.write(b"*\n")
    except OSError as error:
        raise _unwritable(folder, error) from error


def _make_private(folder: Path) -> None:
    try:
        make_folders(folder.parent)
        with suppress(FileExistsError):
            folder.mkdir(mode=0o700)
        narrow_folder(folder)
        is_narrow = not others_can_write(folder.lstat())
    except ForeignFileError as error:
        # A clone may have brought it, to make CQM write somewhere else.
        raise StoreError(f"The index folder {folder} {error.strerror}.", remedy="Remove it.") from error
    except OSError as error:
        raise _unwritable(folder, error) from error
    if not is_narrow:
        message = f"Others can write to the index folder {folder}, and its file system has no permissions."
        raise StoreError(message, remedy="Choose another place with index.home.")


def _unwritable(folder: Path, error: OSError) -> StoreError:
    remedy = remedy_of_shortage(error) or "Free space, mend its permissions, or choose another place with index.home."
    return StoreError(f"The index folder {folder} cannot be written: {error}.", remedy=remedy)


def untaken_lock(folder: Path, error: OSError) -> StoreError:
    """Return the error for a lock in an index folder refused by the system."""
    if error.errno == errno.EROFS:
        message = f"The index in {folder} is on a file system for reading only."
        return ReadOnlyError(message, remedy="Mount it for writing, or choose another place with index.home.")
    remedy = remedy_of_shortage(error) or "Free space or mend its permissions."
    return StoreError(f"The lock in {folder} cannot be taken: {error}.", remedy=remedy)


def _require_own_home(home: Path) -> None:
    """Check that nobody else can replace this user's indexes.

    In a folder with the sticky bit others can only make folders of their own; these are refused.

    Raises:
        FileNotFoundError: it does not exist yet.
        StoreError: others can.
    """
    status = home.stat()
    if not is_mine(status):
        message = f"The folder of indexes {home} is not this user's alone: it is another's."
        raise StoreError(message, remedy="Choose another place with index.home.")
    if others_can_write(status) and not status.st_mode & stat.S_ISVTX:
        message = f"The folder of indexes {home} is not this user's alone: others may write in it."
        raise StoreError(message, remedy=f"Choose another place with index.home, or run: chmod go-w {home}")


def note_root(folder: Path, root: Path) -> None:
    """Record an index folder's root.

    Raises:
        StoreError: it cannot be written.
    """
    try:
        if _noted(folder) != str(root):
            replace_passing_file(folder / ROOT_FILE, str(root))
    except OSError as error:
        message = f"The index folder {folder} cannot be written: {error}."
        raise StoreError(message, remedy="Free space or mend its permissions.") from error


def _noted(folder: Path) -> str:
    """Return `noted_root`; empty if it cannot be read."""
    try:
        return noted_root(folder)
    except OSError:
        return ""


def noted_root(folder: Path) -> str:
    """Return the recorded root of an index folder.

    Raises:
        OSError: the record cannot be read, or is gone.
    """
    return read_private(folder, ROOT_FILE).decode("utf-8", "surrogateescape")


def note_use(folder: Path) -> None:
    """Record the present use of an index; if it cannot be written, the time of last use stays."""
    with suppress(OSError):
        touch_private(folder, USED_FILE)


def used_at(folder: Path) -> float:
    """Time of an index's last use in seconds since the epoch; 0 for never."""
    try:
        return (folder / USED_FILE).lstat().st_mtime
    except FileNotFoundError:
        return 0.0


_LONGEST_COMMAND = 200


class IndexLock:
    """Exclusive use of an index folder by this process; the operating system releases it when the process dies."""

    def __init__(self, folder: Path) -> None:
        from cqm.index.disk.lock import lock_in  # start-up time of clients, which take none; here and below

        self._folder = folder
        self._lock = lock_in(folder, LOCK_FILE, 0)
        self._inode = -1

    def acquire(self) -> None:
        """Take the lock at once or fail.

        Raises:
            IndexInUseError: another process has it; the message names the process.
            StoreError: the lock file cannot be written.
        """
        from cqm.index.disk.lock import Timeout

        try:
            self._lock.acquire()
        except Timeout as error:
            raise IndexInUseError(
                f"The index in {self._folder} is in use by {self._noted_owner()}.",
                remedy="Ask that process, or stop it and try again.",
                retryable=True,
            ) from error
        except OSError as error:
            raise untaken_lock(self._folder, error) from error
        try:
            self._inode = (self._folder / LOCK_FILE).lstat().st_ino
            owner = {"pid": os.getpid(), "command": " ".join([Path(sys.argv[0]).name, *sys.argv[1:3]])}
            replace_passing_file(self._folder / _OWNER_FILE, json.dumps(owner))
        except OSError as error:
            self._lock.release()
            raise untaken_lock(self._folder, error) from error

    def require(self) -> None:
        """Check that the lock is still held.

        Raises:
            StoreError: the folder or the lock file was deleted; another process may have recreated them.
        """
        if not self.is_held():
            message = f"The index in {self._folder} was deleted or replaced while it was open."
            remedy = "Try again in some seconds, or start CQM again: the missing part is remade."
            raise StoreError(message, remedy=remedy)

    def is_held(self) -> bool:
        """Whether the lock is held, and its file is still in place for other processes."""
        try:
            return self._lock.is_locked and (self._folder / LOCK_FILE).lstat().st_ino == self._inode
        except OSError:
            return False

    def release(self) -> None:
        """Release the lock; harmless when it is not held."""
        if self.is_held():
            (self._folder / _OWNER_FILE).unlink(missing_ok=True)
        self._lock.release()

    def owner(self) -> str:
        """Name the process using the index, such as "process 12 (cqm serve)"; empty if there is none."""
        from cqm.index.disk.lock import Timeout

        if not os.path.lexists(self._folder / _OWNER_FILE):
            return ""
        try:
            # If the recorded process has died, the lock is free.
            with self._lock:
                return ""
        except Timeout:
            return self._noted_owner()
        except OSError:
            return ""

    def _noted_owner(self) -> str:
        with suppress(OSError, ValueError, KeyError, TypeError):
            owner = json.loads(read_private(self._folder, _OWNER_FILE))
            return f"process {int(owner['pid'])} ({str(owner['command'])[:_LONGEST_COMMAND]})"
        return "another process"


def folder_of(root: Path) -> Path:
    """Return the root if it is a folder, else its parent."""
    return root if root.is_dir() else root.parent
