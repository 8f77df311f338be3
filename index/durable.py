"""What is written is on the disk, whatever happens to the machine: of files their content, of folders their names.

A new, renamed or deleted file survives a power cut only when its folder was synced as well (POSIX's fsync; ext4 and
others with a journal do so by themselves soon after, in order).
"""

import os
from pathlib import Path

from cqm.index.errors import StoreError

_CAN_SYNC_FOLDERS = hasattr(os, "O_DIRECTORY")
"""Not on Windows, which has no such call and keeps names in a journal."""


def sync_file(path: Path) -> None:
    """Have the content of a file on the disk.

    Raises:
        StoreError: the disk fails.
    """
    _sync(path, os.O_RDWR)


def sync_folder(folder: Path) -> None:
    """Have the names in a folder on the disk.

    Raises:
        StoreError: the disk fails.
    """
    if _CAN_SYNC_FOLDERS:
        _sync(folder, os.O_RDONLY | os.O_DIRECTORY)


def sync_all(place: Path) -> None:
    """Have a folder with all that is in it on the disk; about a millisecond where it is there already.

    Raises:
        StoreError: the disk fails.
    """
    for folder, _, files in os.walk(place):
        for name in files:
            sync_file(Path(folder, name))
        sync_folder(Path(folder))


def _sync(path: Path, flags: int) -> None:
    try:
        opened = os.open(path, flags)
        try:
            os.fsync(opened)
        finally:
            os.close(opened)
    except FileNotFoundError:
        # Another thread has just replaced it, and synced that.
        return
    except OSError as error:
        raise StoreError(f"{path} cannot be synced: {error}.", remedy="Check free space and permissions.") from error
