"""The token guarding the HTTP server: given, kept in a file, or made for one run."""

import os
import secrets
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from cqm.index.disk.beneath import FILE_FLAGS
from cqm.server.errors import ServeError

TOKEN_VARIABLE = "CQM_HTTP_TOKEN"  # noqa: S105 - the name of a variable
FILE_VARIABLE = "CQM_HTTP_TOKEN_FILE"
NO_TOKEN = "none"  # noqa: S105 - a word that switches it off

_LEAST_CHARACTERS = 16
"""Shortest token if other machines can try."""
_MOST_BYTES = 4096
_RANDOM_BYTES = 32
_OTHERS = stat.S_IRWXG | stat.S_IRWXO


@dataclass(frozen=True, slots=True)
class Access:
    """Access to the server.

    Attributes:
        token: required in each request; empty where none is needed.
        notices: lines for the user: the token or its place, or a warning of none.
    """

    token: str
    notices: tuple[str, ...] = ()


def access_of(environment: Mapping[str, str], address: str, *, is_local: bool, is_proxied: bool = False) -> Access:
    """Choose the token: the variable's, the file's, or a new one.

    Parameters:
        address: in the user's words, for messages.
        is_local: whether only this machine can reach it.
        is_proxied: whether a proxy of this machine lets others reach it.

    Raises:
        ServeError: the token or its file can't be used, or others could reach the server without a token or with a weak
            one.
    """
    given, file = environment.get(TOKEN_VARIABLE, "").strip(), environment.get(FILE_VARIABLE, "")
    is_off = given.lower() == NO_TOKEN
    is_reached = is_proxied or not is_local
    if given and not is_off:
        return Access(_usable(given, TOKEN_VARIABLE, is_reached=is_reached))
    if file and not given:
        path = Path(file).expanduser()
        token = _usable(_kept_token(path), f"{FILE_VARIABLE} {path}", is_reached=is_reached)
        return Access(token, (f"Its token is in {path}.",))
    if is_off and is_proxied:
        raise ServeError(
            f"{TOKEN_VARIABLE}={given}: expected a token, since `server.hosts` names what others reach by a proxy.",
            remedy=f"Set {TOKEN_VARIABLE} to a long random text; the proxy may add it to requests.",
        )
    if not is_local:
        raise ServeError(
            f"HTTP address {address}: expected a token, since other machines can reach it.",
            remedy=f"Set {TOKEN_VARIABLE} to a long random text, the bearer token of clients, or use 127.0.0.1.",
        )
    if is_off:
        return Access("", ("No token guards it: every user of this machine can read the files it serves.",))
    token = secrets.token_urlsafe(_RANDOM_BYTES)
    kept = f"Clients send this header. The token is new at each start; {TOKEN_VARIABLE} or {FILE_VARIABLE} keeps one."
    return Access(token, (f"Authorization: Bearer {token}", kept))


def _usable(token: str, source: str, *, is_reached: bool) -> str:
    """Return a token fit for a header; if others can reach the server, a strong one.

    Raises:
        ServeError: it is not such a token.
    """
    if len(token.splitlines()) > 1:
        raise ServeError(f"{source}: expected one line, the token.", remedy="Keep its first line alone.")
    if not (token.isascii() and token.isprintable()):
        raise ServeError(
            f"{source}: expected a token of ASCII letters, digits and signs, since it is sent in a header.",
            remedy="Choose a long random text of these.",
        )
    if is_reached and len(token) < _LEAST_CHARACTERS:
        raise ServeError(
            f"{source}: expected at least {_LEAST_CHARACTERS} characters, since other machines can try to guess them.",
            remedy="Choose a long random text, as `openssl rand -hex 32` writes.",
        )
    return token


def _kept_token(path: Path) -> str:
    """Read the token from a file only its owner can read; a new file gets a new token."""
    anew = "Write the token into it, in one line of ASCII, or delete it: CQM writes a new one."
    data = _read_private(path)
    try:
        # Editors and shells of Windows begin a text with a mark of its encoding.
        token = data.decode("utf-8-sig").strip()
    except UnicodeDecodeError as error:
        raise ServeError(f"{FILE_VARIABLE} {path}: expected a text in UTF-8.", remedy=anew) from error
    if not token or len(data) > _MOST_BYTES:
        raise ServeError(f"{FILE_VARIABLE} {path}: expected a token in the file, and nothing else.", remedy=anew)
    return token


def _read_private(path: Path) -> bytes:
    """Read the first bytes of a file only its owner can read; make it with a new token if it is missing."""
    another = f"Set {FILE_VARIABLE} to a file that only you can read, or to a new one, which CQM writes."
    if path.is_dir():
        raise ServeError(f"{FILE_VARIABLE} {path}: expected a file, not a folder.", remedy=another)
    if not path.parent.is_dir():
        remedy = f"Make that folder first. {another}"
        raise ServeError(f"{FILE_VARIABLE} {path}: there is no folder {path.parent}.", remedy=remedy)
    try:
        _write_new(path)
        with os.fdopen(os.open(path, FILE_FLAGS), "rb") as opened:
            about = os.fstat(opened.fileno())
            if not stat.S_ISREG(about.st_mode):
                raise ServeError(f"{FILE_VARIABLE} {path}: expected a regular file.", remedy=another)
            if os.name == "posix" and (about.st_mode & _OTHERS or about.st_uid != os.geteuid()):
                raise ServeError(
                    f"{FILE_VARIABLE} {path}: expected a file only you can read.",
                    remedy=f"Run `chmod 600` on it. {another}",
                )
            return opened.read(_MOST_BYTES + 1)
    except OSError as error:
        raise ServeError(f"{FILE_VARIABLE} {path} cannot be used: {error}.", remedy=another) from error


def _write_new(path: Path) -> None:
    try:
        made = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        return
    with os.fdopen(made, "w", encoding="utf-8") as opened:
        opened.write(f"{secrets.token_urlsafe(_RANDOM_BYTES)}\n")
