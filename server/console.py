"""The standard streams: UTF-8 on every system, and nothing in a file's text that could drive a terminal."""

import io
import json
import re
import sys
from collections.abc import Mapping
from dataclasses import fields, is_dataclass

_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
"""Control characters but newline and tab, and those that reorder text (CVE-2021-42574)."""


def prepare_streams() -> None:
    """Write UTF-8 whatever the locale is; what UTF-8 cannot hold (names of files that are not text) is escaped."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace", newline="\n")


def visible(text: str) -> str:
    """The text with control characters made visible, so that a terminal shows them and does not obey them."""
    return _CONTROLS.sub(_picture, text.replace("\r\n", "\n"))


def say(text: str) -> None:
    """A message for people, on standard error."""
    sys.stderr.write(f"{visible(text)}\n")
    sys.stderr.flush()


def emit(value: object) -> None:
    """A value as one line of JSON on standard output; dataclasses become objects, enumerations their values."""
    sys.stdout.write(f"{json.dumps(plain(value), ensure_ascii=False)}\n")
    sys.stdout.flush()


def plain(value: object) -> object:
    """A value as JSON has it, through any depth of dataclasses, mappings and sequences."""
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return value


def _picture(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code < 0x20:  # noqa: PLR2004 - the C0 controls, which have pictures from U+2400 on
        return chr(0x2400 + code)
    return f"\\u{code:04x}"
