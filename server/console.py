"""Standard streams: UTF-8 on every system; text of files can neither drive a terminal nor forge CQM's lines."""

import gc
import json
import logging
import re
import sys
from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from pathlib import PurePath
from typing import Any

_EMOJI = "\u00a9\u00ae\u203c-\u3299\ufe0f\U0001f000-\U0001faff"
_JOINED_SCRIPTS = "\u0600-\u07bf\u0840-\u0dff"
"""Arabic to Thaana and the scripts of India: their spelling needs joiners."""
_UNSEEN = (
    # Control characters but newline and tab, and lone surrogates.
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff"
    # Characters reordering text (CVE-2021-42574) or ending a line.
    "\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069"
    # Invisible characters, which can hide a text within a text; see Default_Ignorable_Code_Point of Unicode.
    "\u00ad\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u2060-\u2065\u206a-\u206f\u3164\ufe00-\ufe0d\ufeff\uffa0"
    "\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
    # Joiners, except a single one within an emoji or a word spelled with it.
    rf"|\u200d(?!(?<=[{_EMOJI}]\u200d)[{_EMOJI}]|(?<=[{_JOINED_SCRIPTS}]\u200d)[{_JOINED_SCRIPTS}])"
    rf"|\u200c(?!(?<=[{_JOINED_SCRIPTS}]\u200c)[{_JOINED_SCRIPTS}])"
    # Variation selectors, except after a character with both an emoji and a text form.
    rf"|(?<![#*0-9{_EMOJI.replace(chr(0xFE0F), '')}])[\ufe0e\ufe0f]"
)
_FIRST_PICTURE, _FIRST_WIDE = 0x2400, 0x10000


class LineFormatter(logging.Formatter):
    """Escape names in messages, such as those of files; only tracebacks have several lines."""

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 - as logging has it
        """Fill the format and escape line ends."""
        return one_line(super().formatMessage(record))

    def format(self, record: logging.LogRecord) -> str:
        """Format a record, with its traceback if it has one."""
        return visible(super().format(record))


def collect_seldom() -> None:
    """Run the collector of garbage once for 200,000 new objects, not for 700: CQM makes many, and hardly a cycle.

    A client makes some 70,000: one run of the collector would cost as much as all it asks for.
    """
    gc.set_threshold(200_000)


def prepare_logging() -> None:
    """Format logged warnings as other lines for people."""
    # It warns of every repeated request, without naming it.
    logging.getLogger("stamina").setLevel(logging.ERROR)
    if logging.lastResort:
        logging.lastResort.setFormatter(LineFormatter())


def visible(text: str) -> str:
    """Make invisible text visible: control characters as pictures, characters without a shape as escapes.

    Lines and tabs stay. So do joiners and variation selectors where an emoji or the spelling of a language needs one.
    """
    text = text.replace("\r\n", "\n")
    # In ASCII only unprintable characters are invisible, and this test takes a tenth of the time.
    if text.isascii() and text.replace("\n", "").replace("\t", "").isprintable():
        return text
    return _unseen().sub(_picture, text)


def one_line(text: str) -> str:
    """Make a name or message visible in one line: as `visible`, with line ends and tabs shown too."""
    return text if text.isascii() and text.isprintable() else _unseen("[\t\n]").sub(_picture, text)


@cache
def _unseen(also: str = "") -> "re.Pattern[str]":
    """Compile the pattern of invisible characters on first use: it takes as long as the rest of this module."""
    return re.compile(f"{also}|{_UNSEEN}" if also else _UNSEEN)


def number(count: int, noun: str, plural: str = "") -> str:
    """Write a count with its noun, with "s" for the plural unless one is given: "1 file", "1,204 files"."""
    return f"{count:,} {noun if count == 1 else plural or f'{noun}s'}"


def say(*lines: str) -> None:
    """Write lines for people to standard error; each stays one line."""
    sys.stderr.write("".join(f"{one_line(line)}\n" for line in lines))
    sys.stderr.flush()


def show(lines: Iterable[str]) -> None:
    """Write lines for people to standard output; each stays one line."""
    sys.stdout.write("".join(f"{one_line(line)}\n" for line in lines))
    sys.stdout.flush()


def emit(value: object) -> None:
    """Print a value as one line of JSON; dataclasses become objects, enumerations their values.

    Invisible characters are escaped as JSON has it: some terminals take them for commands.
    """
    text = json.dumps(plain(value), ensure_ascii=False)
    sys.stdout.write(f"{text if text.isascii() and text.isprintable() else _unseen().sub(_escaped, text)}\n")
    sys.stdout.flush()


def plain(value: object) -> object:
    """Convert a value to JSON types, through any depth of dataclasses, mappings and sequences."""
    if isinstance(value, str | int | float | None):
        return value
    kind: Any = type(value)
    if (names := _field_names(kind)) is not None:
        return {name: plain(getattr(value, name)) for name in names}
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(item) for item in value]
    return str(value) if isinstance(value, PurePath) else value


@cache
def _field_names(kind: type) -> tuple[str, ...] | None:
    return tuple(it.name for it in fields(kind)) if is_dataclass(kind) else None


def _escaped(match: re.Match[str]) -> str:
    units = match[0].encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[start : start + 4]}" for start in range(0, len(units), 4))


def _picture(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code < 0x20:  # noqa: PLR2004 - the C0 controls, which have pictures
        return chr(_FIRST_PICTURE + code)
    return f"\\u{code:04x}" if code < _FIRST_WIDE else f"\\U{code:08x}"
