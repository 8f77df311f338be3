"""Put a table into TOML, or take it out: it is appended as a table of its own, and nothing else is touched."""

import json
import re
import tomllib
from collections.abc import Mapping, Sequence

from cqm.server.setup.edits import BrokenFileError, newline_of

_LINE = re.compile(r"\(at line (\d+)")
_HEADER = re.compile(r"^[ \t]*\[", re.MULTILINE)


def data_of(text: str) -> object:
    """Return the value of a document.

    Raises:
        BrokenFileError: it is not valid.
    """
    try:
        return tomllib.loads(text, parse_float=str)
    except tomllib.TOMLDecodeError as error:
        found = _LINE.search(str(error))
        why = str(error).partition(" (at ")[0]
        raise BrokenFileError(why[:1].lower() + why[1:], int(found[1]) if found else text.count("\n") + 1) from error
    except RecursionError as error:
        raise BrokenFileError("nested too deeply", 1) from error


def put(text: str, path: Sequence[str], entry: Mapping[str, object]) -> str:
    """Return a document with a table at a path of keys, new or in the place of one written by this function.

    Raises:
        BrokenFileError: the document is not valid.
    """
    old: object = data_of(text)
    for key in path:
        old = old.get(key) if isinstance(old, dict) else None
    newline = newline_of(text)
    block = _written(path, entry, newline)
    if isinstance(old, dict):
        start, end = _place(text, path, old)
        return text[:start] + block + text[end:]
    if not text:
        return block
    ended = text if text.endswith("\n") else text + newline
    return f"{ended}{newline}{block}"


def cut(text: str, path: Sequence[str], *, is_empty_kept: bool) -> str:  # noqa: ARG001 - a table has no empty ones around it
    """Return a document without the table at a path of keys, which it has.

    Raises:
        BrokenFileError: the document is not valid.
    """
    old: object = data_of(text)
    for key in path:
        old = old[key] if isinstance(old, dict) else None
    start, end = _place(text, path, old)
    before = text[:start]
    blank = next((line for line in ("\r\n\r\n", "\n\n") if before.endswith(line)), "")
    return before[: len(before) - len(blank) // 2] + text[end:]


def _place(text: str, path: Sequence[str], old: object) -> tuple[int, int]:
    """Return the positions of a table: of its own block as we write it, else from its header to the next one."""
    if isinstance(old, Mapping):
        for newline in ("\n", "\r\n"):
            block = _written(path, old, newline)
            if text.count(block) == 1:
                return text.index(block), text.index(block) + len(block)
    name = r"^[ \t]*\[[ \t]*" + r"[ \t]*\.[ \t]*".join(map(_key_pattern, path)) + r"[ \t]*"
    found = re.search(rf"{name}\]", text, re.MULTILINE)
    if found is None:
        raise BrokenFileError(f"{'.'.join(path)} is not a table with a header of its own", 1)
    below = re.compile(rf"{name}\.", re.MULTILINE)
    for after in _HEADER.finditer(text, found.end()):
        if not below.match(text, after.start()):
            return found.start(), after.start()
    return found.start(), len(text)


def _key_pattern(key: str) -> str:
    return rf"(?:{re.escape(key)}|\"{re.escape(key)}\"|'{re.escape(key)}')"


def _written(path: Sequence[str], entry: Mapping[str, object], newline: str) -> str:
    lines = [f"[{'.'.join(path)}]", *(f"{key} = {_value(value)}" for key, value in entry.items())]
    return "".join(f"{line}{newline}" for line in lines)


def _value(value: object) -> str:
    """Write a value; texts and lists as JSON does, which is TOML too once DEL is escaped."""
    if isinstance(value, Mapping):
        inner = ", ".join(f"{_value(key)} = {_value(item)}" for key, item in value.items())
        return f"{{ {inner} }}" if inner else "{}"
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
