"""Read the message in a line of a structured log: JSON, logfmt, or a text before its fields."""

import json
import re
from collections.abc import Iterator, Mapping

from cqm.index.text.reports.heads import without_log_head

_LONGEST = 20_000
_MOST_NESTED = 100
"""Brackets of a line that is read as JSON: a deeper one is data."""
_DEPTH = 3
_MESSAGES = ("msg", "message", "event", "@message", "short_message", "text", "body", "textPayload", "log")
_SIGNS = re.compile(
    r"(?:@?time(?:stamp)?|@t|ts|t|date|lvl|(?:log[._]?)?level(?:name)?|severity(?:_text)?|logger(?:_?name)?|caller|trace_?id"
    r"|host(?:name)?|pid|stream|asctime)",
    re.IGNORECASE,
)
"""A field that a log has beside its message, and a request or an answer has not."""
_CONTAINER = re.compile(
    r"\[?(?:pod/)[\w./-]{3,120}\]?[ \t]+|(?=[\w.-]{0,80}[-_\d])[\w][\w.-]{1,80}[ \t]{1,40}\|[ \t]{1,3}"
)
"""The name of a container before its line, of `docker compose logs` and `kubectl logs --prefix`."""
_MOMENT = re.compile(
    r"(?:\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:?\d\d)|\d{1,2}:\d\d[AP]M [A-Z]{3})[ \t]{1,8}(?=\S)"
)
_SYSLOG = re.compile(r"[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d [\w.-]{1,80} [\w./@-]{1,80}(?:\[\d{1,9}\])?: (?=\S)")
"""Before a line of journald or syslog: its time, machine and unit."""
_VALUE = r"(?:\"(?:[^\"\\\n]|\\.){0,4000}\"|[^\s\"]{0,500})"
_PAIR = re.compile(rf"(?<!\S)([A-Za-z@_][\w.@/-]{{0,60}})=({_VALUE})(?=\s|$)")
_OBJECT_AFTER = re.compile(r"(?<![ \t])[ \t]{1,8}\{(?:\"?[A-Za-z_$][\w$.-]{0,60}\"?: ?[^\n]{1,2000})\}$")
_OF_BROWSER = re.compile(
    r"^(?:\[(?:Error|Warning|Log|Info|Debug)\] |(?:[\w.-]{1,80}\.[jt]sx?|\(index\)|VM\d{1,6}):\d{1,7}(?::\d{1,6})? "
    r"|[IWEF]\d{4} \d\d:\d\d:\d\d\.\d{1,9} {1,8}\d{1,9} [\w./-]{1,80}:\d{1,7}\] )"
)
"""Before a message of a browser's console, or of klog: `main.3f2a1b.js:2 `, `[Error] `, `I0102 … loop.go:12] `."""
_PLACE_AFTER = re.compile(r"(?<![ \t])[ \t]{1,8}(?:\([\w.-]{1,80}, line \d{1,7}\)|@ [\w./-]{1,160}:\d{1,7})$")
_WORD = re.compile(r"[^\W\d_]{2,}")
_OF_CODE = re.compile(r"[({;=]|=>")
_LEAST_WORDS = 2


def message_in(text: str, *, has_place: bool) -> str:
    """Return the message in a line of a structured log; empty for other texts.

        message_in('level=info msg="Loading configuration file" id=1', has_place=False)  # "Loading configuration file"

    Parameters:
        text: one line, or an object of JSON on several.
        has_place: whether it names a place, which answers it unless a field has its message.
    """
    text = text.strip()
    if not text or len(text) > _LONGEST:
        return ""
    line = _without_container(text)
    found = _of_object(line) or _of_pairs(line)
    if not found and "\n" not in line:
        found = _of_console(line) or ("" if has_place else _before_fields(line, is_log=line != text))
    found = without_log_head(found).strip()
    return found if found != text and len(_WORD.findall(found)) >= _LEAST_WORDS else ""


def _without_container(text: str) -> str:
    head = _CONTAINER.match(text)
    text = text[head.end() :] if head else text
    moment = _MOMENT.match(text) or _SYSLOG.match(text)
    return text[moment.end() :] if moment else text


def _of_object(line: str) -> str:
    """Return the message of an object of JSON that has signs of a log."""
    if not (line.startswith("{") and line.endswith("}")) or line.count("{") + line.count("[") > _MOST_NESTED:
        return ""
    try:
        told = json.loads(line)
    except ValueError:
        return ""
    fields = [*_fields(told, 0)]
    if not any(_SIGNS.fullmatch(it) for it, _ in fields):
        return ""
    said = {name: value for name, value in reversed(fields) if isinstance(value, str)}
    message = next((said[it] for it in _MESSAGES if it in said), "").strip()
    # A container's log holds the program's own line.
    return (_of_object(message) or message) if message.startswith("{") else message


def _fields(told: object, depth: int) -> Iterator[tuple[str, object]]:
    """Yield the fields of an object, its own before those of what it holds."""
    if not isinstance(told, Mapping) or depth >= _DEPTH:
        return
    yield from told.items()
    for value in told.values():
        yield from _fields(value, depth + 1)


def _of_pairs(line: str) -> str:
    """Return the message of a line of logfmt."""
    if "=" not in line or "\n" in line or not _PAIR.match(line):
        return ""
    pairs = dict(reversed(_PAIR.findall(line)))
    if not any(_SIGNS.fullmatch(it) for it in pairs):
        return ""
    return _plain(next((pairs[it] for it in _MESSAGES if it in pairs), ""))


def _plain(value: str) -> str:
    return re.sub(r"\\([\"\\])", r"\1", value[1:-1]) if value.startswith('"') else value


def _of_console(line: str) -> str:
    """Return the message of a line of a browser's console or of klog, which has its place before or behind it."""
    bare = _PLACE_AFTER.sub("", _OF_BROWSER.sub("", line, count=1))
    return _plain(_without_pairs(_OBJECT_AFTER.sub("", bare))) if bare != line else ""


def _before_fields(line: str, *, is_log: bool) -> str:
    """Return a message without its head, and without the fields or the object behind it; empty for other texts."""
    plain = without_log_head(line)
    is_log = is_log or plain != line
    found = _OBJECT_AFTER.search(plain) if plain.endswith("}") else None
    before = plain[: found.start()] if found else plain
    if found and (is_log or not _OF_CODE.search(before)):
        return before
    # Options of a command look like fields; a line of a log begins with its time or level.
    return _plain(_without_pairs(plain)) if is_log else ""


def _without_pairs(line: str) -> str:
    """Return a line without the fields at its end."""
    end = len(line)
    for pair in reversed([*_PAIR.finditer(line)]):
        if line[pair.end() : end].strip():
            break
        end = pair.start()
    return line[:end].strip()
