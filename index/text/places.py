"""Find places in files named in a text: traces, messages of compilers and linters, addresses with line anchors.

A place is a path with a line, in any form printed by tools. `traces` tells which of them comes first.
"""

import re
from collections.abc import Iterator, Mapping
from itertools import islice

from cqm.index.text.addresses import place_of_address, plain_path
from cqm.index.text.diagnostics import told_places
from cqm.index.text.pasted import plain_text
from cqm.index.text.reports.forms import DRIVE, FORMS, LAST, LINE, LONGEST_PATH, PATH, START, TO
from cqm.index.text.reports.quoted import hunk_below
from cqm.index.text.reports.traces import AS_WRITTEN, INNERMOST_LAST, Frame, NamedPlace, in_order

__all__ = ["NamedPlace", "path_in", "places_in"]

_MOST_CHARACTERS = 20_000
"""Characters of a text to look at, at its beginning and its end: a log may have megabytes."""
_MOST_PLACES = 400
_LONGEST_NEAR = 200
"""Characters of the lines beside a place to search for its function."""

# Maven's list of failures: ClientTest.sendsTwice:12->Base.check:7
_OF_TYPE = re.compile(
    rf"(?<![\w./\\:$@-])(?P<type>[A-Z]\w{{2,80}})(?:\$\w{{1,80}})*\.(?P<call>[a-z_]\w{{1,150}}):{LINE}(?![\w.:])"
)
_LAST_NAME = re.compile(r"(?:^|[\s.#:])(\w+)[?!]?$")
_FUNCTION = re.compile(
    # Python, Ruby, .NET, Elixir, GDB and sanitizers; of a block its function.
    r"^\s*[,:]? in (\w+)\s*$|:in [`'](?:[^`'\n]{0,200}[ #.])?(\w+)[?!]?'"
    r"|<(\w+)>[bdg]__|\bat [\w.`+]{0,300}?(?<!\w)(\w+)(?:\[[^\]\n]{0,100}\])?\([^\n]{0,300}\)\s*$"
    r"|: (?:[A-Z]\w{0,80}\.){1,12}(\w+)[?!]?/\d|^\s*#\d+ +(?:0x[0-9a-f]+ )?in (\w+) "
)
_TITLES = re.compile(r"::| [>\u203a] ")
_PORT = re.compile(r"^\d{2,5}/")
_ADDRESS = re.compile(r"\b(?:https?://|[a-z][a-z0-9+.-]{1,30}://(?=[^\s?]{0,300}\?))[^\s<>\"'`)\]]{1,600}")
_ANY_FILE = re.compile(PATH)
_WITHOUT_ENDING = re.compile(
    rf"(?<!:){START}(?P<path>(?:[\w.@-]{{1,100}}/){{1,20}}[\w@-]{{1,100}}|[A-Z]\w{{3,30}}file):{LINE}\b"
)
_BEFORE_MESSAGE = re.compile(
    r"[\s>*-]{0,40}(?:\[?(?:vet|e|w|i|error|err|warn|warning|note|info|fatal)\]?:? |(?:ERROR|WARNING) in )?"
    r"(?:-->)? ?['\"`]?",
    re.IGNORECASE,
)
_NAME_BELOW = re.compile(r"[ \t]+[\w.]{1,100}: ")
_QUOTE = r"[`'\"]?"
_ABOUT = r"(?:(?:on|at|in|near|around|about|approximately|roughly|from|after|before|starting|the|@) ){0,3}"
_BEFORE_WORD = rf"(?:'s|{_QUOTE}\*{{0,2}})(?:[,:;]?[ \t](?:[-\u2013\u2014] )?|:)\(?{_ABOUT}"
_AFTER = tuple(
    re.compile(form)
    for form in (
        # src/app.py:10-20, src/app.py:12:5, src/app.py:L10-L20, src/app.tsx?ab12:7:3
        rf"{_QUOTE}(?:\?[\w=&.%-]{{0,400}})?:[Ll]?{LINE}(?!\w)(?:(?::\d+)?(?:-|\.\.)[Ll]?{LAST}|:\d+)?",
        # Maven: :[12,5]; Kotlin: (12, 5); Haskell: :(12,5)-(14,8); TypeScript and PHP: (12,5), (12)
        rf":? ?[\[(](?:[Ll]ines? )?{LINE}(?:[,:] ?\d+){{0,3}}(?:-(?:\(?{LAST}(?:,\d+\))?))?[\])]",
        rf"#(?:L|l|n|lines?[-=])?{LINE}(?:C\d+)?(?:-L?{LAST})?\b",
        rf"{_BEFORE_WORD}(?:[Ll]ines?|[Rr]ow|[Ll]n)(?: no\.?| number)?[:=.]? ?[#~]?{LINE}\b(?: ?{TO} ?{LAST}\b)?",
        rf"{_QUOTE}[,:]? \(?{_ABOUT}(?:L|l\.? ?|[Ll]n\.? ?){LINE}(?:-L?{LAST})?\b",
        # src/app.py, 10:4; a table of commas.
        rf"{_QUOTE}, {LINE}(?=:\d)",
        rf"\"?[,;]\"?{LINE}\b(?=\"?[,;]\"?\d|\"?[ \t]*(?:\n|$))",
        # Phabricator.
        rf"\${LINE}\b",
        rf" \+{LINE}\b",
        # src/app.py@10, which is no version: app.js@4.17
        rf"{_QUOTE} ?@ ?(?:L|[Ll]ines? )?{LINE}(?:-L?{LAST})?(?!\w|\.\w)",
        # dash: src/run.sh: 10: Syntax error
        rf"{_QUOTE}: {LINE}(?=[:)]|[ \t]*(?:\n|$))",
        # The list of a shell tool: path, line, column.
        rf"\t{LINE}(?:\t\d{{1,7}})?(?=\s|$)",
        # src/app.py;l=10, src/app.py?line=10&column=4
        rf"[?&;](?:\w{{1,20}}=[\w.%-]{{0,100}}[;&]){{0,5}}(?:l|ln|line|lineno|linenumber|lineNumber)={LINE}(?:-{LAST})?\b",
        # Dart, webpack: src/app.ts 12:5-20
        rf" {LINE}:\d{{1,5}}(?:-\d{{1,7}}(?::\d+)?)?\b",
        # Sentry.
        rf" in (?P<call>[\w.<>]{{1,100}}) at line {LINE}\b",
        # Vim's list of errors.
        rf"\|{LINE}\b",
        # A test by its name: tests/test_app.py::TestApp::test_run
        r"(?P<test>(?:::\w{1,100}){1,4})",
    )
)  # fmt: skip
_FOLLOWS = frozenset("`'\"?:[( #,+|@;&\t*$")
_ANY_SIGN = re.compile(r"\d|::|\u25cf| > ")
_ANY_LINE = re.compile(
    r"[:(#\[+|,;=L@$\t] ?\"?(?:L|l|n|lines?[ -])?\d"
    r"|(?:line|row)s?(?: no\.?)?[:=.]? ?[#~]?\d|\bl\. ?\d|\d(?:st|nd|rd|th) line"
    r"|\bsed -n|\bln\.? ?\d|\w \d{1,7}:\d|\w\.\w+::\w"
    r"|^ *(?:Line +\S|FILE: |SF:|\d{1,7}:|ROUTINE =)|://\S|line number \d|\w\.\w{2,6}:[^\W\d_]{1,12} \d"
    r"|\d% +\d|^filename |(?:test|spec)\S{0,60} > \w|\u25cf ",
    re.MULTILINE | re.IGNORECASE,
)
_IS_PATH = re.compile(rf"[^\s\0]{{1,{LONGEST_PATH}}}")
# Tools which name a file once, above its lines: eslint, PHPStan, PHP_CodeSniffer, diff, IPython's old form.
_FILE_ABOVE = re.compile(
    rf"(?:FILE: |SF:|  ?Line +|\+\+\+ (?:b/)?)?(?P<path>{DRIVE}[^\s:|]{{1,{LONGEST_PATH}}}\.\w{{1,10}})"
    # A diff has the time of the file behind a tab.
    r"(?P<python> in [\w<].*)?(?:\t\d[^\n]{0,80})?\s*"
)
_LINE_BELOW = re.compile(
    r"\s+(\d{1,7}):\d+\s+(?:error|warning|✖|⚠)|\s*(\d{1,7})\s+(?:\|\s+(?:ERROR|WARNING)|[A-Z\W].*)"
    # A diff, Bun, lcov, ripgrep with the path above.
    r"|@@ -\d+(?:,\d+)? \+(\d{1,7}).*|-+> (\d{1,7}) .*|DA:(\d{1,7}),0\b|(\d{1,7})[:-](?!\d)"
)
_BELOW = re.compile(
    r"\d:\d+ +(?:error|warning|✖|⚠)|\| (?:ERROR|WARNING)|^ +Line +\S|^@@ -|^-+> \d|^DA:\d|^\d{1,7}:(?!\d)", re.MULTILINE
)


