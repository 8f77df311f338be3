"""Reading and replacing clients' files: within bounds, at once, with a copy of the file before."""

import os
import secrets
import stat
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from cqm.chunkers.errors import CqmError
from cqm.index.disk.beneath import NotRegularError, read_small
from cqm.index.disk.durable import sync_folder

MOST_BYTES = 32 << 20
"""Largest file; Claude Code's with the history of years has a tenth of it."""

_BACKUP = ".cqm-backup"


class RefusedError(CqmError):
    """A client's file is left unchanged: it can't be read, or leads elsewhere."""


class UnreadableError(RefusedError):
    """A client's file can't be read: its contents are unknown."""


def backup_of(path: Path) -> Path:
    """Return the copy of a file as it was before."""
    return path.with_name(path.name + _BACKUP)


def real_path(path: Path, bounds: Sequence[Path]) -> Path:
    """Follow links to the file itself, as managers of dotfiles make them.

    Raises:
        RefusedError: a link leads out of all bounds.
    """
    real = Path(os.path.realpath(path))
    plain = Path(os.path.abspath(path))  # noqa: PTH100 - Path.resolve would follow the links
    homes = [Path(os.path.realpath(bound)) for bound in bounds]
    if real != plain and not any(real.is_relative_to(home) for home in homes):
        raise RefusedError(f"it is a link to {real}, outside of {bounds[0]}", remedy="Paste the entry there yourself.")
    return real


def read(path: Path) -> bytes | None:
    """Read a file; None when there is none.

    Raises:
        RefusedError: it can't be read, is no file, or is larger than `MOST_BYTES`.
    """
    try:
        data = read_small(path, MOST_BYTES)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except NotRegularError as error:
        raise RefusedError("it is no regular file") from error
    except OSError as error:
        raise UnreadableError(f"it cannot be read: {error.strerror}") from error
    if len(data) > MOST_BYTES:
        raise RefusedError(f"it is larger than {MOST_BYTES >> 20} MiB", remedy="Paste the entry there yourself.")
    return data


def replace(path: Path, data: bytes, expected: bytes | None) -> None:
    """Replace a file at once, with the same permissions; make it, and folders above, when there is none.

    Parameters:
        path: of the file, not of a link to it.
        expected: its contents until now; None for no file.

    Raises:
        RefusedError: it has changed meanwhile, or belongs to another user.
        OSError: it can't be written.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    mode = None if expected is None else stat.S_IMODE(path.stat().st_mode)
    opened = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666 if mode is None else 0o600)
    try:
        with os.fdopen(opened, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if mode is not None:
            _give_owner_of(path, new)
            new.chmod(mode)
        _require(path, expected)
        new.replace(path)
    except BaseException:
        with suppress(OSError):
            new.unlink()
        raise
    sync_folder(path.parent)


def _give_owner_of(path: Path, new: Path) -> None:
    """Give a replacing file the owner and group of the old one, as for a user's files under sudo."""
    old, made = path.stat(), new.stat()
    if sys.platform == "win32" or (old.st_uid, old.st_gid) == (made.st_uid, made.st_gid):
        return
    try:
        os.chown(new, old.st_uid, old.st_gid)
    except PermissionError as error:
        # A group without this user is lost, as in editors.
        if old.st_uid != made.st_uid:
            raise RefusedError("it belongs to another user", remedy="Have that user run cqm setup.") from error


def _require(path: Path, expected: bytes | None) -> None:
    if read(path) != expected:
        raise RefusedError("it has changed meanwhile", remedy="Run cqm setup again.")


def keep_backup(path: Path, data: bytes) -> None:
    """Keep a copy of a file beside it, with the same permissions.

    Raises:
        RefusedError, OSError: as `replace`.
    """
    backup = backup_of(path)
    replace(backup, data, read(backup))
    _give_owner_of(path, backup)
    backup.chmod(stat.S_IMODE(path.stat().st_mode))


def delete(path: Path, expected: bytes | None, bounds: Sequence[Path]) -> None:
    """Delete a file, and folders above it left empty.

    Parameters:
        path: of the file, not of a link to it.
        expected: its contents until now.
        bounds: folders to stay, and everything outside of them.

    Raises:
        RefusedError: it has changed meanwhile.
        OSError: it can't be deleted.
    """
    _require(path, expected)
    path.unlink(missing_ok=True)
    homes = [Path(os.path.realpath(bound)) for bound in bounds]
    for folder in path.parents:
        if folder in homes or not any(folder.is_relative_to(home) for home in homes):
            return
        try:
            folder.rmdir()
        except OSError:
            # It holds something, or is somebody else's.
            return
