"""Read a route: a method and a path, an address, a line of an access log."""

import re
from dataclasses import dataclass
from urllib.parse import unquote

from cqm.index.text.places import path_in
from cqm.index.text.routes.requests import request_in
from cqm.index.text.terms import QUESTION_WORDS

METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS")
_LONGEST, _MOST_SEGMENTS = 600, 12
_METHOD, _PATH = rf"(?P<method>{'|'.join(METHODS)})", r"(?P<path>(?:https?://[^\s/?#\"']{1,200})?/[^\s\"']*)"
_PATH_KEY = r"[\"']?\b(?:path|url|uri|endpoint|route|request_uri)[\"']?[=:] ?[\"']?"
_METHOD_KEY = r"[\"']?\b(?:method|verb|request_method)[\"']?[=:] ?[\"']?"
_LOGGED = tuple(
    re.compile(form)
    for form in (
        rf"\b{_METHOD} +{_PATH} +HTTP/\d",
        # morgan: GET /a 404 3.2 ms; Gin, Echo: | GET  "/a"; Rails: Started GET "/a" for
        rf"^(?:[\w.:]{{1,45}} )?{_METHOD} {_PATH} [1-5]\d\d\b",
        rf"\| *{_METHOD} +\"?{_PATH}",
        rf"\bStarted {_METHOD} \"{_PATH}\" for ",
        rf"{_METHOD_KEY}{_METHOD}\b.{{0,200}}?{_PATH_KEY}{_PATH}",
        rf"{_PATH_KEY}{_PATH}[\"']?.{{0,200}}?{_METHOD_KEY}{_METHOD}\b",
        rf"^\$? ?curl .{{0,200}}?(?:-X|--request)[ =]?{_METHOD} .{{0,200}}?[\"']?{_PATH}",
    )
)
"""A request as a server or a client writes it."""
_MOST_LOGGED = 2_000
_ANY_METHOD = re.compile("|".join(METHODS))
_ASKED = re.compile(
    rf"(?:(?<![^\s`'\"(])(?P<method>{'|'.join(METHODS)}):? +)?(?<![^\s`'\"(])"
    r"(?P<path>(?:https?|wss?)://[^\s/?#]+/\S*|/[^\s/]\S*|(?(method)[\w:{<~@][^\s/]*/\S*|(?!)))"
)
_AROUND = "`'\"().,;"
_SEGMENT = re.compile(r"[\w.~@:{}<>\[\]()*$%+,=!|?-]+")
_PLACEHOLDER = re.compile(r":\w+|\{[^{}]*\}|<[^<>]*>|\[[^\[\]]*\]|\*+|\$\{?\w+\}?")
_ENDING = re.compile(r"\.([A-Za-z][\w+-]{0,9})$")
_OF_WEB = frozenset({
    "html", "htm", "json", "xml", "rss", "atom", "txt", "ics", "csv", "pdf",
    "php", "aspx", "jsp", "do", "action", "png", "jpg", "svg", "ico", "webmanifest",
})  # fmt: skip
"""Endings of paths answered by programs; endings of languages are of files."""
_ROUTE_WORDS = frozenset({
    "route", "routes", "endpoint", "endpoints", "handler", "handlers", "controller", "action", "view",
    "page", "url", "path", "api", "request", "requests", "http", "handle", "handles",
    "handled", "serve", "serves", "served", "answer", "answers", "called", "call", "calls",
    "define", "defined", "definition", "implement", "implemented", "implementation", "code", "method", "function",
    "find", "show", "returns", "return", "returned", "responds", "response", "gives", "error", "errors",
    "fails", "failing", "failed", "status", "slow", "broken", "why",
})  # fmt: skip
"""Words of a sentence asking about a route itself."""
_STATUS = re.compile(r"[1-5]\d\d")
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class AskedRoute:
    """A route as a question names it.

    Attributes:
        method: in capitals; empty for any.
        segments: of the path, without host and query.
    """

    method: str
    segments: tuple[str, ...]

    @property
    def path(self) -> str:
        """The path, with a slash in front."""
        return "/" + "/".join(self.segments)


def route_in(text: str) -> AskedRoute | None:
    """Return the route in a question, beside words such as "which handler serves"; None for others."""
    text = text.strip()
    if printed := request_in(text):
        return _route(printed.method, printed.path)
    if "/" not in text or len(text) > _MOST_LOGGED:
        return None
    # Below the first line of a request stand its headers.
    first, _, below = text.partition("\n")
    if _ANY_METHOD.search(first):
        logged = next(filter(None, (form.search(first) for form in _LOGGED[: 1 if below else None])), None)
        if logged:
            return _route(logged["method"], logged["path"])
    if below or len(text) > _LONGEST:
        return None
    found = _ASKED.search(text)
    if found is None:
        return None
    rest = _WORD.findall(f"{text[: found.start()]} {text[found.end() :]}".lower())
    is_plain = all(word in QUESTION_WORDS or word in _ROUTE_WORDS or _STATUS.fullmatch(word) for word in rest)
    return _route(found["method"] or "", found["path"]) if is_plain else None


def is_placeholder(segment: str) -> bool:
    """Whether a segment of an asked path stands for any value: ":id", "{id}", "<uuid>", "[id]"."""
    return _PLACEHOLDER.fullmatch(segment) is not None


def _route(method: str, written: str) -> AskedRoute | None:
    written = written.strip(_AROUND)
    if "://" in written:
        # The address of a file at a forge.
        if path_in(written):
            return None
        written = "/" + written.split("://", 1)[1].partition("/")[2]
    path = unquote(re.split(r"[?#]", written, maxsplit=1)[0]).strip("/")
    segments = tuple(path.split("/")) if path else ()
    if not 0 < len(segments) <= _MOST_SEGMENTS or not all(map(_SEGMENT.fullmatch, segments)):
        return None
    # Operators such as "/=" have no word.
    if not any(map(_WORD.search, segments)):
        return None
    return None if _is_of_file(segments[-1]) else AskedRoute(method, segments)


def _is_of_file(name: str) -> bool:
    """Whether a path ends as a file of a program does: "app.py"; "vets.html" and "3.11.0" may end a route."""
    ending = _ENDING.search(name)
    if not ending or ending[1].lower() in _OF_WEB:
        return False
    from cqm.chunkers.detect import TEXT, language_of

    return language_of(name) != TEXT
