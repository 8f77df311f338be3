"""Moments as people write and read them."""

import math
import re
from datetime import datetime, timedelta

from cqm.server.errors import WhenError

_SPAN = re.compile(r"(\d{1,6})\s*([mhdw])", re.IGNORECASE)
_UNITS = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
_STEPS = ((7 * 86_400, "week"), (86_400, "day"), (3600, "hour"), (60, "minute"))


def parse_when(text: str, *, now: float) -> float:
    """A moment in seconds since the epoch.

    Parameters:
        text: a span back from now (`30m`, `12h`, `3d`, `2w`) or a date or time in ISO 8601 (`2026-03-01`,
            `2026-03-01T12:00:00Z`); local time where it names no zone.
        now: seconds since the epoch.

    Raises:
        WhenError: it is neither.
    """
    text = text.strip()
    try:
        if span := _SPAN.fullmatch(text):
            return now - timedelta(**{_UNITS[span[2].lower()]: int(span[1])}).total_seconds()
        return datetime.fromisoformat(text).timestamp()
    except (ValueError, OverflowError, OSError) as error:
        raise WhenError(
            f"{text!r} is no moment.", remedy="Write a span back (30m, 12h, 3d, 2w) or a date (2026-03-01)."
        ) from error


def duration(seconds: float) -> str:
    """A span of time in its largest unit, rounded up: "9 s", "3 min", "2 h"."""
    for length, unit in ((3600, "h"), (60, "min")):
        if seconds > length:
            return f"{math.ceil(seconds / length)} {unit}"
    return f"{max(1, math.ceil(seconds))} s"


def ago(moment: float, *, now: float) -> str:
    """How long ago a moment was, in its largest unit: "3 minutes ago"; "never" for 0, "just now" within a minute.

    Parameters:
        moment, now: seconds since the epoch.
    """
    if not moment:
        return "never"
    for seconds, unit in _STEPS:
        count = int((now - moment) // seconds)
        if count >= 1:
            return f"{count} {unit}{'s' * (count > 1)} ago"
    return "just now"
