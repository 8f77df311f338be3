"""Find secrets of several lines, or recognisable by the lines around them: private keys, Kubernetes Secrets."""

import re
from collections.abc import Iterator, Mapping, Sequence

from cqm.index.secrets.model import Match
from cqm.index.secrets.values import is_password

_PEM = re.compile(r"-----BEGIN (?P<label>(?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?)-----")
_PEM_END = "-----END "
_PEM_MOST = 20_000
# Text between the lines of a key in sources: escaped line ends, quotes, operators, comment marks.
_PEM_BODY = re.compile(r"(?:[A-Za-z0-9+/=\s:,.-]|\\[nrt]|[\"'`+.#*|>&;()\\$@]|//)*")
_PEM_LINE = re.compile(r"[A-Za-z0-9+/=]{16,}")


def private_keys(text: str) -> Iterator[Match]:
    """Yield the text between the marks of private keys; without an end mark, everything that may belong to the key."""
    done = 0
    for head in _PEM.finditer(text):
        if head.start() < done:
            continue
        end = text.find(_PEM_END + head["label"], head.end(), head.end() + _PEM_MOST)
        if end < 0:
            body = _PEM_BODY.match(text, head.end(), head.end() + _PEM_MOST)
            end = body.end() if body else head.end()
        done = end
        lines = list(_PEM_LINE.finditer(text, head.end(), end))
        # Text around the lines belongs to the source containing the key.
        if lines:
            shorts = _PEM_TAIL.search(text, lines[-1].end(), end)
            yield Match("private key", lines[0].start(), shorts.end() if shorts else lines[-1].end())


_PEM_TAIL = re.compile(r"[\sA-Za-z0-9+/=\"'\\]{0,12}[A-Za-z0-9+/]{2,15}={0,2}(?=[\s\"'\\]|$)")


_JSON_KEY = re.compile(r"\"(?:d|p|q|dp|dq|qi|k)\"\s{0,4}:\s{0,4}\"(?P<secret>[\w+/=-]{16,2000})\"")
_MOST_JSON = 8_000


def json_keys(text: str) -> Iterator[Match]:
    """Yield the private parts of JSON Web Keys."""
    done, place = 0, text.find('"kty"')
    while place >= 0:
        begin = max(done, text.rfind("{", max(0, place - _MOST_JSON), place))
        found = text.find("}", place, place + _MOST_JSON)
        done = found if found >= 0 else min(len(text), place + _MOST_JSON)
        for it in _JSON_KEY.finditer(text, begin, done):
            yield Match("private key", *it.span("secret"))
        place = text.find('"kty"', done)


_SECRET_DATA = re.compile(r"^(?P<indent>[ \t]*)(?:- )?\"?(?:data|stringData)\"?:[ \t]*\{?[ \t]*$", re.MULTILINE)
_IS_SECRET = re.compile(r"[\"']?kind[\"']?\s*:\s*[\"']?(?:Sealed)?Secret\b")
_PAIR = re.compile(
    r"[ \t]*\"?(?P<name>[\w.-]+)\"?:[ \t]*"
    r"(?P<value>[|>][+-]?[ \t]*|\"[^\"\n]*\"|'[^'\n]*'|[^\s#]+)[ \t]*,?[ \t]*(?:#[^\n]*)?$"
)
_FLOW_DATA = re.compile(r"\"?(?:data|stringData)\"?:[ \t]*\{(?P<pairs>[^{}]{1,8000})\}")
_FLOW_PAIR = re.compile(r"[\w.-]+\"?[ \t]*:\s{0,4}[\"']?(?P<value>[^\s,\"'{}]+)")
_TEMPLATE = re.compile(r"\{\{|\$[({]|<")
_LEAST_DATA = 3
_BLOCK = re.compile(r"[|>][+-]?[ \t]*")


def kubernetes_secrets(text: str) -> Iterator[Match]:
    """Yield all values of a Kubernetes Secret, in any of a file's documents."""
    begin = 0
    while begin < len(text):
        found = text.find("\n---", begin)
        end = len(text) if found < 0 else found + 1
        if _IS_SECRET.search(text, begin, end):
            for head in _SECRET_DATA.finditer(text, begin, end):
                yield from _secret_data(text, head, end)
            for flow in _FLOW_DATA.finditer(text, begin, end):
                for pair in _FLOW_PAIR.finditer(text, *flow.span("pairs")):
                    if len(pair["value"]) > _LEAST_DATA and not _TEMPLATE.match(pair["value"]):
                        yield Match("Kubernetes secret", *pair.span("value"))
        begin = end + 3


def _secret_data(text: str, head: re.Match[str], end: int) -> Iterator[Match]:
    depth, place, block = len(head["indent"].expandtabs()), head.end() + 1, 0
    while place < end:
        found = text.find("\n", place, end)
        after = end if found < 0 else found + 1
        line = text[place:after].rstrip()
        indent = len(line.expandtabs()) - len(line.expandtabs().lstrip())
        if line and (indent <= depth or line.strip() == "}"):
            return
        if block and indent > block and line:
            yield Match("Kubernetes secret", place + len(line) - len(line.lstrip()), place + len(line))
        elif pair := _PAIR.match(line):
            value = pair["value"].strip("\"' ")
            block = indent if _BLOCK.fullmatch(pair["value"]) else 0
            if not block and len(value) > _LEAST_DATA and not _TEMPLATE.match(value):
                start = place + line.index(value, pair.start("value"))
                yield Match("Kubernetes secret", start, start + len(value))
        place = after


_USERS = re.compile(r"[ \t]*(?:- )?[\"']?[a-z_][\w.-]{0,31}:(?P<secret>[^\s\"':]{6,200})[\"']?[ \t]*\r?$")
_SETTING = re.compile(r"[ \t]*(?:- )?\w{1,20}:[ \t]*(?:\|-?|true|false|\w{1,6})?[ \t]*$")
_MOST_USERS = 40


def lines_of_keys(text: str, low: str, places: Mapping[str, Sequence[int]]) -> Iterator[Match]:
    """Yield the private lines of keys of PuTTY, and the static keys of OpenVPN.

    Parameters:
        low: the text in lower case.
        places: positions of each of `KEY_HEADS` in it.
    """
    for literal, mark in KEY_HEADS.items():
        done = 0
        for place in places[literal]:
            if place < done:
                continue
            end = low.find(mark, place, place + _PEM_MOST)
            lines = list(_PEM_LINE.finditer(text, place + len(literal), end)) if end >= 0 else []
            done = end
            if lines:
                shorts = _PEM_TAIL.search(text, lines[-1].end(), end)
                yield Match("private key", lines[0].start(), shorts.end() if shorts else lines[-1].end())


KEY_HEADS = {"private-lines:": "private-mac", "static key v1-----": "-----end"}
"""Lines before and after such keys."""


def lists_of_users(text: str, places: Sequence[int]) -> Iterator[Match]:
    """Yield the passwords of lists for chpasswd, at its places: "root:..." on each line after its name."""
    start = 0
    for place in places:
        if place < start:
            continue
        start = text.find("\n", place) + 1 or len(text)
        for _ in range(_MOST_USERS):
            found = text.find("\n", start)
            end = len(text) if found < 0 else found
            if user := _USERS.match(text, start, end):
                if is_password(user["secret"]):
                    yield Match("password", *user.span("secret"))
            elif not _SETTING.match(text, start, end):
                break
            start = end + 1
