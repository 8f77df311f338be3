"""Paths as tools print them, and files at the addresses of forges."""

import re
from collections.abc import Mapping
from urllib.parse import SplitResult, parse_qs, unquote, urlsplit

from cqm.index.text.reports.traces import NamedPlace

_BEFORE_PATH = re.compile(
    r"^(?:[a-z][a-z0-9+.-]*:/{2,3}(?:[\w.-]*(?::\d+)?/)?(?:\./)?|package:|webpack-internal:/+|\(\w+\)/|\./|\.\.\.)+"
)
_LABEL = re.compile(r"^[\[{(]*\w{1,20}=|^[\[{](?![^\]}]*[\]}])")
"""Before a path in a log: "caller=", "["."""
_CUT = re.compile(r"^(?:\.\.\.|\u2026)(?=[^./\\])")
"""Before a path which Lua shortened, inside a folder's name."""
_SLASHES = re.compile(r"/(?:\.?/)+")
_QUERY = re.compile(r"\?.*$")
# .../blob/main/app.py, .../-/blob/main/app.py, .../src/branch/main/app.py, .../browse/app.py
_IN_FORGE = re.compile(
    r"/(?:-/)?(?:(?:blob|blame|raw|tree|edit)/(?:(?:branch|tag|commit)/)?[^/]+/|src/(?:branch|tag|commit)/[^/]+/|browse/)(?P<path>.+)"
)
# Bitbucket: /owner/repository/src/main/app.py#lines-10
_IN_SOURCES = re.compile(r"^/[^/]+/[^/]+/src/[^/]+/(?P<path>.+)")
_SOURCEGRAPH = re.compile(r"/-/blob/(?P<path>.+)")
# googlesource.com, source.chromium.org: /+/main:src/a.cc, /+/refs/heads/main/src/a.cc
_GOOGLE = re.compile(r"/\+/(?:refs/(?:heads|tags)/)?(?:[^/:]+[:/])(?P<path>.+)")
_CGIT = re.compile(r"/tree/(?P<path>.+)")
_LINE_PARAMETER = re.compile(r"(?:^|;)l(?:ine)?=(\d{1,7}(?:-\d{1,7})?)(?=;|$)")
_PATH_PARAMETERS = ("file", "path", "filename", "url", "f")
_LINE_PARAMETERS = ("line", "lineNumber", "l")
_LINES = re.compile(r"^(?:L|l|n|lines-|.*[^\d]-)?(\d{1,7})(?:C\d+)?(?:(?:[-:,]|\.\.)L?(\d{1,7}))?(?:C\d+)?$")
_N_LINE = re.compile(r"n\d{1,7}")
_LINE_END = re.compile(r":(\d{1,7})(?::\d{1,7})?$")
_LINE_AFTER = re.compile(r"[:$]\d+$")
_LOCAL = frozenset({"file", "vscode", "vscode-insiders", "cursor", "idea"})


def plain_path(path: str) -> str:
    """Return a path as printed with "/", without scheme and query: "src/a.ts" for "webpack:///./src/a.ts?1"."""
    path = unquote(path.strip().strip("`'\"").replace("\\", "/"))
    if cut := _CUT.match(path):
        return f"...{path[cut.end() :]}"
    return _SLASHES.sub("/", _QUERY.sub("", _BEFORE_PATH.sub("", _LABEL.sub("", path))).lstrip("("))


def place_of_address(address: str) -> NamedPlace | None:
    """Return the place at an address of a forge or an editor; its lines are 0 without any. None for other addresses."""
    try:
        parts = urlsplit(address.rstrip(".,;:"))
        query = parse_qs(parts.query, keep_blank_values=True, separator=";" if ";" in parts.query else "&")
    except ValueError:
        return None
    if parts.scheme not in {"http", "https"}:
        return _in_editor(parts.scheme, parts.path, parts.fragment, query)
    return _by_parameters(parts, query) or _in_forge(parts, query)


def _by_parameters(parts: SplitResult, query: Mapping[str, list[str]]) -> NamedPlace | None:
    if "/_git/" in parts.path and "path" in query:
        # Azure: ?path=/src/app.py&line=10&lineEnd=20
        return _named(query["path"][0], "-".join(query.get("line", []) + query.get("lineEnd", [])))
    if parts.fragment and "f" in query:
        # gitweb: ?p=x.git;a=blob;f=src/app.py#l10
        return _named(query["f"][0], parts.fragment)
    if found := _GOOGLE.search(parts.path):
        path, _, parameters = found["path"].partition(";")
        told = _LINE_PARAMETER.search(parameters)
        return _named(path, told[1] if told else parts.fragment)
    return None


def _in_forge(parts: SplitResult, query: Mapping[str, list[str]]) -> NamedPlace | None:
    is_sourcegraph = next((name for name in query if _LINES.match(name)), "") if "/-/blob/" in parts.path else ""
    found = (_SOURCEGRAPH if is_sourcegraph else _IN_FORGE).search(parts.path)
    if parts.fragment:
        is_cgit = _N_LINE.fullmatch(parts.fragment)
        found = (_CGIT.search(parts.path) if is_cgit else None) or found or _IN_SOURCES.search(parts.path)
    if not found or _LINE_AFTER.search(found["path"]):
        return None
    return _named(found["path"], parts.fragment or is_sourcegraph)


def _in_editor(scheme: str, path: str, fragment: str, query: Mapping[str, list[str]]) -> NamedPlace | None:
    """Return the place in an editor's address: idea://open?file=/src/app.py&line=10."""
    named = next((query[name][0] for name in _PATH_PARAMETERS if query.get(name)), "")
    if not named:
        return _named(path, fragment) if scheme in _LOCAL else None
    lines = next((query[name][0] for name in _LINE_PARAMETERS if query.get(name)), "")
    if not lines and (end := _LINE_END.search(named)):
        # JetBrains' Toolbox: path=src/app.py:10:5
        named, lines = named[: end.start()], end[1]
    return _named(named, lines)


def _named(path: str, lines: str) -> NamedPlace:
    asked = _LINES.match(lines)
    first = int(asked[1]) if asked else 0
    return NamedPlace(plain_path(path), first, max(first, int(asked[2] or 0)) if asked else 0)
