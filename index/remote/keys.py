"""Read a service's key from an environment variable, or from a file private to its owner."""

import os
import stat
from pathlib import Path
from urllib.parse import urlsplit

from cqm.index.model.errors import EmbeddingError
from cqm.index.remote.variables import Variables

_NOT_THE_OWNERS = stat.S_IRWXG | stat.S_IRWXO
_LONGEST = 8192
"""Bytes of a key file."""


def variable_for(convention: str, own_url: str, *, named: str, base_url: str) -> str:
    """Choose the environment variable with a service's key; empty for none.

    A provider's usual variable holds the key for that provider only. If the options name another address, they must
    name the variable, too.

    Parameters:
        convention: the variable of the provider; empty for none.
        named: the variable named in the options; empty for none.
        base_url: the address named in the options; empty if provider or environment decide.
    """
    return named or (convention if not base_url or is_same_origin(base_url, own_url) else "")


def is_same_origin(url: str, other: str) -> bool:
    """Whether two addresses have the same scheme, host and port."""
    try:
        (one, its_port), (two, other_port) = ((parts := urlsplit(it), parts.port) for it in (url, other))
    except ValueError:
        return False
    return (one.scheme, one.hostname, its_port) == (two.scheme, two.hostname, other_port)


def read_key(variable: str, file: str, variables: Variables) -> str:
    """Return the key; empty if there is none.

    A file readable by others is refused, as ssh does: a warning would be overlooked. On Windows, which has no such
    bits, the file is accepted.

    Parameters:
        variable: the environment variable; wins if it is set and not blank.
        file: contains only the key; "~" is the user's home; empty for none.

    Raises:
        EmbeddingError: the file cannot be read or others can read it; or the content is not exactly one key.
    """
    key = variables.get(variable, "").strip()
    if key:
        return _checked(key, f"The environment variable {variable}", "Set it to the key, and nothing else.")
    return _read(Path(file).expanduser()) if file else ""


def _read(path: Path) -> str:
    if path.exists() and not path.is_file():
        # Opening a pipe would wait for its other end.
        raise EmbeddingError(f"The key file {path} cannot be read: it is no file.", remedy="Correct api_key_file.")
    try:
        # Check the open file, so it cannot be exchanged in between.
        with path.open("rb") as opened:
            mode = os.fstat(opened.fileno()).st_mode
            content = opened.read(_LONGEST + 1)
    except OSError as error:
        message = f"The key file {path} cannot be read: {error.strerror or 'error'}."
        raise EmbeddingError(message, remedy="Correct api_key_file, or set the environment variable.") from error
    if os.name == "posix" and mode & _NOT_THE_OWNERS:
        message = f"The key file {path} can be read by others than its owner (mode {stat.S_IMODE(mode):o})."
        raise EmbeddingError(message, remedy=f"Run `chmod 600 {path}`.")
    remedy = "Write the key, and nothing else, on its first line."
    return _checked(content.decode("ascii", "replace"), f"The key file {path}", remedy)


def _checked(content: str, place: str, remedy: str) -> str:
    """Return the key if a header can hold it: the clients' own messages would quote a refused one."""
    words = content.split()
    # The content is a secret and never part of a message, whatever is wrong with it.
    if len(words) != 1 or not words[0].isascii() or not words[0].isprintable() or len(content) > _LONGEST:
        raise EmbeddingError(f"{place} does not hold exactly one key.", remedy=remedy)
    return words[0]
