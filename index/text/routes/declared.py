"""Read the routes declared in a file, below the prefixes before them."""

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate, islice
from typing import NamedTuple

from cqm.index.text.routes.asked import METHODS
from cqm.index.text.routes.forms import ASSIGNED_PREFIX, CLIENT, FORMS, INCLUDED, MOUNTS, NAMED_LIST, Form, methods_of

_TAIL = 400
"""Characters behind a path to search for its methods and handler."""
_MOST_INCLUDES, _MOST_PREFIXES = 3, 16
"""Most nested lists of routes to follow, and most places of one list."""
_LONGEST = 300
"""Characters of a path with its prefixes; nobody writes a longer route."""
_SERVING = frozenset({"static", "staticfs", "pathprefix", "mount", "forward"})
"""Verbs, in lower case, answering all paths below theirs."""
_RESOURCES = frozenset({"resources", "resource", "apiresource"})
_OF_RESOURCE = ("", "new", "create", "{id}", "{id}/edit")
_HANDLERS = tuple(
    re.compile(form)
    for form in (
        r"^[^\n]{0,40}?(?:=>|to:|,)\s*[\"'](?P<owner>[\w/]+)#(?P<name>\w+[?!]?)[\"']",  # Rails
        r"(?P<owner>\w+)::class\s*,\s*[\"'](?P<name>\w+)[\"']",  # Laravel
        r"[\"'](?:[\w\\]+\\)?(?P<owner>\w+)@(?P<name>\w+)[\"']",  # Laravel before 8
        r"^\s*,\s*(?P<owner>[A-Z][\w.]*)\s*,\s*:(?P<name>\w+)",  # Phoenix
        # axum, actix
        r"^\s*,\s*(?:(?:web|routing|axum)(?:::|\.))*(?:get|post|put|patch|delete)\(\s*(?:\)\.to\()?(?:(?P<owner>\w+)::)?(?P<name>\w+)",
        r"\bcomponent\s*[:=]\s*\{?(?P<owner>)(?P<name>[A-Z]\w+)",  # Vue, Angular, React
        r"\belement=\{\s*<(?P<owner>)(?P<name>[A-Z]\w+)",
        r"^\s*,\s*(?:view_func=|endpoint=)?(?:(?P<owner>\w+)\.)?(?P<name>[A-Za-z_]\w*)(?:\.as_view\([^()]*\))?\s*[,)]",
        # The last argument, behind middleware.
        r"^\s*,[^\n;]*?[,(\s](?:[\w.]+\.)?(?:(?P<owner>\w+)\.)?(?P<name>[A-Za-z_]\w+)\)?\)\s*(?:[;.].*)?(?:\n|$)",
    )
)
_CONTROLLER = re.compile(r"\bclass\s+(\w{1,80}?)(?:Controller)?\b")
_ACTION = re.compile(r"\bpublic\s[^\n(]{1,200}?\b(\w{1,80}?)(?:Async)?\(")
"""In ASP.NET, the values of `[controller]` and `[action]`."""
_NO_HANDLERS = frozenset({
    "function", "async", "fn", "func", "redirect", "include", "render", "true", "false", "null", "None", "nil", "log",
    "name", "json", "response", "request", "res", "req", "next", "ctx", "auth",
})  # fmt: skip


class Declared(NamedTuple):
    """A route declared in a file.

    Attributes:
        line: of the declaration, from 1.
        paths: its possible ones: its own, and with the prefixes before it.
        methods: in capitals; none for any.
        handler: its name, with "." between the parts; empty without one.
        is_weak: whether it puts other routes below its path, or may be no route.
        whole: those of `paths` with all prefixes before it.
    """

    line: int
    paths: tuple[str, ...]
    methods: frozenset[str]
    handler: str
    is_weak: bool
    whole: frozenset[str]


class _Form(NamedTuple):
    """A declaration as it stands: the offset and the end of its head, and its groups."""

    start: int
    end: int
    verb: str
    path: str
    on: str
    var: str
    is_weak: bool
    handler: str = ""


def declared_in(text: str) -> list[Declared]:
    """Return the routes declared in a file's text, in order."""
    forms = _forms(text)
    starts = [0, *accumulate(len(line) + 1 for line in text.split("\n"))]
    prefixed = ASSIGNED_PREFIX.finditer(text) if "prefix" in text else ()
    assigned = {match["var"]: match["path"] for match in prefixed}
    lists = [(match.start(), match["var"]) for match in NAMED_LIST.finditer(text)]
    names = [_list_around(lists, form.start) for form in forms]
    included = _included(text, forms, names)
    stack: list[tuple[int, str]] = []
    found = []
    for number, form in enumerate(forms):
        line = bisect_right(starts, form.start)
        indent = _indent(text, starts[line - 1])
        while stack and stack[-1][0] >= indent:
            stack.pop()
        base = assigned.get(form.on.rpartition(".")[2], "")
        before = _joined(stack[-1][1] if stack else "", base)
        if form.var:
            assigned[form.var] = _joined(base, form.path)
        end = forms[number + 1].start if number + 1 < len(forms) else len(text)
        own = [form.path, *(_joined(it, form.path) for it in (base, before, *included.get(names[number], ())) if it)]
        found.append(_declared(form, line, own, text[form.end : min(end, form.end + _TAIL)]))
        inner = "{id?}" if form.verb.lower() == "resources" else ""
        stack.append((indent, _joined(_joined(before, form.path), inner)))
    return found


