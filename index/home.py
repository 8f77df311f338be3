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
_OWNER_FILE = "owner.json"


def resolve_root(root: Path) -> Path:
    """The real path of a folder or file to index.

    Raises:
        ScanError: it does not exist.
    """
    try:
        return root.expanduser().resolve(strict=True)
    except (OSError, RuntimeError) as error:
        raise ScanError(f"{root} cannot be indexed: {error}.", remedy="Check the path.") from error


def index_folder(root: Path, options: IndexOptions) -> Path:
    """The folder of the index of `root`, a real path: in the user's cache, keyed by the path, or below the root."""
    if options.in_project:
        return (root if root.is_dir() else root.parent) / PROJECT_FOLDER
    home = options.home or user_cache_path("cqm") / "indexes"
    key = hashlib.sha256(os.fsencode(root)).hexdigest()[:16]
    return home / f"{root.name or 'root'}-{key}"


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


class IndexLock:
    """Exclusive use of an index folder by this process; the operating system releases it when the process dies."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock = FileLock(folder / "lock", timeout=0)

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
                f"The index in {self._folder} is in use by {self._owner()}.",
                remedy="Ask that process, or stop it and try again.",
                retryable=True,
            ) from error
        except OSError as error:
            raise StoreError(f"The lock in {self._folder} cannot be taken: {error}.") from error
        owner = {"pid": os.getpid(), "command": " ".join([Path(sys.argv[0]).name, *sys.argv[1:3]])}
        (self._folder / _OWNER_FILE).write_text(json.dumps(owner), encoding="utf-8")

    def release(self) -> None:
        """Give the lock back; harmless when it is not held."""
        self._lock.release()

    def _owner(self) -> str:
        with suppress(OSError, ValueError, KeyError, TypeError):
            owner = json.loads((self._folder / _OWNER_FILE).read_text(encoding="utf-8"))
            return f"process {owner['pid']} ({owner['command']})"
        return "another process"
