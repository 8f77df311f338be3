"""Find the functions in a trace without lines: of a release build, a stripped library, an unknown source."""

import re
from itertools import islice

from cqm.index.text.pasted import plain_text

_MOST = 16
_MOST_CHARACTERS = 20_000
_ANY_DIGIT = re.compile(r"\d")

_CALLS = re.compile(
    # .NET and the JVM: at App.Client.Send(Int32 at), at com.example.Client.send(Unknown Source)
    r"^.{0,80}?\bat (?:[\w.-]+//?)?(?P<managed>[\w$.<>`+|]{3,300})(?:\[[^\]\n]{0,100}\])?\((?!.{0,200}:\d)"
    # C: ./app(curl_run+0x1a) [0x4005]; #1 0x00007ffff in curl_run () from /usr/lib/libcurl.so
    r"|\((?P<exported>[A-Za-z_]\w{2,200})\+0x[0-9a-f]+\)"
    r"|^.{0,80}?#\d+ +(?:0x[0-9a-f]+ )?in (?P<native>[\w:~]{3,300})"
    # coredumpctl: #1  0x00007ffff curl_run (libcurl.so.4 + 0x1a)
    r"|^.{0,80}?#\d+ +0x[0-9a-f]+ (?!in )(?P<core>[\w:~]{3,300})[^\n(]{0,40} ?\((?!.{0,200}:\d)"
    # perf: 7f12abcd curl_run+0x1a (/usr/lib/libcurl.so.4); a kernel's: [<ffff>] curl_run+0x1a/0x40; valgrind
    r"|^.{0,80}?(?<![\w(])(?:0x)?[0-9a-fA-F]{3,16}>?\]?:? (?P<perf>[A-Za-z_][\w:~.]{2,200})"
    r"(?:\+0x[0-9a-f]+| \((?:in )?/)"
    # macOS: 3   App   0x000000010 Session.request(_:) + 123
    r"|\b0x[0-9a-f]{8,16} (?P<apple>[A-Za-z_][\w.:]{2,200})[^\n+]{0,200} \+ \d+"
    # Rust: 3: tokio::runtime::blocking::spawn::h0123456789abcdef
    r"|^.{0,80}?\b\d{1,3}: +(?:0x[0-9a-f]+ - )?<?(?P<rust>[A-Za-z_]\w*(?:::[\w{}]+){1,12})",
    re.MULTILINE,
)
_SAMPLE = re.compile(
    # perf report: 12.34%  app  libcurl.so  [.] curl_run
    r"^[ \t]*\d{1,3}\.\d{1,4}%[^\n]{1,200}?\[[.k]\] (?P<perf>[A-Za-z_][^\s(]{2,200})"
    # Folded stacks: main;run;curl_run 12
    r"|^(?:[^;\s(){}=]{1,200};){1,200}(?P<folded>[A-Za-z_][^;\s(){}=]{2,200}) \d{1,12}$"
    # pprof's table, gprof's, async-profiler's: 1.2s 12% 24% 3.4s 35% main.(*Client).Run
    r"|^[ \t]*[\d.]{1,9}[a-zA-Z]{0,2} +[\d.]{1,9}%(?: +[\d.]{1,9}% +[\d.]{1,9}[a-zA-Z]{0,2} +[\d.]{1,9}%| +\d{1,12})"
    r" +(?P<table>[A-Za-z_]\S{2,300})"
    r"|^[ \t]*\d{1,3}\.\d\d +\d{1,9}\.\d\d +\d{1,9}\.\d\d +(?:\d{1,12} +[\d.]{1,12} +[\d.]{1,12} +)?"
    r"(?P<gprof>[A-Za-z_][\w:~]{2,200})"
    r"|^[ \t]*\[ ?\d{1,3}\] (?P<frame>[A-Za-z_][\w.$/]{2,300})$",
    re.MULTILINE,
)
"""A line of a profiler."""
_TESTED = re.compile(
    # Maven, .NET, xUnit
    r"^\[ERROR\] +(?:[a-z]\w{0,60}\.){0,20}(?P<maven>[A-Z]\w{0,200}\.\w{1,200})(?:\[[^\]\n]{0,100}\])? (?:-- )?"
    r"Time elapsed"
    r"|^ *Failed (?P<dotnet>[\w.]{3,300})(?:\([^\n]{0,200}\))? \[[\d<]"
    r"|^ *(?P<xunit>[\w.]{3,300})(?:\([^\n]{0,200}\))? \[FAIL\]"
    # XML of JUnit and of Visual Studio, go test -json
    r"|<testcase\b(?=[^>]{0,400}\bclassname=\"(?:[\w./]{0,300}[./\\])?(?P<owner>\w{1,200}))"
    r"(?=[^>]{0,400}\bname=\"(?P<case>\w{3,200}))"
    r"|\btestName=\"(?P<trx>[\w.]{3,300})|\"Test\":\"(?P<go>\w{3,200})"
    # GoogleTest, Pest
    r"|^\[ +FAILED +\] (?P<gtest>\w{1,200}\.\w{1,200})|--gtest_filter=(?P<filter>\w{1,200}\.\w{1,200})"
    r"|^ *FAILED +(?:\w{1,80}\\){0,20}(?P<pest>\w{1,200}) > (?P<method>\w{3,200})$"
    # unittest
    r"|^(?:FAIL|ERROR): (?P<unit>test\w{0,200}) \(",
    re.MULTILINE,
)
"""A test in a runner's report."""
_ANY_TEST = re.compile(r"FAIL|gtest_filter|Failed|<testcase|testName=|\"Test\":|Time elapsed|^ERROR: test")
_RECEIVER = re.compile(r"\(\*?(\w{1,200})\)")
_INNER = re.compile(r"<(\w+)>[bdg]__\w+(?:\.MoveNext)?|<>c\w*\.?")
_GENERIC = re.compile(r"`\d+|<[^<>]{0,100}>")
_OF_RUST = re.compile(r"::(?:h[0-9a-f]{16}|\{\{?closure\}?\})")


def calls_in(text: str) -> tuple[str, ...]:
    """Return the functions in a trace or a profile, innermost first, each once.

    A single line counts only if it is of a profile.
    """
    text = text[:_MOST_CHARACTERS]
    # Most questions have no number.
    found = [*islice(_SAMPLE.finditer(text), _MOST)] if _ANY_DIGIT.search(text) else []
    if _ANY_TEST.search(text):
        found += islice(_TESTED.finditer(text), _MOST - len(found))
    if "\n" in text.strip():
        found += islice(_CALLS.finditer(plain_text(text)), _MOST - len(found))
    names = [_plain(".".join(filter(None, match.groups()))) for match in found]
    return tuple(dict.fromkeys(filter(None, names)))


def _plain(name: str) -> str:
    """Return a name without a compiler's additions: "App.Client.Send" for "App.Client.<Send>d__12.MoveNext"."""
    name = _RECEIVER.sub(r"\1", name)
    name = _INNER.sub(r"\1", name).replace("+", ".").replace("/", ".")
    return _GENERIC.sub("", _OF_RUST.sub("", name)).replace("..", ".").strip(".:")
