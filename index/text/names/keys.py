"""Read a key that is no symbol: a header, a setting, an event, an id, a regular expression."""

import re
from collections.abc import Sequence
from itertools import islice
from typing import NamedTuple

_LONGEST = 200
_ABOUT = (
    r"(?:(?:the )?(?:(?:http |request |response )?header|(?:config(?:uration)? )?(?:key|setting|property|option)|event"
    r"|(?:feature )?flag|(?:html )?id|attribute|reg(?:ular )?ex(?:p|pression)?|(?:i18n |translation )key) )?"
)
_MARKS = r"[`'\"\[]{0,2}"
_HEADER = r"[A-Z][A-Za-z0-9]{0,40}(?:-[A-Z0-9][A-Za-z0-9]{0,40}){1,8}"
_KEY = re.compile(
    rf"{_ABOUT}{_MARKS}(?:#(?P<id>[A-Za-z][\w]*(?:-[\w]+)+)|(?P<header>{_HEADER})(?:: \S.{{0,150}})?"
    r"|(?P<path>[A-Za-z_$][\w-]*(?:[.:][\w*-]+){1,10})|(?P<word>[a-z][a-z0-9]*(?:-[a-z0-9]+)+)"
    r"|(?P<flag>--[a-z][\w-]+)|(?P<name>[A-Za-z][a-z0-9]*(?:[A-Z][a-z0-9]+)+)"
    rf"|(?:docker (?:stage |build .{{0,100}}?--target[ =])|COPY --from=|AS )(?P<stage>\w[\w.-]*)(?: \.)?"
    rf"|(?P<constant>[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+))(?:=\S{{0,100}})?[`'\"\]:]{{0,2}}(?: header| event| setting| key)?"
)
_TOLD = re.compile(
    rf"(?:the )?(?:(?P<event>event|hook|signal)|(?:config(?:uration)? )?(?:setting|option|property))"
    r"(?: (?:named|called))?"
    rf" {_MARKS}(?P<name>[A-Za-z_]\w{{2,80}})[`'\"\]]{{0,2}}",
    re.IGNORECASE,
)
"""A key called so in the question, even if a function has its name."""
_QUOTED, _ALONE = r"[\"'`]KEY[\"'`:]", r"(?<![\w-])KEY(?![\w-])"
_FORMS = {
    "id": (
        r"^[^\n{};\"'<]{0,200}?#KEY(?![\w-])[^\n{};\"'<]{0,200}?(?:[{,]|$)",
        r"\bid[=:] ?{?[\"'`]KEY[\"'`]",
        rf"#KEY(?![\w-])|{_QUOTED}",
    ),
    "header": (_QUOTED, _ALONE),
    "path": (r"^[ \t]*[\"']?KEY[\"']?[ \t]*(?:=>|[:=])|\$\{KEY[:}]|[\"'`/]KEY(?=[\"'`])",),
    "word": (_QUOTED,),
    "name": (r"^[ \t]*[\"']?KEY[\"']?[ \t]*(?:=>|:)|[\"'`]KEY[\"'`]",),
    "flag": (r"[\"'`]KEY(?![\w-])", _ALONE),
    "stage": (r"^(?i:FROM)[ \t][^\n]{0,200}[ \t](?i:AS)[ \t]+KEY[ \t]*$",),
    "data": (_QUOTED, _ALONE),
    "constant": (r"^[ \t]*(?:-[ \t]+|export |ENV |ARG |set )?[\"']?KEY[\"']?[ \t]*[:=]", _ALONE),
}
"""Lines with a key of each kind, the surest first."""
_OF_EVENT = (
    r"(?i:emit|\bon|once|trigger|dispatch|fire|publish|subscri|listen|hook|action|filter|signal|event|notify)\w*"
    r"[^\w\n]{1,4}[\"'`]KEY[\"'`]"
)
_OF_SETTING = r"(?i:\bget|config|setting|option|pref|prop)\w*[^\w\n]{1,4}(?:\w{1,40},[ ])?[\"'`]KEY[\"'`]"
_PATTERN = re.compile(
    r"(?:reg(?:ular )?ex(?:p|pression)? )?(?P<open>[/`'\"]?)(?P<pattern>\S.{4,180}\S)(?P=open)(?P<flags>[a-z]{0,6})"
)
_OF_PATTERN = re.compile(
    r"\\[wdsbWDSBAZ.\[\](){}/+*?|^$-]|\(\?[:<=!P]|\[[^\]\s]{1,40}\][+*{)]|\.[*+]|^\^.|.\$$|\]\$|\)\?"
)
"""Signs only in regular expressions."""
_LEAST_SIGNS = 2
_MOST_LINES = 50
_ABOVE = re.compile(r"([ \t]*)(?:- )?[\"']?([\w-]+)[\"']?[ \t]*(?:=>|[:=])|\[{1,2}([\w.\"-]+)\]")
_PARTS = re.compile(r"[.:]")


