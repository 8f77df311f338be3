"""Lines quoted from a file, with the marks of a diff, a merge or `git blame` around them."""

import re
from collections.abc import Iterator

from cqm.index.text.reports.traces import Quoted

_LONGEST_HUNK = 20_000
"""Characters."""
_MOST_LINES = 200
_ANY_MARK = re.compile(r"^(?:@@ |[+-]|<<<<<<< |\^?[0-9a-f]{7,40}[ \t])", re.MULTILINE)
_BLAME = re.compile(
    r"^\^?[0-9a-f]{7,40}(?: (?:[^\s(]{1,300} +)?|\t)"
    r"(?:\([^\n]{1,100}?[ \t]\d{4}-\d\d-\d\d [\d:]{8} [+-]\d{4}[ \t]+)?\d{1,7}\) ?",
    re.MULTILINE,
)
_HEAD = re.compile(
    r"^(?:diff --(?:git|cc) |index [0-9a-f]{4,}|(?:---|\+\+\+) (?:[ab]/|/dev/)"
    r"|(?:new|deleted) file mode |@@@? -[^\n]*@@).*\n?",
    re.MULTILINE,
)
_MERGE = re.compile(r"^(?: ?[+-]{1,2})?(?:<{7}|={7}|>{7}|\|{7})(?: .*)?$\n?", re.MULTILINE)
_SIGN = re.compile(r"^[ +-]", re.MULTILINE)
_CHANGE = re.compile(r"^[+-]", re.MULTILINE)
_ROW = re.compile(r"[ +\\-]|$")


def hunk_below(text: str, start: int) -> tuple[Quoted, ...]:
    """Return the lines of the hunk below its head in a diff, with and without its changes."""
    rows = [*_rows(text[start : start + _LONGEST_HUNK])]
    sides = (("+", " "), ("-", " "))
    return tuple(it for kept in sides if (it := _side(rows, kept)).lines)


def _rows(text: str) -> Iterator[str]:
    for line in text.split("\n")[:_MOST_LINES]:
        if not _ROW.match(line) or line.startswith(("--- a/", "+++ b/")):
            return
        yield line


def _side(rows: list[str], kept: tuple[str, ...]) -> Quoted:
    lines, changed = list[str](), -1
    for row in rows:
        if row[:1] in {"+", "-"} and changed < 0:
            changed = len(lines)
        if not row or row[:1] in kept:
            lines.append(row[1:].strip())
    return Quoted(tuple(lines), min(max(changed, 0), max(0, len(lines) - 1)))


def is_of_a_version(text: str) -> bool:
    """Whether a pasted text is a diff or `git blame`: lines of a version of some file, and nothing else."""
    return _ANY_MARK.search(text) is not None and (_BLAME.search(text) is not None or _is_diff(text))


def without_marks(text: str) -> str:
    """Return a pasted text without the marks of a diff, a merge or `git blame`; unchanged without any."""
    return _plain(text, _SIGN) if _ANY_MARK.search(text) else text


def sides_of(text: str) -> list[str]:
    """Return a pasted diff with its changes and without them; of other texts the one without marks."""
    if not _ANY_MARK.search(text) or not _CHANGE.search(text):
        return [without_marks(text)]
    sides = [_plain(text, re.compile(rf"^[{kept} ]|^[{left}][^\n]*\n?", re.MULTILINE)) for kept, left in ("+-", "-+")]
    return [*dict.fromkeys(sides)]


def _plain(text: str, signs: re.Pattern[str]) -> str:
    plain = _MERGE.sub("", _BLAME.sub("", text))
    return signs.sub("", _HEAD.sub("", plain)) if _is_diff(plain) else plain


def _is_diff(text: str) -> bool:
    """Whether a text is a diff: it has the head of a hunk, or all of its lines have signs, and some a change."""
    if _HEAD.search(text):
        return True
    lines = [line for line in text.split("\n") if line.strip()]
    is_signed = len(lines) > 1 and all(line[0] in " +-" for line in lines)
    return is_signed and _CHANGE.search(text) is not None
