"""Find the places in structured messages: members of JSON objects and attributes of XML naming a file and a line.

SARIF, ESLint, cargo, LSP, Checkstyle, logs and others nest them in their own ways. A line belongs to the file of its
object, else of the object beside it, else of the next one around.
"""

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from cqm.index.text.addresses import plain_path
from cqm.index.text.reports.traces import NamedPlace

_ANY = re.compile(
    r"(?:line|row|lnum|start|begin)[\w.-]{0,12}[\\\"'\]]{0,9}\s{0,9}(?:=>|[:=>])(?:\s{0,9}int\()?"
    r"\s{0,9}[\\\"']{0,9}\d|<line n",
    re.IGNORECASE,
)
_TOKEN = re.compile(
    r'"(?:[^"\\\n]|\\.)*+"?|(?<!\w)\'(?:[^\'\\\n]|\\.)*+\'?|[{}\[\]():,=;\n]'
    r"|(?<!\w)[A-Za-z]:[\\/][^\s{}\[\](),=;\"'<>:]*+|[a-z]{2,9}://[^\s\"'<>,;]*+|[^\s{}\[\]():,=;\"'<>]++"
)
_TAG = re.compile(
    r"<(?P<end>/?)(?P<name>[A-Za-z][\w:.-]{0,60})"
    r"(?P<attributes>(?:\s+[\w:.-]{1,60}\s{0,5}=\s{0,5}(?:\"[^\"<]*+\"|'[^'<]*+'))*+)\s*(?P<empty>/?)>"
)
_ATTRIBUTE = re.compile(r"([\w:.-]{1,60})\s{0,5}=\s{0,5}(?:\"([^\"]*)\"|'([^']*)')")
_ELEMENTS = re.compile(
    r"(?:<dir>(?P<folder>[^<\n]{1,400})</dir>\s{0,100})?"
    r"<(?:file|filename|path|sourcefile)>(?P<path>[^<\n]{1,400})</\w{1,20}>\s{0,100}<line\w{0,10}>(?P<line>\d{1,7})<",
    re.IGNORECASE,
)
_ABOUT = (
    r"(?:abs|absolute|full|rel|relative|local|caller|source|src|code|log|origin|artifact|document|script|target|test"
    r"|physical|module|file|callsite|error|issue|report|violation|frame|message|problem){0,5}"
)
_FILE_KEY = re.compile(rf"{_ABOUT}(?:file|filename|filepath|path|pathname|uri|fileuri|documenturi)")
_WEAK_KEY = re.compile(r"name|source|src|script|resource|url|location|module|target|component")
"""Keys of files only where the value has an ending."""
_FIRST_KEY = re.compile(
    rf"{_ABOUT}(?:start|begin|first|from)?(?:line|row|lnum|ln)(?:no|nr|num|number)?(?:start|begin|first|from)?"
)
_LAST_KEY = re.compile(
    r"(?:end|last|to|stop)(?:line|row|lnum)(?:no|nr|num|number)?|(?:line|row)(?:number)?(?:end|last|to|stop)"
)
_BOUND_KEY = re.compile(r"start|begin|first|from")
_END_SCOPE = re.compile(r"(?:end|last|stop)\w*|contextregion")
_FUNCTION_KEY = re.compile(r"(?:caller)?(?:function|functionname|func|fn|method|methodname)")
_NOT_IN_KEY = re.compile(r"[\W_]+")
_ENDING = re.compile(r"[\w)\]]\.[A-Za-z]\w{0,9}")
_NUMBERS, _HITS = frozenset({"number", "nr", "num"}), ("hits", "ci", "count")
_NAME = re.compile(r"[^\s:*?\"<>|]{1,400}")
_NUMBER = re.compile(r"\d{1,7}")
_RANGE = re.compile(r"(\d{1,7})-(\d{1,7})")
_DUMPED = re.compile(r"=>\s{0,20}(?:string\(\d{1,7}\)|int\((\d{1,7})\))")
"""A value as PHP's var_dump prints it."""
_LONGEST_PATH = 400
_DEEPEST = 100
_OPENING, _CLOSING, _SEPARATORS = frozenset("{[("), frozenset("}])"), frozenset(":=,;")
_MOST_NESTED = 3
_ESCAPED = re.compile(r'\\(["\\/])')
_MOST_APART = 3
"""Lines of a text without braces between a file and its line."""


class Told(NamedTuple):
    """A place named by members, at a character of the text, and whether its frames begin with the outermost."""

    start: int
    place: NamedPlace
    is_outer_first: bool = False


