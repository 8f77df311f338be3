"""Make PowerShell readable to its grammar, which knows no empty blocks, lists of words or paths after variables.

Positions and rows stay those of the text. Patterns beginning with a character are found several times as fast as those
beginning with a look-behind; plain words in a text of small letters, many times as fast.
"""

import re

from cqm.chunkers.languages.model import blank, blanked, blanked_at
from cqm.chunkers.model import later

_EMPTY = later(rb"\{(?<![@$]\{)(?P<inside>(?:[ \t\r\n]|<#[^#]*#>|#[^\n]*\n)*+)\}")
_NO_VALUE = later(
    rb"(?i:\b(?:function|filter|workflow|configuration|class|enum)[ \t]+[\w:.-]+[^\n{}]*|"
    rb"(?:^|[\s}])(?:try|else|finally|do|begin|process|end|clean|dynamicparam|trap|catch|default)|[)\]]|"
    rb"^[ \t]*(?:\"[^\"\n]*\"|'[^'\n]*'|[\d.]+|\$\w+))[ \t]*$"
)
"""The row before empty braces as the body of a statement, a function or a case, not as a value."""
_OF_MEMBERS = later(rb"(?i:\b(?:class|enum|switch)\b[^\n{}]*)$")
_LONGEST_ROW = 400
_WORD = rb"[A-Za-z_*][\w.*-]*+"
_WORDS = later(rb"[A-Za-z_*](?<![\w$:.@\[*-].)[\w.*-]*+(?:[ \t]*+,[ \t]*+" + _WORD + rb")++(?![\w:(\[\\/])")
_BEFORE_WORD = later(rb",[ \t]*+[A-Za-z_*]")
_COMMA = later(rb"[ \t]*,[ \t]*")
_AFTER_TEXT = later(
    rb"(?:\"[^\"\n]*\"|'[^'\n]*')[ \t]*,(?P<words>[ \t]*"
    + _WORD
    + rb"(?:[ \t]*+,[ \t]*+"
    + _WORD
    + rb")*+)(?![\w:(\[]|[ \t]*=)"
)
_LABELLED = tuple(later(word + rb"[ \t]") for word in (b"break", b"continue"))
_LABEL = later(rb"(?i)(?<![\w$-])(?:break|continue)[ \t]+(?P<label>[A-Za-z]\w*)(?=[ \t\r]*(?:[;}#]|$))", re.MULTILINE)
_LETTER = later(rb"[\w.*-]")
_PATH = later(rb"\$(?:[A-Za-z]\w*:)?[A-Za-z]\w*(?P<path>[\\/][\w.*\\/$-]*)")
_SIGN = later(rb"[^\w]")
_SIZE = later(rb"[\d.](?<![\w$.].)[\d.]*+(?<=\d)(?P<unit>(?i:[dln]?[kmgtp]b|[dln]))(?![\w.])")
_KEYWORDS = tuple(
    later(word) for word in (b"do-", b"data-", b"end-", b"process-", b"param-", b"begin-", b"class-", b"foreach-")
)
"""Beginnings of names beginning with a keyword."""
_BEFORE_COMMAND = (b"{", b";", b"|", b"(", b"&")
_METHOD = later(rb"\.foreac(?P<letter>h)(?=[ \t]*\()")
_DIGITS = later(rb"-(?<=[ \t].)[A-Za-z]++\d\w*")
_DIGIT = later(rb"\d")
_USER_DATA = later(rb"(?i)^(?P<tag></?powershell>|<persist>\w*</persist>)(?=[ \t\r]*$)", re.MULTILINE)
"""Tags around the script of a server's user data."""
_EQUALS = later(rb"--(?<=[ \t]..)[\w-]+(?P<sign>=)(?=[\"'$\w])")
_CONTINUED = later(rb"(?P<sign>`)(?=[ \t]*\r?\n[ \t]*\r?\n)")
_PARAMETERS = later(
    rb"[Pp](?<!\w.)(?i:aram)[ \t]*\((?:[^()\n]|\((?:[^()\n]|\([^()\n]*+\))*+\))*+\)(?P<blank>[ \t])(?=[ \t]*[^\s}#|;])"
)


