"""Moments and durations as people write and read them."""

import math
import re
from datetime import datetime, timedelta

from cqm.server.console import number
from cqm.server.errors import WhenError

_SPAN = re.compile(r"(\d{1,6})\s*([mhdw])", re.IGNORECASE)
_UNITS = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
_STEPS = ((7 * 86_400, "week"), (86_400, "day"), (3600, "hour"), (60, "minute"))


def parse_when(text: str, *, now: float, option: str) -> float:
    """Read a moment as seconds since the epoch.

    Parameters:
        text: a span back from now (`30m`, `12h`, `3d`, `2w`) or a date or time in ISO 8601 (`2026-03-01`,
            `2026-03-01T12:00:00Z`); local time without a zone.
        now: seconds since the epoch.
        option: named by the error, such as "--changed-since".

    Raises:
        WhenError: the text is neither.
    """
    text = text.strip()
    try:
        if span := _SPAN.fullmatch(text):
            return now - timedelta(**{_UNITS[span[2].lower()]: int(span[1])}).total_seconds()
        return datetime.fromisoformat(text).timestamp()
    except (ValueError, OverflowError, OSError) as error:
        expected = "expected a span such as 2d or a date such as 2026-03-01."
        raise WhenError(f"`{option} {text}`: {expected}") from error


def duration(seconds: float) -> str:
    """Write a duration in its largest unit, rounded up: "9 s", "3 min", "2 h"."""
    for length, unit in ((3600, "h"), (60, "min")):
        if seconds > length:
            return f"{math.ceil(seconds / length)} {unit}"
    return f"{max(1, math.ceil(seconds))} s"


def ago(moment: float, *, now: float) -> str:
    """Write the age of a moment in its largest unit: "3 minutes ago"; "never" for 0, "just now" within a minute."""
    if not moment:
        return "never"
    for seconds, unit in _STEPS:
        count = int((now - moment) // seconds)
        if count >= 1:
            return f"{number(count, unit)} ago"
    return "just now"