def places_in(text: str) -> list[NamedPlace]:
    """Return the places in a question, message or log, innermost call first; each once."""
    # Most questions have neither a number nor the title of a test.
    if not _ANY_SIGN.search(text):
        return []
    half = _MOST_CHARACTERS // 2
    parts = [text] if len(text) <= _MOST_CHARACTERS else [text[:half], text[-half:]]
    written = "\n".join(parts)
    text = plain_text(written)
    # In a structured message its own members count, unless it has a whole trace in it.
    shift = 0 if text == written else len(text)
    told = (it for part in parts for it in told_places(part))
    frames = [Frame(it.start + shift, INNERMOST_LAST if it.is_outer_first else AS_WRITTEN, it.place) for it in told]
    if _ANY_LINE.search(text):
        frames += _frames(text)
    frames.sort(key=lambda frame: frame.start)
    return in_order(text, [frame for frame in frames if frame.place.path])[:_MOST_PLACES]


def _frames(text: str) -> Iterator[Frame]:
    # Forms overlap: text read by an earlier one is not read again.
    taken = bytearray(len(text))
    for match in islice(_ADDRESS.finditer(text), _MOST_PLACES):
        place = place_of_address(match[0])
        # An address with a scheme of its own may be a path with its line behind.
        if place and (place.first or match[0].startswith("http")):
            taken[match.start() : match.end()] = b"\1" * len(match[0])
            yield Frame(match.start(), AS_WRITTEN, place)
    for form in FORMS:
        for match in islice(form.pattern.finditer(text), _MOST_PLACES):
            if taken.find(1, match.start(), match.end()) < 0:
                taken[match.start() : match.end()] = b"\1" * len(match[0])
                yield _frame(text, match.start(), match.end(), match.groupdict(), form.order)
    for match in islice(_OF_TYPE.finditer(text), _MOST_PLACES):
        # Not of "Client.java:12", which is a file.
        if taken.find(1, match.start(), match.end()) < 0 and not _has_language(f"_.{match['call']}"):
            taken[match.start() : match.end()] = b"\1" * len(match[0])
            yield _frame(text, match.start(), match.end(), match.groupdict(), AS_WRITTEN)
    yield from _after_paths(text, taken)
    if "\n" in text and _BELOW.search(text):
        yield from _below_paths(text, taken)


