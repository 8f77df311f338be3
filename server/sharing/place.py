"""Where the owner of an index is found: a socket that only its user can reach, named in the folder of the index."""

import hashlib
import json
import os
import secrets
import socket
import stat
import tempfile
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path

from cqm.index.durable import replace_passing_file
from cqm.index.errors import StoreError
from cqm.index.home import ADDRESS_FILE

_LONGEST_PATH = 103
"""Bytes of a unix socket's path: macOS has room for 103 and an end, Linux for 107."""
_BACKLOG = 128
_LOOPBACK = "127.0.0.1"


@dataclass(frozen=True, slots=True)
class Address:
    """Where an owner listens.

    Attributes:
        pid: of the owner.
        path: of its unix socket; empty where there are none, as on Windows.
        port: on the loopback address then.
        token: what a client has to know then; a socket's permissions do as much.
    """

    pid: int
    path: str = ""
    port: int = 0
    token: str = field(default="", repr=False)


def listen(folder: Path, *, over_tcp: bool = not hasattr(socket, "AF_UNIX")) -> tuple[socket.socket, Address]:
    """Begin to listen for the clients of an index, and tell them where. Only its one owner may call this.

    Parameters:
        folder: of the index.
        over_tcp: on the loopback address, rather than on a unix socket.

    Raises:
        StoreError: no place for the socket is to be had, or the folder cannot be written.
    """
    try:
        if over_tcp:
            listener = socket.create_server((_LOOPBACK, 0), backlog=_BACKLOG)
            address = Address(os.getpid(), port=listener.getsockname()[1], token=secrets.token_hex(32))
        else:
            listener, path = _listen_at(folder)
            address = Address(os.getpid(), str(path))
        replace_passing_file(folder / ADDRESS_FILE, json.dumps(asdict(address)))
    except OSError as error:
        raise StoreError(f"The owner of {folder} cannot listen: {error}.", remedy="Free space.") from error
    return listener, address


def is_found(folder: Path, address: Address) -> bool:
    """Whether clients still find an owner: its socket may be removed at a logout, the index with the cache."""
    return read_address(folder) == address and (not address.path or Path(address.path).exists())


def unlisten(folder: Path, address: Address) -> None:
    """Take away what `listen` left on disk, unless another owner's is there by now."""
    if read_address(folder) == address:
        with suppress(OSError):
            (folder / ADDRESS_FILE).unlink()
    if address.path:
        Path(address.path).unlink(missing_ok=True)


def read_address(folder: Path) -> Address | None:
    """Where the owner of an index listens, or did before it died; None when it has none."""
    try:
        address = Address(**json.loads((folder / ADDRESS_FILE).read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return None
    # An index folder may have come with a clone: it must not lead to sockets of other programs.
    return None if address.path and Path(address.path).name != _socket_name(folder, address.pid) else address


def dial(address: Address) -> socket.socket | None:
    """A connection to an owner; None when nobody listens there.

    Raises:
        OSError: the system refuses it for another reason, such as too many open files.
    """
    family = socket.AF_INET if address.port else socket.AF_UNIX
    connection = socket.socket(family, socket.SOCK_STREAM)
    try:
        connection.connect((_LOOPBACK, address.port) if address.port else address.path)
    except (ConnectionError, FileNotFoundError):
        connection.close()
        return None
    except OSError:
        connection.close()
        raise
    return connection


def _listen_at(folder: Path) -> tuple[socket.socket, Path]:
    place = _socket_folder()
    _sweep(place)
    path = place / _socket_name(folder, os.getpid())
    unnamed = place / f".{path.name}"
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        unnamed.unlink(missing_ok=True)
        # Nobody else can enter the folder, so that nobody can be quicker than this.
        listener.bind(str(unnamed))
        unnamed.chmod(0o600)
        listener.listen(_BACKLOG)
        # What has the name of a socket answers from the first moment on, so that nobody takes it for one that is left.
        unnamed.replace(path)
    except OSError:
        listener.close()
        raise
    return listener, path


def _sweep(place: Path) -> None:
    """Take away the sockets that no process listens on: those of owners that were killed, whatever their index."""
    for path in place.glob("*-*"):
        if not _answers(path):
            path.unlink(missing_ok=True)


def _answers(path: Path) -> bool:
    try:
        connection = dial(Address(0, str(path)))
    except OSError:
        return True
    if connection:
        connection.close()
    return connection is not None


def _socket_name(folder: Path, pid: int | str) -> str:
    """The name of an owner's socket: short, since sockets have room for about 100 bytes of path."""
    return f"{hashlib.sha256(os.fsencode(folder)).hexdigest()[:16]}-{pid}"


def _socket_folder() -> Path:
    """A folder for sockets that only this user can enter, the first that will do."""
    problems = []
    for place in _candidates():
        longest = os.fsencode(place / f".{'0' * 16}-{2**22}")
        problem = "its path is too long" if len(longest) > _LONGEST_PATH else _made_private(place)
        if not problem:
            return place
        problems.append(f"{place}: {problem}")
    raise StoreError(
        f"There is no folder for sockets: {'; '.join(problems)}.",
        remedy="Set XDG_RUNTIME_DIR to a folder of your own, or index.shared to false.",
    )


def _candidates() -> list[Path]:
    runtime = Path(os.environ.get("XDG_RUNTIME_DIR", ""))
    mine = f"cqm-{os.getuid()}"
    named = [runtime / "cqm"] if runtime.is_absolute() else []
    return list(dict.fromkeys([*named, Path(tempfile.gettempdir()) / mine, Path("/tmp") / mine]))  # noqa: S108


def _made_private(place: Path) -> str:
    """Make a folder that only this user can enter; what is wrong with it, if anything is."""
    try:
        place.mkdir(mode=0o700, exist_ok=True)
        # In a folder that all may write to, somebody else may have been there first.
        status = place.lstat()
    except OSError as error:
        return error.strerror or str(error)
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.getuid():
        return "it belongs to another user"
    if status.st_mode & 0o077:
        place.chmod(0o700)
    return "" if os.access(place, os.W_OK | os.X_OK) else "it cannot be written"
