"""The key to a service: from an environment variable, or from a file that nobody else can read."""

import os
import stat
from pathlib import Path
from urllib.parse import urlsplit

from cqm.index.model.errors import EmbeddingError

_NOT_THE_OWNERS = stat.S_IRWXG | stat.S_IRWXO
_LONGEST = 8192
"""Bytes of a key file."""


def variable_for(convention: str, own_url: str, *, named: str, base_url: str) -> str:
    """Choose the environment variable that holds a key; empty for none.

    The variable that a provider's own programs read holds the key of that provider. It is no key for another address
    that the options name: then the options name the variable, too.

    Parameters:
        convention: the variable of the provider; empty for none.
        own_url: where the provider is.
        named: the variable that the options name; empty for none.
        base_url: the address that the options name; empty where provider or environment decide.
    """
    return named or (convention if not base_url or is_same_origin(base_url, own_url) else "")


def is_same_origin(url: str, other: str) -> bool:
    """Tell whether two addresses have the same scheme, host and port."""
    try:
        (one, its_port), (two, other_port) = ((parts := urlsplit(it), parts.port) for it in (url, other))
    except ValueError:
        return False
    return (one.scheme, one.hostname, its_port) == (two.scheme, two.hostname, other_port)


def read_key(variable: str, file: str) -> str:
    """The key; empty where there is none.

    A file that others can read is refused, as ssh refuses such a key: a warning would be overlooked. Windows has no
    such bits, so there the file is taken as it is.

    Parameters:
        variable: the environment variable, which wins where it is set and not blank.
        file: holds nothing but the key; "~" is the user's home; empty for none.

    Raises:
        EmbeddingError: the file cannot be read or others can read it; or what is found is something else than one key.
    """
    key = os.environ.get(variable, "").strip()
    if key:
        return _checked(key, f"The environment variable {variable}", "Set it to the key, and nothing else.")
    return _read(Path(file).expanduser()) if file else ""


def _read(path: Path) -> str:
    if path.exists() and not path.is_file():
        # Opening a pipe would wait for its other end.
        raise EmbeddingError(f"The key file {path} cannot be read: it is no file.", remedy="Correct api_key_file.")
    try:
        # The open file is looked at, so that it cannot be exchanged in between.
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
    """The key, where it is something that a header can hold: the clients' own messages quote what they refuse."""
    words = content.split()
    # The content itself is named nowhere: it is a secret, whatever is wrong with it.
    if len(words) != 1 or not words[0].isascii() or not words[0].isprintable() or len(content) > _LONGEST:
        raise EmbeddingError(f"{place} does not hold exactly one key.", remedy=remedy)
    return words[0]
