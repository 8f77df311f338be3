"""Cut logs between records: a line with a time or level, and its continuation such as a stack trace."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from cqm.chunkers.model import ChunkOptions, Cut, Fact, Piece, later
from cqm.chunkers.splitting import Span, Unit, even_spans, line_strength, line_units
from cqm.chunkers.tokens import QUARTERS, quarters

WHOLE_RECORD_LIMITS = 4
"""A record stays whole up to this many times `ChunkOptions.max_tokens`."""

_LEVELS = "TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|ERR|SEVERE|CRITICAL|CRIT|FATAL|ALERT|EMERG|PANIC"
_SAME = {"WARNING": "WARN", "ERR": "ERROR", "CRIT": "CRITICAL"}

# ISO 8601 and similar; Apache's access logs; syslog (RFC 3164); a time of day; klog; seconds since 1970.
_TIME = r"""(?:
    \d{4}[-/.]\d\d[-/.]\d\d[T\ ]\d\d:\d\d(?::\d\d)?(?:[.,]\d{1,9})?(?:Z|\ ?[+-]\d\d:?\d\d)?
  | \d\d/[A-Z][a-z]{2}/\d{4}:\d\d:\d\d:\d\d(?:\ [+-]\d{4})?
  | (?:[A-Z][a-z]{2}\ )?[A-Z][a-z]{2}\ [\ \d]\d\ (?:\d{4}\ )?\d\d:\d\d:\d\d(?:\.\d+)?(?:\ \d{4})?
  | \d\d/\d\d/\d{2,4}\ \d\d:\d\d(?::\d\d)?
  | \d\d:\d\d:\d\d(?:[.,]\d{1,9})?
  | [IWEF]\d{4}\ \d\d:\d\d:\d\d\.\d+
  | \d{10}(?:\.\d{1,9}|\d{3})?(?=[\]\s:])
)"""
_RECORD = later(
    rf"""^(?:
        [\[<(]?(?:(?:{_LEVELS})[\]:|\ ]{{1,3}}[\[(]?)?(?P<time>{_TIME})
      | \S{{1,80}}\ \S{{1,40}}\ \S{{1,40}}\ \[(?P<access>{_TIME})
      | (?:ts|time|timestamp|t)=["']?(?P<field>{_TIME})
      | (?:\[|\ )?(?:{_LEVELS})(?:\]|:|\ +[-|:\[(]|\ {{1,5}}(?=\S))
      | \{{"(?P<json>.{{0,200}}?"{_TIME})?
    )""",
    re.MULTILINE | re.VERBOSE,
)
_STAMP = later(_TIME, re.VERBOSE)
_LEVEL = later(
    rf"""\b({_LEVELS})\b
      | \b(?:level|lvl|severity)["']?[=:]\s*["']?(\w{{1,10}})
      | \[({_LEVELS.lower()})\]""",
    re.VERBOSE,
)
_KLOG = later(r"([IWEF])\d{4} ")
_KLOG_LEVELS = {"I": "INFO", "W": "WARN", "E": "ERROR", "F": "FATAL"}
_EXCEPTION = later(
    r"(?:^|\s)((?:[A-Za-z_$][\w$]*\.){0,12}[A-Z]\w*(?:Error|Exception|Panic|Fault))(?=:|\s*$)", re.MULTILINE
)

_HEAD = 8_000
_SAMPLE_LINES = 60
_LEAST_RECORDS = 3
_LEVEL_REACH = 160
_MOST_EXCEPTIONS = 20


class _Record(NamedTuple):
    start: int
    end: int
    time: str
    level: str


def is_log(text: str) -> bool:
    """Tell if a text begins with records: at least three, and half of the unindented lines."""
    lines = [line for line in text[:_HEAD].split("\n")[:_SAMPLE_LINES] if line.strip()]
    rest = [line for line in lines if not _RECORD.match(line)]
    heads = len(lines) - len(rest)
    others = sum(1 for line in rest if not line[0].isspace())
    return heads >= _LEAST_RECORDS and heads >= others


def pieces_of_log(text: str, _language: str, options: ChunkOptions) -> Cut:
    """Cut a log between its records; cut inside a record, at lines, only beyond `WHOLE_RECORD_LIMITS`.

    The facts of a piece hold the times of its first and last record as written, its levels, and its exceptions.
    """
    limit = options.max_tokens * QUARTERS
    records = list(_records(text))
    units: list[Unit] = []
    for record in records:
        size = quarters(text[record.start : record.end])
        if size <= limit * WHOLE_RECORD_LIMITS:
            units.append(Unit(record.end, size, 1))
        else:
            units.extend(line_units(text, (record.start, record.end), limit, line_strength))
    return list(_pieces(text, records, even_spans(0, units, limit))), []


def _records(text: str) -> Iterator[_Record]:
    start, time, level = 0, "", ""
    for match in _RECORD.finditer(text):
        if match.start() > start:
            yield _Record(start, match.start(), time, level)
        start, time = match.start(), _time_of(match)
        level = _level_of(text, start)
    if start < len(text):
        yield _Record(start, len(text), time, level)


def _time_of(match: "re.Match[str]") -> str:
    if match["json"]:
        stamp = _STAMP.search(match["json"])
        return stamp[0] if stamp else ""
    return match["time"] or match["access"] or match["field"] or ""


def _level_of(text: str, start: int) -> str:
    if klog := _KLOG.match(text, start):
        return _KLOG_LEVELS[klog[1]]
    end = text.find("\n", start, start + _LEVEL_REACH)
    found = _LEVEL.search(text, start, end if end >= 0 else start + _LEVEL_REACH)
    level = (found[1] or found[2] or found[3]).upper() if found else ""
    return _SAME.get(level, level)


def _pieces(text: str, records: list[_Record], spans: list[Span]) -> Iterator[Piece]:
    following = 0
    for start, end in spans:
        # A span beginning inside a record is about this record.
        first = following if following < len(records) and records[following].start < end else following - 1
        while following < len(records) and records[following].start < end:
            following += 1
        own = records[first:following] or records[first : first + 1]
        yield _piece(text, (start, end), own)


def _piece(text: str, span: Span, own: list[_Record]) -> Piece:
    times = [record.time for record in own if record.time]
    facts: dict[str, Fact] = {"records": len(own)}
    if times:
        facts |= {"first_time": times[0], "last_time": times[-1]}
    if levels := tuple(sorted({record.level for record in own if record.level}, key=_severity, reverse=True)):
        facts["levels"] = levels
    if exceptions := _exceptions(text, span):
        facts["exceptions"] = exceptions
    symbol = " - ".join(dict.fromkeys((times[0], times[-1]))) if times else ""
    return Piece(*span, "records", symbol, facts=facts)


def _severity(level: str) -> int:
    levels = _LEVELS.split("|")
    return levels.index(level) if level in levels else -1


def _exceptions(text: str, span: Span) -> tuple[str, ...]:
    found = dict.fromkeys(match[1] for match in _EXCEPTION.finditer(text, *span))
    return tuple(found)[:_MOST_EXCEPTIONS]
