"""Find the places in files that a text names: traces, messages of compilers and linters, addresses with line anchors.

A place is a path with a line, in any of the forms that tools print. Which places come first depends on the form: Python
prints the innermost call last, everybody else first.
"""

import re
from itertools import islice
from typing import NamedTuple
from urllib.parse import unquote

from cqm.chunkers.detect import TEXT, language_of

_MOST_CHARACTERS = 20_000
"""Characters of a text that are looked at, at its beginning and its end: a log may have megabytes."""
_MOST_PLACES = 400
_LONGEST_PATH = 400


class NamedPlace(NamedTuple):
    """A place as a text names it: a path with "/", as complete as it is written; `last` is `first` for one line."""

    path: str
    first: int
    last: int


# A file's name with an ending. Spaces count only where quotes or brackets end the path.
# Every form is bounded: a text may be made to take long.
_START = r"(?<![\w.@~+$%\[\]{}=,/\\-])"
_PATH = _START + r"(?P<path>(?:[A-Za-z]:[\\/])?(?:[\w.@~+$%\[\]{}=,/\\-]|`(?=\d)){0,400}[\w)\]]\.[A-Za-z]\w{0,9})"
_LINE = r"(?P<first>\d{1,7})"
_ANY_PATH = rf"[^\"\n]{{1,{_LONGEST_PATH}}}"
_FORMS = (
    # Python, and others like it; the function may follow.
    rf'File "(?P<path>{_ANY_PATH})", line {_LINE}',
    # A forge: .../blob/main/src/app.py#L10-L20, .../src/main/app.py#lines-10:20
    (
        r"https?://[^\s#]{1,100}?/(?:-/)?(?:blob|blame|raw|src|tree)/[^/\s#]+/(?P<path>[^\s#?]{1,400})(?:\?[^\s#]{0,400})?"
        rf"#(?:L|lines-|l)?{_LINE}(?:C\d+)?(?:[-:]L?(?P<last>\d{{1,7}}))?"
    ),
    # The JVM: at app//com.example.Client.send(Client.java:12)
    rf"\bat (?P<scope>[\w.$/<>@-]{{1,400}})\((?P<path>[\w$-]+\.\w{{1,7}}):{_LINE}\)",
    # .NET: in /src/Client.cs:line 12
    rf"\bin (?P<path>[^\n]{{1,{_LONGEST_PATH}}}?):line {_LINE}",
    # PHP's frames, messages of TypeScript; then PHP's messages: in /src/Client.php on line 12
    rf"{_PATH}\({_LINE}(?:,\d+(?:,\d+,\d+)?)?\)",
    rf"{_PATH},?:? (?:on |at )?line:? {_LINE}",
    # Everybody else: src/app.py:10-20, src/app.py:12:5
    rf"{_PATH}#L{_LINE}(?:-L?(?P<last>\d{{1,7}}))?",
    rf"{_PATH}(?:\?[\w=&.-]{{0,400}})?:{_LINE}(?:-(?P<last>\d{{1,7}})|:\d+)?",
)
_PATTERNS = tuple(re.compile(form) for form in _FORMS)
_ESCAPES = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
_BEFORE_PATH = re.compile(
    r"^(?:[a-z][a-z0-9+.-]*:/{2,3}(?:[\w.-]*(?::\d+)?/)?(?:\./)?|package:|webpack-internal:/+|\(\w+\)/|\./)+"
)
_SLASHES = re.compile(r"/(?:\.?/)+")
_QUERY = re.compile(r"\?.*$")
_CAUSE = re.compile(r"^[^\n]{0,100}?\bCaused by: ", re.MULTILINE)
_LAST_CALL_LAST = re.compile(r"most recent call last|File \"|:\d+: in [\w<]")
"""Python's traces, and those of pytest."""
_INCLUDED_FROM = re.compile(r"^[^\n]{0,100}?(?:In file included | {10})from [^\n]*:\d+[,:]?[^\n]*$", re.MULTILINE)
"""Compilers of C tell the way to a header before the error in it."""
_IS_PATH = re.compile(rf"[^\s\0]{{1,{_LONGEST_PATH}}}")
_ANY_LINE = re.compile(r"[:(#] ?(?:L|l|lines?[ -])?\d|line:? \d")


def places_in(text: str) -> list[NamedPlace]:
    """Return the places a text names, innermost call first; each once.

    Parameters:
        text: a question, a message or a log.
    """
    if len(text) > _MOST_CHARACTERS:
        half = _MOST_CHARACTERS // 2
        text = f"{text[:half]}\n{text[-half:]}"
    if not _ANY_LINE.search(text):
        return []
    text = _ESCAPES.sub("", text)
    includes = "\n".join(_INCLUDED_FROM.findall(text))
    text = f"{_INCLUDED_FROM.sub('', text)}\n{includes}" if includes else text
    causes = [found.start() for found in _CAUSE.finditer(text)]
    # The last cause is the innermost.
    parts = [text[start:end] for start, end in zip([0, *causes], [*causes, len(text)], strict=True)][::-1]
    places = [place for part in parts for place in _in_order(part)]
    return [*dict.fromkeys(places)][:_MOST_PLACES]


def _in_order(text: str) -> list[NamedPlace]:
    found: dict[int, tuple[int, NamedPlace]] = {}
    for pattern in _PATTERNS:
        for match in islice(pattern.finditer(text), _MOST_PLACES):
            # Forms overlap: what an earlier one has read is read.
            if not any(start < match.end() and match.start() < end for start, (end, _) in found.items()):
                found[match.start()] = match.end(), _place(match)
    places = [place for _, (_, place) in sorted(found.items()) if place.path]
    return places[::-1] if _LAST_CALL_LAST.search(text) else places


def _place(match: re.Match[str]) -> NamedPlace:
    groups = match.groupdict()
    path = _plain(groups["path"])
    if scope := groups.get("scope"):
        # "com.example.Client.send" is in the folders com/example.
        package = scope.rpartition("/")[2].split(".")[:-2]
        path = "/".join([*package, path])
    first = int(groups["first"])
    return NamedPlace(path, first, max(first, int(groups.get("last") or first)))


def _plain(path: str) -> str:
    path = unquote(path.strip().replace("\\", "/"))
    return _SLASHES.sub("/", _QUERY.sub("", _BEFORE_PATH.sub("", path)).lstrip("("))


def path_in(text: str) -> str:
    """Return the path of a file that a text consists of, with "/"; empty if it is none.

    "src/app", "app.py" and "Makefile" are paths. "Client.get", and any text with a blank, are none.
    """
    plain = text.strip().strip("`'\"").replace("\\", "/").removeprefix("./")
    is_known = "/" in plain or plain.endswith(".txt") or language_of(plain) != TEXT
    return plain if is_known and _IS_PATH.fullmatch(plain) else ""
