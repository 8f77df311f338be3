"""Replace the parts unreadable to grammars of line-based languages: recipes, commands, values.

The bytes keep their places: only the parsed text changes, never the text of a chunk.
"""

import re

from cqm.chunkers.model import later

_CONDITIONAL = later(rb"[ ]*(?:if|ifeq|ifneq|ifdef|ifndef|else|endif)\b")
_DEFINE = later(rb"[ ]*(?:override[ ]+|export[ ]+)?define[ ]+[\w.%/-]+")
_END_OF_DEFINE = later(rb"[ ]*endef\b")
_ASSIGNMENT = later(
    rb"(?P<name>[ ]*(?:(?:export|override|private)[ ]+)*[\w.$(){}%/-]+[ \t]*)(?P<sign>(?:\?|::?:?|\+|!)?=)(?P<value>.*)"
)
_NO_CONDITION = bytes.maketrans(b"?!+:", b"    ")
_RULE = later(rb"(?P<targets>(?:\$\([^()]*\)|[^#:=])++::?(?!=))(?P<needs>.*)")
_KEPT = later(rb"[ ]*(?:#|-?s?include\b|export\b|unexport\b|vpath\b|undefine\b)")


_CONTINUED = later(rb"\\(\r?)$")


def readable_make(source: bytes) -> bytes:
    """Return a makefile of the same length with names and no values, prerequisites or commands.

    Conditionals go too: definitions of all their branches count.
    """
    result: list[bytes] = []
    # "define" or "recipe", and the sign in place of a line's continuation.
    inside = goes_on = b""
    for line in source.split(b"\n"):
        text = line.rstrip(b"\r")
        is_continued = text.endswith(b"\\") and not text.endswith(b"\\\\")
        if goes_on and not text.strip():
            # The grammar would go on with the line after it.
            result[-1] = _CONTINUED.sub(rb"a\1", result[-1])
            shown, sign = text, b""
        elif goes_on:
            shown, sign = _filled(text, goes_on), goes_on
        elif inside == b"define" and not _END_OF_DEFINE.match(text):
            shown, sign = b"a" * len(text), b""
        elif not text.strip():
            shown, sign = text, b""
        else:
            shown, sign, inside = _readable_line(text, inside)
        goes_on = sign if is_continued else b""
        result.append(shown + line[len(text) :])
    return b"\n".join(result)


def _readable_line(  # noqa: PLR0911 - one for each kind of line
    text: bytes, inside: bytes
) -> tuple[bytes, bytes, bytes]:
    """Return a readable line of a makefile, the sign for its continuation, and the construct around the next."""
    if _END_OF_DEFINE.match(text):
        return text, b"", b""
    if text.startswith(b"\t"):
        return (_filled(text, b"\t"), b"\t", inside) if inside == b"recipe" else (b" " * len(text), b" ", inside)
    if _CONDITIONAL.match(text):
        return b" " * len(text), b" ", inside
    if _DEFINE.match(text):
        return text, b"", b"define"
    if found := _ASSIGNMENT.fullmatch(text):
        # "CC?=" without a blank would be a longer name.
        sign = found["sign"].translate(_NO_CONDITION)
        return found["name"] + sign + _filled(found["value"], b"a"), b"a", b""
    if text.lstrip().startswith(b"#"):
        return b"#" * len(text), b"#", inside
    if _KEPT.match(text):
        return text, b"a", inside
    found = _RULE.fullmatch(text)
    # A variable of a target defines no target.
    if found and found["targets"].count(b"(") == found["targets"].count(b")") and b"=" not in found["needs"]:
        return found["targets"] + b" " * len(found["needs"]), b" ", b"recipe"
    return (b"_=" + _filled(text[2:], b"a") if len(text) > 2 else b" " * len(text)), b"a", b""  # noqa: PLR2004


def _filled(text: bytes, first: bytes) -> bytes:
    """Return a word as long as the text, which begins with a sign and goes on as the text does."""
    if first in {b" ", b"#"}:
        return first * len(text)
    end = b"\\" if text.endswith(b"\\") and not text.endswith(b"\\\\") else b""
    length = len(text) - len(end)
    return (first + b"a" * (length - 1))[:length] + end if length > 0 else text


_SECTION = later(rb"[ \t]*\[[^\[\]]*\][ \t]*$")
_SETTING = later(rb"(?P<space>[ \t]*)(?P<name>(?!-)[\w./\\*@$ -]*[\w./\\*@$-])(?P<sign>[ \t]*[=:])(?P<value>.*)")
_NOTE = later(rb"[ \t]*[#;]")


def readable_ini(source: bytes) -> bytes:
    """Return settings of the same length with names of sections and keys; any other line is a nameless setting."""
    result: list[bytes] = []
    for line in source.split(b"\n"):
        text = line.rstrip(b"\r")
        if not text.strip():
            text = b" " * len(text)
        elif _NOTE.match(text) or _SECTION.match(text):
            pass
        elif found := _SETTING.fullmatch(text):
            sign = found["sign"].replace(b":", b"=")
            text = found["space"] + found["name"] + sign + _filled(found["value"].replace(b"\\", b"/"), b"a")
        elif len(text) > 2:  # noqa: PLR2004
            text = b"_=" + b"a" * (len(text) - 2)
        else:
            text = b" " * len(text)
        result.append(text + line[len(text) :])
    return b"\n".join(result)


_BATCH_KEPT = later(rb"[ \t]*(?:@?rem\b|::|:[\w.-])", re.IGNORECASE)
_BATCH_SET = later(rb"(?P<set>[ \t]*@?set[ \t]+)(?P<quote>\"?)(?P<name>[A-Za-z_][\w.]*)=(?P<value>.*)", re.IGNORECASE)


def readable_batch(source: bytes) -> bytes:
    """Return a batch file of the same length with labels, comments and names of variables; any other line is a word."""
    result: list[bytes] = []
    for line in source.split(b"\n"):
        text = line.rstrip(b"\r")
        if _BATCH_KEPT.match(text) or not text.strip():
            pass
        elif found := _BATCH_SET.fullmatch(text):
            blank = b" " * len(found["quote"])
            text = found["set"] + blank + found["name"] + b"=" + _filled(found["value"].replace(b"\\", b"/"), b"a")
        else:
            text = b"a" * len(text)
        result.append(text + line[len(text) :])
    return b"\n".join(result)
