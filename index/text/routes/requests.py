"""Read the request in what tools print: a transcript or a command of curl, an entry of HAR, a log of access."""

import re
from typing import NamedTuple
from urllib.parse import urlsplit

_METHODS = "GET|POST|PUT|PATCH|DELETE|HEAD|OPTIONS"
_METHOD = rf"(?P<method>{_METHODS})"
_LONGEST = 20_000
_SENT = re.compile(rf"^[> ]{{0,4}}{_METHOD} (?P<path>/\S{{0,2000}}) HTTP/\d", re.MULTILINE)
"""The first line of a request, alone on a line: curl and telnet print it, files of requests have it."""
_METHOD_KEY, _PATH_KEY = r"\"method\"\s{0,8}:\s{0,8}", r"\"(?:url|uri|path|request_uri)\"\s{0,8}:\s{0,8}"
_BETWEEN, _ADDRESS = r"[^{}]{0,600}?", r"(?:https?://|/)[^\s\"]{1,2000}"
_OBJECT = re.compile(
    rf"{_METHOD_KEY}\"{_METHOD}\"{_BETWEEN}{_PATH_KEY}\"(?P<path>{_ADDRESS})\""
    rf"|{_PATH_KEY}\"(?P<path_2>{_ADDRESS})\"{_BETWEEN}{_METHOD_KEY}\"(?P<method_2>{_METHODS})\""
)
"""A request as an object of JSON, of HAR or a log."""
_LINE = re.compile(rf"\"request(?:_line)?\"\s{{0,8}}:\s{{0,8}}\"{_METHOD} (?P<path>/[^\s\"]{{0,2000}}) HTTP/\d")
"""A field of a log of access in JSON."""
_KEY = re.compile(r"\"(?:request(?:_line|_uri)?|httpVersion|proto|method|startedDateTime)\"")
_CURL = re.compile(r"(?:\$ ?)?curl(?:\.exe)?[ \t]")
_URL = re.compile(
    r"(?<![\w:/-])['\"]?(?P<path>https?://[^\s'\"]{1,2000}|(?:localhost|127\.0\.0\.1)(?::\d{1,5})?/[^\s'\"]{0,2000})"
)
_WITH = re.compile(rf"(?:^|[ \t])(?:-X ?|--request[ =])['\"]?(?P<method>{_METHODS})\b")
_BODY = re.compile(r"(?:^|[ \t])(?:-d|-F|--data(?:-raw|-binary|-urlencode|-ascii)?|--json|--form)(?=[ \t='\"@])")
_HEAD = re.compile(r"(?:^|[ \t])(?:-I|--head)(?=[ \t]|$)")


class Request(NamedTuple):
    """A request; its path may be an address."""

    method: str
    path: str


def request_in(text: str) -> Request | None:
    r"""Return the request of a transcript, a command of curl, HAR or a log of access in JSON; None for other texts.

        request_in("> GET /users/7 HTTP/1.1\n> Host: example.org")  # Request("GET", "/users/7")

    Parameters:
        text: of a question, whole.
    """
    if "/" not in text or len(text) > _LONGEST:
        return None
    if _CURL.match(text):
        return _of_curl(text)
    if "HTTP/" in text and "\n" in text and (sent := _SENT.search(text)):
        return Request(sent["method"], sent["path"])
    if "{" in text and _KEY.search(text):
        if line := _LINE.search(text):
            return Request(line["method"], line["path"])
        if found := _OBJECT.search(text):
            return Request(found["method"] or found["method_2"], found["path"] or found["path_2"])
    return None


def _of_curl(text: str) -> Request | None:
    """Return the request that a command sends; a body is posted."""
    if sent := _SENT.search(text):
        return Request(sent["method"], sent["path"])
    url = _URL.search(text)
    if not url:
        return None
    told = _WITH.search(text)
    method = "POST" if _BODY.search(text) else "HEAD" if _HEAD.search(text) else "GET"
    address = url["path"] if "://" in url["path"] else f"http://{url['path']}"
    return Request(told["method"] if told else method, urlsplit(address).path or "/")
