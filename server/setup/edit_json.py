"""Put an entry into JSON with comments, or take it out: small edits which keep every other byte.

Comments and trailing commas are blanked, which leaves all positions as they are; the rest is read by `json`.
"""

import json
import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from cqm.server.setup.edits import BrokenFileError, line_of, newline_of

_STRING = r'"(?:[^"\\\n]|\\.)*+"?+'
"""An unclosed string or comment reaches to the end of the file or of its line: many cost no more than one."""
_COMMENTS = re.compile(rf"(?P<kept>{_STRING})|//[^\r\n]*+|/\*(?:[^*]|\*(?!/))*+(?:\*/)?+")
_TRAILING_COMMAS = re.compile(rf"(?P<kept>{_STRING})|,(?=\s*+[}}\]])")
_DECODER = json.JSONDecoder(parse_constant=str)
"""Numbers which are none, such as NaN, don't equal themselves; their names do."""


class _Member(NamedTuple):
    """A member of an object: its key, and the positions of the key and of the value."""

    key: str
    start: int
    value: int
    end: int


class _Object(NamedTuple):
    """An object: the positions of its two braces, and its members."""

    start: int
    close: int
    members: list[_Member]

    def member(self, key: str) -> _Member | None:
        """Return the member which counts of those with a key: the last."""
        return next((member for member in reversed(self.members) if member.key == key), None)


class _Document(NamedTuple):
    """A text, the same text without comments, and without trailing commas too; all of one length."""

    text: str
    commented: str
    plain: str


def data_of(text: str) -> object:
    """Return the value of a document; an empty object for a blank one.

    Raises:
        BrokenFileError: it is not valid.
    """
    document = _document(text)
    if not document.plain.strip():
        return {}
    try:
        return _DECODER.decode(document.plain)
    except json.JSONDecodeError as error:
        raise BrokenFileError(error.msg[:1].lower() + error.msg[1:], error.lineno) from error
    except RecursionError as error:
        raise BrokenFileError("nested too deeply", 1) from error


def put(text: str, path: Sequence[str], entry: Mapping[str, object]) -> str:
    """Return a document with an entry at a path of keys, new or in the place of an older one.

    Raises:
        BrokenFileError: the document is not valid, or a value on the path is no object.
    """
    data_of(text)
    document, newline = _document(text), newline_of(text)
    if not document.plain.strip():
        end = newline if text and not text.endswith("\n") else ""
        return f"{text}{end}{_written(_nested(path, entry), '  ', '', newline)}{newline}"
    here = _object(document, _skip(document.plain, 0), "the document")
    unit = _unit(document, here)
    for depth, key in enumerate(path[:-1]):
        member = here.member(key)
        if member is None:
            return _inserted(document, here, key, _nested(path[depth + 1 :], entry), unit)
        here = _object(document, member.value, f'"{key}"')
    old = here.member(path[-1])
    if old is None:
        return _inserted(document, here, path[-1], entry, unit)
    is_one_line = "\n" not in text[old.value : old.end]
    value = (
        json.dumps(entry, ensure_ascii=False)
        if is_one_line
        else _written(entry, unit, _indent(text, old.start), newline)
    )
    return text[: old.value] + value + text[old.end :]


def cut(text: str, path: Sequence[str], *, is_empty_kept: bool) -> str:
    """Return a document without the entry at a path of keys, which it has.

    Parameters:
        is_empty_kept: leave the object around the entry when nothing else is in it.

    Raises:
        BrokenFileError: the document is not valid.
    """
    document = _document(text)
    around = [_object(document, _skip(document.plain, 0), "the document")]
    for key in path[:-1]:
        member = around[-1].member(key)
        if member is None:
            raise BrokenFileError(f'there is no "{key}"', 1)
        around.append(_object(document, member.value, f'"{key}"'))
    depth = len(path) - 1
    while not is_empty_kept and depth and len(around[depth].members) == 1:
        depth -= 1
    return _without(document, around[depth], path[depth])


def _document(text: str) -> _Document:
    try:
        _DECODER.decode(text)
    except (json.JSONDecodeError, RecursionError):
        pass
    else:
        # Plain JSON, as of most files and of the large ones; the patterns take fifty times as long.
        return _Document(text, text, text)
    commented = _COMMENTS.sub(_blank, text)
    return _Document(text, commented, _TRAILING_COMMAS.sub(_blank, commented))


def _blank(match: re.Match[str]) -> str:
    return match[0] if match["kept"] else re.sub(r"[^\n]", " ", match[0])


