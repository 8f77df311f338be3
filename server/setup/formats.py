"""Formats of clients' files, and edits which are proven to change nothing but the entry."""

from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from typing import NamedTuple, Protocol

from cqm.server.setup import edit_json, edit_text, edit_toml, edit_yaml
from cqm.server.setup.edits import BrokenFileError

_MARK = "\ufeff"
"""The byte order mark, which some editors of Windows write."""


class Format(StrEnum):
    """Format of a client's file."""

    JSON = "json"
    TOML = "toml"
    YAML = "yaml"
    TEXT = "text"


class _Cut(Protocol):
    def __call__(self, text: str, path: Sequence[str], /, *, is_empty_kept: bool) -> str: ...


class _Editor(NamedTuple):
    data_of: Callable[[str], object]
    put: Callable[[str, Sequence[str], Mapping[str, object]], str]
    cut: _Cut


_EDITORS: Mapping[Format, _Editor] = {
    Format.JSON: _Editor(edit_json.data_of, edit_json.put, edit_json.cut),
    Format.TOML: _Editor(edit_toml.data_of, edit_toml.put, edit_toml.cut),
    Format.YAML: _Editor(edit_yaml.data_of, edit_yaml.put, edit_yaml.cut),
    Format.TEXT: _Editor(edit_text.data_of, edit_text.put, edit_text.cut),
}


def entry_in(text: str, form: Format, path: Sequence[str]) -> object:
    """Return the value at a path of keys; None without one.

    Raises:
        BrokenFileError: the text is not valid.
    """
    return _at(_EDITORS[form].data_of(text.removeprefix(_MARK)), path)


def written_entry_in(text: str, form: Format, path: Sequence[str]) -> object:
    """Return the value at a path of keys with the types it was written with, so it can be written again.

    Raises:
        BrokenFileError: the text is not valid.
    """
    if form is not Format.YAML:
        return entry_in(text, form, path)
    return _at(edit_yaml.typed_data_of(text.removeprefix(_MARK)), path)


def as_read(entry: Mapping[str, object], form: Format, path: Sequence[str]) -> object:
    """Return an entry as it is read from a file once it is written."""
    return entry_in(snippet(entry, form, path), form, path)


def snippet(entry: Mapping[str, object], form: Format, path: Sequence[str]) -> str:
    """Return a whole document with only an entry, to be pasted."""
    return _EDITORS[form].put("", path, entry)


def with_entry(text: str, form: Format, path: Sequence[str], entry: Mapping[str, object]) -> str:
    """Return a document with an entry at a path of keys, and every other byte as it was.

    Raises:
        BrokenFileError: it is not valid, or the edit would change something else.
    """
    editor = _EDITORS[form]
    return _proven(text, form, path, lambda inner: editor.put(inner, path, entry), as_read(entry, form, path))


def without_entry(text: str, form: Format, path: Sequence[str], *, is_empty_kept: bool) -> str:
    """Return a document without the entry at a path of keys, which it has, and every other byte as it was.

    Parameters:
        is_empty_kept: leave the object around the entry when nothing else is in it.

    Raises:
        BrokenFileError: as `with_entry`.
    """
    editor = _EDITORS[form]
    return _proven(text, form, path, lambda inner: editor.cut(inner, path, is_empty_kept=is_empty_kept), None)


def _proven(text: str, form: Format, path: Sequence[str], edit: Callable[[str], str], wanted: object) -> str:
    """Edit a text; compare all values before and after, and the wanted one."""
    mark = _MARK if text.startswith(_MARK) else ""
    before = text.removeprefix(mark)
    after = edit(before)
    data_of = _EDITORS[form].data_of
    is_right = entry_in(after, form, path) == wanted
    if not is_right or _rest(data_of(before), path) != _rest(data_of(after), path):
        raise BrokenFileError("the file is laid out in a way which this edit doesn't know", 1)
    return mark + after


def _at(value: object, path: Sequence[str]) -> object:
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def _rest(value: object, path: Sequence[str]) -> object:
    """Return everything but the value at a path, and objects around it which are then empty."""
    if not isinstance(value, dict):
        return value
    key, *below = path
    rest = {name: each for name, each in value.items() if name != key}
    inner = _rest(value[key], below) if below and key in value else None
    return rest | ({key: inner} if inner not in (None, {}, "") else {})
