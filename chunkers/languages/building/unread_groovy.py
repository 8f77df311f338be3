"""Make members of Groovy readable to its grammar: without a type, with annotated parameters, closures among arguments.

Positions and rows stay those of the text, and all but constructors keep their names.
"""

import re

from cqm.chunkers.languages.model import blanked
from cqm.chunkers.model import later

_MODIFIER = rb"(?:public|private|protected|static|final|synchronized|abstract|default)"
_WORD_BEFORE = rb"(?<![\w.$])"
_TYPE_PARAMETERS = later(_WORD_BEFORE + _MODIFIER + rb"[ \t]+(?P<types><[^<>\n(){};]*(?:<[^<>\n]*>[^<>\n]*)?>)")
_IMPLEMENTS = later(rb"\bclass[ \t]+\w+[ \t]*(?P<more>\bimplements\b[^{}]{0,400})(?=\{)")
_ARGUMENTS = later(
    rb"(?<![\w.])@[A-Z]\w*(?P<arguments>\((?:[^()\"'/]|\"(?:[^\"\\\n]|\\.)*+\"|'(?:[^'\\\n]|\\.)*+'|/(?![/*])"
    rb"|\((?:[^()\"'\n]|\"[^\"\n]*+\"|'[^'\n]*+')*+\))*+\))"
)
_OF_PARAMETER = later(rb"[(,][ \t]*(?P<note>@[A-Z][\w.]*)(?=[ \t]+[\w@])")
_AFTER_MODIFIER = later(_WORD_BEFORE + _MODIFIER + rb"[ \t]+(?P<note>@[A-Z]\w*)(?=\s)")
_UNTYPED = later(
    rb"^(?P<space>[ \t]*)(?P<words>"
    + _MODIFIER
    + rb"(?:[ \t]+"
    + _MODIFIER
    + rb")*)(?P<rest>[ \t]+(?:[a-z_$]\w*|\"[^\"\n]*\")"
    rb"(?:[ \t]*\([^(){};]*\)\s{0,80}\{|[ \t]*=(?![=~])))",
    re.MULTILINE,
)
_QUALIFIED = later(
    rb"^[ \t]*(?:"
    + _MODIFIER
    + rb"[ \t]+)*(?P<package>(?:[a-z]\w*\.)+)(?=[A-Z]\w*(?:\[\])?[ \t]+[a-z$]\w*[ \t]*[=(\n])",
    re.MULTILINE,
)
_CAST = later(rb"(?:[(,=][ \t]*|\breturn[ \t]+)(?P<cast>\([A-Z][\w.]*(?:\[\])?\))(?=[ \t]*[\w(])")
_CLOSURE = later(rb"\.\w+(?:\([^(){}\n]*\))?(?P<closure>[ \t]*\{[^{}\n]*\})(?=[ \t]*[),.\]])")
_ARRAY = later(rb"\w(?P<brackets>(?:\[\])+)(?=[ \t]+[a-z_$]\w*[ \t]*[,)=;\n])|\bas[ \t]+\w+(?P<cast>(?:\[\])+)")
_BYTE = later(rb"(?<=[(, \t])byte(?=[ \t]+[a-z_$])")
_CAPITALS = later(rb"(?<=[(, \t])[A-Z][A-Z0-9]*+(?=[ \t]+[a-z_$]\w*[ \t]*[,)(=\n])")
"""A type in capitals, such as a parameter of a type, which the grammar takes for a constant."""
_LETTER_FIRST = later(rb"^(?P<space>[ \t]{2,})[A-Z]\d?(?=[ \t]+[a-z_$]\w*[ \t]*\()", re.MULTILINE)
_LIST = later(rb"^[ \t]*(?P<list>\[[^\[\]\n]*\])(?=\*?\.)", re.MULTILINE)
_MESSAGE = later(
    rb"^[ \t]*assert\b[^\n]*\S[ \t]*(?P<message>[:,][ \t]*(?:\"[^\"\n]*\"|'[^'\n]*'))[ \t]*$", re.MULTILINE
)
_SEVERAL = later(rb"^[ \t]*(?P<list>\([ \t]*\w+(?:[ \t]*,[ \t]*\w+)+[ \t]*\))(?=[ \t]*=[^=])", re.MULTILINE)
_POWER = later(rb"(?<=[\w)\]] \*)(?P<sign>\*)(?= [\w(])")
_CAUGHT = later(rb"\bcatch[ \t]*\([ \t]*[\w.]+(?P<more>(?:[ \t]*\|[ \t]*[\w.]+)+)(?=[ \t]+\w+[ \t]*\))")
_EACH = later(
    rb"\bfor[ \t]*\([ \t]*(?P<type>(?:final[ \t]+)?[\w.]+(?:<[\w<>,?. ]*>)?)"
    rb"(?P<rest>[ \t]+(?P<name>\w+)(?P<sign>[ \t]+in\b|[ \t]*:))"
)
_PATTERN = later(
    rb"(?:[=(,|~:]|^|\breturn\b|\bcase\b)[ \t]*~?/(?P<text>(?![/* \t\n=])(?:[^/\\\n]|\\[^\n])+)/", re.MULTILINE
)
_SIGN = later(rb"[^\w \t]")
_FIELD = later(rb"(?<=\.)@(?=[A-Za-z])")
_CONSTRUCTOR = later(rb"^(?P<space>[ \t]{1,3})(?P<name>[A-Z]\w{3,})(?P<rest>\([^(){}=;]*\)\s{0,80}\{)", re.MULTILINE)
_DEF = b"def "


