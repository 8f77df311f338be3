"""The forms of places with words between or around path and line, as one table."""

import re
from typing import NamedTuple

from cqm.index.text.reports.traces import AS_WRITTEN, CALLERS_LAST, INNERMOST_LAST

LONGEST_PATH = 400
# Every form is bounded: a text may be made to take long.
START = r"(?<![\w.@~+$%\[\]{}=,/\\-])"
DRIVE = r"(?:[A-Za-z]:[\\/])?"
PATH = rf"{START}(?P<path>{DRIVE}(?:[\w.@~+$%\[\]{{}}=,/\\-]|`(?=\d)){{0,400}}[\w)\]]\.[A-Za-z]\w{{0,9}})"
LINE = r"(?P<first>\d{1,7})"
LAST = r"(?P<last>\d{1,7})"
ANY_PATH = rf"[^\"\n]{{1,{LONGEST_PATH}}}"

TO = r"(?:-|\u2013|to|through)"


class Form(NamedTuple):
    """A form of a place, and which of several of its places is the innermost."""

    pattern: re.Pattern[str]
    order: int = AS_WRITTEN


# The words around a path tell its end: it may have blanks.
FORMS = (
    # Python, and others like it; the function may follow.
    Form(re.compile(rf'File "(?P<path>{ANY_PATH})", lines? {LINE}(?:-{LAST})?'), INNERMOST_LAST),
    # IPython; rich, in a box; pytest's short form, which is not Lua's "x.lua:1: in function".
    Form(re.compile(rf"\bFile (?P<path>{DRIVE}[^\s\":<>]{{1,{LONGEST_PATH}}}):{LINE}(?=, in |\n|$)"), INNERMOST_LAST),
    Form(re.compile(rf"│ *{PATH}:{LINE}(?= in )"), INNERMOST_LAST),
    Form(
        re.compile(rf"{PATH}:{LINE}: in (?!function |upvalue |local |method |field |main chunk)(?=[\w<])"),
        INNERMOST_LAST,
    ),
    # pytest's long form: the last line has no function.
    Form(
        re.compile(
            rf"^{PATH}:{LINE}: (?=\w{{0,100}}(?:Error|Exception|Exit|Failed|StopIteration)$|\n_ _ )", re.MULTILINE
        ),
        INNERMOST_LAST,
    ),
    # Ruby before 3.0 on a terminal: "\t2: from lib/app.rb:5:in `run'"; the table of PHP's Xdebug.
    Form(re.compile(rf"\b\d{{1,4}}: from (?P<path>{DRIVE}[^\s:]{{1,{LONGEST_PATH}}}):{LINE}(?=:in )"), CALLERS_LAST),
    Form(re.compile(rf"\d\.\d{{1,6}} +\d{{1,12}} +\d{{1,4}}\. [^\n]{{1,300}}? {PATH}:{LINE}(?=\s|$)"), CALLERS_LAST),
    # Xdebug's in a log: PHP   2. App->run() /app/src/App.php:12
    Form(re.compile(rf"\bPHP {{1,8}}\d{{1,4}}\. [^\n]{{1,300}}? {PATH}:{LINE}(?=\s|$)"), CALLERS_LAST),
    # The JVM: at app//com.example.Client.send(Client.java:12)
    Form(re.compile(rf"\bat (?P<scope>[\w.$/<>@-]{{1,400}}) ?\((?P<path>[\w$-]+\.\w{{1,7}}):{LINE}\)")),
    # .NET: in /src/Client.cs:line 12
    Form(re.compile(rf"\bin (?P<path>(?:(?! in | at )[^\n]){{1,{LONGEST_PATH}}}?):line {LINE}")),
    # .NET in other languages: bei App.Run() in C:\src\App.cs:Zeile 12.
    Form(re.compile(rf"\) [^\W\d_]{{1,9}} (?P<path>{DRIVE}[^\n:<>|]{{1,{LONGEST_PATH}}}?):[^\W\d_]{{1,12}} {LINE}")),
    # JavaScript: at run (C:\My Projects\app\(group)\page.tsx:12:5)
    Form(
        re.compile(
            rf"\bat (?P<call>[^\n()]{{1,200}}) "
            rf"\((?:file://)?(?P<path>{DRIVE}[^\n:<>|]{{1,{LONGEST_PATH}}}?):{LINE}:\d{{1,7}}\)"
        )
    ),
    # GitHub's annotations.
    Form(re.compile(rf"\bfile=(?P<path>[^\n,:]{{1,{LONGEST_PATH}}}),(?:start_?)?line={LINE}", re.IGNORECASE)),
    Form(re.compile(rf"\bline={LINE},[^\n]{{0,200}}?\bfile=(?P<path>[^\n,:]{{1,{LONGEST_PATH}}})")),
    Form(
        re.compile(
            rf"\b(?:(?:lines?|rows?) (?:no\.? |number )?|ln\.? ?|L)#?{LINE}(?: ?{TO} ?L?{LAST})?"
            r"(?:,? col(?:umn)?\.? ?\d{1,7})?"
            rf",? (?:of|in|from|at) (?:the )?(?:file |script )?[`'\"]?{PATH}",
            re.IGNORECASE,
        )
    ),
    Form(re.compile(rf"\b{LINE}(?:st|nd|rd|th) line (?:of|in) (?:the )?(?:file )?[`'\"]?{PATH}", re.IGNORECASE)),
    # emacs +10:4 src/app.py
    Form(re.compile(rf"(?:^|\s)\+{LINE}(?:[:,]\d{{1,7}})? [`'\"]?{PATH}")),
    # "git blame -L 10,20 src/app.py", "sed -n '10,20p' src/app.py", "bat -r 10:20 src/app.py".
    # git counts lines with the first one, "-L 10,+5" to 14 and "-L 10,-5" from 6; sed counts those after it.
    Form(re.compile(rf"\s-L ?{LINE}(?:,{LAST}|,\+(?P<count>\d{{1,6}})|,-(?P<upwards>\d{{1,6}}))?[ :](?:-- )?{PATH}")),
    Form(re.compile(rf"\bsed -n ['\"]?{LINE}(?:,{LAST}|,\+(?P<more>\d{{1,6}}))?p['\"]? {PATH}")),
    Form(re.compile(rf"\s(?:-r|--line-range)[ =]{LINE}:{LAST} {PATH}")),
    # Prettier and Babel: src/app.ts: Unexpected token (10:4)
    Form(re.compile(rf"{PATH}: [^\n]{{1,300}}? ?\({LINE}:\d{{1,7}}\)[ \t]*$", re.MULTILINE)),
    # Black: cannot format src/app.py: Cannot parse for target version Python 3.12: 10:4: x =
    Form(re.compile(rf"{PATH}: [^\n:]{{1,100}}: {LINE}:\d{{1,7}}(?=: )")),
    # git blame of a renamed file: 1a2b3c4d src/app.py (Ann 2026-01-31 10:00:00 +0100 12) x = 1
    Form(
        re.compile(
            rf"^\^?[0-9a-f]{{7,40}} +{PATH} +\([^\n]{{1,100}}? \d{{4}}-\d\d-\d\d [\d:]{{8}} [+-]\d{{4}} +{LINE}\)",
            re.MULTILINE,
        )
    ),
    # Loguru, and `logging` with module, function and line: app.client:send:12
    Form(
        re.compile(
            r"(?<![\w./@-])(?P<module>(?:[a-z_]\w{0,60}\.){1,10}[a-z_]\w{0,60}):(?P<call><?[A-Za-z_]\w{0,80}>?)"
            rf":{LINE}(?![\w.])"
        )
    ),
    # Readers of YAML and templates: "parsing a.yml: error converting YAML to JSON: yaml: line 3: did not find ...",
    # "(a.yml): did not find expected key at line 3", "In template a.html, error at line 3".
    Form(
        re.compile(
            rf"{PATH}[`'\")]{{0,2}}[:,] (?:(?!\w\.[a-z])[^\n]){{1,300}}?"
            rf"(?:\b(?:at|on|near) |: |errors:\n *)line {LINE}\b"
        )
    ),
    # pprof's listing.
    Form(
        re.compile(
            r"^ROUTINE =+ (?:\S{0,300}[./)])?(?P<test>(?!func\d)[A-Za-z_]\w{0,200})(?:\.func\d[\d.]{0,20})? in "
            rf"(?P<path>[^\n]{{1,{LONGEST_PATH}}}?)[ \t]*$",
            re.MULTILINE,
        )
    ),
    # Rows of coverage: "src/app.py   120   3   97%   12-14, 33", "app.ts | 80 | 70 | 66 | 80 | 12-14" of Istanbul,
    # "|| src/app.rs: 12-14, 33" of Tarpaulin; Codecov.
    Form(
        re.compile(
            rf"^[ \t]*{PATH}(?:[ \t]+\d{{1,7}}){{2,4}}[ \t]+\d{{1,3}}(?:\.\d{{1,4}})?%[ \t]+{LINE}(?:-{LAST})?",
            re.MULTILINE,
        )
    ),
    Form(
        re.compile(
            rf"^[ \t]*{PATH}[ \t]*\|(?:[ \t]*\d[\d.]{{0,6}}[ \t]*\|){{2,5}}[ \t]*(?:\.\.\.)?{LINE}(?:-{LAST})?",
            re.MULTILINE,
        )
    ),
    Form(re.compile(rf"^\|\|[ \t]*{PATH}: {LINE}(?:-{LAST})?(?=,|[ \t]*$)", re.MULTILINE)),
    Form(re.compile(rf"#L{LINE}(?: ?- ?#?L{LAST})? (?:was|were) not covered by tests\s{{1,4}}{PATH}")),
    # Vitest: tests/app.test.ts > App > runs; Jest: the titles of a test some lines below its file.
    Form(re.compile(rf"{START}(?=\S{{0,300}}?(?:test|spec)\S{{0,60}} > ){PATH} > (?P<test>[^\n]{{1,300}})")),
    Form(
        re.compile(
            rf"^[ \t]{{0,4}}FAIL[ \t]+{PATH}[^\n]{{0,100}}\n(?:[^\n]{{0,200}}\n){{0,3}}?[ \t]*"
            r"\u25cf (?P<test>[^\n]{1,300})",
            re.MULTILINE,
        )
    ),
    # git blame --porcelain.
    Form(
        re.compile(
            rf"^[0-9a-f]{{40}} \d{{1,7}} {LINE}(?: \d{{1,7}})?\n"
            rf"(?:[a-z][^\n]{{0,300}}\n){{0,12}}?filename (?P<path>[^\n]{{1,{LONGEST_PATH}}})$",
            re.MULTILINE,
        )
    ),
)