def told_places(text: str) -> list[Told]:
    """Return the places named by members in JSON, XML or a log, whole or cut, in order; marginal ones last."""
    if not _ANY.search(text):
        return []
    if "string(" in text:
        text = _DUMPED.sub(r"=> \1", text)
    found = [*_of_elements(text)] or [*_of_objects(text)]
    return sorted(found, key=lambda it: it.start)


class _Line(NamedTuple):
    start: int
    first: int
    last: int
    near: str


class _Scope:
    """An open object, with the facts of its members."""

    def __init__(self, name: str = "", opener: str = "") -> None:
        self.name = _key(name)
        self.opener = opener
        # PHPStan's files are the names of members.
        self.file = name if "/" in name and _is_path(name, has_ending=True) else ""
        self.beside = ""
        self.start = self.first = self.last = self.lines_apart = 0
        self.near = ""
        self.is_marginal = self.has_character = False
        self.pending: list[_Line] = []

    def add(self, key: str, value: str, start: int) -> None:
        key = _key(key)
        if _FILE_KEY.fullmatch(key):
            if not self.file and _is_path(value, has_ending=False):
                self.file = value
        elif _WEAK_KEY.fullmatch(key):
            # SonarQube: project:src/app.py
            value = value.rpartition(":")[2] if key == "component" else value
            if not self.file and _is_path(value, has_ending=True):
                self.file = value
        elif (found := _RANGE.fullmatch(value)) and (_FIRST_KEY.fullmatch(key) or key == "lines"):
            self.first, self.last, self.start = int(found[1]), int(found[2]), start
        elif _NUMBER.fullmatch(value):
            self._add_number(key, int(value), start)
        elif _FUNCTION_KEY.fullmatch(key):
            self.near = value
        elif key in {"isprimary", "primary", "inapp"}:
            self.is_marginal = value.lower() == "false"
        self.lines_apart = 0

    def _add_number(self, key: str, value: int, start: int) -> None:
        if _FIRST_KEY.fullmatch(key) or (_BOUND_KEY.fullmatch(key) and _FIRST_KEY.fullmatch(self.name.rstrip("s"))):
            if not self.first:
                self.first, self.start = value, start
        elif _LAST_KEY.fullmatch(key):
            self.last = value
        self.has_character = self.has_character or key == "character"

    def lines(self) -> list[_Line]:
        """Return the lines in it, its own last."""
        own = _Line(self.start, self.first, max(self.first, self.last), self.near)
        return [*self.pending, own] if self.first else self.pending


def _key(name: str) -> str:
    return _NOT_IN_KEY.sub("", name[:100]).lower()


def _is_path(value: str, *, has_ending: bool) -> bool:
    if not 1 < len(value) <= _LONGEST_PATH or "\n" in value:
        return False
    name = re.split(r"[/\\]", value[:_LONGEST_PATH])[-1]
    if _ENDING.search(name[-12:]):
        return True
    return not has_ending and bool(name) and ("/" in value or "\\" in value) and bool(_NAME.fullmatch(value))


def _of_objects(text: str, depth: int = 0) -> Iterator[Told]:
    scopes, key, before = [_Scope()], "", ""
    for token in _TOKEN.finditer(text):
        it = token[0]
        if it in _OPENING:
            if len(scopes) < _DEEPEST:
                scopes.append(_Scope(key, it))
            key = ""
        elif it in _CLOSING:
            if len(scopes) > 1:
                yield from _closed(scopes.pop(), scopes[-1], len(text))
            key = ""
        elif it in _SEPARATORS:
            key = before if it in {":", "="} else ""
        elif it == "\n":
            yield from _at_line_end(scopes, len(text))
        else:
            yield from _in_string(it, token.start(), depth)
            value = _unquoted(it)
            if key:
                yield from _with_member(scopes, key, value, token.start(), len(text))
            before, key = value, ""
    outer = _Scope()
    while scopes:
        scope = scopes.pop()
        yield from _closed(scope, scopes[-1] if scopes else outer, len(text))


def _in_string(token: str, start: int, depth: int) -> Iterator[Told]:
    """Yield the places in JSON in a string of JSON, as of containers' logs."""
    if depth < _MOST_NESTED and '{\\"' in token:
        inner = _ESCAPED.sub(r"\1", token[1:])
        yield from (Told(start + it.start, it.place) for it in _of_objects(inner, depth + 1))


