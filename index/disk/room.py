"""Free space on disk, asked for before it is needed: a write into mapped memory that finds none kills the process."""

import shutil
from pathlib import Path

from cqm.index.model.errors import StoreError

_MEGABYTE = 1_000_000
_SPARE_BYTES = 48 * _MEGABYTE
"""Left free: several times what a batch of files takes (500 kB of text), and what its log and its flush take."""


def require_room(folder: Path, needed: int = 0) -> None:
    """See that there is space for more in a folder.

    Edge maps files that have holes: where the disk is full when one is filled, the system sends SIGBUS. A quota that
    the system does not tell of still ends so.

    Parameters:
        folder: exists.
        needed: bytes, beside those that are kept free.

    Raises:
        StoreError: there is not.
    """
    try:
        free = shutil.disk_usage(folder).free
    except OSError as error:
        raise StoreError(f"{folder} cannot be read: {error}.", remedy="Check that it is still there.") from error
    if free < needed + _SPARE_BYTES:
        wanted = (needed + _SPARE_BYTES) / _MEGABYTE
        message = f"The disk of {folder} is full: {free / _MEGABYTE:,.0f} MB are free, {wanted:,.0f} are needed."
        raise StoreError(message, remedy="Free space, or choose another place with index.home.", retryable=True)
