"""Find the functions that a trace without lines names: of a release build, a stripped library, an unknown source."""

import re
from itertools import islice

from cqm.index.text.pasted import plain_text

_MOST = 16
_MOST_CHARACTERS = 20_000

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
_INNER = re.compile(r"<(\w+)>[bdg]__\w+(?:\.MoveNext)?|<>c\w*\.?")
_GENERIC = re.compile(r"`\d+|<[^<>]{0,100}>")
_OF_RUST = re.compile(r"::(?:h[0-9a-f]{16}|\{\{?closure\}?\})")


def calls_in(text: str) -> tuple[str, ...]:
    """Return the functions a trace names, innermost first, each once; empty for text of one line.

    Parameters:
        text: a question or a log.
    """
    if "\n" not in text.strip():
        return ()
    found = islice(_CALLS.finditer(plain_text(text[:_MOST_CHARACTERS])), _MOST)
    names = [_plain(next(filter(None, match.groups()))) for match in found]
    return tuple(dict.fromkeys(filter(None, names)))


def _plain(name: str) -> str:
    """Return a name without a compiler's additions: "App.Client.Send" for "App.Client.<Send>d__12.MoveNext"."""
    name = _INNER.sub(r"\1", name).replace("+", ".").replace("/", ".")
    return _GENERIC.sub("", _OF_RUST.sub("", name)).replace("..", ".").strip(".:")