def _after_paths(text: str, taken: bytearray) -> Iterator[Frame]:
    """Yield the places with the line right after the path."""
    for match in islice(_ANY_FILE.finditer(text), 4 * _MOST_PLACES):
        if text[match.end() : match.end() + 1] not in _FOLLOWS or taken.find(1, match.start(), match.end()) >= 0:
            continue
        after = next(filter(None, (form.match(text, match.end()) for form in _AFTER)), None)
        if after:
            taken[match.start() : after.end()] = b"\1" * (after.end() - match.start())
            groups = match.groupdict() | after.groupdict()
            if text[match.start() - 1 : match.start()] == ":":
                groups["path"] = _PORT.sub("", match["path"])
            yield _frame(text, match.start(), after.end(), groups, AS_WRITTEN)
    for match in islice(_WITHOUT_ENDING.finditer(text), _MOST_PLACES):
        if taken.find(1, match.start(), match.end()) < 0:
            yield _frame(text, match.start(), match.end(), match.groupdict(), AS_WRITTEN)


def _below_paths(text: str, taken: bytearray) -> Iterator[Frame]:
    """Yield the places with the path in a line above."""
    path, start, order = "", 0, AS_WRITTEN
    for line in text.splitlines(keepends=True):
        head, row = _FILE_ABOVE.fullmatch(line), _LINE_BELOW.match(line)
        if row and path and taken.find(1, start, start + len(line)) < 0:
            first, near = int(next(filter(None, row.groups()))), line[:_LONGEST_NEAR]
            quoted = hunk_below(text, start + len(line)) if near.startswith("@@") else ()
            yield Frame(start, order, NamedPlace(plain_path(path), first, first, near, leads=True, quoted=quoted))
        elif head:
            path, order = head["path"], INNERMOST_LAST if head["python"] else AS_WRITTEN
        elif not line.strip():
            path = path if order == INNERMOST_LAST else ""
        start += len(line)


