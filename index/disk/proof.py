"""Prove that this user's CQM made a `.cqm/` inside a project: it must not come with the project.

The index lies in `.cqm/ID/` with a random ID, so a repository cannot name files in it beforehand. `.cqm/id` holds the
same ID. It names a note in the user's own cache with the device, inode and birth time of `.cqm/`. A copy has another
inode; an unpacked or restored folder has another birth time. On systems without birth times the path must be equal,
too.
"""

import ctypes
import json
import os
import re
import secrets
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from platformdirs import user_cache_path

from cqm.index.disk.durable import replace_file, sync_opened
from cqm.index.disk.private import (
    make_folders,
    narrow_folder,
    open_private,
    others_can_write,
    problem_of_folder,
    read_private,
)
from cqm.index.model.errors import ForeignIndexError, StoreError

ID_FILE, IGNORE_FILE = "id", ".gitignore"
_ID = re.compile("[0-9a-f]{32}")
_LOCK, _LOCK_SECONDS = "lock", 10.0
_MOST_BYTES = 16_384
"""Limit for the id file and for a note."""
_AT_FDCWD, _SYMLINK_NOFOLLOW, _BIRTH_MASK = -100, 0x100, 0x800
_STATX_BYTES, _BIRTH_AT = 256, 80
"""Size of `struct statx`, and the offset of its birth time."""


@dataclass(frozen=True, slots=True)
class Proof:
    """The record of a `.cqm/`.

    Attributes:
        id: random.
        folder: its real path.
        device: device number; on some systems it changes when the machine restarts.
        file_system: file system id, which mostly stays the same; 0 for none.
        inode: within the file system.
        born_ns: creation time in ns; 0 if the system doesn't report it.
    """

    id: str
    folder: str
    device: int
    file_system: int
    inode: int
    born_ns: int

    def proves(self, now: "Proof") -> bool:
        """Whether a folder's present state is the recorded one."""
        is_on_it = self.device == now.device or (self.file_system != 0 and self.file_system == now.file_system)
        is_same = is_on_it and self.inode == now.inode and self.born_ns == now.born_ns and self.id == now.id
        return is_same and (self.folder == now.folder or self.born_ns != 0)


def proven_folder(inside: Path) -> Path | None:
    """Return the index folder in a `.cqm/`; None if the `.cqm/` is missing or empty.

    Parameters:
        inside: path of the `.cqm/`, with links resolved except for the last part.

    Raises:
        ForeignIndexError: this user's CQM did not make it. Only its id was read.
    """
    try:
        problem = problem_of_folder(inside)
        if not problem and others_can_write(inside.lstat()):
            problem = "can be written by others"
        if not problem:
            with os.scandir(inside) as names:
                if next(names, None) is None:
                    return None
    except FileNotFoundError:
        return None
    except OSError as error:
        raise _foreign(inside, f"cannot be read: {error}") from error
    if problem:
        raise _foreign(inside, problem)
    found = _id_in(inside)
    noted = _read(found) if found else None
    if noted is None:
        raise _foreign(inside, "was not made by this user's CQM: it came with the project, or was restored")
    if not noted.proves(_seen(inside, found)):
        raise _foreign(inside, f"is a copy of an index that this user's CQM made in {noted.folder}")
    return inside / found


def prove_folder(inside: Path) -> Path:
    """Create a missing `.cqm/` with its proof; return the index folder in it.

    Raises:
        ForeignIndexError: it exists and this user's CQM did not make it; it stays as it is.
        StoreError: it cannot be made.
    """
    try:
        with _locked() as notes:
            folder = proven_folder(inside)
            if folder is None:
                return _made(inside, notes)
            noted, now = _read(folder.name), _seen(inside, folder.name)
            if noted != now:
                # The project was moved, or its disk got another number when the machine restarted.
                _write(notes, now)
            return folder
    except OSError as error:
        raise StoreError(
            f"The index folder {inside} cannot be made: {error}.",
            remedy="Free space, mend its permissions, or set index.in_project to false.",
        ) from error


def forget_folder(folder: Path) -> None:
    """Delete a `.cqm/` after its index, and its proof.

    Parameters:
        folder: of the index, from `proven_folder`; empty or gone.

    Raises:
        OSError: something is left in it, or it cannot be deleted.
    """
    inside = folder.parent
    with suppress(FileNotFoundError):
        folder.rmdir()
    for name in (IGNORE_FILE, ID_FILE):
        (inside / name).unlink(missing_ok=True)
    inside.rmdir()
    (_notes() / f"{folder.name}.json").unlink(missing_ok=True)


