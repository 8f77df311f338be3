"""The relevant words of a pasted text: the messages of a trace, an issue without its template."""

import re
from collections.abc import Iterator, Sequence

from cqm.index.text.issues import is_issue, lines_of_issue
from cqm.index.text.pasted import plain_text

_MOST_CHARACTERS = 6_000
"""Most characters taken from a trace's or issue's words; a log may have megabytes."""
_SHORTEST = re.compile(r"\w{3}")

_TIME = re.compile(
    r"^[ \t]*(?:[\w.-]{1,60}[ \t]*\|[ \t])?\[?"
    r"(?:\d{4}[-/]\d\d[-/]\d\d|(?:\d\d-\d\d|[A-Z][a-z]{2} +\d{1,2}) (?=\d\d:))[T ,-]*"
    r"(?:\d\d:\d\d:\d\d[.,\d]*)?(?:Z|[+-]\d\d:?\d\d)?\]?[ \t]*(?:- )?(?:\d+ +\d+ +)?"
    r"(?:\[?(?:ERROR|INFO|WARN(?:ING)?|DEBUG|FATAL|CRITICAL|[EWIDF](?= \w+:))\]?\b:?[ \t]*)?",
    re.MULTILINE,
)
_BEFORE = re.compile(r".{0,200}[:|>\]] ")
"""A log's name before each line."""
_BEGINNINGS = (
    *("at ", "from ", "by 0x", r"# ?\d+ ", r"# (?=\S+:\d)", r"\d+: ", r"\d+\.\d+ +\d+ +\d+\. ", r"File \S"),
    *("[│❱\u276f╭╰─━⋮_=^~>|+*-]{1,3}[ \t]*(?:\\d|│|─|━|_|=|\\^|~|-|$)", r"\.\.\. \d+ ", r"goroutine \d", "created by "),
    *("--- End", r"\*? ?frame #\d", r"\* thread", "stack backtrace", "(?:PHP )?Stack trace:", "Traceback"),
    *(r"\+ Exception Group", "During handling", "The above exception", "note: (?:Some|run with)", "exit status"),
    *(r"\[signal", r"\[native code\]", r"\[stacktrace\]", r"[\w./*()\[\]{}<>]{1,300}\([^ ]{0,200}\)$"),
    *(r"[A-Z]:[\\/]", "/", r"\.{1,2}/"),
)
_CALL = re.compile(rf"\s*(?:{'|'.join(_BEGINNINGS)})")
"""The beginning of a line with a call, or of one between calls."""
_CALL_OF_PYTHON = re.compile(r"[ \t|>]*File \".{1,400}\", line \d")
_PLACE = re.compile(
    r"(?:\bin |\bat )?(?<![^\s:()\"'])(?:[A-Za-z]:)?[^\s:()\"']{1,400}\.[A-Za-z]\w{0,9}"
    r"(?::\d+(?::\d+)?|\(\d+(?:,\d+)?\))(?::in [`'][^'`]{0,200}['`])?:?"
)
_NUMBER = re.compile(r"\b(?:0x[0-9a-fA-F]+|[0-9a-f]{8}-[0-9a-f-]{27}|[0-9a-f]{32,64}|h[0-9a-f]{16})\b")


def said(text: str, *, is_trace: bool) -> str:
    """Return the relevant words of a text; a question of one line, or of several that are no trace, stays unchanged."""
    if "\n" not in text.strip() and "\\n" not in text:
        return text
    of_issue = is_issue(text)
    if not (of_issue or is_trace):
        return text
    plain = plain_text(text[: 8 * _MOST_CHARACTERS])
    lines = [*lines_of_issue(plain)] if of_issue else plain.split("\n")
    kept = "\n".join(_messages(lines) if is_trace else lines)
    kept = _NUMBER.sub(" ", kept)[:_MOST_CHARACTERS].strip()
    return kept if _SHORTEST.search(kept) else text


def _messages(lines: Sequence[str]) -> Iterator[str]:
    """Yield the lines of a trace other than calls, without places."""
    is_code = False
    for line in _without_prefix(_TIME.sub("", "\n".join(lines)).split("\n")):
        if is_code:
            # The line of code below a call of Python.
            is_code = False
        elif _CALL_OF_PYTHON.match(line):
            is_code = True
        elif (short := _PLACE.sub(" ", line)).strip() and not _CALL.match(line if short == line else short.strip()):
            yield short


def _without_prefix(lines: Sequence[str]) -> Sequence[str]:
    """Return the lines without the prefix of a log."""
    filled = [line for line in lines if line.strip()]
    first, last = min(filled, default=""), max(filled, default="")
    if len(filled) < 3:  # noqa: PLR2004 - two lines may share much
        return lines
    same = next((n for n, pair in enumerate(zip(first, last, strict=False)) if len({*pair}) > 1), len(first))
    found = _BEFORE.match(first[:same])
    return [line[found.end() :] for line in lines] if found else lines