def _frame(text: str, start: int, end: int, groups: Mapping[str, str | None], order: int) -> Frame:
    path = plain_path(groups.get("path") or _path_of(groups))
    if scope := groups.get("scope"):
        # "com.example.Client.send" is in the folders com/example.
        package = scope.rpartition("/")[2].split(".")[:-2]
        path = "/".join([*package, path])
    first, last = _lines_of(groups)
    called = _names_of(scope or "") or [*filter(None, [_called(groups.get("call") or "")])]
    around = _near(text, start, end)
    # A word "from" at the beginning would tell an inclusion.
    near = groups.get("test") or "".join(f".{name} " for name in called) + around
    before = text[max(text.rfind("\n", 0, start) + 1, start - _LONGEST_NEAR) : start]
    leads = bool(_BEFORE_MESSAGE.fullmatch(before))
    test = _TITLES.split(groups.get("test") or "")[-1]
    function = test or (called[-1] if called else _function_beside(around))
    return Frame(start, order, NamedPlace(path, first, last, near, leads=leads, function=function))


def _path_of(groups: Mapping[str, str | None]) -> str:
    """Return the path of a Python module, or of a Java type's file."""
    module = groups.get("module")
    return f"{module.replace('.', '/')}.py" if module else f"{groups['type']}.java"


def _names_of(scope: str) -> list[str]:
    """Return the names of "app//com.example.Client$send$1.invoke", the function last; of a constructor its type."""
    outer, _, name = scope.rpartition(".")
    types = outer.rpartition(".")[2].split("$")
    if name.startswith("lambda$"):
        name = name.split("$")[1]
    return [part for part in (types if name == "<init>" else types[1:] + name.split("$")) if part] if name else []


def _called(call: str) -> str:
    """Return the last name of a function as a trace names it: "run" for "async Object.run [as handler]"."""
    found = _LAST_NAME.search(call.partition(" [as ")[0])
    return found[1] if found else ""


def _function_beside(near: str) -> str:
    found = _FUNCTION.search(near.partition("\n")[0])
    return next(filter(None, found.groups()), "") if found else ""


def _lines_of(groups: Mapping[str, str | None]) -> tuple[int, int]:
    """Return the first and last line of a form's match; 0 for none."""

    def number(name: str, otherwise: int) -> int:
        return int(groups.get(name) or otherwise)

    first = number("first", 0)
    last = max(first, number("last", first), first + max(number("count", 1) - 1, number("more", 0)))
    return max(1, first - number("upwards", 1) + 1) if groups.get("upwards") else first, last


def _near(text: str, start: int, end: int) -> str:
    """Return the line of a place, without its path, and the lines around: they name its function in all tools."""
    line = text.rfind("\n", 0, start) + 1
    before = text.rfind("\n", 0, max(0, line - 1)) + 1
    after = text.find("\n", end)
    after = len(text) if after < 0 else after
    own = f"{text[max(line, start - _LONGEST_NEAR) : start]} {text[end : min(after, end + _LONGEST_NEAR)]}"
    below = text[after + 1 : after + _LONGEST_NEAR].partition("\n")[0]
    # The recovering middleware of Go names the function below.
    below = below if _NAME_BELOW.match(below) else ""
    return f"{own}\n{text[before : max(before, line - 1)][-_LONGEST_NEAR:]} {below}"


def path_in(text: str) -> str:
    """Return a text that is a file's path, with "/"; empty for other texts.

    "src/app", "app.py" and "Makefile" are paths. "Client.get", and any text with a blank, are none.
    """
    plain = text.strip().strip("`'\"<>").replace("\\", "/").removeprefix("./")
    if plain.startswith(("http://", "https://", "file://", "vscode://")):
        place = place_of_address(plain)
        return place.path if place and not place.first else ""
    is_known = "/" in plain or plain.endswith(".txt") or _has_language(plain)
    return plain if is_known and _IS_PATH.fullmatch(plain) else ""


def _has_language(path: str) -> bool:
    """Whether a path's name tells a language: only texts with a file's name load the table of languages."""
    from cqm.chunkers.detect import TEXT, language_of

    return language_of(path) != TEXT
