"""Address of an index's owner: a socket only its user can reach, written to a file in the folder of the index.

A client trusts an address only this user can have written, and dials only a socket on which this user alone can listen.
The folders of the index and of the socket have mode 0700, and the system says whose process answers. A port is dialled
only on systems without unix sockets.
"""

import hashlib
import json
import os
import re
import secrets
import socket
import stat
import struct
import tempfile
import time
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from hmac import compare_digest
from pathlib import Path

from cqm.index.disk.durable import replace_passing_file
from cqm.index.disk.locations import ADDRESS_FILE
from cqm.index.disk.private import is_mine, narrow_folder, problem_of_folder, read_private
from cqm.index.model.errors import StoreError
from cqm.server.errors import SharingError

_LONGEST_PATH = 103
"""Bytes of a unix socket's path: macOS has room for 103 and an end, Linux for 107."""
_BACKLOG = 128
_LOOPBACK = "127.0.0.1"
_HIGHEST_PORT = 65_535
_SOCKETS = "cqm"
"""Name of the folder for sockets in the user's own runtime folder."""
_ADDRESS_BYTES = 4096
"""Longest address file."""
_SOCKET_NAME = re.compile(r"[0-9a-f]{16}-[0-9]+\.[0-9a-f]{4}")
_NAMING_SECONDS = 60.0
"""An owner without a named socket after this time is dead."""
_CREDENTIALS = struct.Struct("3i")
"""`struct ucred` of Linux: process, user, group."""


@dataclass(frozen=True, slots=True)
class Address:
    """Place where an owner listens.

    Attributes:
        path: of its unix socket; empty where there are none, as on Windows.
        port: on the loopback address, where there are no unix sockets.
        token: proves a client on a port; a socket's permissions do as much.
    """

    pid: int
    path: str = ""
    port: int = 0
    token: str = field(default="", repr=False)


def has_unix_sockets() -> bool:
    """Whether this system has unix sockets; Python on Windows has none."""
    return hasattr(socket, "AF_UNIX")


def listen(folder: Path, *, over_tcp: bool = False) -> tuple[socket.socket, Address]:
    """Listen for the clients of an index, and write the address for them. Only its one owner may call this.

    Parameters:
        over_tcp: listen on the loopback address rather than a unix socket; clients with unix sockets don't dial it.

    Raises:
        StoreError: there is no place for the socket, or the folder can't be written.
    """
    try:
        if over_tcp or not has_unix_sockets():
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
    """Whether clients still find an owner: a logout may remove its socket, and clearing the cache its index."""
    return read_address(folder) == address and (not address.path or Path(address.path).exists())


def unlisten(folder: Path, address: Address) -> None:
    """Remove the files made by `listen`, unless another owner has replaced them."""
    if read_address(folder) == address:
        with suppress(OSError):
            (folder / ADDRESS_FILE).unlink()
    if address.path:
        Path(address.path).unlink(missing_ok=True)


def read_address(folder: Path) -> Address | None:
    """Read the address where the owner of an index listens, or listened before it died.

    Returns:
        None where there is no owner, or the address may be somebody else's: others can write to the folder, the file is
            a link or another user's, or the socket is outside the folders for this user's sockets.
    """
    try:
        if problem_of_folder(folder) or _others_can_enter(folder.lstat()):
            return None
        noted = json.loads(read_private(folder, ADDRESS_FILE, _ADDRESS_BYTES))
        address = Address(**noted)
    except (OSError, ValueError, TypeError):
        return None
    kinds = (type(address.pid), type(address.path), type(address.port), type(address.token))
    if kinds != (int, str, int, str) or address.pid < 1 or not 0 <= address.port <= _HIGHEST_PORT:
        return None
    if not (address.path and has_unix_sockets()):
        return address if address.port else None
    path = Path(address.path)
    is_named = _SOCKET_NAME.fullmatch(path.name) and path.stem == _socket_name(folder, address.pid)
    is_ours = not address.port and is_named and _is_for_sockets(path.parent)
    return address if is_ours else None


def dial(address: Address) -> socket.socket | None:
    """Connect to an owner run by this user; None when nobody or somebody else listens there.

    Raises:
        OSError: the system refuses for another reason, such as too many open files.
    """
    if address.port and has_unix_sockets():
        return None
    if address.path and not _is_my_socket(Path(address.path)):
        return None
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
    if not is_of_this_user(connection):
        connection.close()
        return None
    return connection


