"""Where the index of a root lives, and the lock that gives it to one process."""

import hashlib
import json
import os
import sys
from contextlib import suppress
from pathlib import Path

from filelock import FileLock, Timeout
from platformdirs import user_cache_path

from cqm.index.errors import IndexInUseError, ScanError, StoreError
from cqm.index.options import IndexOptions

PROJECT_FOLDER = ".cqm"
USED_FILE = "used"
_OWNER_FILE = "owner.json"
RUNNING_FILE, RUNNING_LOCK = "running.json", "running.lock"
ROOT_FILE, LOCK_FILE = "root", "lock"
OWNER_LOCK, STARTING_LOCK, ADDRESS_FILE, LOG_FILE = "owner.lock", "starting.lock", "owner.address", "owner.log"
"""Of the process that owns an index; see `cqm.server.sharing`."""
_OWN_FILES = (ROOT_FILE, LOCK_FILE, "current", "current.new", ".gitignore", USED_FILE, _OWNER_FILE)
_RUNNING_FILES = (RUNNING_FILE, f"{RUNNING_FILE}.new", RUNNING_LOCK)
_SHARED_FILES = (OWNER_LOCK, STARTING_LOCK, ADDRESS_FILE, f"{ADDRESS_FILE}.new", LOG_FILE, f"{LOG_FILE}.1")
FILES = frozenset({*_OWN_FILES, *_RUNNING_FILES, *_SHARED_FILES})
"""All files that may be in an index folder, beside the folders of its generations."""


def resolve_root(root: Path) -> Path:
    """The real path of a folder or file to index.

    Raises:
        ScanError: it does not exist.
    """
    try:
        return root.expanduser().resolve(strict=True)
    except (OSError, RuntimeError) as error:
        raise ScanError(f"{root} cannot be indexed: {error}.", remedy="Check the path.") from error


def relative_to_root(root: Path, path: str | Path) -> str:
    """A path below the root as a scan names it; the root itself is "".

    Parameters:
        root: a real path.
        path: relative to it or absolute; need not exist.

    Raises:
        ScanError: it is outside of the root.
    """
    # Only the parents are resolved: the last part may be a link or may have vanished.
    absolute = Path(os.path.normpath(root / path))
    for candidate in (absolute, absolute.parent.resolve() / absolute.name):
        if candidate.is_relative_to(root):
            relative = candidate.relative_to(root).as_posix()
            return "" if relative == "." else relative
    raise ScanError(f"{path} is outside of {root}.", remedy="Index that folder on its own.")


def index_folder(root: Path, options: IndexOptions) -> Path:
    """The folder of the index of `root`, a real path: in the user's cache, keyed by the path, or below the root."""
    if options.in_project:
        return (root if root.is_dir() else root.parent) / PROJECT_FOLDER
    key = hashlib.sha256(os.fsencode(root)).hexdigest()[:16]
    return indexes_home(options) / f"{root.name or 'root'}-{key}"


def indexes_home(options: IndexOptions) -> Path:
    """The folder that holds the indexes of all roots but those that are kept in their projects."""
    return options.home or user_cache_path("cqm") / "indexes"


def cache_folder(options: IndexOptions) -> Path:
    """The folder of what all indexes share: vectors and contexts by the texts that they were made of."""
    return (options.home or user_cache_path("cqm")) / "cache"


def make_private_folder(folder: Path) -> None:
    """Create the folder, readable by its owner alone, with a rule that keeps it out of git.

    Raises:
        StoreError: it cannot be created or written, or is a link.
    """
    if folder.is_symlink():
        # It may have come with a clone, to make CQM write somewhere else.
        raise StoreError(f"The index folder {folder} is a link.", remedy="Remove the link.")
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if folder.stat().st_mode & 0o077:
            folder.chmod(0o700)
        ignore = folder / ".gitignore"
        if not ignore.exists():
            ignore.write_text("*\n", encoding="utf-8")
    except OSError as error:
        raise StoreError(
            f"The index folder {folder} cannot be written: {error}.",
            remedy="Free space, mend its permissions, or choose another place with index.home.",
        ) from error