_OF_CHART = re.compile(
    r"(?:\{\{[^{}\n]{0,60}|<|\$|^)\.Values\.(?P<used>[A-Za-z_][\w-]*(?:\.[A-Za-z_][\w-]*){1,12})"
    r"|^helm (?:install|upgrade|template|lint)\b[^\n]{0,300}?--set(?:-string|-json|-file)?[ =]"
    r"(?P<set>[\w-]+(?:\.[\w-]+){1,12})="
    r"|^--set(?:-string|-json|-file)? (?P<option>[\w-]+(?:\.[\w-]+){1,12})="
)
"""A value of a chart of Helm, as templates, commands and errors have it."""


class Key(NamedTuple):
    """A key named in a question.

    Attributes:
        name: as in lines.
        forms: of lines with it, the surest first.
        parts: of a path, which may stand on several lines of a file of settings; empty for others.
        is_told: whether the question says that it is a key: then a symbol of its name is not meant.
        is_of_chart: whether it is a value of a chart.
    """

    name: str
    forms: tuple[re.Pattern[str], ...]
    parts: tuple[str, ...] = ()
    is_told: bool = False
    is_of_chart: bool = False


def key_in(text: str) -> Key | None:
    r"""Return the key in a question that has nothing else but a word for its kind; None for other questions.

    "X-Request-Id", "server.port", "order:created", "#main-menu", "data-user-id", "/^\d+(?:px)?$/"
    """
    text = text.strip()
    if not text or len(text) > _LONGEST or "\n" in text:
        return None
    if told := _TOLD.fullmatch(text):
        own, form = re.escape(told["name"]), _OF_EVENT if told["event"] else _OF_SETTING
        return Key(told["name"], _compiled(*(it.replace("KEY", own) for it in (form, *_FORMS["name"]))), is_told=True)
    if chart := _OF_CHART.search(text):
        path = next(filter(None, chart.groups()))
        return Key(path, (), tuple(path.split(".")), is_told=True, is_of_chart=True)
    found = _KEY.fullmatch(text)
    if found is None:
        return _pattern_in(text)
    kind = found.lastgroup or ""
    name = found[kind]
    kind = "data" if name.startswith("data-") else kind
    own = re.escape(name)
    forms = [form.replace("KEY", own) for form in _FORMS[kind]]
    return Key(name, _compiled(*forms), tuple(_PARTS.split(name)) if kind == "path" else ())


def _pattern_in(text: str) -> Key | None:
    """Return a regular expression, as written in a program or alone; it needs several signs only found in one."""
    found = _PATTERN.fullmatch(text)
    if found is None or (found["flags"] and found["open"] != "/"):
        return None
    pattern = found["pattern"]
    is_one = len([*islice(_OF_PATTERN.finditer(pattern), _LEAST_SIGNS)]) == _LEAST_SIGNS
    return Key(pattern, _compiled(re.escape(pattern))) if is_one else None


def _compiled(*forms: str) -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(form, re.MULTILINE) for form in forms)


def nested_line(parts: Sequence[str], text: str, around: frozenset[str]) -> int:
    """Return the line of a text, from 0, with the last part of a path below the others; -1 for none.

    Parameters:
        parts: of the path.
        text: of a file of settings, or of a chunk of it.
        around: names known to be above it: of the file, of the chunk's enclosing keys.
    """
    own = re.compile(rf"^([ \t]*)(?:- )?[\"']?{re.escape(parts[-1])}[\"']?[ \t]*(?:=>|[:=])", re.MULTILINE)
    for found in islice(own.finditer(text), _MOST_LINES):
        lacking = {*parts[:-1]} - around
        indent = len(found[1])
        for line in reversed(text[: found.start()].split("\n")):
            if not lacking:
                break
            above = _ABOVE.match(line)
            if above and above[3]:
                lacking -= {*above[3].split(".")}
                break
            if above and len(above[1]) < indent:
                indent = len(above[1])
                lacking.discard(above[2])
        if not lacking:
            return text.count("\n", 0, found.start())
    return -1