def check_token(told: object, address: Address) -> None:
    """Check that a client knows the token of an address.

    Raises:
        SharingError: it does not.
    """
    if not compare_digest(told.encode() if isinstance(told, str) else b"", address.token.encode()):
        raise SharingError("A client did not know the token.")


def is_of_this_user(connection: socket.socket) -> bool:
    """Whether this user owns the process at the other end of a unix socket; true where the system does not say.

    Only Linux does. Elsewhere the modes of the socket and its folder protect it, and over TCP the token.
    """
    option = getattr(socket, "SO_PEERCRED", None)
    if option is None or not has_unix_sockets() or connection.family != socket.AF_UNIX:
        return True
    _, user, _ = _CREDENTIALS.unpack(connection.getsockopt(socket.SOL_SOCKET, option, _CREDENTIALS.size))
    return bool(user == os.geteuid())


def _is_my_socket(path: Path) -> bool:
    try:
        status = path.lstat()
    except OSError:
        return False
    return stat.S_ISSOCK(status.st_mode) and is_mine(status)


def _is_for_sockets(place: Path) -> bool:
    """Whether a folder holds this user's sockets; a process with another environment may have made it."""
    if not place.is_absolute() or ".." in place.parts or place.name not in {_SOCKETS, _my_sockets()}:
        return False
    try:
        return not problem_of_folder(place) and not _others_can_enter(place.lstat())
    except OSError:
        return False


def _others_can_enter(status: os.stat_result) -> bool:
    return has_unix_sockets() and bool(status.st_mode & 0o077)


def _listen_at(folder: Path) -> tuple[socket.socket, Path]:
    place = _socket_folder()
    _sweep(place)
    # A process may own an index again while it still serves its earlier clients.
    path = place / f"{_socket_name(folder, os.getpid())}.{secrets.token_hex(2)}"
    unnamed = place / f".{path.name}"
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        unnamed.unlink(missing_ok=True)
        # Only this user can enter the folder, so nobody can be quicker.
        listener.bind(str(unnamed))
        unnamed.chmod(0o600)
        listener.listen(_BACKLOG)
        # A socket gets its name only when it answers, so nobody takes it for a dead owner's.
        unnamed.replace(path)
    except OSError:
        listener.close()
        raise
    return listener, path


def _sweep(place: Path) -> None:
    """Remove sockets on which no process listens: their owners were killed. Anything else is not ours."""
    for path in place.glob("*-*"):
        if path.is_socket() and not _is_starting(path) and not _answers(path):
            path.unlink(missing_ok=True)


def _is_starting(path: Path) -> bool:
    """Whether a socket has no name yet and is young: it is bound, and will listen in a moment."""
    try:
        return path.name.startswith(".") and time.time() - path.lstat().st_mtime < _NAMING_SECONDS
    except OSError:
        return True


def _answers(path: Path) -> bool:
    try:
        connection = dial(Address(0, str(path)))
    except OSError:
        return True
    if connection:
        connection.close()
    return connection is not None


def _socket_name(folder: Path, pid: int | str) -> str:
    """Begin the name of an owner's socket: short, since sockets have room for about 100 bytes of path."""
    return f"{hashlib.sha256(os.fsencode(folder)).hexdigest()[:16]}-{pid}"


def _socket_folder() -> Path:
    """Return the first usable folder for sockets only this user can enter."""
    problems = []
    for place in _candidates():
        longest = os.fsencode(place / f".{'0' * 16}-{2**22}.0000")
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
    named = [runtime / _SOCKETS] if runtime.is_absolute() else []
    shared = [Path(tempfile.gettempdir()), Path("/tmp")]  # noqa: S108
    return list(dict.fromkeys([*named, *(place / _my_sockets() for place in shared)]))


def _my_sockets() -> str:
    """Name this user's socket folder in a folder shared by all users."""
    return f"cqm-{os.geteuid()}"


def _made_private(place: Path) -> str:
    """Make a folder only this user can enter; return the problem, or an empty string."""
    try:
        with suppress(FileExistsError):
            place.mkdir(mode=0o700)
        # In a folder writable for all, another user may have been first.
        narrow_folder(place)
    except OSError as error:
        return error.strerror or str(error)
    return "" if os.access(place, os.W_OK | os.X_OK) else "it cannot be written"
