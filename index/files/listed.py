"""Find one file as the walk of the tree lists it, or the reason to leave it out: nothing else may be shown."""

import errno
import os
from pathlib import Path

from cqm.index.disk.beneath import FOLDER_FLAGS, open_beneath, opened_root
from cqm.index.files.listing import parent_of
from cqm.index.files.scan import FoundFile, scan
from cqm.index.model.errors import NotIndexedError
from cqm.index.model.options import ScanOptions
from cqm.index.model.query import SkipReason

_NO_FOLDER = frozenset({errno.ENOTDIR, errno.ELOOP, errno.EXDEV, errno.EMLINK, errno.EACCES, errno.EPERM})
_REMEDIES = {
    SkipReason.TOO_LARGE: "Raise scan.max_file_bytes.",
    SkipReason.GENERATED: "Set scan.include_generated to all.",
    SkipReason.MINIFIED: "Set scan.include_generated to all.",
    SkipReason.BUILD_OUTPUT: "Set scan.include_generated to all.",
    SkipReason.LOCK_FILE: "Set scan.include_lock_files.",
    SkipReason.VENDORED: "Set scan.include_vendored.",
}
"""For a file left out by an option; none for secrets, which are to stay out."""


def listed_file(root: Path, path: str, options: ScanOptions) -> FoundFile:
    """Return a file of the index's scope.

    Parameters:
        root: the real path scanned: a folder, or a single file.
        path: relative to the root.

    Raises:
        NotIndexedError: it does not exist, is a folder, or is left out; the message has the reason.
        ScanError: the root cannot be read.
    """
    if "\0" in path:
        raise NotIndexedError("A path with a null character does not exist.", remedy="Leave it out.")
    exists = is_file = True
    if not root.is_file():
        exists, is_file = _looked_at(root, path)
    if not is_file:
        raise NotIndexedError(f"{path} is a folder.", remedy="Name a file in it, or ask for its outline.")
    listed = _nearest(root, path, options)
    if listed is not None and listed.skip:
        raise NotIndexedError(f"{path} is not indexed: {listed.skip.value}.", remedy=_REMEDIES.get(listed.skip, ""))
    if listed is None or listed.path != path:
        if not exists:
            raise NotIndexedError(f"{path} does not exist.")
        message = f"{path} is not indexed: an ignore rule leaves it out."
        raise NotIndexedError(message, remedy="See .gitignore, .cqmignore and scan.exclude.")
    return listed


def reason_for_nothing(root: Path, folder: str, options: ScanOptions) -> str:
    """Tell why no file of a folder is indexed.

    Raises:
        ScanError: the root cannot be read.
    """
    listed = _nearest(root, folder, options)
    return listed.skip.value if listed and listed.skip else "it is empty, or ignore rules leave all of it out"


def _nearest(root: Path, path: str, options: ScanOptions) -> FoundFile | None:
    """Return the walk's entry for a path, or for the nearest folder above it."""
    found = {it.path: it for it in scan(root, options, below=[path])}
    while path and path not in found:
        path = parent_of(path)
    return found.get(path)


def is_folder(root: Path, path: str) -> bool:
    """Whether a path below the root is a folder, and no link to one."""
    return "\0" not in path and not root.is_file() and not _looked_at(root, path)[1]


def _looked_at(root: Path, path: str) -> tuple[bool, bool]:
    """Whether a path exists below the root, and whether it is anything but a folder; links are not followed."""
    try:
        with opened_root(root, lists=False) as opened:
            if isinstance(opened, Path):
                return os.path.lexists(opened / path), not (opened / path).is_dir()
            os.close(open_beneath(opened, path, FOLDER_FLAGS))
    except OSError as error:
        return error.errno in _NO_FOLDER, True
    return True, False
