"""What is written is on the disk, whatever happens to the machine: of files their content, of folders their names.

A new, renamed or deleted file survives a power cut only when its folder was synced as well (POSIX's fsync; ext4 and
others with a journal do so by themselves soon after, in order).
"""

import os
from contextlib import suppress
from pathlib import Path

from cqm.index.errors import StoreError

_CAN_SYNC_FOLDERS = hasattr(os, "O_DIRECTORY")
"""Not on Windows, which has no such call and keeps names in a journal."""


class Folders:
    """The folders at and below a place, of which those are synced that have changed since they were synced here.

    Each sync has the disk write out its own cache: some milliseconds, also where there is nothing to write.

    Parameters:
        place: a folder.
    """

    def __init__(self, place: Path) -> None:
        self._place = place
        self._synced: dict[str, int] = {}

    def sync(self) -> None:
        """Have the names in all of them on the disk.

        Raises:
            StoreError: the disk fails.
        """
        for folder, _, _ in os.walk(self._place):
            # Edge has folders of a moment.
            with suppress(FileNotFoundError):
                changed = Path(folder).stat().st_mtime_ns
                if self._synced.get(folder) != changed:
                    sync_folder(Path(folder))
                    self._synced[folder] = changed


def replace_file(path: Path, text: str) -> None:
    """Give a file another content: it holds the old one or the new one whole, and the new one for good afterwards.

    Raises:
        OSError: it cannot be written; it is as it was.
        StoreError: the disk fails.
    """
    temporary = _written_beside(path, text)
    sync_file(temporary)
    temporary.replace(path)
    sync_folder(path.parent)


def replace_passing_file(path: Path, text: str) -> None:
    """The same for what is only of use while the process lives that wrote it: a power cut may leave any content.

    Raises:
        OSError: it cannot be written; it is as it was.
    """
    _written_beside(path, text).replace(path)


def _written_beside(path: Path, text: str) -> Path:
    """A new file that only its user can read; what a process left there that died, or a link, is not written to."""
    temporary = path.with_name(f"{path.name}.new")
    temporary.unlink(missing_ok=True)
    with os.fdopen(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
        file.write(text)
    return temporary


def sync_folder(folder: Path) -> None:
    """Have the names in a folder on the disk.

    Raises:
        FileNotFoundError: it is gone.
        StoreError: the disk fails.
    """
    if _CAN_SYNC_FOLDERS:
        _sync(folder, os.O_RDONLY | os.O_DIRECTORY)


def sync_file(path: Path) -> None:
    """Have the content of a file on the disk.

    Raises:
        FileNotFoundError: it is gone.
        StoreError: the disk fails.
    """
    _sync(path, os.O_RDWR)


def _sync(path: Path, flags: int) -> None:
    try:
        opened = os.open(path, flags)
        try:
            os.fsync(opened)
        finally:
            os.close(opened)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise StoreError(f"{path} cannot be synced: {error}.", remedy="Check free space and permissions.") from error
