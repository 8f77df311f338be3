"""Leave rows of data out of a large text of SQL, such as a dump: people ask for its definitions, and these fit."""

import re
from collections.abc import Iterator, Sequence

_INSERT = re.compile(
    r"\s*(?:insert(?:\s+ignore|\s+all)?(?:\s+into)?|replace\s+into|upsert\s+into)\s+[\w\"`\[]", re.IGNORECASE
)
_COPY = re.compile(r"\s*copy\b[^;]*\bfrom\s+stdin\b", re.IGNORECASE)
# A row by itself: of an INSERT with a missed end, in a string with a ";" at the end of a line.
_ROW = re.compile(r"\s*,?\(\s*(?:[NEX]?'|[-+]?\d|null\b|default\b|to_date\b|cast\()", re.IGNORECASE)
_ENDS = re.compile(r";\s*(?:/\*.*)?$|^\s*(?:go|/)\s*$", re.IGNORECASE)
_COPY_END = "\\."
_VALUES = re.compile(r"\bvalues\b|(?P<other>\bselect\b|\bwith\b|;)", re.IGNORECASE)
_HEAD = 160
"""Characters kept of the first line of left-out rows, in a comment."""
_TAIL = 400


def without_rows(text: str) -> str:
    r"""Return a text with the same lines; rows of data are blank, and a comment has the first ones.

    without_rows("CREATE TABLE a (b int);\nINSERT INTO a VALUES\n(1),\n(2);\nCREATE VIEW c AS SELECT 1;\n")
    # "CREATE TABLE a (b int);\n-- rows left out: INSERT INTO a VALUES\n\n\nCREATE VIEW c AS SELECT 1;\n"
    """
    return "\n".join(_lines_without_rows(text.split("\n")))


def _lines_without_rows(lines: Sequence[str]) -> Iterator[str]:
    # The end of the statement with skipped rows, the head of the last one, and the place of the next word telling
    # whether a statement has rows.
    end, last, word, has_values = "", "", -1, False
    for number, line in enumerate(lines):
        if end:
            is_end = line.rstrip() == end if end == _COPY_END else _ENDS.search(line[-_TAIL:])
            end = "" if is_end else end
            yield ""
            continue
        is_copy = _COPY.match(line) is not None
        is_insert = _INSERT.match(line) is not None
        if is_insert and word < number:
            word, has_values = _next_word(lines, number)
        if is_copy or (is_insert and has_values):
            head = line.strip()[:_HEAD]
            end = _COPY_END if is_copy else "" if _ENDS.search(line[-_TAIL:]) else ";"
            table = " ".join(head.split()[:3])
            yield "" if table == last else f"-- rows left out: {head}"
            last = table
        elif _ROW.match(line):
            yield ""
        else:
            last = "" if line.strip() and not _ENDS.search(line) else last
            yield line


def _next_word(lines: Sequence[str], start: int) -> tuple[int, bool]:
    """Return the number of the next line with an INSERT's source, and whether the source is rows."""
    for number in range(start, len(lines)):
        if found := _VALUES.search(lines[number]):
            return number, not found["other"]
    return len(lines), False
