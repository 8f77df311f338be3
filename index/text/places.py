"""Find the places in files that a text names: traces, messages of compilers and linters, addresses with line anchors.

A place is a path with a line, in any of the forms that tools print. `traces` tells which of them comes first.
"""

import re
from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

from cqm.index.text.addresses import place_of_address, plain_path
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
    # The JVM: at app//com.example.Client.send(Client.java:12)
    _Form(re.compile(rf"\bat (?P<scope>[\w.$/<>@-]{{1,400}}) ?\((?P<path>[\w$-]+\.\w{{1,7}}):{_LINE}\)")),
    # .NET: in /src/Client.cs:line 12
    _Form(re.compile(rf"\bin (?P<path>(?:(?! in | at )[^\n]){{1,{_LONGEST_PATH}}}?):line {_LINE}")),
    # JavaScript: at run (C:\My Projects\app\(group)\page.tsx:12:5)
    _Form(
        re.compile(rf"\bat [^\n()]{{1,200}} \((?P<path>{_DRIVE}[^\n:<>|]{{1,{_LONGEST_PATH}}}?):{_LINE}:\d{{1,7}}\)")
    ),
    # GitHub's annotations.
    _Form(re.compile(rf"\bfile=(?P<path>[^\n,:]{{1,{_LONGEST_PATH}}}),(?:start_?)?line={_LINE}", re.IGNORECASE)),
    _Form(re.compile(rf"\blines? {_LINE}(?: ?(?:-|\u2013|to) ?{_LAST})? (?:of|in) [`'\"]?{_PATH}", re.IGNORECASE)),
    _Form(re.compile(rf"(?:^|\s)\+{_LINE} {_PATH}")),
)
_PORT = re.compile(r"^\d{2,5}/")
_ADDRESS = re.compile(r"\bhttps?://[^\s<>\"'`)\]]{1,600}")
_ANY_FILE = re.compile(_PATH)
_WITHOUT_ENDING = re.compile(
    rf"(?<!:){_START}(?P<path>(?:[\w.@-]{{1,100}}/){{1,20}}[\w@-]{{1,100}}|[A-Z]\w{{3,30}}file):{_LINE}\b"
)
_NAME_BELOW = re.compile(r"[ \t]+[\w.]{1,100}: ")
_QUOTE = r"[`'\"]?"
_AFTER = tuple(
    re.compile(form)
    for form in (
        # src/app.py:10-20, src/app.py:12:5, src/app.py:L10-L20, src/app.tsx?ab12:7:3
        rf"{_QUOTE}(?:\?[\w=&.%-]{{0,400}})?:[Ll]?{_LINE}(?!\w)(?:(?::\d+)?(?:-|\.\.)[Ll]?{_LAST}|:\d+)?",
        # Maven: :[12,5]; Kotlin: (12, 5); Haskell: :(12,5)-(14,8); TypeScript and PHP: (12,5), (12)
        rf":? ?[\[(]{_LINE}(?:[,:] ?\d+){{0,3}}(?:-(?:\(?{_LAST}(?:,\d+\))?))?[\])]",
        rf"#(?:L|l|lines?-)?{_LINE}(?:C\d+)?(?:-L?{_LAST})?\b",
        rf"{_QUOTE},?:? \(?(?:on |at )?[Ll]ines?:? {_LINE}(?: ?(?:-|\u2013|to) ?{_LAST})?",
        rf" \+{_LINE}\b",
        # Dart, webpack: src/app.ts 12:5-20
        rf" {_LINE}:\d{{1,5}}(?:-\d{{1,7}}(?::\d+)?)?\b",
        # Vim's list of errors.
        rf"\|{_LINE}\b",
        # A test by its name: tests/test_app.py::TestApp::test_run
        r"(?P<test>(?:::\w{1,100}){1,4})",
    )
)  # fmt: skip
_FOLLOWS = frozenset("`'\"?:[( #,+|")
_ANY_DIGIT = re.compile(r"\d")
_ANY_LINE = re.compile(
    r"[:(#\[+|,=L] ?(?:L|l|lines?[ -])?\d|lines?:? \d|\w \d{1,7}:\d|\w\.\w+::\w|^ *(?:Line +\S|FILE: )|://\S",
    re.MULTILINE,
)
_IS_PATH = re.compile(rf"[^\s\0]{{1,{_LONGEST_PATH}}}")
# Tools which name a file once, above its lines: eslint, PHPStan, PHP_CodeSniffer, diff, IPython's old form.
_FILE_ABOVE = re.compile(
    rf"(?:FILE: |  ?Line +|\+\+\+ (?:b/)?)?(?P<path>{_DRIVE}[^\s:|]{{1,{_LONGEST_PATH}}}\.\w{{1,10}})"
    r"(?P<python> in [\w<].*)?\s*"
)
_LINE_BELOW = re.compile(
    r"\s+(\d{1,7}):\d+\s+(?:error|warning|✖|⚠)|\s*(\d{1,7})\s+(?:\|\s+(?:ERROR|WARNING)|[A-Z\W].*)"
    r"|@@ -\d+(?:,\d+)? \+(\d{1,7}).*|-+> (\d{1,7}) .*"
)
_BELOW = re.compile(r"\d:\d+ +(?:error|warning|✖|⚠)|\| (?:ERROR|WARNING)|^ +Line +\S|^@@ -|^-+> \d", re.MULTILINE)


def places_in(text: str) -> list[NamedPlace]:
    """Return the places a text names, innermost call first; each once.

    Parameters:
        text: a question, a message or a log.
    """
    # Most questions have no number.
    if not _ANY_DIGIT.search(text) and "::" not in text:
        return []
    if len(text) > _MOST_CHARACTERS:
        half = _MOST_CHARACTERS // 2
        text = f"{text[:half]}\n{text[-half:]}"
    text = plain_text(text)
    if not _ANY_LINE.search(text):
        return []
    frames = sorted(_frames(text), key=lambda frame: frame.start)
    return in_order(text, [frame for frame in frames if frame.place.path])[:_MOST_PLACES]


def _frames(text: str) -> Iterator[Frame]:
    # Forms overlap: what an earlier one has read is read.
    taken = bytearray(len(text))
    for match in islice(_ADDRESS.finditer(text), _MOST_PLACES):
        if place := place_of_address(match[0]):
            taken[match.start() : match.end()] = b"\1" * len(match[0])
            yield Frame(match.start(), AS_WRITTEN, place)
    for form in _FORMS:
        for match in islice(form.pattern.finditer(text), _MOST_PLACES):
            if taken.find(1, match.start(), match.end()) < 0:
                taken[match.start() : match.end()] = b"\1" * len(match[0])
                yield _frame(text, match.start(), match.end(), match.groupdict(), form.order)
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
            yield Frame(start, order, NamedPlace(plain_path(path), first, first, line[:_LONGEST_NEAR]))
        elif head:
            path, order = head["path"], INNERMOST_LAST if head["python"] else AS_WRITTEN
        elif not line.strip():
            path = path if order == INNERMOST_LAST else ""
        start += len(line)


def _frame(text: str, start: int, end: int, groups: dict[str, str | None], order: int) -> Frame:
    path = plain_path(groups["path"] or "")
    if scope := groups.get("scope"):
        # "com.example.Client.send" is in the folders com/example.
        package = scope.rpartition("/")[2].split(".")[:-2]
        path = "/".join([*package, path])
    first = int(groups.get("first") or 0)
    near = groups.get("test") or _near(text, start, end)
    return Frame(start, order, NamedPlace(path, first, max(first, int(groups.get("last") or first)), near))


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