def is_inside_project(folder: Path) -> bool:
    """Whether an index folder lies in a `.cqm/`, judged by its name."""
    return bool(_ID.fullmatch(folder.name))


def _foreign(inside: Path, problem: str) -> ForeignIndexError:
    return ForeignIndexError(
        f"{inside} {problem}. Nothing in it is used or changed.",
        remedy="Delete it if you do not need it: CQM then makes its own. Or set index.in_project to false, which keeps "
        "indexes in your cache.",
    )


def _made(inside: Path, notes: Path) -> Path:
    """Create `.cqm/` and its content; a dead process may have left an empty one."""
    with suppress(FileNotFoundError):
        inside.rmdir()
    inside.mkdir(mode=0o700)
    proof = _seen(inside, secrets.token_hex(16))
    for path in notes.glob("*.json"):
        if (other := _read(path.stem)) and other.folder == proof.folder:
            path.unlink(missing_ok=True)
    _write(notes, proof)
    for name, text in ((ID_FILE, proof.id), (IGNORE_FILE, "*\n")):
        with os.fdopen(open_private(inside, name, os.O_WRONLY | os.O_CREAT | os.O_EXCL), "wb") as file:
            file.write(text.encode())
            file.flush()
            sync_opened(file.fileno())
    folder = inside / proof.id
    folder.mkdir(mode=0o700)
    return folder


def _id_in(inside: Path) -> str:
    """Return the id stated in a `.cqm/`; empty for none."""
    with suppress(OSError, UnicodeDecodeError):
        found = read_private(inside, ID_FILE, _MOST_BYTES).decode("ascii").strip()
        return found if _ID.fullmatch(found) else ""
    return ""


def _seen(inside: Path, name: str) -> Proof:
    """Return the proof of the folder as it is now."""
    status = inside.lstat()
    file_system = os.statvfs(inside).f_fsid if hasattr(os, "statvfs") else 0
    return Proof(name, str(inside), status.st_dev, file_system, status.st_ino, _born_ns(inside, status))


def _born_ns(folder: Path, status: os.stat_result) -> int:
    """Creation time of a folder in ns since the epoch; 0 if unavailable."""
    if sys.platform != "linux":
        seconds: float = getattr(status, "st_birthtime", 0.0)
        return int(seconds * 1_000_000_000)
    found = ctypes.create_string_buffer(_STATX_BYTES)
    try:
        failed = ctypes.CDLL(None).statx(_AT_FDCWD, os.fsencode(folder), _SYMLINK_NOFOLLOW, _BIRTH_MASK, found)
    except AttributeError:  # a C library older than 2018
        return 0
    mask = int.from_bytes(found.raw[:4], sys.byteorder)
    if failed or not mask & _BIRTH_MASK:
        return 0
    whole = int.from_bytes(found.raw[_BIRTH_AT : _BIRTH_AT + 8], sys.byteorder, signed=True)
    return whole * 1_000_000_000 + int.from_bytes(found.raw[_BIRTH_AT + 8 : _BIRTH_AT + 12], sys.byteorder)


def _notes() -> Path:
    """Return the folder of all proofs: always in the user's cache, wherever indexes are kept."""
    return user_cache_path("cqm") / "projects"


@contextmanager
def _locked() -> Iterator[Path]:
    """Lock the folder of all proofs and yield it."""
    from cqm.index.disk.lock import Timeout, lock_in  # start-up time

    notes = _notes()
    make_folders(notes)
    narrow_folder(notes)
    try:
        with lock_in(notes, _LOCK, _LOCK_SECONDS):
            yield notes
    except Timeout as error:
        raise StoreError(f"The lock in {notes} cannot be taken.", remedy="Try again.", retryable=True) from error


def _read(name: str) -> Proof | None:
    """Return the proof recorded under an id."""
    try:
        noted = json.loads(read_private(_notes(), f"{name}.json", _MOST_BYTES))
        proof = Proof(**noted)
    except (OSError, ValueError, TypeError):
        return None
    numbers = (proof.device, proof.file_system, proof.inode, proof.born_ns)
    is_whole = isinstance(proof.folder, str) and all(type(number) is int for number in numbers)
    return proof if is_whole and proof.id == name else None


def _write(notes: Path, proof: Proof) -> None:
    replace_file(notes / f"{proof.id}.json", json.dumps(asdict(proof)))
