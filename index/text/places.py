"""Find the places in files that a text names: traces, messages of compilers and linters, addresses with line anchors.

A place is a path with a line, in any of the forms that tools print. `traces` tells which of them comes first.
"""

import re
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import NamedTuple

from cqm.index.text.addresses import place_of_address, plain_path
from cqm.index.text.diagnostics import told_places
from cqm.index.text.pasted import plain_text
from cqm.index.text.traces import AS_WRITTEN, CALLERS_LAST, INNERMOST_LAST, Frame, NamedPlace, in_order

__all__ = ["NamedPlace", "path_in", "places_in"]

_MOST_CHARACTERS = 20_000
"""Characters of a text that are looked at, at its beginning and its end: a log may have megabytes."""
_MOST_PLACES = 400
_LONGEST_PATH = 400
_LONGEST_NEAR = 200
"""Characters of the lines beside a place that may name its function."""

# Every form is bounded: a text may be made to take long.
_START = r"(?<![\w.@~+$%\[\]{}=,/\\-])"
_DRIVE = r"(?:[A-Za-z]:[\\/])?"
_PATH = rf"{_START}(?P<path>{_DRIVE}(?:[\w.@~+$%\[\]{{}}=,/\\-]|`(?=\d)){{0,400}}[\w)\]]\.[A-Za-z]\w{{0,9}})"
_LINE = r"(?P<first>\d{1,7})"
_LAST = r"(?P<last>\d{1,7})"
_ANY_PATH = rf"[^\"\n]{{1,{_LONGEST_PATH}}}"

_TO = r"(?:-|\u2013|to|through)"


class _Form(NamedTuple):
    pattern: re.Pattern[str]
    order: int = AS_WRITTEN


