"""Find the format string behind a line of a log, even if it is mostly placeholders."""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from cqm.index.text.reports.heads import without_log_head

_MOST_CHARACTERS = 400
_STRING = r"\"(?:[^\"\\\n]|\\.){0,300}\""
_LITERAL = re.compile(
    # C joins strings in a row, and writes the types of integers between them.
    rf"{_STRING}(?:\s{{0,80}}(?:PRI\w{{1,12}}\s{{0,80}})?{_STRING}){{0,8}}"
    r"|'(?:[^'\\\n]|\\.){4,300}'|`(?:[^`\\\n]|\\.){4,300}`"
)
_SEAM = re.compile(r"\"\s*(PRI\w+)?\s*\"")
_PLACEHOLDER = re.compile(
    r"%(?:\(\w{1,40}\))?[-+ #0]{0,4}(?:\d{1,4}|\*)?(?:\.(?:\d{1,4}|\*)?)?"
    r"(?:hh|ll|[hlzjtqL]|u(?=[zilLAD](?![a-z])))?(?P<type>[a-zA-Z@])"
    r"|[$#]?\{[^{}\n]{0,80}\}|\$[A-Za-z_]\w{0,60}(?:->\w{1,60})*"
)
"""A value in a format string: of C, nginx, Python, Go, Rust, C#, JavaScript, Ruby, PHP, Kotlin and Elixir."""
_INTEGER, _HEX, _FLOAT = (
    re.compile(it) for it in (r"\s*[-+]?\d+", r"\s*(?:0[xX])?[0-9a-fA-F]+", r"\s*[-+]?[\d.]+(?:e[-+]\d+)?")
)
_OF_TYPE = {**dict.fromkeys("diu", _INTEGER), **dict.fromkeys("xXp", _HEX), **dict.fromkeys("fFgGeE", _FLOAT)}
_ESCAPES = re.compile(r"\\(?:n|r|t$)|\\([\"'`\\])")
_TAG = re.compile(r"\[[^\]\n]{1,60}\][: ]{1,3}|\d[\d:., TZ/+-]{7,40} (?:\[?[A-Z]{3,8}\]?:? )?|[\w./-]{1,40}: ")
_MOST_TAGS, _MOST_TRIES = 3, 6
_LETTER, _SIGN = re.compile(r"[^\W\d_]"), re.compile(r"[^\w\s]")
_LEAST_LETTERS, _LEAST_WEIGHT = 2, 6
_SIGN_WEIGHT = 1
_LEAST_SHARE = 0.3
"""Least share of a line's letters and signs in its format string, if the string has few."""
_MANY = 24


class Made(NamedTuple):
    """A format string possibly behind a line.

    Attributes:
        weight: letters and signs in common with the line.
        at: its place in the text.
    """

    weight: int
    at: int


def forms_of_line(line: str) -> list[str]:
    """Return the possibly formatted parts of a line of a log: all of it, and the line without times and tags."""
    forms = [line.strip(), without_log_head(line.strip()).strip()]
    for _ in range(_MOST_TAGS):
        tag = _TAG.match(forms[-1])
        if tag is None:
            break
        forms.append(forms[-1][tag.end() :].strip())
    return [*dict.fromkeys(it for it in forms if it)]


def is_of_values(line: str) -> bool:
    """Tell if a line has the numbers and signs of a log."""
    return len(line) <= _MOST_CHARACTERS and "\n" not in line and any(it.isdigit() for it in line)


def best_made(forms: Sequence[str], text: str) -> Made | None:
    """Return a text's format string behind a line, with the most letters and signs; None for none.

        best_made(["4@0 + 2@1 files"], 'Log("%d@%d + %d@%d files", ...)').weight  # 8

    The line has the literal parts of the string in order, and numbers at its number placeholders.

    Parameters:
        forms: of the line; see `forms_of_line`.
    """
    made = (Made(weight, found.start()) for found in _LITERAL.finditer(text) if (weight := _weight(found[0], forms)))
    return max(made, default=None, key=lambda it: it.weight)


def _weight(literal: str, forms: Sequence[str]) -> int:
    if "%" not in literal and "{" not in literal and "$" not in literal:
        return 0
    inner = _SEAM.sub(lambda it: "d" if it[1] else "", literal[1:-1]).strip()
    pieces, types = _pieces(_ESCAPES.sub(r"\1", inner).strip())
    said = "".join(pieces)
    letters = len(_LETTER.findall(said))
    weight = letters + _SIGN_WEIGHT * len(_SIGN.findall(said))
    if letters < _LEAST_LETTERS or weight < _LEAST_WEIGHT or not types:
        return 0
    fitting = [it for it in forms if weight >= min(_MANY, _LEAST_SHARE * _weight_of(it)) and _makes(pieces, types, it)]
    return weight if fitting else 0


def _weight_of(line: str) -> int:
    return len(_LETTER.findall(line)) + _SIGN_WEIGHT * len(_SIGN.findall(line))


def _pieces(literal: str) -> tuple[list[str], list[str]]:
    """Return the literal parts of a format string, and the types of the values between them."""
    pieces, types, at = list[str](), list[str](), 0
    for found in _PLACEHOLDER.finditer(literal):
        pieces.append(literal[at : found.start()].replace("%%", "%"))
        types.append(found["type"] or "")
        at = found.end()
    return [*pieces, literal[at:].replace("%%", "%")], types


def _makes(pieces: Sequence[str], types: Sequence[str], line: str) -> bool:
    if not line.startswith(pieces[0]) or not line.endswith(pieces[-1].rstrip()):
        return False
    at, end = len(pieces[0]), len(line) - len(pieces[-1].rstrip())
    for piece, kind in zip(pieces[1:-1], types[:-1], strict=True):
        found = next((it for it in _places(piece, line, at, end) if _is_of(kind, line[at:it])), -1)
        if found < 0:
            return False
        at = found + len(piece)
    return at <= end and _is_of(types[-1], line[at:end])


def _places(piece: str, line: str, at: int, end: int) -> Iterator[int]:
    """Yield the first places of a literal part; between values without one, each may end anywhere."""
    for _ in range(_MOST_TRIES):
        at = line.find(piece, at, end)
        if at < 0:
            return
        yield at
        at += 1


def _is_of(kind: str, value: str) -> bool:
    form = _OF_TYPE.get(kind)
    return form.fullmatch(value) is not None if form else True
