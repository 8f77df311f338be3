"""Make PowerShell readable to its grammar, which knows no empty blocks, lists of words or paths after variables.

Positions and rows stay those of the text.
"""

import re

from cqm.chunkers.languages.model import blank, blanked

_EMPTY = re.compile(rb"(?<![@$])\{(?P<inside>(?:[ \t\r\n]|<#[^#]*#>|#[^\n]*\n)*+)\}")
_NO_VALUE = re.compile(
    rb"(?i:\b(?:function|filter|workflow|configuration|class|enum)[ \t]+[\w:.-]+[^\n{}]*|"
    rb"(?:^|[\s}])(?:try|else|finally|do|begin|process|end|clean|dynamicparam|trap|catch|default)|[)\]]|"
    rb"^[ \t]*(?:\"[^\"\n]*\"|'[^'\n]*'|[\d.]+|\$\w+))[ \t]*$"
)
"""The row before empty braces that are the body of a statement, of a function or of a case, and no value."""
_OF_MEMBERS = re.compile(rb"(?i:\b(?:class|enum|switch)\b[^\n{}]*)$")
_LONGEST_ROW = 400
_WORD = rb"[A-Za-z_*][\w.*-]*+"
_WORDS = re.compile(rb"(?<![\w$:.@\[*-])" + _WORD + rb"(?:[ \t]*+,[ \t]*+" + _WORD + rb")++(?![\w:(\[\\/])")
_COMMA = re.compile(rb"[ \t]*,[ \t]*")
_AFTER_TEXT = re.compile(
    rb"(?:\"[^\"\n]*\"|'[^'\n]*')[ \t]*,(?P<words>[ \t]*"
    + _WORD
    + rb"(?:[ \t]*+,[ \t]*+"
    + _WORD
    + rb")*+)(?![\w:(\[]|[ \t]*=)"
)
_LABEL = re.compile(
    rb"(?i)(?<![\w$-])(?:break|continue)[ \t]+(?P<label>[A-Za-z]\w*)(?=[ \t\r]*(?:[;}#]|$))", re.MULTILINE
)
_LETTER = re.compile(rb"[\w.*-]")
_PATH = re.compile(rb"\$(?:[A-Za-z]\w*:)?[A-Za-z]\w*(?P<path>[\\/][\w.*\\/$-]*)")
_SIGN = re.compile(rb"[^\w]")
_SIZE = re.compile(rb"(?<![\w$.])[\d.]*\d(?P<unit>(?i:[dln]?[kmgtp]b|[dln]))(?![\w.])")
_KEYWORD = re.compile(
    rb"(?i)(?<=\.foreac)h(?=[ \t]*\()|(?:(?<=[\n{;|(&])|(?<=[{;|(&=] )|^)(?P<space>[ \t]*)"
    rb"(?:d(?=o-|ata-)|e(?=nd-)|p(?=rocess-|aram-)|b(?=egin-)|c(?=lass-)|f(?=oreach-))"
)
"""A letter of a name that is no keyword but begins with one."""
_DIGITS = re.compile(rb"(?<=[ \t]-)[A-Za-z]+\d\w*")
_DIGIT = re.compile(rb"\d")
_USER_DATA = re.compile(rb"(?i)^(?P<tag></?powershell>|<persist>\w*</persist>)(?=[ \t\r]*$)", re.MULTILINE)
"""Tags around the script of a server's user data."""
_EQUALS = re.compile(rb"(?<=[ \t])--[\w-]+(?P<sign>=)(?=[\"'$\w])")
_CONTINUED = re.compile(rb"(?P<sign>`)(?=[ \t]*\r?\n[ \t]*\r?\n)")
_PARAMETERS = re.compile(
    rb"(?i:\bparam)[ \t]*\((?:[^()\n]|\((?:[^()\n]|\([^()\n]*+\))*+\))*+\)(?P<blank>[ \t])(?=[ \t]*[^\s}#|;])"
)


def readable_powershell(source: bytes) -> bytes:
    """Return PowerShell of the same length that the grammar reads."""
    for pattern in (_USER_DATA, _SIZE, _EQUALS, _LABEL, _CONTINUED):
        source = pattern.sub(blanked, source)
    source = _KEYWORD.sub(lambda it: (it["space"] or b"") + b"_", source)
    source = _DIGITS.sub(lambda it: _DIGIT.sub(b"_", it[0]), source)
    source = _PATH.sub(lambda it: it[0][: -len(it["path"])] + _SIGN.sub(b"_", it["path"]), source)
    source = _WORDS.sub(lambda it: _COMMA.sub(lambda sign: b"_" * len(sign[0]), it[0]), source)
    source = _AFTER_TEXT.sub(lambda it: it[0][: -len(it["words"])] + _LETTER.sub(b"1", it["words"]), source)
    source = _PARAMETERS.sub(lambda it: it[0][:-1] + b";", source)
    return _EMPTY.sub(_filled, source)


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


_OPERATOR = re.compile(rb"(?i)(?<=[ \t])-(?:bor|band|bxor|shl|shr)(?=[ \t])")
_WITH_COMMAND = re.compile(rb"\"(?<![\w\"].)(?P<text>[^\"`\n]{0,300}?\$\([^\"\n]{0,300}?)\"(?=[\s)\]},;|]|\Z)")
_CHECKED = re.compile(rb"\[Validate\w+\((?P<block>\{(?:[^{}]|\{(?:[^{}]|\{[^{}]{0,500}\}){0,500}\}){0,2000}\})\)\]")
_QUOTED_MEMBER = re.compile(rb"(?<=[\w)\]])\.'(?P<name>[^'\n]{1,100})'")
_DEFINED = re.compile(rb"(?<=[ \t]-D)(?P<name>\w+)=")


def with_plain_operators(source: bytes) -> bytes:
    """Write what the grammar reads for operators of bits, commands in texts and checks, in a text with errors."""
    source = _OPERATOR.sub(lambda it: b"+".ljust(len(it[0])), source)
    source = _CHECKED.sub(_without_block, source)
    source = _WITH_COMMAND.sub(lambda it: b'"' + b"a" * len(it["text"]) + b'"', source)
    source = _QUOTED_MEMBER.sub(lambda it: b"." + b"a" * (len(it["name"]) + 2), source)
    return _DEFINED.sub(lambda it: it["name"] + b"_", source)


def _without_block(found: re.Match[bytes]) -> bytes:
    start, end = (it - found.start() for it in found.span("block"))
    return found[0][:start] + b"1" + blank(found["block"][1:]) + found[0][end:]
