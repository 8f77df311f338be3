"""Options as another process understands them, which works in another folder: their paths are absolute."""

import os
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Options = TypeVar("Options", bound="DataclassInstance")

_PATHS = frozenset({"api_key_file", "folder"})
"""Options that are text, empty for none, and name a file or folder."""


def absolute(options: Options) -> Options:
    """The same options with absolute paths, at any depth; "~" means the same to every process of the user.

    Parameters:
        options: of an index, or of a part of it.
    """
    values = {field.name: getattr(options, field.name) for field in fields(options)}
    return replace(options, **{name: _absolute(name, value) for name, value in values.items()})


def _absolute(name: str, value: object) -> object:
    if isinstance(value, tuple):
        return tuple(_absolute(name, part) for part in value)
    if is_dataclass(value) and not isinstance(value, type):
        return absolute(value)
    if isinstance(value, Path):
        return Path(_from_here(str(value)))
    return _from_here(value) if isinstance(value, str) and name in _PATHS else value


def _from_here(path: str) -> str:
    # Path.resolve() would follow links.
    return path if path[:1] in {"", "~"} else os.path.abspath(path)  # noqa: PTH100
