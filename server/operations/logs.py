"""Logs of a server, as lines for people or as one JSON object a line for programs."""

import json
import logging
from datetime import UTC, datetime

from cqm.server.console import LineFormatter

JSON = "json"
"""The value of `server.log_format` for programs; any other is for people."""
FIELDS = "fields"
"""Attribute of a record with further members of its object: `extra={FIELDS: {...}}`."""
CALLS = "cqm.calls"
"""Logger of a line for each call of a tool: its name, time and outcome, never question or answer."""


class JsonFormatter(logging.Formatter):
    """Write a record as a JSON object: `time` (UTC), `level`, `logger`, `process`, `message`, and `exception`."""

    def format(self, record: logging.LogRecord) -> str:
        """Write a record in one line of ASCII: nothing in it can begin another line or drive a terminal."""
        at = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        told: dict[str, object] = {
            "time": at,
            "level": record.levelname,
            "logger": record.name,
            "process": record.process,
            "message": record.getMessage(),
        }
        if record.exc_info:
            told["exception"] = self.formatException(record.exc_info)
        return json.dumps(told | getattr(record, FIELDS, {}), default=str)


def formatter(kind: str) -> logging.Formatter:
    """Return the formatter for a value of `server.log_format`."""
    return JsonFormatter() if kind == JSON else LineFormatter("%(levelname)s %(name)s: %(message)s")
