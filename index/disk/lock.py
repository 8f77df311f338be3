"""Locks on private files; imported where one is taken, since other clients start sooner without."""

from contextlib import suppress
from pathlib import Path

from filelock import FileLock, Timeout

from cqm.index.disk.private import ForeignFileError, problem_of_file

__all__ = ["PrivateLock", "Timeout", "lock_in"]


class PrivateLock(FileLock):
    """A lock with a private lock file: raises OSError for a link or a pipe in its place."""

    def _acquire(self) -> None:
        path = Path(self.lock_file)
        with suppress(FileNotFoundError):
            if problem := problem_of_file(path.lstat()):
                raise ForeignFileError(path, problem)
        super()._acquire()


def lock_in(folder: Path, name: str, seconds: float) -> PrivateLock:
    """Return a lock on a file in a folder, waiting up to `seconds` for it; any thread may release it."""
    return PrivateLock(folder / name, timeout=seconds, mode=0o600, thread_local=False)
