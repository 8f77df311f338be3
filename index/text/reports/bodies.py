"""The fields of a body of a request or an answer: of JSON, or of a form."""

import re

_MOST_CHARACTERS = 20_000
_LEAST_FIELDS, _MOST_FIELDS = 4, 40
_START = re.compile(r"(?:HTTP/\d[^\n]{0,100}\n(?:[\w-]{1,60}: [^\n]{0,300}\n){0,30}\n)?\s{0,100}[\[{]\s{0,100}[{\"\[]")
_MEMBER = re.compile(r"\"([A-Za-z_]\w{0,60})\"\s{0,20}:")
_FORM = re.compile(r"[A-Za-z_]\w{0,60}=[^&\s]{0,300}(?:&[A-Za-z_]\w{0,60}=[^&\s]{0,300}){3,40}")
_OF_FORM = re.compile(r"(?:^|&)(\w{1,61})=")
_OF_LOGS = frozenset({"level", "severity", "msg", "stacktrace", "logger", "levelname"})


def fields_in(text: str) -> list[str]:
    """Return the names of the fields of a body, each once; empty for other texts, and for a line of a log."""
    text = text[:_MOST_CHARACTERS].strip()
    is_form = "&" in text and _FORM.fullmatch(text)
    if not is_form and not _START.match(text):
        return []
    fields = [*dict.fromkeys((_OF_FORM if is_form else _MEMBER).findall(text))]
    is_body = len(fields) >= _LEAST_FIELDS and _OF_LOGS.isdisjoint(map(str.lower, fields))
    return fields[:_MOST_FIELDS] if is_body else []