def _skip(plain: str, position: int) -> int:
    while position < len(plain) and plain[position] in " \t\r\n":
        position += 1
    return position


def _object(document: _Document, start: int, name: str) -> _Object:
    """Read the keys of an object and the positions of their values; the values themselves are skipped."""
    plain = document.plain
    if plain[start : start + 1] != "{":
        raise BrokenFileError(f"{name} is no object", line_of(plain, start))
    members: list[_Member] = []
    at = _skip(plain, start + 1)
    while plain[at] != "}":
        begin = at
        key, at = _DECODER.raw_decode(plain, begin)
        value = _skip(plain, _skip(plain, at) + 1)
        _, end = _DECODER.raw_decode(plain, value)
        members.append(_Member(key, begin, value, end))
        at = _skip(plain, end)
        if plain[at] == ",":
            at = _skip(plain, at + 1)
    return _Object(start, at, members)


def _nested(path: Sequence[str], entry: Mapping[str, object]) -> Mapping[str, object]:
    for key in reversed(path):
        entry = {key: entry}
    return entry


def _indent(text: str, position: int) -> str:
    """White space before the first character of a position's line."""
    line = text[text.rfind("\n", 0, position) + 1 : position]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _unit(document: _Document, root: _Object) -> str:
    """One step of the document's indentation, read from its first member."""
    if not root.members:
        return "  "
    first = root.members[0].start
    indent = _indent(document.text, first).removeprefix(_indent(document.text, root.start))
    return indent if indent and "\n" in document.text[root.start : first] else "  "


def _written(value: Mapping[str, object], unit: str, indent: str, newline: str) -> str:
    return json.dumps(value, indent=unit, ensure_ascii=False).replace("\n", f"{newline}{indent}")


def _inserted(document: _Document, around: _Object, key: str, value: Mapping[str, object], unit: str) -> str:
    """Insert a member behind all others, laid out like them."""
    text, newline = document.text, newline_of(document.text)
    name = json.dumps(key, ensure_ascii=False)
    outer = _indent(text, around.start)
    if not around.members:
        member = f"{outer}{unit}{name}: {_written(value, unit, outer + unit, newline)}"
        line = text.rfind("\n", around.start, around.close) + 1
        if line and not text[line : around.close].strip():
            return f"{text[:line]}{member}{newline}{text[line:]}"
        return f"{text[: around.close]}{newline}{member}{newline}{outer}{text[around.close :]}"
    first, last = around.members[0], around.members[-1]
    comma = _comma(document, last.end)
    separator, trailing = ("", ",") if comma else (",", "")
    if "\n" not in text[around.start : first.start]:
        at = comma or last.end
        return f"{text[:at]}{separator} {name}: {json.dumps(value, ensure_ascii=False)}{trailing}{text[at:]}"
    indent = _indent(text, first.start)
    member = f"{newline}{indent}{name}: {_written(value, unit, indent, newline)}{trailing}"
    at = _line_end(document, comma or last.end, around.close)
    return f"{text[: last.end]}{separator}{text[last.end : at]}{member}{text[at:]}"


def _comma(document: _Document, end: int) -> int:
    """Return the end of the comma behind a value; 0 without one."""
    at = _skip(document.commented, end)
    return at + 1 if document.commented[at : at + 1] == "," else 0


def _line_end(document: _Document, start: int, close: int) -> int:
    """Return the end of a line with the comments behind a value; `start` if the object closes in the line."""
    at = start
    for comment in _COMMENTS.finditer(document.text, start, close):
        if "\n" in document.text[at : comment.start()]:
            break
        at = comment.end()
    found = document.text.find("\n", at, close)
    if found < 0:
        return start
    return found - 1 if document.text[found - 1] == "\r" else found


def _without(document: _Document, around: _Object, key: str) -> str:
    """Delete a member with its comma and its line."""
    text = document.text
    index = max(i for i, member in enumerate(around.members) if member.key == key)
    member = around.members[index]
    start = member.start - len(text[: member.start]) + len(text[: member.start].rstrip(" \t"))
    if text[start - 1] == "\n":
        start -= 2 if text[start - 2 : start] == "\r\n" else 1
    comma = _comma(document, member.end)
    before = around.members[index - 1].end if index else 0
    is_last = index == len(around.members) - 1
    if is_last and before and not comma:
        separator = _comma(document, before)
        return text[: separator - 1] + text[separator:start] + text[member.end :]
    return text[:start] + text[comma or member.end :]
