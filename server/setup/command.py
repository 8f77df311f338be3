"""The command and the variables which a client starts CQM with."""

import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath

from cqm.chunkers.extras import COMMAND, DISTRIBUTION, how_to_run

_FOLDERS = (
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "XDG_CACHE_HOME",
    "XDG_STATE_HOME",
    "CQM_INDEX_HOME",
    "CQM_CACHE_FOLDER",
)
"""Variables deciding where settings, indexes and caches are. With others than the user's shell has, a client would make
an index of its own."""
_NEITHER = ("CQM_HTTP_TOKEN", "CQM_HTTP_TOKEN_FILE")
_OF_VARIABLES = frozenset({"env", "environment"})


def serve_command(roots: Sequence[Path], *, is_shared: bool) -> list[str]:
    """Return the command serving over stdio.

    Parameters:
        roots: folders which clients may search; without them the client or its working folder decides.
        is_shared: for a file of a project, which others read on their machines: the bare name, where it leads here.
    """
    command = how_to_run()
    found = shutil.which(COMMAND)
    if is_shared and found and Path(found).resolve() == Path(command[0]).resolve():
        command = [COMMAND]
    return [*command, "serve", *(part for root in roots for part in ("--root", str(root)))]


def folder_variables(variables: Mapping[str, str]) -> dict[str, str]:
    """Return the variables naming folders of CQM's files, as absolute paths. Programs with a window drop them."""
    return {name: os.path.abspath(variables[name]) for name in _FOLDERS if variables.get(name)}  # noqa: PTH100 - no link is followed


def other_variables(variables: Mapping[str, str]) -> list[str]:
    """List the names of further variables of CQM, which may hold keys and are never written."""
    return sorted(
        name
        for name, value in variables.items()
        if name.startswith("CQM_") and value and name not in _FOLDERS and name not in _NEITHER
    )


def is_ours(entry: object, wanted: object) -> bool:
    """Whether an entry has the shape which this or an older `cqm setup` writes, and serves CQM with nothing but roots.

    Parameters:
        entry: as read from a client's file.
        wanted: would be written there now.
    """
    if not isinstance(entry, dict) or not isinstance(wanted, dict):
        return False
    if entry.keys() - wanted.keys() - _OF_VARIABLES:
        return False
    texts = [text for text in _texts(entry) if text]
    if "text" in entry:
        return True
    if "serve" not in texts:
        return False
    at = texts.index("serve")
    programs = {PurePosixPath(text.replace("\\", "/")).name.removesuffix(".exe") for text in texts[:at]}
    return bool(programs & {COMMAND, DISTRIBUTION}) and set(texts[at + 1 :: 2]) <= {"--root"}


def _texts(value: object) -> Iterator[str]:
    """List the command and arguments of an entry."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item)
    elif isinstance(value, dict):
        for key in ("command", "cmd", "args"):
            yield from _texts(value.get(key))
        if isinstance(transport := value.get("transport"), dict):  # a text is the name of one
            yield from _texts(transport)
