"""Find values with the names of secrets: `password: ...`, `API_KEY=...`, `<token>...</token>`, `--secret ...`."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from cqm.index.secrets.model import Match
from cqm.index.secrets.values import is_password, is_token

Places = Mapping[str, Sequence[int]]
"""Positions of words in a text."""

ANCHORS = ("pass", "pwd", "secret", "token", "cred", "auth", "key")
"""Parts of names. Searching for each separately takes a tenth of the time of one pattern for all."""

_KEY = re.compile(
    r"(?:ap[pi]|access|account|auth|private|preshared|pre_shared|signing|storage|shared|encrypt|encryption|decryption"
    r"|master|service|license|session|cookie|hmac|aes|webhook|deploy|ssh|subscription|instrumentation)[ _-]?$"
)
"""Before "key": without one of these it is the key of a mapping."""

_PASSWORDS = ("pass", "pwd")
"""Anchors of values chosen by people, which are short."""
_AUTH = re.compile(r"auth(?:orization)?(?:[_-]?(?:key|string|header|value))?(?![a-z_-])")
_PASS = re.compile(r"pass(?:w|phrase|code|\b|(?=[_-]))|pass$")

_WHOLE = {"pass": _PASS, "auth": _AUTH}
"""Words some anchors must be part of."""

# Endings of names about a secret, such as its path or length, rather than of a secret.
_ABOUT = re.compile(
    r"""
    s?[_-]?(?:
      ur[il]s? | path | dir | file(?:name|path)? | names? | type | kind | ids? | field | key_?name | length | len | size
    | count | expir\w* | expires?_\w+ | ttl | age | lifetime | env(?:_var)? | header | prefix | suffix | regexp?
    | pattern | policy | hint | label | class | template | placeholder | param\w* | error | message | msg | text
    | validat\w+
    | required | enabled | format | version | method | mode | provider | manager | store | service | endpoint | scopes?
    | input | form | box | reset\w* | strength | title | description | prompt | confirmation_\w+ | ref | arn | location
    | index | position | budget | limit | usage | handler | hash_?(?:alg\w*|func\w*) | encod\w+ | algorithm | usages?
    | iz\w+ | isation\w* | ization\w* | s?_used | s?_per_\w+ | s?_total | info | stream | lists? | sets? | map | kinds?
    )$
    """,
    re.VERBOSE | re.IGNORECASE,
)
_PUBLIC = re.compile(
    r"(?<![A-Za-z])(?:public|max|min|num|n|csrf|next|stop|eos|bos|pad|unk|special|cancel\w*|page|sort|cache|input)[_-]?$",
    re.IGNORECASE,
)

_VALUE = re.compile(
    r"""
    (?P<name>[\w.-]{0,40})
    (?: \\?["'`\])}]{0,3} \s{0,8}
        (?: : \s? (?:&'\w+\s)? [&\w<>\[\]|. ?]{1,30}? \s? = | <?=> | [:!=]?={1,3} | <- | [:,(] | \?\?=? | > )
        \s{0,8} [\[({]? \s{0,2}
      | ["'] \s{1,8} (?: value | content | default ) \s? = \s?
      | [ \t]{1,4} (?! [=:,>] )
    )
    (?: [A-Za-z_][\w.]{0,30} \( (?: b | r )? )?
    (?: (?P<prefix>[rbfuRBFU@$]{0,2}) (?P<quote>\\?["'`])
        (?P<quoted>(?:(?!(?P=quote))(?:\\[^\r\n]|[^\r\n\\])){6,2048}) (?P=quote)
      | (?P<bare>[^\s"'`,;<>(){}\[\]\\|][^\s"'`,;<>\\|]{5,2047}) (?P<after>.?)
    )
    """,
    re.VERBOSE,
)
_BARE_FILES = re.compile(
    r"(?:^|/)(?:dockerfile|containerfile|makefile|procfile|caddyfile|jenkinsfile|\.?env\b)[^/]*$"
    r"|(?:^|/)[^./]*$|\.(?:ya?ml|ini|cfg|conf|cnf|config|properties|env|sh|bash|zsh|fish|ksh|ps1|bat|cmd|service|toml|tf|tfvars|txt|md|rst|adoc|log|sql|http|rest|ovpn|"
    r"list|repo|netrc|xml|csproj|plist|csv|desktop|nix|mk|editorconfig|gradle|tmpl|j2|erb|hcl)$",
    re.IGNORECASE,
)
"""Files with unquoted values: settings, shell scripts, texts."""
_PROSE = re.compile(r"\.(?:txt|md|rst|adoc|log|csv)$", re.IGNORECASE)
_COMMANDS = re.compile(r"(?<![\w-])--?[\w-]*$")
_TYPE = re.compile(r"::\w*$")
_LONGEST_NAME = 200
_MOST_OVERLAPS = 4
_DIRECTIVE = re.compile(r"[ \t]*[\w.-]*")
_CALLS = re.compile(
    r"(?:define|env|get|set\w*|put|add\w*|environ|config|option|property)\w*\(\s*[\"'`][\w.-]*$", re.IGNORECASE
)
"""Matches a call before a name whose value is the next argument."""


@dataclass(frozen=True, slots=True)
class _Style:
    """Notation of values in a kind of files: also without quotes, and in sentences."""

    takes_bare: bool
    is_prose: bool


def assigned(text: str, low: str, places: Places, path: str) -> Iterator[Match]:
    """Yield values assigned to names of secrets, in order.

    Parameters:
        low: the text in lower case, of the same length.
        places: positions of each of ANCHORS in it.
        path: of the file: in some kinds of files values have no quotes.
    """
    style = _Style(bool(_BARE_FILES.search(path)), bool(_PROSE.search(path)))
    done, last_end, overlaps = 0, 0, 0
    for place, anchor in sorted(_anchors(low, places)):
        found = _VALUE.match(text, place + len(anchor)) if place >= done else None
        if not found:
            continue
        # "token=token=token=...": each value would be the rest of the text.
        overlaps = overlaps + 1 if place < last_end else 0
        last_end = found.end()
        if overlaps <= _MOST_OVERLAPS and (value := _value(text, place, found, style)):
            is_chosen = anchor in _PASSWORDS
            # A sentence about a password is no password.
            is_weak = style.is_prose and found["bare"] and "=" not in _between(text, found)
            if is_password(value) if is_chosen and not is_weak else is_token(value):
                start = found.start("quoted" if found["quoted"] else "bare")
                done = start + len(value)
                yield Match("password" if is_chosen else "key or token", start, done)


def _anchors(low: str, places: Places) -> Iterator[tuple[int, str]]:
    for anchor in ANCHORS:
        for place in places[anchor]:
            if anchor == "key":
                if _KEY.search(low, max(0, place - 18), place):
                    yield place, anchor
            elif anchor not in _WHOLE or _WHOLE[anchor].match(low, place):
                yield place, anchor


def _value(text: str, place: int, found: re.Match[str], style: _Style) -> str:
    """Return the value assigned to the name at a place; empty if there is none, or the name is of something else."""
    before, between = text[max(0, place - 32) : place], _between(text, found)
    is_other = _ABOUT.fullmatch(found["name"]) or _PUBLIC.search(before) or _TYPE.search(before)
    if is_other or "f" in (found["prefix"] or "").lower() or ("," in between and not _CALLS.search(before)):
        return ""
    is_option = bool(_COMMANDS.search(before)) and between.strip(" ") in {"", "="}
    if between.rstrip("\"'`").isspace() and not (is_option or _is_directive(text, place, style)):
        return ""
    if found["quoted"]:
        return str(found["quoted"])
    in_markup = between == ">" and found["after"] == "<"
    in_string = between == "=" and found["after"] == ";"
    if not (style.takes_bare or is_option or in_markup or in_string):
        return ""
    return str(found["bare"]).rstrip(".:!?)") if style.is_prose else str(found["bare"])


def _between(text: str, found: re.Match[str]) -> str:
    return text[found.end("name") : found.start("quoted" if found["quoted"] else "bare")]


def _is_directive(text: str, place: int, style: _Style) -> bool:
    """Whether a line begins with the name: "requirepass x", "password x"."""
    line = text.rfind("\n", max(0, place - _LONGEST_NAME), place) + 1
    return style.takes_bare and not style.is_prose and bool(_DIRECTIVE.fullmatch(text, line, place))
