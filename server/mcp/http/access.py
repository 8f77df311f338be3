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


def access_of(environment: Mapping[str, str], address: str, *, is_local: bool) -> Access:
    """Choose the token: the variable's, the file's, or a new one.

    Parameters:
        environment: the process's variables.
        address: in the user's words, for messages.
        is_local: whether only this machine can reach it.

    Raises:
        ServeError: the file can't be used, or others could reach the server without a token.
    """
    given, file = environment.get(TOKEN_VARIABLE, "").strip(), environment.get(FILE_VARIABLE, "")
    if given and given != NO_TOKEN:
        return Access(given)
    if file and not given:
        path = Path(file).expanduser()
        return Access(_kept_token(path), (f"Its token is in {path}.",))
    if not is_local:
        raise ServeError(
            f"HTTP address {address}: expected a token, since other machines can reach it.",
            remedy=f"Set {TOKEN_VARIABLE} to a long random text, the bearer token of clients, or use 127.0.0.1.",
        )
    if given == NO_TOKEN:
        return Access("", ("No token guards it: every user of this machine can read the files it serves.",))
    token = secrets.token_urlsafe(_RANDOM_BYTES)
    kept = f"Clients send this header. The token is new at each start; {TOKEN_VARIABLE} or {FILE_VARIABLE} keeps one."
    return Access(token, (f"Authorization: Bearer {token}", kept))


def _kept_token(path: Path) -> str:
    """Read the token from a file only its owner can read; a new file gets a new token."""
    remedy = f"Delete it, and CQM writes a new one; or set {FILE_VARIABLE} to another file."
    try:
        _write_new(path)
        with os.fdopen(os.open(path, FILE_FLAGS), "rb") as opened:
            about = os.fstat(opened.fileno())
            if not stat.S_ISREG(about.st_mode):
                raise ServeError(f"{FILE_VARIABLE} {path}: expected a regular file.", remedy=remedy)
            if os.name == "posix" and (about.st_mode & _OTHERS or about.st_uid != os.geteuid()):
                raise ServeError(
                    f"{FILE_VARIABLE} {path}: expected a file only you can read.",
                    remedy=f"Run `chmod 600` on it. {remedy}",
                )
            token = opened.read(_MOST_BYTES).decode("utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise ServeError(f"{FILE_VARIABLE} {path} cannot be used: {error}.", remedy=remedy) from error
    if not token:
        raise ServeError(f"{FILE_VARIABLE} {path}: expected a token in the file.", remedy=remedy)
    return token


def _write_new(path: Path) -> None:
    try:
        made = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        return
    with os.fdopen(made, "w", encoding="utf-8") as opened:
        opened.write(f"{secrets.token_urlsafe(_RANDOM_BYTES)}\n")
