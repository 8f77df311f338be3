"""Paths as tools print them, and files at the addresses of forges."""

import re
from urllib.parse import parse_qs, unquote, urlsplit

from cqm.index.text.traces import NamedPlace

_BEFORE_PATH = re.compile(
    r"^(?:[a-z][a-z0-9+.-]*:/{2,3}(?:[\w.-]*(?::\d+)?/)?(?:\./)?|package:|webpack-internal:/+|\(\w+\)/|\./|\.\.\.)+"
)
_LABEL = re.compile(r"^[\[{(]*\w{1,20}=|^[\[{](?![^\]}]*[\]}])")
"""Before a path in a log: "caller=", "["."""
_SLASHES = re.compile(r"/(?:\.?/)+")
_QUERY = re.compile(r"\?.*$")
# .../blob/main/app.py, .../-/blob/main/app.py, .../src/branch/main/app.py, .../browse/app.py
_IN_FORGE = re.compile(
    r"/(?:-/)?(?:(?:blob|blame|raw|tree|edit)/(?:(?:branch|tag|commit)/)?[^/]+/|src/(?:branch|tag|commit)/[^/]+/|browse/)(?P<path>.+)"
)
# Bitbucket: /owner/repository/src/main/app.py#lines-10
_IN_SOURCES = re.compile(r"^/[^/]+/[^/]+/src/[^/]+/(?P<path>.+)")
_SOURCEGRAPH = re.compile(r"/-/blob/(?P<path>.+)")
_LINES = re.compile(r"^(?:L|l|n|lines-|.*[^\d]-)?(\d{1,7})(?:C\d+)?(?:(?:[-:,]|\.\.)L?(\d{1,7}))?(?:C\d+)?$")
_LINE_AFTER = re.compile(r":\d+$")
_LOCAL = frozenset({"file", "vscode", "vscode-insiders", "cursor", "idea"})


def plain_path(path: str) -> str:
    """Return a path as printed with "/", without scheme and query: "src/a.ts" for "webpack:///./src/a.ts?1"."""
    path = unquote(path.strip().strip("`'\"").replace("\\", "/"))
    return _SLASHES.sub("/", _QUERY.sub("", _BEFORE_PATH.sub("", _LABEL.sub("", path))).lstrip("("))


def place_of_address(address: str) -> NamedPlace | None:
    """Return the place at an address of a forge; its lines are 0 without an anchor. None for other addresses."""
    try:
        parts = urlsplit(address.rstrip(".,;:"))
    except ValueError:
        return None
    query = parse_qs(parts.query, keep_blank_values=True)
    lines = parts.fragment
    if parts.scheme in _LOCAL:
        path = parts.path
    elif "/_git/" in parts.path and "path" in query:
        # Azure: ?path=/src/app.py&line=10&lineEnd=20
        path = query["path"][0]
        lines = "-".join(query.get("line", []) + query.get("lineEnd", []))
    else:
        is_sourcegraph = next((name for name in query if _LINES.match(name)), "") if "/-/blob/" in parts.path else ""
        found = (_SOURCEGRAPH if is_sourcegraph else _IN_FORGE).search(parts.path)
        found = found or (_IN_SOURCES.search(parts.path) if parts.fragment else None)
        if not found or _LINE_AFTER.search(found["path"]):
            return None
        path, lines = found["path"], lines or is_sourcegraph
    asked = _LINES.match(lines)
    first = int(asked[1]) if asked else 0
    return NamedPlace(plain_path(path), first, max(first, int(asked[2] or 0)) if asked else 0)