def _with_member(scopes: list[_Scope], key: str, value: str, start: int, size: int) -> Iterator[Told]:
    """Add a member to the innermost object; outside of all objects, a second file ends the first one's place."""
    top = scopes[0]
    if len(scopes) == 1 and top.file and top.first and _FILE_KEY.fullmatch(_key(key)):
        yield from _closed(top, _Scope(), size)
        scopes[0] = _Scope()
    scopes[-1].add(key, value, start)


def _at_line_end(scopes: list[_Scope], size: int) -> Iterator[Told]:
    """End a place outside of all braces at the end of its line, or a few lines further if half of it is missing."""
    if len(scopes) > 1:
        return
    top = scopes[0]
    top.pending.clear()
    top.lines_apart += 1
    if (top.file and top.first) or top.lines_apart > _MOST_APART:
        yield from _closed(top, _Scope(), size)
        scopes[0] = _Scope()


def _unquoted(token: str) -> str:
    if token[0] in {'"', "'"}:
        token = token[1:-1] if len(token) > 1 and token[-1] == token[0] else token[1:]
        return token.replace("\\/", "/").replace("\\\\", "\\")
    return token


def _closed(scope: _Scope, around: _Scope, size: int) -> Iterator[Told]:
    """Yield the places of an ending object; half a place goes to the object around."""
    if scope.has_character and scope.first and around.name.endswith("range"):
        # The language server protocol counts from 0.
        scope.first, scope.last = scope.first + 1, scope.last + 1
    lines = scope.lines()
    if scope.name and _END_SCOPE.fullmatch(scope.name):
        around.last = around.last or (scope.first if scope.name != "contextregion" else 0)
        return
    file = scope.file or (scope.beside if lines else "")
    if file and lines:
        for line in lines:
            place = NamedPlace(plain_path(file), line.first, line.last, line.near, leads=True)
            # Sentry's frames begin with the outermost call.
            is_outer_first = around.name == "frames"
            aside = -size if is_outer_first else size
            yield Told(line.start + scope.is_marginal * aside, place, is_outer_first)
    elif file and scope.opener != "[":
        around.beside = around.beside or file
    elif lines:
        around.pending += lines


def _of_elements(text: str) -> Iterator[Told]:
    for found in _ELEMENTS.finditer(text):
        line = int(found["line"])
        path = f"{found['folder']}/{found['path']}" if found["folder"] else found["path"]
        yield Told(found.start(), NamedPlace(plain_path(path), line, line, leads=True))
    opened: list[tuple[str, str]] = []
    for tag in _TAG.finditer(text):
        if tag["end"]:
            while opened and any(name == tag["name"] for name, _ in opened) and opened.pop()[0] != tag["name"]:
                pass
            continue
        attributes = {it[1]: it[2] or it[3] or "" for it in _ATTRIBUTE.finditer(tag["attributes"])}
        scope = _scope_of(tag["name"], attributes, tag.start())
        file = scope.file or next((path for _, path in reversed(opened) if path), "")
        if scope.first and file:
            last = max(scope.first, scope.last)
            yield Told(tag.start(), NamedPlace(plain_path(file), scope.first, last, scope.near, leads=True))
        if not tag["empty"] and len(opened) < _DEEPEST:
            folder = attributes.get("name", "") if tag["name"] == "package" else ""
            opened.append((tag["name"], scope.file or folder))


def _scope_of(name: str, attributes: Mapping[str, str], start: int) -> _Scope:
    scope = _Scope()
    # SpotBugs: sourcefile="Gson.java" sourcepath="com/google/gson/Gson.java".
    if name == "line":
        hits = [attributes[key] for key in _HITS if key in attributes]
        if hits and "0" not in hits:
            return scope
        # In reports of coverage: Cobertura's "number", JaCoCo's "nr", Clover's "num".
        attributes = {f"line{key}" if key in _NUMBERS else key: it for key, it in attributes.items()}
    for key, value in sorted(attributes.items(), key=lambda it: -("/" in it[1])):
        if not _WEAK_KEY.fullmatch(_key(key)) or _key(name).endswith("file") or "/" in value:
            scope.add(key, value, start)
    if not scope.first and scope.file and _key(name).endswith(("line", "range")):
        bounds = [attributes.get(key, "") for key in ("start", "end")]
        first, last = (int(it) if _NUMBER.fullmatch(it) else 0 for it in bounds)
        scope.first, scope.last = first, last
    return scope