def readable_powershell(source: bytes) -> bytes:
    """Return readable PowerShell of the same length."""
    small = source.lower()
    if b"powershell>" in small or b"<persist>" in small:
        source = _USER_DATA.sub(blanked, source)
    source = _CONTINUED.sub(blanked, _EQUALS.sub(blanked, _SIZE.sub(blanked, source)))
    source = _without_keywords(blanked_at(_places(_LABELLED, small), _LABEL, source), small)
    source = _DIGITS.sub(lambda it: _DIGIT.sub(b"_", it[0]), source)
    source = _PATH.sub(lambda it: it[0][: -len(it["path"])] + _SIGN.sub(b"_", it["path"]), source)
    source = _without_lists(source)
    source = _PARAMETERS.sub(lambda it: it[0][:-1] + b";", source)
    return _EMPTY.sub(_filled, source)


def _without_lists(source: bytes) -> bytes:
    """Write one word for a list of words, and numbers for words after a text, in the rows with such."""
    parts: list[bytes] = []
    done = 0
    while (found := _BEFORE_WORD.search(source, done)) is not None:
        start = source.rfind(b"\n", done, found.start()) + 1 or done
        end = source.find(b"\n", start) + 1 or len(source)
        row = _WORDS.sub(lambda it: _COMMA.sub(lambda sign: b"_" * len(sign[0]), it[0]), source[start:end])
        row = _AFTER_TEXT.sub(lambda it: it[0][: -len(it["words"])] + _LETTER.sub(b"1", it["words"]), row)
        parts += [source[done:start], row]
        done = end
    return b"".join([*parts, source[done:]]) if parts else source


def _places(patterns: tuple[re.Pattern[bytes], ...], text: bytes) -> list[int]:
    return sorted(it.start() for pattern in patterns for it in pattern.finditer(text))


def _without_keywords(source: bytes, small: bytes) -> bytes:
    """Replace a letter of names beginning with a keyword; `small` is the text in small letters."""
    places = [place for place in _places(_KEYWORDS, small) if _begins_command(source, place)]
    places += [it.start("letter") for it in _METHOD.finditer(small)]
    result = bytearray(source)
    for place in places:
        result[place] = ord("_")
    return bytes(result)


def _begins_command(source: bytes, place: int) -> bool:
    row = source[source.rfind(b"\n", 0, place) + 1 : place]
    before = row.rstrip(b" \t")
    return not before or before.endswith(_BEFORE_COMMAND) or (before[-1:] == b"=" and row[len(before) :][:1] == b" ")


def _filled(found: re.Match[bytes]) -> bytes:
    """Put a number into empty braces, or a variable in place of those without a blank."""
    row = found.string[max(0, found.start() - _LONGEST_ROW) : found.start()].rpartition(b"\n")[2]
    if _OF_MEMBERS.search(row):
        return found[0]
    inside = found["inside"]
    if inside[-1:] in (b" ", b"\t"):
        return found[0][:-2] + b"0}"
    if inside[:1] in (b" ", b"\t", b"\r"):
        return b"{0" + found[0][2:]
    return b"$_" if not inside and not _NO_VALUE.search(row) else found[0]


_OPERATOR = later(rb"-(?<=[ \t]-)(?i:bor|band|bxor|shl|shr)(?=[ \t])")
_WITH_COMMAND = later(rb"\"(?<![\w\"].)(?P<text>[^\"`\n]{0,300}?\$\([^\"\n]{0,300}?)\"(?=[\s)\]},;|]|\Z)")
_CHECKED = later(rb"\[Validate\w+\((?P<block>\{(?:[^{}]|\{(?:[^{}]|\{[^{}]{0,500}\}){0,500}\}){0,2000}\})\)\]")
_QUOTED_MEMBER = later(rb"\.'(?<=[\w)\]]\.')(?P<name>[^'\n]{1,100})'")
_DEFINED = later(rb"-D(?<=[ \t]-D)\w+=")


def with_plain_operators(source: bytes) -> bytes:
    """Replace bit operators, commands in texts and checks by readable text, in a text with errors."""
    source = _OPERATOR.sub(lambda it: b"+".ljust(len(it[0])), source)
    source = _CHECKED.sub(_without_block, source)
    source = _WITH_COMMAND.sub(lambda it: b'"' + b"a" * len(it["text"]) + b'"', source)
    source = _QUOTED_MEMBER.sub(lambda it: b"." + b"a" * (len(it["name"]) + 2), source)
    return _DEFINED.sub(lambda it: it[0][:-1] + b"_", source)


def _without_block(found: re.Match[bytes]) -> bytes:
    start, end = (it - found.start() for it in found.span("block"))
    return found[0][:start] + b"1" + blank(found["block"][1:]) + found[0][end:]