def note_root(folder: Path, root: Path) -> None:
    """Note in an index folder which root it is of.

    Raises:
        StoreError: it cannot be written.
    """
    try:
        (folder / ROOT_FILE).write_text(str(root), encoding="utf-8", errors="surrogateescape")
    except OSError as error:
        message = f"The index folder {folder} cannot be written: {error}."
        raise StoreError(message, remedy="Free space or mend its permissions.") from error


def noted_root(folder: Path) -> str:
    """The root that an index folder is of.

    Raises:
        OSError: the note cannot be read, or is gone.
    """
    return (folder / ROOT_FILE).read_text(encoding="utf-8", errors="surrogateescape")


def note_use(folder: Path) -> None:
    """Note that an index is used now; without the right or the room to write, it counts as used as before."""
    with suppress(OSError):
        (folder / USED_FILE).touch(mode=0o600)


def used_at(folder: Path) -> float:
    """When an index was used last, seconds since the epoch; 0 for never."""
    try:
        return (folder / USED_FILE).stat().st_mtime
    except FileNotFoundError:
        return 0.0


class IndexLock:
    """Exclusive use of an index folder by this process; the operating system releases it when the process dies."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        # Any thread may close the index that another one opened.
        self._lock = FileLock(folder / LOCK_FILE, timeout=0, thread_local=False)
        self._inode = -1

    def acquire(self) -> None:
        """Take the lock, at once or not at all.

        Raises:
            IndexInUseError: another process has it; the message names the process.
            StoreError: the lock file cannot be written.
        """
        try:
            self._lock.acquire()
        except Timeout as error:
            raise IndexInUseError(
                f"The index in {self._folder} is in use by {self._noted_owner()}.",
                remedy="Ask that process, or stop it and try again.",
                retryable=True,
            ) from error
        except OSError as error:
            raise self._untaken(error) from error
        try:
            self._inode = (self._folder / LOCK_FILE).stat().st_ino
            owner = {"pid": os.getpid(), "command": " ".join([Path(sys.argv[0]).name, *sys.argv[1:3]])}
            (self._folder / _OWNER_FILE).write_text(json.dumps(owner), encoding="utf-8")
        except OSError as error:
            self._lock.release()
            raise self._untaken(error) from error

    def _untaken(self, error: OSError) -> StoreError:
        remedy = "Free space or mend its permissions."
        return StoreError(f"The lock in {self._folder} cannot be taken: {error}.", remedy=remedy)

    def require(self) -> None:
        """See that the lock is still held.

        Raises:
            StoreError: the folder, or the file of the lock, was deleted: another process may have taken its place.
        """
        if not self.is_held():
            message = f"The index in {self._folder} was deleted or replaced while it was open."
            raise StoreError(message, remedy="Start CQM again: what is missing is made anew.")

    def is_held(self) -> bool:
        """Whether the lock is held, and is the one that another process would meet."""
        try:
            return self._lock.is_locked and (self._folder / LOCK_FILE).stat().st_ino == self._inode
        except OSError:
            return False

    def release(self) -> None:
        """Give the lock back; harmless when it is not held."""
        if self.is_held():
            (self._folder / _OWNER_FILE).unlink(missing_ok=True)
        self._lock.release()

    def owner(self) -> str:
        """The process that has the index open, as "process 12 (cqm serve)"; empty when none has."""
        if not (self._folder / _OWNER_FILE).exists():
            return ""
        try:
            # Whoever noted itself and died has left the lock free.
            with self._lock:
                return ""
        except Timeout:
            return self._noted_owner()
        except OSError:
            return ""

    def _noted_owner(self) -> str:
        with suppress(OSError, ValueError, KeyError, TypeError):
            owner = json.loads((self._folder / _OWNER_FILE).read_text(encoding="utf-8"))
            return f"process {owner['pid']} ({owner['command']})"
        return "another process"
