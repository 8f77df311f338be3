"""Rewrite text unreadable to the grammar of Bash: expansions and globs of zsh, templates, piped heredocs.

The bytes keep their places. Only texts with errors are changed. Patterns begin with a sign or word, as these are found
several times as fast as a place between two characters.
"""

import re

from cqm.chunkers.languages.model import blanked
from cqm.chunkers.model import later

_LONGEST = 2_000
"""Longest expansion in bytes; longer ones are unpaired braces."""
_BRACE = later(rb"\\.|\$\{|[{}]", re.DOTALL)
_PLAIN_EXPANSION = later(rb"\$\{(?:#?\w+|\w+:?[=-][^{}$\n]*)\}")
"""The grammar reads these; ": ${NAME:=value}" defines a name."""

_FLAGGED = later(rb"\$[+=~^]{1,2}\w+")
_ARITHMETIC = later(rb"\(\((?<!\(\(\()(?P<inside>(?:[^();\n]|\((?:[^();\n]|\([^();\n]*\))*\)){1,1000})\)\)")
_TEST = later(rb"\[\[[ \t](?P<inside>[^\n]{4,300}?)[ \t]\]\](?=[ \t]*(?:\r?$|[;&|)}]))", re.MULTILINE)
_COUNT = later(rb"#(?<=\$#)(?=[A-Za-z_])")
_NAMELESS = later(
    rb"(?P<before>(?:^|&&|\|\||;)[ \t]*)(?P<word>function[ \t]*(?:\(\))?|\(\))(?=[ \t\n]*\{)", re.MULTILINE
)
_WITHOUT_NAME = (
    later(rb"function[ \t]*+(?:\(\))?[ \t\n]*+\{"),
    later(rb"\(\)(?<![^\s;&|]\(\))[ \t\n]*+\{"),
)
"""Without one, the pattern above matches nothing."""
_FILE_OF = later(rb"=\((?<=[ \t]=\()(?=[ \t]*[\w$])")
_DETACHED = later(rb"&[|!](?=[ \t]*(?:[;})]|\r?$))", re.MULTILINE)
_ALWAYS = later(rb"\}(?P<word>[ \t]+always[ \t]+)\{")
_QUALIFIER = later(rb"\((?<=[\w*}/\]]\()#?q?[\w.^/@=*:,+-]+\)(?=[\s;)\]\"])")
_OVERWRITTEN = later(rb">>[|!]")
_ON_ONE_ROW = later(
    rb"(?P<open>(?:^|[;&|)]|\b(?:do|then|else))[ \t]*\{[ \t][^{}\n]{0,300}[^\s;{}&])[ \t](?=\})", re.MULTILINE
)
_IN_A_ROW = later(rb"\{[ \t][^{}\n]{0,300}[^\s;{}&][ \t]\}")
_SEVERAL = later(rb"for(?<!\wfor)[ \t]+\w+(?P<names>(?:[ \t]+(?!in\b)\w+){1,8})(?=[ \t]+in\b)")
_GOES_ON = later(rb"[^\n;|&]*(?:[;|]|&&)[^\n]*\n")
_HERE_STRING = later(rb"<<<[ \t]*+(?:\$?\"[^\"\n]*\"|\$?'[^'\n]*'|[^\s;|&()<>\"']+)")
_POSITIONS = later(rb"for(?<!\wfor)[ \t]+(?P<names>\d[\d \t]*)(?=;|[ \t]in\b)")
_OF_LIST = later(rb"for(?<!\wfor)[ \t]+\w+[ \t]+\([^()\n]{0,300}(?:\([^()\n]{0,300}\)[^()\n]{0,300})?\)(?=[ \t]*;)")
_REPEATED = later(rb"repeat(?<!\wrepeat)[ \t]+(?P<number>\S+)[ \t](?=do\b)")
_SUBSCRIPT = later(rb"\$\w+\[\(\w+\)[^\]\n]{0,200}\]")
_NUMBERS = later(rb"<\d*-\d*>")
_TEMPLATE = later(rb"\{\{[^{}]{1,1000}\}\}")
_TEMPLATE_OF_TEXT = later(rb"\{(?P<inner>\{\{[^{}]{1,1000}\}\})\}")
_ALONE = later(rb"^[ \t]*\{\{[^{}]{1,1000}\}\}[ \t]*\r?$", re.MULTILINE)
_HEREDOC = later(rb"<<(?<!<<<)(?!<)-?[ \t]*(?P<quote>['\"]?)(?P<tag>\w+)(?P=quote)")
_MOST_HEREDOCS = 200
_NO_END_OF_ROW = later(rb"[^\r\n]")