# What ends a path is told by the words around it: blanks may be in it.
_FORMS = (
    # Python, and others like it; the function may follow.
    _Form(re.compile(rf'File "(?P<path>{_ANY_PATH})", lines? {_LINE}(?:-{_LAST})?'), INNERMOST_LAST),
    # IPython; rich, in a box; pytest's short form, which is not Lua's "x.lua:1: in function".
    _Form(
        re.compile(rf"\bFile (?P<path>{_DRIVE}[^\s\":<>]{{1,{_LONGEST_PATH}}}):{_LINE}(?=, in |\n|$)"), INNERMOST_LAST
    ),
    _Form(re.compile(rf"│ *{_PATH}:{_LINE}(?= in )"), INNERMOST_LAST),
    _Form(
        re.compile(rf"{_PATH}:{_LINE}: in (?!function |upvalue |local |method |field |main chunk)(?=[\w<])"),
        INNERMOST_LAST,
    ),
    # pytest's long form: the last line has no function.
    _Form(
        re.compile(
            rf"^{_PATH}:{_LINE}: (?=\w{{0,100}}(?:Error|Exception|Exit|Failed|StopIteration)$|\n_ _ )", re.MULTILINE
        ),
        INNERMOST_LAST,
    ),
    # Ruby before 3.0 on a terminal: "\t2: from lib/app.rb:5:in `run'"; the table of PHP's Xdebug.
    _Form(
        re.compile(rf"\b\d{{1,4}}: from (?P<path>{_DRIVE}[^\s:]{{1,{_LONGEST_PATH}}}):{_LINE}(?=:in )"), CALLERS_LAST
    ),
    _Form(re.compile(rf"\d\.\d{{1,6}} +\d{{1,12}} +\d{{1,4}}\. [^\n]{{1,300}}? {_PATH}:{_LINE}(?=\s|$)"), CALLERS_LAST),
    # Xdebug's in a log: PHP   2. App->run() /app/src/App.php:12
    _Form(re.compile(rf"\bPHP {{1,8}}\d{{1,4}}\. [^\n]{{1,300}}? {_PATH}:{_LINE}(?=\s|$)"), CALLERS_LAST),
    # The JVM: at app//com.example.Client.send(Client.java:12)
    _Form(re.compile(rf"\bat (?P<scope>[\w.$/<>@-]{{1,400}}) ?\((?P<path>[\w$-]+\.\w{{1,7}}):{_LINE}\)")),
    # .NET: in /src/Client.cs:line 12
    _Form(re.compile(rf"\bin (?P<path>(?:(?! in | at )[^\n]){{1,{_LONGEST_PATH}}}?):line {_LINE}")),
    # .NET in other languages: bei App.Run() in C:\src\App.cs:Zeile 12.
    _Form(
        re.compile(rf"\) [^\W\d_]{{1,9}} (?P<path>{_DRIVE}[^\n:<>|]{{1,{_LONGEST_PATH}}}?):[^\W\d_]{{1,12}} {_LINE}")
    ),
    # JavaScript: at run (C:\My Projects\app\(group)\page.tsx:12:5)
    _Form(
        re.compile(
            rf"\bat (?P<call>[^\n()]{{1,200}}) "
            rf"\((?:file://)?(?P<path>{_DRIVE}[^\n:<>|]{{1,{_LONGEST_PATH}}}?):{_LINE}:\d{{1,7}}\)"
        )
    ),
    # GitHub's annotations.
    _Form(re.compile(rf"\bfile=(?P<path>[^\n,:]{{1,{_LONGEST_PATH}}}),(?:start_?)?line={_LINE}", re.IGNORECASE)),
    _Form(re.compile(rf"\bline={_LINE},[^\n]{{0,200}}?\bfile=(?P<path>[^\n,:]{{1,{_LONGEST_PATH}}})")),
    _Form(
        re.compile(
            rf"\b(?:(?:lines?|rows?) (?:no\.? |number )?|ln\.? ?|L)#?{_LINE}(?: ?{_TO} ?L?{_LAST})?"
            r"(?:,? col(?:umn)?\.? ?\d{1,7})?"
            rf",? (?:of|in|from|at) (?:the )?(?:file |script )?[`'\"]?{_PATH}",
            re.IGNORECASE,
        )
    ),
    _Form(re.compile(rf"\b{_LINE}(?:st|nd|rd|th) line (?:of|in) (?:the )?(?:file )?[`'\"]?{_PATH}", re.IGNORECASE)),
    # emacs +10:4 src/app.py
    _Form(re.compile(rf"(?:^|\s)\+{_LINE}(?:[:,]\d{{1,7}})? [`'\"]?{_PATH}")),
    # "git blame -L 10,20 src/app.py", "sed -n '10,20p' src/app.py", "bat -r 10:20 src/app.py".
    # git counts lines with the first one, "-L 10,+5" to 14 and "-L 10,-5" from 6; sed counts those after it.
    _Form(
        re.compile(rf"\s-L ?{_LINE}(?:,{_LAST}|,\+(?P<count>\d{{1,6}})|,-(?P<upwards>\d{{1,6}}))?[ :](?:-- )?{_PATH}")
    ),
    _Form(re.compile(rf"\bsed -n ['\"]?{_LINE}(?:,{_LAST}|,\+(?P<more>\d{{1,6}}))?p['\"]? {_PATH}")),
    _Form(re.compile(rf"\s(?:-r|--line-range)[ =]{_LINE}:{_LAST} {_PATH}")),
    # Prettier and Babel: src/app.ts: Unexpected token (10:4)
    _Form(re.compile(rf"{_PATH}: [^\n]{{1,300}}? ?\({_LINE}:\d{{1,7}}\)[ \t]*$", re.MULTILINE)),
    # Black: cannot format src/app.py: Cannot parse for target version Python 3.12: 10:4: x =
    _Form(re.compile(rf"{_PATH}: [^\n:]{{1,100}}: {_LINE}:\d{{1,7}}(?=: )")),
    # git blame of a file that had another name: 1a2b3c4d src/app.py (Ann 2026-01-31 10:00:00 +0100 12) x = 1
    _Form(
        re.compile(
            rf"^\^?[0-9a-f]{{7,40}} +{_PATH} +\([^\n]{{1,100}}? \d{{4}}-\d\d-\d\d [\d:]{{8}} [+-]\d{{4}} +{_LINE}\)",
            re.MULTILINE,
        )
    ),
    # Loguru, and `logging` with module, function and line: app.client:send:12
    _Form(
        re.compile(
            r"(?<![\w./@-])(?P<module>(?:[a-z_]\w{0,60}\.){1,10}[a-z_]\w{0,60}):(?P<call><?[A-Za-z_]\w{0,80}>?)"
            rf":{_LINE}(?![\w.])"
        )
    ),
    # Readers of YAML and templates: "parsing a.yml: error converting YAML to JSON: yaml: line 3: did not find ...",
    # "(a.yml): did not find expected key at line 3", "In template a.html, error at line 3".
    _Form(
        re.compile(
            rf"{_PATH}[`'\")]{{0,2}}[:,] (?:(?!\w\.[a-z])[^\n]){{1,300}}?"
            rf"(?:\b(?:at|on|near) |: |errors:\n *)line {_LINE}\b"
        )
    ),
    # pprof's listing.
    _Form(
        re.compile(
            r"^ROUTINE =+ (?:\S{0,300}[./)])?(?P<test>(?!func\d)[A-Za-z_]\w{0,200})(?:\.func\d[\d.]{0,20})? in "
            rf"(?P<path>[^\n]{{1,{_LONGEST_PATH}}}?)[ \t]*$",
            re.MULTILINE,
        )
    ),
)
# Maven's list of failures: ClientTest.sendsTwice:12->Base.check:7
_OF_TYPE = re.compile(
    rf"(?<![\w./\\:$@-])(?P<type>[A-Z]\w{{2,80}})(?:\$\w{{1,80}})*\.(?P<call>[a-z_]\w{{1,150}}):{_LINE}(?![\w.:])"
)
_LAST_NAME = re.compile(r"(?:^|[\s.#:])(\w+)[?!]?$")
_FUNCTION = re.compile(
    # Python, Ruby, .NET, Elixir, GDB and sanitizers; of a block its function.
    r"^\s*[,:]? in (\w+)\s*$|:in [`'](?:[^`'\n]{0,200}[ #.])?(\w+)[?!]?'"
    r"|<(\w+)>[bdg]__|\bat [\w.`+]{0,300}?(?<!\w)(\w+)(?:\[[^\]\n]{0,100}\])?\([^\n]{0,300}\)\s*$"
    r"|: (?:[A-Z]\w{0,80}\.){1,12}(\w+)[?!]?/\d|^\s*#\d+ +(?:0x[0-9a-f]+ )?in (\w+) "
)
_PORT = re.compile(r"^\d{2,5}/")
_ADDRESS = re.compile(r"\b(?:https?://|[a-z][a-z0-9+.-]{1,30}://(?=[^\s?]{0,300}\?))[^\s<>\"'`)\]]{1,600}")
_ANY_FILE = re.compile(_PATH)
_WITHOUT_ENDING = re.compile(
    rf"(?<!:){_START}(?P<path>(?:[\w.@-]{{1,100}}/){{1,20}}[\w@-]{{1,100}}|[A-Z]\w{{3,30}}file):{_LINE}\b"
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
        rf"{_QUOTE}(?:\?[\w=&.%-]{{0,400}})?:[Ll]?{_LINE}(?!\w)(?:(?::\d+)?(?:-|\.\.)[Ll]?{_LAST}|:\d+)?",
        # Maven: :[12,5]; Kotlin: (12, 5); Haskell: :(12,5)-(14,8); TypeScript and PHP: (12,5), (12)
        rf":? ?[\[(](?:[Ll]ines? )?{_LINE}(?:[,:] ?\d+){{0,3}}(?:-(?:\(?{_LAST}(?:,\d+\))?))?[\])]",
        rf"#(?:L|l|n|lines?[-=])?{_LINE}(?:C\d+)?(?:-L?{_LAST})?\b",
        rf"{_BEFORE_WORD}(?:[Ll]ines?|[Rr]ow|[Ll]n)(?: no\.?| number)?[:=.]? ?[#~]?{_LINE}\b(?: ?{_TO} ?{_LAST}\b)?",
        rf"{_QUOTE}[,:]? \(?{_ABOUT}(?:L|l\.? ?|[Ll]n\.? ?){_LINE}(?:-L?{_LAST})?\b",
        # src/app.py, 10:4; a table of commas.
        rf"{_QUOTE}, {_LINE}(?=:\d)",
        rf"\"?[,;]\"?{_LINE}\b(?=\"?[,;]\"?\d|\"?[ \t]*(?:\n|$))",
        # Phabricator.
        rf"\${_LINE}\b",
        rf" \+{_LINE}\b",
        # src/app.py@10, which is no version: app.js@4.17
        rf"{_QUOTE} ?@ ?(?:L|[Ll]ines? )?{_LINE}(?:-L?{_LAST})?(?!\w|\.\w)",
        # dash: src/run.sh: 10: Syntax error
        rf"{_QUOTE}: {_LINE}(?=[:)]|[ \t]*(?:\n|$))",
        # The list of a shell tool: path, line, column.
        rf"\t{_LINE}(?:\t\d{{1,7}})?(?=\s|$)",
        # src/app.py;l=10, src/app.py?line=10&column=4
        rf"[?&;](?:\w{{1,20}}=[\w.%-]{{0,100}}[;&]){{0,5}}(?:l|ln|line|lineno|linenumber|lineNumber)={_LINE}(?:-{_LAST})?\b",
        # Dart, webpack: src/app.ts 12:5-20
        rf" {_LINE}:\d{{1,5}}(?:-\d{{1,7}}(?::\d+)?)?\b",
        # Sentry.
        rf" in (?P<call>[\w.<>]{{1,100}}) at line {_LINE}\b",
        # Vim's list of errors.
        rf"\|{_LINE}\b",
        # A test by its name: tests/test_app.py::TestApp::test_run
        r"(?P<test>(?:::\w{1,100}){1,4})",
    )
)  # fmt: skip
_FOLLOWS = frozenset("`'\"?:[( #,+|@;&\t*$")
_ANY_DIGIT = re.compile(r"\d")
_ANY_LINE = re.compile(
    r"[:(#\[+|,;=L@$\t] ?\"?(?:L|l|n|lines?[ -])?\d"
    r"|(?:line|row)s?(?: no\.?)?[:=.]? ?[#~]?\d|\bl\. ?\d|\d(?:st|nd|rd|th) line"
    r"|\bsed -n|\bln\.? ?\d|\w \d{1,7}:\d|\w\.\w+::\w"
    r"|^ *(?:Line +\S|FILE: |SF:|\d{1,7}:|ROUTINE =)|://\S|line number \d|\w\.\w{2,6}:[^\W\d_]{1,12} \d",
    re.MULTILINE | re.IGNORECASE,
)
_IS_PATH = re.compile(rf"[^\s\0]{{1,{_LONGEST_PATH}}}")
# Tools which name a file once, above its lines: eslint, PHPStan, PHP_CodeSniffer, diff, IPython's old form.
_FILE_ABOVE = re.compile(
    rf"(?:FILE: |SF:|  ?Line +|\+\+\+ (?:b/)?)?(?P<path>{_DRIVE}[^\s:|]{{1,{_LONGEST_PATH}}}\.\w{{1,10}})"
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
    """Return the places a text names, innermost call first; each once.

    Parameters:
        text: a question, a message or a log.
    """
    # Most questions have no number.
    if not _ANY_DIGIT.search(text) and "::" not in text:
        return []
    half = _MOST_CHARACTERS // 2
    parts = [text] if len(text) <= _MOST_CHARACTERS else [text[:half], text[-half:]]
    written = "\n".join(parts)
    text = plain_text(written)
    # Of a structured message its own members count, unless it has a whole trace in it.
    shift = 0 if text == written else len(text)
    frames = [Frame(it.start + shift, AS_WRITTEN, it.place) for part in parts for it in told_places(part)]
    if _ANY_LINE.search(text):
        frames += _frames(text)
    frames.sort(key=lambda frame: frame.start)
    return in_order(text, [frame for frame in frames if frame.place.path])[:_MOST_PLACES]


def _frames(text: str) -> Iterator[Frame]:
    # Forms overlap: what an earlier one has read is read.
    taken = bytearray(len(text))
    for match in islice(_ADDRESS.finditer(text), _MOST_PLACES):
        place = place_of_address(match[0])
        # An address with a scheme of its own may be a path with its line behind.
        if place and (place.first or match[0].startswith("http")):
            taken[match.start() : match.end()] = b"\1" * len(match[0])
            yield Frame(match.start(), AS_WRITTEN, place)
    for form in _FORMS:
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
    """Yield the places whose line follows the path at once."""
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
    """Yield the places whose path stands in a line above."""
    path, start, order = "", 0, AS_WRITTEN
    for line in text.splitlines(keepends=True):
        head, row = _FILE_ABOVE.fullmatch(line), _LINE_BELOW.match(line)
        if row and path and taken.find(1, start, start + len(line)) < 0:
            first = int(next(filter(None, row.groups())))
            yield Frame(start, order, NamedPlace(plain_path(path), first, first, line[:_LONGEST_NEAR], leads=True))
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
    test = (groups.get("test") or "").rpartition(":")[2]
    function = test or (called[-1] if called else _function_beside(around))
    return Frame(start, order, NamedPlace(path, first, last, near, leads=leads, function=function))


def _path_of(groups: Mapping[str, str | None]) -> str:
    """Return the path of a module of Python, or of the file that Java has for a type."""
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
    """Return the first and last line that a form tells; 0 for none."""

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
    """Return the path of a file that a text consists of, with "/"; empty if it is none.

    "src/app", "app.py" and "Makefile" are paths. "Client.get", and any text with a blank, are none.
    """
    plain = text.strip().strip("`'\"<>").replace("\\", "/").removeprefix("./")
    if plain.startswith(("http://", "https://", "file://", "vscode://")):
        place = place_of_address(plain)
        return place.path if place and not place.first else ""
    is_known = "/" in plain or plain.endswith(".txt") or _has_language(plain)
    return plain if is_known and _IS_PATH.fullmatch(plain) else ""


def _has_language(path: str) -> bool:
    """Whether a path's name tells a language: only texts that name a file load the table of them."""
    from cqm.chunkers.detect import TEXT, language_of

    return language_of(path) != TEXT