def _forms(text: str) -> list[_Form]:
    """Return the declarations as written, in order; of several at one place, the one of the first form."""
    found: dict[int, _Form] = {}
    for form in (it for it in FORMS if not it.cues or any(cue in text for cue in it.cues)):
        for match in form.pattern.finditer(text):
            if not (form.is_of_servers and CLIENT.search(match.groupdict().get("on") or "")):
                found.setdefault(*_read_form(form, match, text))
    return [found[at] for at in sorted(found)]


def _read_form(form: Form, match: re.Match[str], text: str) -> tuple[int, _Form]:
    """Return the position of a declaration's path, or its end without one, and the declaration."""
    groups = match.groupdict(default="")
    at = match.start("path") if match["path"] is not None else match.end()
    verb, path = groups.get("verb", ""), groups["path"]
    if "[" in path:
        path = _with_controller(path, text, match.end())
    method, _, rest = path.partition(" ")
    if method in METHODS:
        # net/http of Go: "GET /users/{id}".
        verb, path = method, rest.lstrip()
    is_weak = form.is_weak or verb.lower() in MOUNTS
    start = match.start() + len(match[0]) - len(match[0].lstrip())
    on, var, handler = (groups.get(name, "") for name in ("on", "var", "handler"))
    return at, _Form(start, match.end(), verb, path, on, var, is_weak, handler)


def _with_controller(path: str, text: str, at: int) -> str:
    """Return a path of ASP.NET with the name of the class below it."""
    owner = _CONTROLLER.search(text, at, at + _TAIL) if "[controller]" in path else None
    return path.replace("[controller]", owner[1]) if owner else path


def _indent(text: str, start: int) -> int:
    line = text[start : start + 200].partition("\n")[0].expandtabs(4)
    return len(line) - len(line.lstrip())


def _joined(before: str, path: str) -> str:
    joined = f"{before.rstrip('/')}/{path.lstrip('/')}" if before and path else before or path
    return joined if len(joined) <= _LONGEST else path[:_LONGEST]


def _list_around(lists: Sequence[tuple[int, str]], at: int) -> str:
    number = bisect_right(lists, (at, "\U0010ffff"))
    return lists[number - 1][1] if number else ""


def _included(text: str, forms: Sequence[_Form], names: Sequence[str]) -> Mapping[str, tuple[str, ...]]:
    """Return the paths below which lists of routes are included, by the names of the lists."""
    own: defaultdict[str, list[tuple[str, str]]] = defaultdict(list)
    for form, name in zip(forms, names, strict=True):
        if match := INCLUDED.match(text, form.end):
            own[match["var"]].append((name, form.path))
    paths = {name: [path for _, path in places] for name, places in own.items()}
    for _ in range(_MOST_INCLUDES):
        paths = {name: [*islice(_below(places, paths), _MOST_PREFIXES)] for name, places in own.items()}
    return {name: tuple(dict.fromkeys(it)) for name, it in paths.items()}


def _below(places: Sequence[tuple[str, str]], paths: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """Yield the paths of a list's places, below those of the lists around them."""
    for around, path in places:
        yield from (_joined(before, path) for before in paths.get(around, ("",)))


def _declared(form: _Form, line: int, own: Sequence[str], tail: str) -> Declared:
    verb = form.verb.lower()
    ends = _OF_RESOURCE if verb in _RESOURCES else ("", "{*rest}") if verb in _SERVING else ("",)
    paths = dict.fromkeys(_joined(path, end) for path in own for end in ends)
    handler = form.handler or ("" if verb in MOUNTS else _handler_of(tail))
    if any("[action]" in path for path in paths):
        action = _ACTION.search(tail)
        paths = dict.fromkeys(path.replace("[action]", action[1] if action else "{action}") for path in paths)
    longest = max(own, key=len)
    whole = frozenset(path for path in paths if path.startswith(longest))
    return Declared(line, tuple(paths), methods_of(form.verb, tail), handler, form.is_weak, whole or frozenset(paths))


def _handler_of(tail: str) -> str:
    """Return the handler named in the text behind a path, with "." before its name; empty for none."""
    for form in _HANDLERS:
        found = form.search(tail)
        if found and found["name"] not in _NO_HANDLERS:
            return _symbol(found["owner"] or "", found["name"], is_rails="#" in found[0])
    return ""


def _symbol(owner: str, name: str, *, is_rails: bool) -> str:
    if is_rails:
        last = owner.rpartition("/")[2]
        owner = "".join(part[:1].upper() + part[1:] for part in last.split("_")) + "Controller"
    return f"{owner}.{name}" if owner else name