def readable_members(source: bytes) -> bytes:
    """Return Groovy of the same length with readable members."""
    for pattern in (
        _IMPLEMENTS,
        _ARGUMENTS,
        _OF_PARAMETER,
        _AFTER_MODIFIER,
        _TYPE_PARAMETERS,
        _QUALIFIED,
        _CAST,
        _ARRAY,
        _CAUGHT,
        _MESSAGE,
        _POWER,
    ):
        source = pattern.sub(blanked, source)
    source = _EACH.sub(_untyped, _PATTERN.sub(_plain, source)).replace(b"::", b".&")
    source = _LETTER_FIRST.sub(_with_word, _BYTE.sub(b"char", source))
    source = _CAPITALS.sub(lambda it: it[0].capitalize() if len(it[0]) > 1 else b" ", source)
    source = _SEVERAL.sub(_plain_list, _LIST.sub(_plain_list, source))
    source = _FIELD.sub(b"_", _CLOSURE.sub(blanked, source))
    source = _UNTYPED.sub(_with_def, source)
    return _CONSTRUCTOR.sub(_as_function, source)


def _with_def(found: re.Match[bytes]) -> bytes:
    return found["space"] + _DEF + b" " * (len(found["words"]) - len(_DEF)) + found["rest"]


def _with_word(found: re.Match[bytes]) -> bytes:
    return _DEF[:-1].rjust(len(found[0]))


def _plain(found: re.Match[bytes]) -> bytes:
    """Replace the signs of a regular expression between slashes."""
    first, end = (it - found.start() for it in found.span("text"))
    return found[0][:first] + _SIGN.sub(b"_", found["text"]) + found[0][end:]


def _plain_list(found: re.Match[bytes]) -> bytes:
    """Make a name of a list or of several names at the beginning of a statement."""
    return found[0][: -len(found["list"])] + b"_" * len(found["list"])


def _untyped(found: re.Match[bytes]) -> bytes:
    """Name the variable of a loop without its type, and with "in"."""
    words = b"(" + found["name"] + b" in"
    before = found[0].partition(b"(")[0]
    return before + b" " * (len(found[0]) - len(before) - len(words)) + words


def _as_function(found: re.Match[bytes]) -> bytes:
    """Make a function of a constructor; where it is indented little, `def` takes the first letters of its name."""
    taken = len(_DEF) - len(found["space"])
    return _DEF + found["name"][taken:].lower() + found["rest"]