def readable_shell(source: bytes) -> bytes:
    """Write plain words for additions of zsh and templates to Bash, in a text with errors."""
    source = _without_piped_heredocs(_without_templates(source))
    source = _FLAGGED.sub(_as_variable, _without_expansions(source))
    source = _ARITHMETIC.sub(lambda it: b"((" + _as_word(it["inside"]) + b"))", source)
    source = _TEST.sub(lambda it: b"[[ -n " + _as_word(it["inside"])[3:] + b" ]]", source)
    source = _HERE_STRING.sub(lambda it: b" " * len(it[0]), _SEVERAL.sub(blanked, source))
    source = _POSITIONS.sub(lambda it: it[0][: -len(it["names"])] + b"a".ljust(len(it["names"])), source)
    source = _OF_LIST.sub(lambda it: b"while ".ljust(len(it[0]), b"a"), source)
    source = _REPEATED.sub(lambda it: b"while ".ljust(len(it[0]) - 1, b"a") + b";", source)
    source = _SUBSCRIPT.sub(_as_variable, source)
    source = source.replace(b";|", b";;").replace(b"``", b"  ")
    source = _COUNT.sub(b"a", source)
    if any(it.search(source) for it in _WITHOUT_NAME):
        source = _NAMELESS.sub(lambda it: it["before"] + b" " * len(it["word"]), source)
    source = _OVERWRITTEN.sub(b">> ", source)
    if _IN_A_ROW.search(source):
        source = _ON_ONE_ROW.sub(lambda it: it["open"] + b";", source)
    source = _DETACHED.sub(b"& ", _FILE_OF.sub(b"$(", source))
    source = _ALWAYS.sub(lambda it: b"};" + b" " * (len(it["word"]) - 1) + b"{", source)
    return _NUMBERS.sub(_in_place, _QUALIFIER.sub(_in_place, source))


def _as_word(text: bytes) -> bytes:
    return b"a" * len(text)


def _in_place(found: re.Match[bytes]) -> bytes:
    return _as_word(found[0])


def _as_variable(found: re.Match[bytes]) -> bytes:
    return b"$" + b"a" * (len(found[0]) - 1)


def _without_expansions(source: bytes) -> bytes:
    """Write variables for expansions such as "${${(f)text}[1]}"."""
    spans: list[tuple[int, int]] = []
    opened: list[int] = []
    for it in _BRACE.finditer(source):
        sign = it[0]
        if sign == b"${":
            opened.append(it.start())
        elif sign == b"{":
            opened.append(-1)
        elif sign == b"}" and opened and (start := opened.pop()) >= 0 and _is_one(source, start, it.end()):
            while spans and spans[-1][0] > start:
                spans.pop()
            spans.append((start, it.end()))
    result = bytearray(source)
    for start, end in spans:
        if not _PLAIN_EXPANSION.fullmatch(source, start, end):
            # Line ends stay: a command may have them inside.
            result[start:end] = b"$" + _NO_END_OF_ROW.sub(b"a", source[start + 1 : end])
    return bytes(result)


def _is_one(source: bytes, start: int, end: int) -> bool:
    """Whether paired braces may be of one expansion: only a command inside may have several lines."""
    return end - start <= _LONGEST and (b"\n" not in source[start:end] or b"$(" in source[start:end])


def _without_templates(source: bytes) -> bytes:
    """Blank lines of a template, "{{ if .X }}", and write words for its values."""
    if b"{{" not in source:
        return source
    source = _ALONE.sub(lambda it: _NO_END_OF_ROW.sub(b" ", it[0]), source)
    source = _TEMPLATE_OF_TEXT.sub(lambda it: _NO_END_OF_ROW.sub(b"a", it[0]), source)
    return _TEMPLATE.sub(lambda it: _NO_END_OF_ROW.sub(b"a", it[0]), source)


def _without_piped_heredocs(source: bytes) -> bytes:
    """Blank heredocs with a row going on after their head: "awk '...' <<END |", "cat <<END; exit"."""
    result = bytearray(source)
    place = 0
    for _ in range(_MOST_HEREDOCS):
        begin = _HEREDOC.search(source, place)
        if begin is None:
            break
        place = begin.end()
        goes_on = _GOES_ON.match(source, place)
        last = _end_of_heredoc(begin["tag"]).search(source, goes_on.end()) if goes_on is not None else None
        if goes_on is not None and last is not None:
            for start, end in (begin.span(), (goes_on.end(), last.end())):
                result[start:end] = _NO_END_OF_ROW.sub(b" ", source[start:end])
            place = last.end()
    return bytes(result)


def _end_of_heredoc(tag: bytes) -> re.Pattern[bytes]:
    return re.compile(rb"^[ \t]*%s[ \t]*\r?$" % re.escape(tag), re.MULTILINE)
